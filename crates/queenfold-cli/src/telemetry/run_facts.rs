//! The facts of a run. Each has one name and one wording for people, and one key and value for programs, in every view.

use std::time::Duration;

use queenfold_ledger::ledger::{Latest, Status};
use serde::Serialize;
use serde_json::{Value as Json, json};

use queenfold::actors::{Eta, FaultyWorker, PauseReason, Progress, RunState};
use queenfold::words::{TimeUnit, duration, grouped, percent, several, speed};

/// A fact.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fact {
    /// Its name, of at most 11 characters.
    pub name: &'static str,
    /// What it says, line by line; nothing if people need not know of it. It may have names that strangers chose.
    pub words: Vec<String>,
    /// What it says to programs, each value with its key.
    pub json: Vec<(&'static str, Json)>,
    /// Metrics, each with its value if that is known.
    pub metrics: Vec<(&'static str, Option<f64>)>,
}

impl Fact {
    /// A fact for people.
    pub fn new(name: &'static str, words: impl IntoIterator<Item = String>) -> Self {
        Self {
            name,
            words: words.into_iter().collect(),
            ..Self::default()
        }
    }

    /// With a value for programs.
    #[must_use]
    pub fn key(mut self, key: &'static str, value: impl Serialize) -> Self {
        self.json.push((key, json!(value)));
        self
    }

    /// With a metric, and its value if that is known.
    fn metric(mut self, name: &'static str, value: impl Into<Option<f64>>) -> Self {
        self.metrics.push((name, value.into()));
        self
    }

    /// As lines of a status, whose values begin in the same column.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let words = self.words.iter();
        words.map(|words| format!("{:<11} {words}", self.name))
    }
}

/// How far a run is, how fast, and how sound its counts are. `None`: not known yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunFacts<'a> {
    /// What only the process that counts knows; `None` for what the directory of a run says.
    pub process: Option<&'a Progress>,
    /// Tasks recorded, and all of them.
    pub tasks: (u64, Option<u64>),
    /// Share of the estimated work that is done, 0 to 1.
    pub share: Option<f64>,
    /// How fast all workers together count.
    pub nodes_per_second: Option<f64>,
    /// When it will end.
    pub eta: Option<Eta>,
    /// How long ago results became durable.
    pub checkpoint: Option<Duration>,
    /// Tasks that were counted twice before they were recorded.
    pub audits: u64,
    /// Counts of tasks that differed.
    pub corrections: u64,
    /// Tasks of which nothing has decided yet which count is right.
    pub contested: u64,
    /// Workers and devices that counted wrongly, with their hosts.
    pub faulty: Vec<(String, FaultyWorker)>,
}

impl<'a> RunFacts<'a> {
    /// Those of a run of a process on `host`.
    pub fn of(progress: &'a Progress, host: &str) -> Self {
        let faulty = progress.faulty.iter();
        let checkpoint = progress.checkpoint;
        Self {
            process: Some(progress),
            tasks: (progress.tasks_done, progress.tasks_total),
            share: progress.share,
            nodes_per_second: Some(progress.nodes_per_second),
            eta: progress.eta,
            checkpoint: checkpoint.map(|at| progress.elapsed.saturating_sub(at)),
            audits: progress.audited,
            corrections: progress.corrected,
            contested: 0,
            faulty: faulty.map(|of| (host.to_owned(), of.clone())).collect(),
        }
    }

    /// Those of a run in a directory, as if its latest process still worked on it.
    pub fn of_ledger(status: &Status) -> Self {
        let (done, all) = status.shard_tasks;
        let latest = status.latest.as_ref();
        let fast = latest.filter(|latest| latest.tasks > 0 && !latest.session.elapsed.is_zero());
        let left = latest.and_then(|latest| latest.left);
        Self {
            process: None,
            tasks: (done, Some(all)),
            share: (all > 0).then_some(status.share),
            nodes_per_second: fast.map(Latest::nodes_per_second),
            eta: left.filter(|_| !status.is_done()).map(|left| Eta {
                left,
                uncertainty: None,
            }),
            checkpoint: latest.map(Latest::checkpoint),
            audits: status.sums.who.hosts.values().map(|host| host.audits).sum(),
            corrections: status.sums.who.confirmation.corrections,
            contested: status.sums.who.confirmation.contested,
            faulty: status.faulty.clone(),
        }
    }

