//! The facts that are told of every run: each has one name and one wording, wherever people read it. Programs read the
//! same values.

use std::fmt;
use std::time::Duration;

use super::{TimeUnit, duration, grouped, percent, several, speed};
use crate::actors::{Eta, Progress, SickWorker};

/// A fact in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// What it is about.
    pub name: &'static str,
    /// What it says. It may have names that strangers chose.
    pub value: String,
}

impl Fact {
    /// A fact.
    pub fn new(name: &'static str, value: impl Into<String>) -> Self {
        let value = value.into();
        Self { name, value }
    }

    /// As a line of a status: the values of all lines begin in the same column if names have at most 11 characters.
    pub fn line(&self) -> String {
        format!("{:<11} {}", self.name, self.value)
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.value)
    }
}

/// How far a run is, how fast, and how sound its counts are. `None`: not known yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunFacts {
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
    /// Workers and devices, and the hosts that they are on.
    pub workers: (u64, u64),
    /// Tasks that were counted twice before they were recorded.
    pub audits: Option<u64>,
    /// Counts of tasks that differed.
    pub corrections: u64,
    /// Tasks of which nothing has decided yet which count is right.
    pub contested: u64,
    /// Workers and devices that counted wrongly, with their hosts.
    pub faulty: Vec<(String, SickWorker)>,
}

impl RunFacts {
    /// Those of a run of a process on `host`.
    pub fn of(progress: &Progress, host: &str) -> Self {
        let faulty = progress.taken_out.iter();
        let checkpoint = progress.checkpoint;
        Self {
            tasks: (progress.tasks_done, progress.tasks_total),
            share: progress.share,
            nodes_per_second: Some(progress.speed.nodes_per_second()),
            eta: progress.eta,
            checkpoint: checkpoint.map(|at| progress.elapsed.saturating_sub(at)),
            workers: (progress.workers.len() as u64, 1),
            audits: Some(progress.audited),
            corrections: progress.corrected,
            contested: 0,
            faulty: faulty.map(|sick| (host.to_owned(), sick.clone())).collect(),
        }
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

    /// `723 of 1,023 tasks, 71.0 %`.
    pub fn done(&self) -> Fact {
        let share = self.share.map(|share| format!(", {}", percent(share)));
        Fact::new("done", self.tasks() + &share.unwrap_or_default())
    }

    /// `3.61 Gnode/s`.
    pub fn speed(&self) -> Fact {
        let value = self.nodes_per_second.map(speed);
        Fact::new("speed", value.unwrap_or_else(|| "not known yet".to_owned()))
    }

    /// `3:07 ± 2.3 s` or, where it may be twice or half as long, `8.0 to 90 minutes`: the 95 % interval. `about 3:07` if
    /// none is known.
    pub fn left(&self) -> Option<Fact> {
        let eta = self.eta?;
        let value = match (eta.uncertainty, eta.interval()) {
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
        };
        Some(Fact::new("left", value))
    }

    /// `1.4 s ago`.
    pub fn checkpoint(&self) -> Fact {
        let value = self.checkpoint.map(|age| format!("{} ago", duration(age)));
        Fact::new("checkpoint", value.unwrap_or_else(|| "none yet".to_owned()))
    }

    /// `by 195 workers on 3 hosts`.
    pub fn by(&self) -> Fact {
        let (workers, hosts) = self.workers;
        let [workers, hosts] = [several(workers, "worker"), several(hosts, "host")];
        Fact::new("by", format!("{workers} on {hosts}"))
    }

    /// How many tasks were audited, if that is known.
    pub fn audits(&self) -> Option<Fact> {
        Some(Fact::new("audits", grouped(self.audits?)))
    }

    /// `2, 1 task contested`, if there were any.
    pub fn corrections(&self) -> Option<Fact> {
        let contested = match self.contested {
            0 => String::new(),
            contested => format!(", {} contested", several(contested, "task")),
        };
        let value = grouped(self.corrections) + &contested;
        (self.corrections > 0).then(|| Fact::new("corrections", value))
    }

    /// `worker-3 on node7`, for each that is.
    pub fn faulty(&self) -> impl Iterator<Item = Fact> {
        let faulty = self.faulty.iter();
        faulty.map(|(host, sick)| Fact::new("faulty", format!("{} on {host}", sick.worker)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::WorkerId;

    #[test]
    fn every_fact_has_one_wording() {
        let sick = SickWorker {
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
            taken_out: vec![sick],
            ..Progress::default()
        };
        let facts = RunFacts::of(&progress, "node7");
        let lines = |facts: &RunFacts| {
            let known = [facts.done(), facts.speed(), facts.checkpoint(), facts.by()];
            let others = [facts.left(), facts.audits(), facts.corrections()];
            let all = known.into_iter().chain(others.into_iter().flatten());
            let all = all.chain(facts.faulty());
            all.map(|fact| fact.line()).collect::<Vec<_>>()
        };
        let expected = [
            // Rounded down: 100 % means all.
            "done        1,022 of 1,023 tasks, 99.9 %",
            "speed       0.00 node/s",
            "checkpoint  2.0 s ago",
            "by          0 workers on 1 host",
            "left        3:07 ± 2.0 s",
            "audits      1,234",
            "corrections 2",
            "faulty      worker-3 on node7",
        ];
        assert_eq!(lines(&facts), expected);
        let expected = [
            "done        0 tasks",
            "speed       not known yet",
            "checkpoint  none yet",
            "by          0 workers on 0 hosts",
        ];
        assert_eq!(lines(&RunFacts::default()), expected);
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
            facts.left().unwrap().value
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
            ..facts
        };
        assert_eq!(ledger.tasks(), "1 of 1 task");
        let [left, corrections] = [ledger.left(), ledger.corrections()].map(Option::unwrap);
        assert_eq!(left.to_string(), "left about 3:07");
        assert_eq!(corrections.value, "2, 1 task contested");
    }
}
