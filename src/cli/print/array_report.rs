//! How far a job array is: which shards, on which hosts, and how to go on.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value as Json, json};

use super::host_lines::{faulty_lines, host_json, host_lines, sick_json};
use super::shard_moments::{ShardMoments, WhyStopped};
use crate::board::GivenSquares;
use crate::cli::shell::{command_on, word};
use crate::cluster::{ArrayDirectory, ArrayError, IndexList, Scheduler, ShardState};
use crate::ledger::HostShare;
use crate::telemetry::{RunFacts, printable, several};

/// The script of the array in `dir`, as a word of a shell.
pub fn script_word(scheduler: Scheduler, dir: &Path) -> String {
    let mut script = dir.join(scheduler.script());
    // Schedulers would read an option; and a shell looks for a bare name on its path.
    if script.as_os_str().as_encoded_bytes().starts_with(b"-") || dir.as_os_str().is_empty() {
        script = Path::new(".").join(script);
    }
    word(script.as_os_str())
}

/// The commands that submit these shards, for each scheduler that the array has a script for. None are for
/// [`outdated_scripts`].
pub fn submit_again(directory: &ArrayDirectory, dir: &Path, shards: &IndexList) -> Vec<String> {
    let there = Scheduler::ALL.into_iter().filter(|scheduler| {
        scheduler.has_script(directory) && scheduler.other_target(directory).is_none()
    });
    there
        .flat_map(|scheduler| scheduler.submit(&script_word(scheduler, dir), shards))
        .collect()
}

/// A line for each script that was written before the array came to this place. Its array tasks would fail, and
/// under Slurm without a word.
pub fn outdated_scripts(directory: &ArrayDirectory, dir: &Path) -> Vec<String> {
    let outdated = Scheduler::ALL.into_iter().filter_map(|scheduler| {
        let target = scheduler.other_target(directory)?;
        Some(format!(
            "{} is of {}: give its `queenfold array` command again, with --replace --dir {}",
            dir.join(scheduler.script()).display(),
            target.display(),
            dir.display()
        ))
    });
    outdated.collect()
}

/// How far an array is.
pub struct ArrayReport {
    /// How far its shards are together.
    facts: RunFacts,
    /// What each host did, by its name.
    hosts: BTreeMap<String, HostShare>,
    /// What the shards say.
    moments: ShardMoments,
    states: [(ShardState, IndexList); 4],
    gathered: bool,
}

impl ArrayReport {
    /// Reads the ledgers of all shards.
    ///
    /// # Errors
    /// One of them is damaged, or belongs to another array.
    pub fn read(directory: &ArrayDirectory) -> Result<Self, ArrayError> {
        let plans = directory.array().plans();
        let division = directory.division(&plans);
        let mut indices: [Vec<u64>; 4] = Default::default();
        let mut hosts = BTreeMap::new();
        let mut faulty = Vec::new();
        let mut moments = ShardMoments::default();
        let mut done = 0;
        for index in 0..directory.array().shards() {
            let (state, ledger) = directory.state_of(index, &division)?;
            indices[state as usize].push(index);
            moments.add(index, state, &directory.shard(index));
            let Some((store, sums)) = ledger else {
                continue;
            };
            HostShare::add(&store, &mut hosts)?;
            done += sums.coverage.done();
            for session in store.sessions()? {
                let host = session.facts.host;
                let workers = session.facts.sick.into_iter();
                faulty.extend(workers.map(|worker| (host.clone(), worker)));
            }
        }
        let all: u64 = plans.iter().map(|plan| plan.tasks()).sum();
        let facts = RunFacts {
            tasks: (done, Some(all)),
            share: Some(done as f64 / all.max(1) as f64),
            nodes_per_second: moments.nodes_per_second(),
            eta: moments.left(),
            audits: Some(hosts.values().map(|host| host.audits).sum()),
            faulty,
            ..RunFacts::default()
        };
        let [not_begun, running, stopped, finished] = indices.map(IndexList::from_iter);
        Ok(Self {
            facts,
            hosts,
            moments,
            states: [
                (ShardState::Finished, finished),
                (ShardState::Running, running),
                (ShardState::Stopped, stopped),
                (ShardState::NotBegun, not_begun),
            ],
            gathered: directory.is_gathered()?,
        })
    }

    /// Whether nothing is left to count.
    pub fn is_done(&self) -> bool {
        let mut open = self
            .states
            .iter()
            .filter(|(state, _)| *state != ShardState::Finished);
        self.gathered || open.all(|(_, shards)| shards.is_empty())
    }

    /// The shards that are to be submitted again, unless they wait in the queue.
    fn to_submit(&self) -> IndexList {
        [ShardState::Stopped, ShardState::NotBegun]
            .into_iter()
            .flat_map(|state| self.shards(state))
            .collect()
    }

