//! The figures of a run that are seen first.

use std::collections::BTreeSet;
use std::time::Duration;

use super::RunReport;
use super::clock::Clock;
use super::markup::text;
use crate::telemetry::RunFacts;
use queenfold::outcome::Outcome;
use queenfold::words::{TimeUnit, duration, grouped, percent, rate, several};

/// A figure: what it is, its value, and a few words more. All of it is plain text.
fn tile(name: &str, value: impl AsRef<str>, note: impl AsRef<str>) -> String {
    let value = value.as_ref();
    format!(
        "<div style=\"--length: {}\"><dt>{}</dt><dd><b>{}</b><small>{}</small></dd></div>\n",
        value.chars().count(),
        text(name),
        text(value),
        text(note.as_ref())
    )
}

impl RunReport {
    /// The figures that are seen first: the result or how far the run is, its time, its speed, and how it was checked.
    pub(in crate::report) fn tiles_section(&self, clock: &Clock) -> String {
        let result = match &self.outcome {
            Ok(outcome) => result_tiles(outcome),
            Err(_) => self.progress_tiles(),
        };
        let interrupted = clock.stopped().len() + clock.paused().len() > 0;
        let time = match interrupted {
            true => "Time without pauses",
            false => "Time",
        };
        let working = self
            .time()
            .elapsed
            .and(Duration::try_from_secs_f64(clock.working()).ok());
        let hosts: BTreeSet<_> = self.lanes.iter().map(|lane| &lane.host).collect();
        let [workers, hosts] = [(self.lanes.len(), "worker"), (hosts.len(), "host")]
            .map(|(number, of)| several(number as u64, of));
        let unknown = || "–".to_owned();
        let took = working.map_or_else(unknown, duration);
        let time = tile(time, took, format!("{workers} on {hosts}"));
        let cpu = self.time().cpu.map(|cpu| cpu.as_secs_f64());
        let cpu = cpu.map(|cpu| {
            let value = TimeUnit::of_cores(cpu).of(cpu);
            tile("CPU time", value, "of all processes, added up")
        });
        let nodes = self.tasks.iter().map(|task| task.nodes);
        let nodes = nodes.fold(0, u64::saturating_add);
        let speed = working.map_or_else(unknown, |time| rate(nodes, time));
        format!(
            "<dl class=\"tiles\">\n{result}{time}{}{}{}</dl>\n",
            cpu.unwrap_or_default(),
            tile("Speed", speed, "a node is a queen that was placed"),
            self.checked_tile()
        )
    }

    fn progress_tiles(&self) -> String {
        let facts = RunFacts::of_ledger(&self.status);
        let done = tile("Done", percent(self.status.share), facts.tasks());
        let note = match self.runs {
            true => "at the speed of this process",
            false => "at the speed of the last process",
        };
        let left = facts.left().map(|left| tile("Time left", left, note));
        done + &left.unwrap_or_default()
    }

    fn checked_tile(&self) -> String {
        let counted = &self.status.sums.who.confirmation;
        match &self.outcome {
            Err(_) => tile("Checked", "not yet", "there is no total"),
            Ok(outcome) => {
                let checked = counted.checked(outcome).to_string();
                tile("Checked", checked, counted.to_string())
            }
        }
    }
}

fn result_tiles(outcome: &Outcome) -> String {
    let total = grouped(outcome.total);
    let (name, note, unique, symmetries) = match outcome.given.is_free() {
        true => (
            "All solutions",
            format!("of {} queens", outcome.n),
            "Unique solutions",
            "up to rotation and reflection",
        ),
        false => (
            "All completions",
            "of the given board".to_owned(),
            "Unique completions",
            "up to the symmetries of that board",
        ),
    };
    let unique = outcome
        .unique()
        .map(|count| tile(unique, grouped(count), symmetries));
    tile(name, total, note) + &unique.unwrap_or_default()
}