    /// All of them, in the order of every view.
    pub fn table(&self) -> Vec<Fact> {
        let run = self.process;
        let of = |value: fn(&Progress) -> f64| run.map(value);
        let share = self.share.map(|share| format!(", {}", percent(share)));
        let left = self.eta.map(|eta| eta.left.as_secs_f64());
        let ends = self.eta.and_then(|eta| eta.interval());
        let end = |at: usize| ends.map(|ends| ends[at].as_secs_f64());
        let checkpoint = run.and_then(|run| Some(run.checkpoint?.as_secs_f64()));
        let contested = match self.contested {
            0 => String::new(),
            contested => format!(", {} contested", several(contested, "task")),
        };
        let corrections = grouped(self.corrections) + &contested;
        let faulty = self.faulty.iter();
        let words = faulty.clone();
        let words = words.map(|(host, of)| format!("{} on {host}: {}", of.worker, of.reason));
        let faulty: Vec<_> = faulty.map(|(host, of)| faulty_json(host, of)).collect();
        let paused = run.map(|run| run.paused).filter(|time| !time.is_zero());
        let age = self.checkpoint.map(|age| format!("{} ago", duration(age)));
        let age_seconds = self.checkpoint.map(|age| age.as_secs());
        vec![
            Fact::new("time", run.map(|run| duration(run.elapsed)))
                .metric("elapsed_seconds", of(|run| run.elapsed.as_secs_f64())),
            Fact::new("solutions", run.map(|run| grouped(run.solutions))),
            Fact::new("done", [self.tasks() + &share.unwrap_or_default()])
                .key("tasks_done", self.tasks.0)
                .key("tasks_total", self.tasks.1)
                .key("share", self.share)
                .metric("share_done_ratio", self.share)
                .metric("tasks_done", self.tasks.0 as f64)
                .metric("tasks_planned", self.tasks.1.map(|tasks| tasks as f64)),
            Fact::new("speed", self.nodes_per_second.map(speed))
                .key("nodes_per_second", self.nodes_per_second)
                .metric("nodes_per_second", self.nodes_per_second)
                .metric("nodes_total", of(|run| run.nodes as f64)),
            Fact::new("left", self.left())
                .key("eta_seconds", left)
                .metric("eta_seconds", left)
                .metric("eta_low_seconds", end(0))
                .metric("eta_high_seconds", end(1)),
            Fact::new("checkpoint", age)
                .key("checkpoint_age_seconds", age_seconds)
                .metric("durable_tasks_total", of(|run| run.durable as f64))
                .metric("last_checkpoint_seconds", checkpoint),
            Fact::new("audits", [grouped(self.audits)])
                .key("audits", self.audits)
                .metric("audited_tasks_total", self.audits as f64),
            Fact::new("corrections", (self.corrections > 0).then_some(corrections))
                .metric("corrected_tasks_total", self.corrections as f64),
            Fact::new("faulty", words)
                .metric("faulty_workers", faulty.len() as f64)
                .key("faulty", faulty),
            Fact::new("queue", run.map(|run| format!("{} batches", run.queued)))
                .metric("queued_batches", of(|run| run.queued as f64)),
            Fact::new("paused", paused.map(duration))
                .metric("paused_seconds", of(|run| run.paused.as_secs_f64())),
        ]
    }

    /// `723 of 1,023 tasks`.
    pub fn tasks(&self) -> String {
        match self.tasks {
            (_, Some(0)) => "this shard has no tasks".to_owned(),
            (done, Some(1)) => format!("{done} of 1 task"),
            (done, Some(all)) => format!("{} of {} tasks", grouped(done), grouped(all)),
            (done, None) => several(done, "task"),
        }
    }