    /// The commands by which the array goes on, for each scheduler that it has a script for; none while the
    /// last shards are running. `dir` is as the user named it.
    fn next_steps(&self, directory: &ArrayDirectory, dir: &Path) -> Vec<String> {
        let again = self.to_submit();
        match (self.gathered, again.is_empty()) {
            (false, false) => submit_again(directory, dir, &again),
            (false, true) if self.moments.is_running() => Vec::new(),
            _ => vec![command_on("gather", dir)],
        }
    }

    /// What [`outdated_scripts`] says, unless nothing is left to submit.
    fn outdated_scripts(&self, directory: &ArrayDirectory, dir: &Path) -> Vec<String> {
        match self.is_done() {
            true => Vec::new(),
            false => outdated_scripts(directory, dir),
        }
    }

    /// The shards in this state.
    fn shards(&self, state: ShardState) -> impl Iterator<Item = u64> {
        let of = self.states.iter().filter(move |(of, _)| *of == state);
        of.flat_map(|(_, shards)| shards.iter())
    }

    /// For people. `dir` is as they named it.
    pub fn text(&self, directory: &ArrayDirectory, dir: &Path) -> String {
        let all = directory.array().shards();
        let facts = &self.facts;
        let mut lines = vec![
            format!("{}: the array of {}", dir.display(), directory.array()),
            facts.done().line(),
        ];
        for (state, shards) in &self.states {
            if !shards.is_empty() || *state == ShardState::Finished {
                let which = match shards.len() {
                    0 => String::new(),
                    number if number == all => String::new(),
                    _ => format!(": {shards}"),
                };
                let number = shards.len();
                lines.push(format!(
                    "{:<11} {number} of {}{which}",
                    name(*state),
                    several(all, "shard")
                ));
            }
            if *state == ShardState::Stopped {
                let why = self.moments.why();
                lines.extend(
                    why.map(|(why, shards)| format!("            {shards}: {}", why.in_words())),
                );
            }
        }
        if self.moments.is_running() {
            lines.push(facts.speed().line());
        }
        if let Some(left) = facts.left() {
            let left = left.line();
            lines.push(format!("{left}, if as many shards are counted as now"));
        }
        lines.extend(host_lines(&self.hosts));
        lines.extend(faulty_lines(facts));
        let again = match self.to_submit().is_empty() {
            true => "",
            false => ", unless they wait in the queue",
        };
        for command in self.next_steps(directory, dir) {
            lines.push(match self.gathered {
                true => format!("gathered    all; `{command}` prints the total"),
                false => format!("go on       `{command}`{again}"),
            });
        }
        let outdated = self.outdated_scripts(directory, dir);
        lines.extend(outdated.iter().map(|line| format!("moved       {line}")));
        let lines: Vec<_> = lines.iter().map(|line| printable(line)).collect();
        lines.join("\n")
    }

    /// For programs.
    pub fn json(&self, directory: &ArrayDirectory) -> Json {
        let array = directory.array();
        let plans: Vec<_> = array.plans().iter().map(|plan| plan.name()).collect();
        let of = |state| self.shards(state).collect::<Vec<_>>();
        let number = |state| self.shards(state).count();
        let why = self.moments.why().map(|(why, shards)| {
            let reason = match why {
                WhyStopped::Failed(reason) => Some(reason),
                WhyStopped::Killed | WhyStopped::Asked => None,
            };
            json!({
                "why": why.name(),
                "shards": shards.iter().collect::<Vec<_>>(),
                "reason": reason,
            })
        });
        json!({
            "n": array.board().size(),
            "given": GivenSquares::of(array.board()),
            "plans": plans,
            "shards": array.shards(),
            "numbers": {
                "finished": number(ShardState::Finished),
                "running": number(ShardState::Running),
                "stopped": number(ShardState::Stopped),
                "not_begun": number(ShardState::NotBegun),
            },
            "finished": of(ShardState::Finished),
            "running": of(ShardState::Running),
            "stopped": of(ShardState::Stopped),
            "not_begun": of(ShardState::NotBegun),
            "tasks_done": self.facts.tasks.0,
            "tasks_total": self.facts.tasks.1,
            "stopped_why": why.collect::<Vec<_>>(),
            "eta_seconds": self.facts.eta.map(|eta| eta.left.as_secs_f64()),
            "gathered": self.gathered,
            "hosts": host_json(&self.hosts),
            "sick": sick_json(&self.facts.faulty),
        })
    }
}

/// A state in words.
const fn name(state: ShardState) -> &'static str {
    match state {
        ShardState::NotBegun => "not begun",
        ShardState::Running => "running",
        ShardState::Stopped => "stopped",
        ShardState::Finished => "finished",
    }
}
