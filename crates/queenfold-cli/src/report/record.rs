//! What a table of records says of a run.

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
            "checked": outcome.map(|outcome| self.status.counted.checked(outcome)),
            "plans": self.info.plans.iter().map(|plan| plan.name.to_string()).collect::<Vec<_>>(),
            "shard": self.info.shard.to_string(),
            "share": self.status.share,
            "signature": self.signature,
            "counted": self.status.counted,
            "corrections": self.corrections.len(),
            "began": clock.start() as i64,
            "ended": clock.end() as i64,
            "wall_seconds": time.elapsed.as_secs_f64(),
            "cpu_seconds": time.cpu.map(|cpu| cpu.as_secs_f64()),
            "hosts": self.hosts(),
            "record": outcome.map(|outcome| self.row(outcome, &clock)),
        })
    }

    /// Machine, processor, instruction set, workers and devices, once each.
    fn hosts(&self) -> Vec<Json> {
        let mut hosts: Vec<Json> = Vec::new();
        for session in &self.sessions {
            let facts = &session.facts;
            let host = json!({
                "host": facts.host,
                "processor": facts.processor,
                "isa": facts.isa,
                "workers": facts.workers,
                "devices": facts.devices,
            });
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        hosts
    }

    fn row(&self, outcome: &Outcome, clock: &Clock) -> String {
        let time = self.time();
        let plan = self.info.plans.first().map(|plan| plan.name.to_string());
        let mut hardware: Vec<String> = Vec::new();
        for session in &self.sessions {
            let facts = &session.facts;
            let mut one = format!(
                "{} on {}, {}",
                several(facts.workers, "worker"),
                facts.processor,
                facts.isa
            );
            for device in &facts.devices {
                one += &format!(", {device}");
            }
            if !hardware.contains(&one) {
                hardware.push(one);
            }
        }
        let board = match self.info.board.is_free() {
            true => self.info.n().to_string(),
            false => format!("{} with {}", self.info.n(), self.info.board.brief()),
        };
        let checked = self.status.counted.checked(outcome);
        format!(
            "| {} | {checked} | {} | {} | {} | {} | {} | {} of {} tasks twice; signature {} |",
            board,
            plan.unwrap_or_default(),
            hardware.join("; "),
            utc(clock.end() as i64)
                .split(' ')
                .next()
                .unwrap_or_default(),
            duration(time.elapsed),
            time.cpu.map_or_else(|| "–".to_owned(), duration),
            self.status.counted.twice,
            self.status.counted.tasks,
            self.signature,
        )
    }
}
