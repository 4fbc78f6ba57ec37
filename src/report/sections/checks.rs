//! How the result was checked, and how others can check it.

use crate::report::RunReport;
use crate::report::markup::{facts, table, text};
use crate::telemetry::{board_flags, several};

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
        pairs.push(("counted a second time", self.second_counts(again)));
        if self.status.audited > self.status.counted.twice {
            pairs.push((
                "audited while it ran",
                format!(
                    "{}: a second count before the first is recorded",
                    several(self.status.audited, "task")
                ),
            ));
        }
        let counted = &self.status.counted;
        let differed = match (counted.corrections, counted.contested) {
            (0, 0) => "none".to_owned(),
            (corrections, contested) => format!("{corrections}, {contested} undecided"),
        };
        pairs.push(("counts that differed", differed));
        let sick = self.status.sick.iter();
        let sick: Vec<_> = sick
            .map(|(host, sick)| format!("{} on {host}", sick.worker))
            .collect();
        pairs.push((
            "workers that computed wrongly",
            if sick.is_empty() {
                "none".to_owned()
            } else {
                text(&sick.join(", "))
            },
        ));
        facts(&pairs) + &self.corrected() + &self.signature_part()
    }

    fn second_counts(&self, again: &str) -> String {
        let counted = &self.status.counted;
        if counted.twice == 0 {
            let (done, all) = self.status.shard_tasks;
            return match done == all {
                true => format!("no task; <code>{}</code> counts them again", text(again)),
                false => "no task".to_owned(),
            };
        }
        let mut places = Vec::new();
        for (tasks, place) in [
            (counted.by_other_kernel, "by another kernel"),
            (counted.on_other_host, "on another machine"),
            (counted.on_other_device, "on another device"),
        ] {
            if tasks > 0 {
                places.push(format!("{tasks} {place}"));
            }
        }
        let how = match places.is_empty() {
            true => String::new(),
            false => format!(": {}", places.join(", ")),
        };
        format!(
            "{} of {}{how}",
            counted.twice,
            several(counted.tasks, "task")
        )
    }

    /// Tasks of which there were counts that differed.
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
                "undecided"
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
            "Counts that differed",
            &["task", "counted by", "state"],
            &rows.collect::<Vec<_>>(),
        )
    }

    fn signature_part(&self) -> String {
        if self.outcome.is_err() {
            return "<p>The run has no signature yet: it is made when every task is counted.</p>\n"
                .to_owned();
        }
        let engine = self.info.plans.first().map(|plan| plan.engine.name());
        let repeat = [
            format!(
                "queenfold run {} --engine {} --dir repeated",
                board_flags(&self.info.board),
                engine.unwrap_or("auto")
            ),
            "queenfold export repeated | tail -n 1".to_owned(),
        ];
        facts(&[(
            "signature",
            format!("<code>{}</code>", text(&self.signature)),
        )]) + &format!(
            "<p>It is a digest of the board, the tasks and their counts, and of nothing that depends on time or \
                 place. Whoever repeats the run gets the same one:</p>\n<pre>{}</pre>\n",
            repeat.map(|line| text(&line)).join("\n")
        )
    }
}
