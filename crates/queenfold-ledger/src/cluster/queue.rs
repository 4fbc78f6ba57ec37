//! What the queue of a scheduler says of an array.

use std::collections::BTreeMap;
use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use serde::Deserialize;

use super::{ArrayDirectory, IndexList, Scheduler, Script};
use crate::system::processes::{in_own_group, kill_group};
use queenfold::system::threads;

/// How long a scheduler may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The array tasks of an array that are in a queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queued {
    /// Nothing has started them yet.
    pub waiting: IndexList,
    /// The scheduler has given them to a host.
    pub running: IndexList,
}

impl Queued {
    /// Divides array tasks, each with whether it waits.
    fn new(tasks: Vec<(u64, bool)>) -> Self {
        let (waiting, running): (Vec<_>, Vec<_>) = tasks.into_iter().partition(|(_, waits)| *waits);
        let list = |tasks: Vec<(u64, bool)>| tasks.into_iter().map(|(task, _)| task).collect();
        Self {
            waiting: list(waiting),
            running: list(running),
        }
    }

    /// Those of `shards` that are in no queue.
    pub fn others(&self, shards: &IndexList) -> IndexList {
        let is_queued = |at: &u64| self.waiting.contains(*at) || self.running.contains(*at);
        shards.iter().filter(|at| !is_queued(at)).collect()
    }
}

/// The name of an array's jobs, which no other array has. A part that begins with array task K has `+K` behind it.
pub(super) fn job_name(directory: &ArrayDirectory) -> String {
    let path = blake3::hash(directory.path().as_os_str().as_encoded_bytes());
    let board = directory.array().short_name();
    format!("queenfold-{board}-{}", &path.to_hex()[..8])
}

/// Asks the schedulers that the array has scripts for. `None`: one of them does not answer, or nobody knows whom to ask.
pub fn ask(directory: &ArrayDirectory) -> Option<Queued> {
    let name = job_name(directory);
    let mut tasks = Vec::new();
    let mut schedulers: Vec<_> = Script::all(directory).map(|of| of.scheduler).collect();
    // It may have two scripts.
    schedulers.dedup();
    for scheduler in schedulers {
        tasks.extend(match scheduler {
            Scheduler::Slurm => slurm(&name)?,
            Scheduler::HyperQueue => hyperqueue(&name)?,
            Scheduler::Shell => return None,
        });
    }
    Some(Queued::new(tasks))
}

/// The array tasks of the jobs of this name, each with whether it waits.
fn slurm(name: &str) -> Option<Vec<(u64, bool)>> {
    let queue = answer(
        "squeue",
        &["--me", "--array", "--noheader", "--format=%t %K %j"],
    )?;
    Some(
        queue
            .lines()
            .filter_map(|line| slurm_task(line, name))
            .collect(),
    )
}

/// The array task in a line of `squeue`, if its job has this name.
fn slurm_task(line: &str, name: &str) -> Option<(u64, bool)> {
    let mut words = line.split_whitespace();
    let (state, task) = (words.next()?, words.next()?.parse::<u64>().ok()?);
    let first = match words.next()?.strip_prefix(name)? {
        // Submitted by hand.
        "" => 0,
        part => part.strip_prefix('+')?.parse().ok()?,
    };
    // Pending, or put back.
    let waits = ["PD", "RQ", "RH", "SE"].contains(&state);
    Some((first + task, waits))
}

/// As [`slurm`].
fn hyperqueue(name: &str) -> Option<Vec<(u64, bool)>> {
    #[derive(Deserialize)]
    struct Job {
        id: u64,
        name: String,
    }
    let jobs = answer("hq", &["job", "list", "--output-mode=json"])?;
    let jobs: Vec<Job> = serde_json::from_str(&jobs).ok()?;
    let mut tasks = Vec::new();
    for Job { id, .. } in jobs.into_iter().filter(|job| job.name == name) {
        // In this order, so that a task that is started meanwhile is in one of the answers.
        for (state, waits) in [("waiting", true), ("running", false)] {
            let (id, state) = (id.to_string(), format!("--filter={state}"));
            let of = answer(
                "hq",
                &["job", "task-ids", &id, &state, "--output-mode=json"],
            )?;
            let of: BTreeMap<u64, Vec<u64>> = serde_json::from_str(&of).ok()?;
            tasks.extend(of.into_values().flatten().map(|task| (task, waits)));
        }
    }
    Some(tasks)
}

/// What a program prints; `None` if it is missing, fails or takes too long.
fn answer(program: &str, args: &[&str]) -> Option<String> {
    answer_within(PATIENCE, program, args)
}

fn answer_within(patience: Duration, program: &str, args: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    let command = in_own_group(&mut command).args(args);
    let command = command.stdin(Stdio::null()).stderr(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).spawn().ok()?;
    let mut stdout = child.stdout.take()?;
    let (sender, printed) = channel();
    threads::start("queue", move || {
        let mut text = String::new();
        let _ = sender.send(stdout.read_to_string(&mut text).map(|_| text));
    })
    .ok()?;
    let printed = printed.recv_timeout(patience);
    if printed.is_err() {
        kill_group(&mut child);
    }
    let succeeded = child.wait().ok()?.success();
    printed.ok()?.ok().filter(|_| succeeded)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn a_scheduler_that_hangs_or_fails_has_no_answer() {
        let shell = |seconds, script| {
            answer_within(Duration::from_secs_f64(seconds), "sh", &["-c", script])
        };
        let begun = std::time::Instant::now();
        assert_eq!(shell(0.1, "echo 1; sleep 60 | cat"), None);
        assert!(begun.elapsed() < Duration::from_secs(30));
        assert_eq!(shell(30.0, "echo 1; exit 1"), None);
        // More than a pipe holds.
        let long = shell(30.0, "seq 20000").unwrap();
        assert!(long.ends_with("\n20000\n"));
        assert_eq!(answer("no-such-scheduler", &[]), None);
    }
}
