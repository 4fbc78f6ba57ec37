//! How the result was checked, and how others can check it.

use crate::report::RunReport;
use crate::report::markup::{facts, table, text};
use crate::telemetry::RunFacts;
use queenfold::words::board_flags;

impl RunReport {
    /// `again` is the command that counts the run a second time.
    pub(in crate::report) fn checks_section(&self, again: &str) -> String {
        let mut pairs = Vec::new();
        if let Ok(outcome) = &self.outcome {
            let known = match outcome.is_known {
                true => "yes, it equals the published one",
                false => "no total of this board is published",
            };
            pairs.push(("is the total known", known.to_owned()));
        }
        let counted = &self.status.sums.who.confirmation;
        let again = match self.status.is_done() && counted.twice < counted.tasks {
            true => format!("; <code>{}</code> counts them again", text(again)),
            false => String::new(),
        };
        pairs.push(("counted", counted.to_string() + &again));
        let table = RunFacts::of_ledger(&self.status).table().into_iter();
        for fact in table.filter(|fact| ["audits", "corrections", "faulty"].contains(&fact.name)) {
            let value = match fact.words.is_empty() {
                true => "none".to_owned(),
                false => text(&fact.words.join(", ")),
            };
            pairs.push((fact.name, value));
        }
        facts(&pairs) + &self.corrected() + &self.signature_part()
    }

    /// The corrections: tasks of which counts differed.
    fn corrected(&self) -> String {
        if self.corrections.is_empty() {
            return String::new();
        }
        let rows = self.corrections.iter().map(|logged| {
            let by: Vec<_> = logged
                .correction
                .results()
                .map(|entry| {
                    let origin = &entry.result.origin;
                    format!("{} ({})", origin.worker, origin.counted_by)
                })
                .collect();
            let state = if logged.is_open() {
                "contested"
            } else {
                "decided"
            };
            vec![
                text(&logged.task().to_string()),
                text(&by.join("; ")),
                state.to_owned(),
            ]
        });
        table(
            "Corrections: counts of a task that differed",
            &["task", "counted by", "state"],
            rows,
        )
    }

    fn signature_part(&self) -> String {
        if self.outcome.is_err() {
            return "<p>The run has no signature yet: it is made when every task is counted.</p>\n"
                .to_owned();
        }
        let engine = self.info.plans.first().map(|plan| plan.engine.name());
        let repeat = format!(
            "queenfold run {} --engine {} --dir repeated\nqueenfold report repeated --json",
            board_flags(&self.info.board),
            engine.unwrap_or("auto")
        );
        let signature = format!("<code>{}</code>", text(&self.signature));
        facts(&[("signature", signature)])
            + &format!(
                "<p>It is a digest of the board, the tasks and their counts, and of nothing that depends on time or \
             place. Whoever repeats the run gets the same one:</p>\n<pre>{repeat}</pre>\n"
            )
    }
}
