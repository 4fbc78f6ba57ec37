//! What a table of records says of a run.

use serde_json::{Value as Json, json};

use super::RunReport;
use super::markup::utc;
use crate::board::GivenSquares;
use crate::telemetry::{duration, several};

impl RunReport {
    /// The run as JSON, with a row for the table of docs/RECORDS.md if it has a result.
    pub fn json(&self) -> Json {
        let outcome = self.outcome.as_ref().ok();
        let (began, ended) = self.span();
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
            "began": began,
            "ended": ended,
            "wall_seconds": self.elapsed().as_secs_f64(),
            "cpu_seconds": self.cpu().map(|cpu| cpu.as_secs_f64()),
            "hosts": self.hosts(),
            "record": outcome.map(|_| self.row()),
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

    fn row(&self) -> String {
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
        let checked = match &self.outcome {
            Ok(outcome) => self.status.counted.checked(outcome).to_string(),
            Err(_) => "no".to_owned(),
        };
        format!(
            "| {} | {checked} | {} | {} | {} | {} | {} | {} of {} tasks twice; signature {} |",
            board,
            plan.unwrap_or_default(),
            hardware.join("; "),
            utc(self.span().1).split(' ').next().unwrap_or_default(),
            duration(self.elapsed()),
            self.cpu().map_or_else(|| "–".to_owned(), duration),
            self.status.counted.twice,
            self.status.counted.tasks,
            self.signature,
        )
    }
}
