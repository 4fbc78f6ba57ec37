//! The figures of a run that are seen first.

use std::collections::BTreeSet;
use std::time::Duration;

use super::RunReport;
use super::clock::Clock;
use crate::telemetry::RunFacts;
use queenfold::outcome::{Checked, Outcome};
use queenfold::words::{TimeUnit, duration, grouped, percent, rate, several};

/// A figure, what it is, and what has to be known of it. All of it is plain text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    /// What it is.
    pub name: &'static str,
    /// The figure.
    pub value: String,
    /// A few words more.
    pub note: String,
}

fn tile(name: &'static str, value: impl Into<String>, note: impl Into<String>) -> Tile {
    let (value, note) = (value.into(), note.into());
    Tile { name, value, note }
}

impl RunReport {
    /// The figures that are seen first: the result or how far the run is, its time, its speed, and how it was checked.
    pub fn tiles(&self, clock: &Clock) -> Vec<Tile> {
        let mut tiles = match &self.outcome {
            Ok(outcome) => result_tiles(outcome),
            Err(_) => self.progress_tiles(),
        };
        let interrupted = clock.stopped().len() + clock.paused().len() > 0;
        let time = match interrupted {
            true => "Time without pauses",
            false => "Time",
        };
        let working = Duration::try_from_secs_f64(clock.working()).unwrap_or_default();
        let hosts: BTreeSet<_> = self.lanes.iter().map(|lane| &lane.host).collect();
        let [workers, hosts] = [(self.lanes.len(), "worker"), (hosts.len(), "host")]
            .map(|(number, of)| several(number as u64, of));
        let by = format!("{workers} on {hosts}");
        tiles.push(tile(time, duration(working), by));
        if let Some(cpu) = self.time().cpu {
            let cpu = cpu.as_secs_f64();
            tiles.push(tile(
                "CPU time",
                TimeUnit::of_cores(cpu).of(cpu),
                "of all processes, added up",
            ));
        }
        let nodes = self.tasks.iter().map(|task| task.nodes);
        let speed = rate(nodes.fold(0, u64::saturating_add), working);
        tiles.push(tile("Speed", speed, "a node is a queen that was placed"));
        tiles.push(self.checked_tile());
        tiles
    }

    fn progress_tiles(&self) -> Vec<Tile> {
        let facts = RunFacts::of_ledger(&self.status);
        let share = percent(self.status.share);
        let mut tiles = vec![tile("Done", share, facts.tasks())];
        if let Some(left) = facts.left() {
            let note = match self.runs {
                true => "at the speed of this process",
                false => "at the speed of the last process",
            };
            tiles.push(tile("Time left", left, note));
        }
        tiles
    }

    fn checked_tile(&self) -> Tile {
        let counted = &self.status.counted;
        let (value, note) = match &self.outcome {
            Err(_) => ("not yet", "there is no total".to_owned()),
            Ok(outcome) => match counted.checked(outcome) {
                Checked::Known => ("as published", "the total equals the known one".to_owned()),
                Checked::Twice => ("twice", "each task was counted a second time".to_owned()),
                Checked::Claimed if counted.by_two_keys == counted.tasks => (
                    "claimed",
                    "two owners signed the same count of each task".to_owned(),
                ),
                Checked::Claimed => (
                    "claimed",
                    "only merged directories say that tasks were counted twice".to_owned(),
                ),
                Checked::Sampled(of) => ("in part", format!("one of {of} tasks counted twice")),
                Checked::Once => ("once", "no known total, and no second count".to_owned()),
            },
        };
        tile("Checked", value, note)
    }
}

fn result_tiles(outcome: &Outcome) -> Vec<Tile> {
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
    let mut tiles = vec![tile(name, total, note)];
    tiles.extend(
        outcome
            .unique()
            .map(|count| tile(unique, grouped(count), symmetries)),
    );
    tiles
}
