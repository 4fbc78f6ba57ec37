//! What runs the tasks of an array, and the commands that submit them.

use std::fs;
use std::path::PathBuf;

use super::array::DESCRIPTION;
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

    /// The name of its script in the directory of an array.
    pub const fn script(self) -> &'static str {
        match self {
            Self::Slurm => "slurm.sh",
            Self::HyperQueue => "hyperqueue.sh",
            Self::Shell => "shell.sh",
        }
    }

    /// The command that counts these shards of an array. `script` is a word of a shell.
    pub fn submit(self, script: &str, shards: &IndexList) -> String {
        match self {
            Self::Slurm | Self::HyperQueue => format!("{script} {shards}"),
            Self::Shell => format!(
                "for shard in {}; do {script} $shard; done",
                shards.in_bash()
            ),
        }
    }

    /// The command that counts all shards of an array of so many. `script` is a word of a shell.
    pub fn submit_all(self, script: &str, shards: u64) -> String {
        match self {
            Self::Slurm | Self::HyperQueue => script.to_owned(),
            Self::Shell => self.submit(script, &(0..shards).collect()),
        }
    }

    /// Whether `directory` has a script for this scheduler.
    pub fn has_script(self, directory: &ArrayDirectory) -> bool {
        directory.file(self.script()).exists()
    }

    /// The directory that the script in `directory` counts into, if it is another one: `directory` was moved or
    /// copied after [`Submission::script`](super::Submission::script) wrote it.
    pub fn other_target(self, directory: &ArrayDirectory) -> Option<PathBuf> {
        let script = directory.read(self.script()).ok()??;
        let mut lines = script.lines();
        let named = lines.find_map(|line| line.strip_prefix(ARRAY_LINE)?.strip_suffix('\''))?;
        let own = fs::metadata(directory.file(DESCRIPTION)).ok()?;
        // Two names may be of one directory.
        let there = fs::metadata(PathBuf::from(named).join(DESCRIPTION));
        let is_here = there.is_ok_and(|there| is_same(&own, &there));
        (!is_here).then(|| named.into())
    }
}