    /// `3:07 ± 2.3 s` or, where it may be twice or half as long, `8.0 to 90 minutes`: the 95 % interval. `about 3:07` if
    /// none is known.
    pub fn left(&self) -> Option<String> {
        let eta = self.eta?;
        Some(match (eta.uncertainty, eta.interval()) {
            (Some(more), Some(interval)) if more >= eta.left && !more.is_zero() => {
                let [low, high] = interval.map(|end| end.as_secs_f64());
                let [from, to] = [low, high].map(TimeUnit::of_wall);
                match from == to {
                    true => format!("{} to {}", from.number(low), to.of(high)),
                    false => format!("{} to {}", from.of(low), to.of(high)),
                }
            }
            (Some(more), _) => format!("{} ± {}", duration(eta.left), duration(more)),
            (None, _) => format!("about {}", duration(eta.left)),
        })
    }
}

/// What a run does, and why it is paused if it is: `paused (outside its hours)`.
pub fn state_in_words(state: RunState, paused_for: &[PauseReason]) -> String {
    match paused_for {
        [] => state.name().to_owned(),
        reasons => format!("{} ({})", state.name(), PauseReason::list(reasons)),
    }
}

/// A worker or device of a host that counted wrongly, for programs.
pub fn faulty_json(host: &str, of: &FaultyWorker) -> Json {
    json!({
        "worker": of.worker.to_string(),
        "host": host,
        "counted_by": of.counted_by.as_ref().map(|by| by.name().to_owned()),
        "suspects": of.suspects,
        "reason": of.reason,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use queenfold::engine::WorkerId;

    #[test]
    fn every_fact_has_one_wording() {
        let faulty = FaultyWorker {
            worker: WorkerId::Cpu(3),
            counted_by: None,
            reason: "its canary".to_owned(),
            suspects: 3,
        };
        let seconds = Duration::from_secs;
        let progress = Progress {
            tasks_done: 1022,
            tasks_total: Some(1023),
            share: Some(0.9999),
            eta: Some(Eta {
                left: seconds(187),
                uncertainty: Some(seconds(2)),
            }),
            elapsed: seconds(60),
            checkpoint: Some(seconds(58)),
            audited: 1234,
            corrected: 2,
            faulty: vec![faulty],
            ..Progress::default()
        };
        let facts = RunFacts::of(&progress, "node7");
        let lines = |facts: &RunFacts| {
            let table = facts.table();
            table.iter().flat_map(Fact::lines).collect::<Vec<_>>()
        };
        let expected = [
            "time        1:00",
            "solutions   0",
            // Rounded down: 100 % means all.
            "done        1,022 of 1,023 tasks, 99.9 %",
            "speed       0.00 node/s",
            "left        3:07 ± 2.0 s",
            "checkpoint  2.0 s ago",
            "audits      1,234",
            "corrections 2",
            "faulty      worker-3 on node7: its canary",
            "queue       0 batches",
        ];
        assert_eq!(lines(&facts), expected);
        let expected = ["done        0 tasks", "audits      0"];
        assert_eq!(lines(&RunFacts::default()), expected);
        let table = facts.table();
        let json = table.iter().flat_map(|fact| &fact.json);
        let json: std::collections::BTreeMap<_, _> = json.cloned().collect();
        assert_eq!(
            (&json["tasks_done"], &json["eta_seconds"]),
            (&json!(1022), &json!(187.0))
        );
        assert_eq!(json["faulty"][0]["host"], "node7");
        let wide = |left, more| {
            let uncertainty = Some(seconds(more));
            let eta = Some(Eta {
                left: seconds(left),
                uncertainty,
            });
            let facts = RunFacts {
                eta,
                ..RunFacts::default()
            };
            facts.left().unwrap()
        };
        // No time is below zero.
        assert_eq!(wide(1201, 3755), "4.9 to 83 minutes");
        assert_eq!(wide(2400, 9600), "8.0 minutes to 3.3 hours");
        assert_eq!(wide(10, 9), "10 s ± 9.0 s");
        assert_eq!(wide(0, 0), "0.0 s ± 0.0 s");
        assert_eq!(wide(0, 5), "0 µs to 5.0 s");
        let left = Duration::from_secs(187);
        let ledger = RunFacts {
            tasks: (1, Some(1)),
            eta: Some(Eta {
                left,
                uncertainty: None,
            }),
            contested: 1,
            process: None,
            ..facts
        };
        assert_eq!(ledger.tasks(), "1 of 1 task");
        let lines = lines(&ledger);
        assert_eq!(lines[2], "left        about 3:07");
        assert_eq!(lines[5], "corrections 2, 1 task contested");
    }
}
