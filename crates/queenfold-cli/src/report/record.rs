//! What a table of records says of a run.

use serde::Serialize;
use serde_json::{Value as Json, json};

use super::RunReport;
use super::clock::Clock;
use super::markup::utc;
use queenfold::board::GivenSquares;
use queenfold::outcome::Outcome;
use queenfold::words::{duration, several};

impl RunReport {
    /// The run as JSON, with a row for the table of docs/RECORDS.md if it has a result.
    pub fn json(&self) -> Json {
        let outcome = self.outcome.as_ref().ok();
        let (clock, time) = (Clock::new(self), self.time());
        json!({
            "n": self.info.n(),
            "given": GivenSquares::of(&self.info.board),
            "result": outcome,
            "no_total": self.outcome.as_ref().err(),
            "checked": outcome.map(|outcome| self.status.sums.who.confirmation.checked(outcome)),
            "plans": self.info.plans.iter().map(|plan| plan.name.to_string()).collect::<Vec<_>>(),
            "shard": self.info.shard.to_string(),
            "share": self.status.share,
            "signature": self.signature,
            "counted": self.status.sums.who.confirmation,
            "corrections": self.corrections.len(),
            "began": clock.start as i64,
            "ended": clock.end as i64,
            "wall_seconds": time.elapsed.map(|elapsed| elapsed.as_secs_f64()),
            "cpu_seconds": time.cpu.map(|cpu| cpu.as_secs_f64()),
            "hosts": self.hardware(),
            "record": outcome.map(|outcome| self.row(outcome, &clock)),
        })
    }

    /// With what it was counted, the same once.
    fn hardware(&self) -> Vec<Hardware<'_>> {
        let mut hardware: Vec<Hardware<'_>> = Vec::new();
        for session in &self.sessions {
            let facts = &session.facts;
            let one = Hardware {
                host: &facts.host,
                processor: &facts.processor,
                isa: &facts.isa,
                workers: facts.workers,
                devices: &facts.devices,
            };
            if !hardware.contains(&one) {
                hardware.push(one);
            }
        }
        hardware
    }

    fn row(&self, outcome: &Outcome, clock: &Clock) -> String {
        let time = self.time();
        let plan = self.info.plans.first().map(|plan| plan.name.to_string());
        let mut hardware = Vec::new();
        for of in self.hardware() {
            let workers = several(of.workers, "worker");
            let cpu = match of.isa {
                // A certificate tells no more.
                "" => of.processor.to_owned(),
                isa => format!("{workers} on {}, {isa}", of.processor),
            };
            let devices = of.devices.iter().map(|device| format!(", {device}"));
            let one = cpu + &devices.collect::<String>();
            if !hardware.contains(&one) {
                hardware.push(one);
            }
        }
        let board = match self.info.board.is_free() {
            true => self.info.n().to_string(),
            false => format!("{} with {}", self.info.n(), self.info.board.brief()),
        };
        let counted = &self.status.sums.who.confirmation;
        let ended = utc(clock.end as i64);
        let known = |time: Option<_>| time.map_or_else(|| "–".to_owned(), duration);
        format!(
            "| {board} | {} | {} | {} | {} | {} | {} | {} of {} tasks twice; signature {} |",
            counted.checked(outcome),
            plan.unwrap_or_default(),
            hardware.join("; "),
            ended.split(' ').next().unwrap_or_default(),
            known(time.elapsed),
            known(time.cpu),
            counted.twice,
            counted.tasks,
            self.signature,
        )
    }
}

/// A machine, and what of it a process used.
#[derive(PartialEq, Serialize)]
struct Hardware<'a> {
    host: &'a str,
    processor: &'a str,
    isa: &'a str,
    workers: u64,
    devices: &'a [String],
}
