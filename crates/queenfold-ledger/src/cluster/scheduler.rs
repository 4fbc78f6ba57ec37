//! What runs the tasks of an array, and the commands that submit them.

use std::fs;
use std::path::PathBuf;

use super::directory::DESCRIPTION;
use super::{ArrayDirectory, IndexList};
use crate::system::files::is_same;

/// What the line of a script that names the directory begins with. The path follows, and a `'`.
pub(super) const ARRAY_LINE: &str = "array='";

/// What runs the tasks of an array on the hosts of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduler {
    /// Slurm: <https://slurm.schedmd.com/sbatch.html>.
    Slurm,
    /// HyperQueue: <https://it4innovations.github.io/hyperqueue/stable/jobs/arrays/>.
    HyperQueue,
    /// Anything that can start a program with the number of a shard.
    Shell,
}

impl Scheduler {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Slurm, Self::HyperQueue, Self::Shell];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Slurm => "slurm",
            Self::HyperQueue => "hyperqueue",
            Self::Shell => "shell",
        }
    }

    /// The command that counts these shards of an array. `script` is a word of a shell.
    pub fn submit(self, script: &str, shards: &IndexList) -> String {
        match self {
            Self::Shell if shards.len() > 1 => format!(
                "for shard in {}; do {script} $shard; done",
                shards.in_bash()
            ),
            _ => format!("{script} {shards}"),
        }
    }

    /// The command that counts all shards of an array of so many. `script` is a word of a shell.
    pub fn submit_all(self, script: &str, shards: u64) -> String {
        match self {
            Self::Slurm | Self::HyperQueue => script.to_owned(),
            Self::Shell => self.submit(script, &(0..shards).collect()),
        }
    }
}

/// A script in the directory of an array, which may have one for hosts with GPUs and one for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Script {
    /// What runs it.
    pub scheduler: Scheduler,
    /// Whether GPUs count.
    pub gpus: bool,
}

impl Script {
    /// All that `directory` has.
    pub fn all(directory: &ArrayDirectory) -> impl Iterator<Item = Self> {
        let schedulers = Scheduler::ALL.into_iter();
        let scripts =
            schedulers.flat_map(|scheduler| [false, true].map(|gpus| Self { scheduler, gpus }));
        scripts.filter(|script| directory.file(&script.name()).exists())
    }

    /// The name of the file.
    pub fn name(self) -> String {
        let gpus = if self.gpus { "-gpu" } else { "" };
        format!("{}{gpus}.sh", self.scheduler.name())
    }

    /// The directory that the script in `directory` counts into, if it is another one: `directory` was moved or
    /// copied after [`Submission::script`](super::Submission::script) wrote it.
    pub fn other_target(self, directory: &ArrayDirectory) -> Option<PathBuf> {
        let script = directory.read(&self.name()).ok()??;
        let mut lines = script.lines();
        let named = lines.find_map(|line| line.strip_prefix(ARRAY_LINE)?.strip_suffix('\''))?;
        let own = fs::metadata(directory.file(DESCRIPTION)).ok()?;
        // Two names may be of one directory.
        let there = fs::metadata(PathBuf::from(named).join(DESCRIPTION));
        let is_here = there.is_ok_and(|there| is_same(&own, &there));
        (!is_here).then(|| named.into())
    }
}
