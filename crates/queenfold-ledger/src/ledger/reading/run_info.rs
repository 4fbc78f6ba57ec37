//! What a run directory says of its run and of the processes that worked on it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::ledger::database::digest::{Digest, DigestFields, context};
use crate::ledger::{LedgerError, PlanInfo, Shard};
use queenfold::actors::FaultyWorker;
use queenfold::board::{GivenBoard, Size};
use queenfold::engine::Plan;

/// What a run counts. Written when the directory is made, never changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunInfo {
    /// The board.
    pub board: GivenBoard,
    /// The plans, at most one of each engine.
    pub plans: Vec<PlanInfo>,
    /// The part of the tasks that a run in this directory counts. A merged directory also holds the
    /// tasks of other shards; resuming it counts the rest.
    pub shard: Shard,
    /// The resolved configuration that the run began with, as the program wrote it.
    pub config: String,
    /// Name and version of the program that made the directory.
    pub program: String,
}

impl RunInfo {
    /// The run of `plans`, which must be for one board, by this program.
    pub fn new(
        board: impl Into<GivenBoard>,
        plans: &[Arc<dyn Plan>],
        shard: Shard,
        config: String,
    ) -> Self {
        Self {
            board: board.into(),
            plans: plans
                .iter()
                .map(|plan| PlanInfo::of(plan.as_ref()))
                .collect(),
            shard,
            config,
            program: crate::ledger::program(),
        }
    }

    /// The size of the board.
    pub const fn n(&self) -> Size {
        self.board.size()
    }

    /// A digest of what is counted: board and plans, whose hashes contain what is given. It is part of the digest of each record.
    pub fn key(&self) -> Digest {
        let mut fields = DigestFields::new(context::RUN);
        fields.u64(u64::from(self.n().get()));
        for plan in &self.plans {
            fields
                .text(plan.engine.name())
                .text(&plan.name.to_string())
                .u64(plan.tasks)
                .text(&plan.hash);
        }
        fields.digest()
    }

    /// What is counted, in words: `n = 16 by chain and census`, or `n = 16 with queens c3 by chain`.
    pub fn subject(&self) -> String {
        let engines = self.plans.iter().map(|plan| plan.engine.name());
        format!(
            "{} by {}",
            self.board_in_words(),
            engines.collect::<Vec<_>>().join(" and ")
        )
    }

    /// The board, in words: `n = 16`, or `n = 16 with queens c3`.
    fn board_in_words(&self) -> String {
        match self.board.is_free() {
            true => format!("n = {}", self.n()),
            false => format!("n = {} with {}", self.n(), self.board),
        }
    }

    /// Checks that `plans` are those of this run: they have the same tasks, so counts can be added.
    ///
    /// # Errors
    /// A plan differs. `file` is named in the message.
    pub(crate) fn check_plans(
        &self,
        file: &Path,
        plans: &[Arc<dyn Plan>],
    ) -> Result<(), LedgerError> {
        let own: Vec<_> = plans
            .iter()
            .map(|plan| PlanInfo::of(plan.as_ref()))
            .collect();
        let reason = if own.len() == self.plans.len() {
            let mut pairs = self.plans.iter().zip(&own);
            match pairs.find(|(theirs, own)| theirs != own) {
                None => return Ok(()),
                Some((theirs, own)) if theirs.name == own.name => format!(
                    "the tasks of plan {} of this program are not those the run was made with \
                     (plan hash {}, the run has {})",
                    own.name, own.hash, theirs.hash
                ),
                Some((theirs, own)) => format!(
                    "the run has plan {}, made by {}; this program has {}, whose tasks differ: \
                     finish it with the program that began it",
                    theirs.name, self.program, own.name
                ),
            }
        } else {
            "the run has other engines than asked for".to_owned()
        };
        Err(LedgerError::other(file, reason))
    }
}

/// One process that worked on the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Names it among all sessions of all directories: 16 hexadecimal digits.
    pub id: String,
    /// What it ran on, and when.
    pub facts: Facts,
    /// From its start to its last commit, by a monotonic clock.
    pub elapsed: Duration,
    /// The CPU time of its process in that time. `None`: an earlier version of the program did not record it.
    pub cpu: Option<Duration>,
    /// When it last committed, in seconds since 1970 by the clock of its machine.
    pub committed: i64,
}

/// What a session ran on, and when.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// 1 for the first process that worked on the directory, and so on.
    pub number: u64,
    /// The name of the machine.
    pub host: String,
    /// Its processor.
    pub processor: String,
    /// Name and version of the program.
    pub program: String,
    /// The instruction set of the CPU workers.
    pub isa: String,
    /// CPU workers.
    pub workers: u64,
    /// Other devices, by name.
    pub devices: Vec<String>,
    /// The resolved configuration.
    pub config: String,
    /// Workers and devices that counted wrongly.
    #[serde(rename = "sick", default, skip_serializing_if = "Vec::is_empty")]
    pub faulty: Vec<FaultyWorker>,
    /// Whether it counted recorded tasks a second time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
    /// Where it came from: a merged directory, by the id of the session that came from there first, a shard of this job
    /// array (`shard 3/8`), or a signed file, by the key (`key 5a…`). Empty: it counted here.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub merged: String,
    /// When it began, in seconds since 1970 by the clock of its machine.
    pub started: i64,
}

/// How the mark of a session begins that was gathered. No mark of a directory has a blank.
const OF_SHARD: &str = "shard ";

/// How the mark of a session begins that came in a signed file.
const OF_KEY: &str = "key ";

/// How long sessions took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkTime {
    /// Wall time: that of sessions that worked at once counts once. `None`: certificates alone tell of some.
    pub elapsed: Option<Duration>,
    /// CPU time, added up; `None` if that of some session is not known.
    pub cpu: Option<Duration>,
}

impl Facts {
    /// Whether both are of one program on one machine: all that a certificate tells.
    pub(crate) fn is_on(&self, other: &Self) -> bool {
        (&self.host, &self.processor, &self.program)
            == (&other.host, &other.processor, &other.program)
    }

    /// Whether a certificate alone tells of it, which names no instruction set and no time.
    pub fn is_of_certificate(&self) -> bool {
        self.isa.is_empty()
    }
}

impl Session {
    /// What a session is marked with that was gathered from a shard of a job array.
    pub(crate) fn mark_of(shard: Shard) -> String {
        format!("{OF_SHARD}{shard}")
    }

    /// What a session is marked with that came in a file which this key signed.
    pub(crate) fn mark_of_key(key: &str) -> String {
        format!("{OF_KEY}{key}")
    }

    /// The key that signed the file in which it came.
    pub(crate) fn signer(&self) -> Option<&str> {
        self.facts.merged.strip_prefix(OF_KEY)
    }

    /// Whether it was gathered from a shard of a job array.
    pub(crate) fn is_gathered(&self) -> bool {
        self.facts.merged.starts_with(OF_SHARD)
    }

    /// Whether it counted in this directory, or in a shard of this array, and did not come by a merge.
    pub fn is_here(&self) -> bool {
        self.facts.merged.is_empty() || self.is_gathered()
    }

    /// How long anybody counted a run for the first time, or, if `again`, the second time.
    pub fn time(sessions: &[Self], again: bool) -> WorkTime {
        let counted = || sessions.iter().filter(|of| of.facts.again == again);
        let is_timed = counted().all(|session| !session.facts.is_of_certificate());
        WorkTime {
            elapsed: is_timed.then(|| Self::wall_time(counted())),
            cpu: counted().map(|session| session.cpu).sum(),
        }
    }

    /// The time of sessions that worked at once counts once. Each lies before its last commit by the clock of the
    /// machine that wrote the ledger, which is read to seconds.
    fn wall_time<'a>(sessions: impl Iterator<Item = &'a Self>) -> Duration {
        const SECOND: f64 = 1.0;
        let span = |session: &Self| {
            let end = session.committed as f64;
            (end - session.elapsed.as_secs_f64(), end)
        };
        let mut spans: Vec<_> = sessions.map(span).collect();
        spans.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut all = 0.0;
        let mut until = f64::MIN;
        for (begin, end) in spans {
            // Sessions that follow each other seem to overlap by up to a second.
            let overlap = (until - begin).clamp(0.0, end - begin);
            all += end - begin - if overlap > SECOND { overlap } else { 0.0 };
            until = until.max(end);
        }
        // As exact as they are stored.
        Duration::from_millis((all * 1e3).round() as u64)
    }

    /// The digest that is stored with a session of the run with the key `run`.
    pub(crate) fn digest(run: &Digest, id: &str, facts: &str, elapsed: u64, at: i64) -> Digest {
        DigestFields::new(context::SESSION)
            .bytes(&run.0)
            .text(id)
            .text(facts)
            .u64(elapsed)
            .bytes(&at.to_le_bytes())
            .digest()
    }
}
