//! What runs the tasks of an array, and the commands that submit them.

use std::fs;
use std::path::PathBuf;

use super::array::DESCRIPTION;
use super::{ArrayDirectory, IndexList};
use crate::system::files::is_same;

/// What the line of a script that names the directory begins with. The path follows, and a `'`.
pub(super) const ARRAY_LINE: &str = "array='";

/// The most array tasks of one submission to Slurm, whose `MaxArraySize` is 1001 unless the cluster changes it.
pub(super) const BLOCK: u64 = 1000;

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

    /// The commands that count these shards of an array. `script` is a word of a shell.
    pub fn submit(self, script: &str, shards: &IndexList) -> Vec<String> {
        match self {
            Self::Slurm => {
                let blocks = shards.blocks(BLOCK).into_iter();
                blocks
                    .map(|(first, shards)| match first {
                        0 => format!("sbatch --array={shards} {script}"),
                        // Named by shards, as those of the first block are.
                        first => format!(
                            "sbatch --array={shards} --output={}logs/%A-{}%3a.log {script} {first}",
                            script.trim_end_matches(self.script()),
                            first / BLOCK
                        ),
                    })
                    .collect()
            }
            Self::HyperQueue => vec![format!("hq submit --array={shards} {script}")],
            Self::Shell => vec![format!(
                "for shard in {}; do {script} $shard; done",
                shards.in_bash()
            )],
        }
    }

    /// The commands that count all shards of an array of so many. `script` is a word of a shell.
    pub fn submit_all(self, script: &str, shards: u64) -> Vec<String> {
        let all: IndexList = (0..shards).collect();
        match self {
            // What to count stands in the script.
            Self::Slurm if shards <= BLOCK => vec![format!("sbatch {script}")],
            Self::HyperQueue => vec![format!("hq submit {script}")],
            Self::Slurm | Self::Shell => self.submit(script, &all),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slurm_takes_a_thousand_tasks_at_once() {
        let all = |shards| Scheduler::Slurm.submit_all("a/slurm.sh", shards);
        assert_eq!(all(1000), ["sbatch a/slurm.sh"]);
        assert_eq!(
            all(2001),
            [
                "sbatch --array=0-999 a/slurm.sh",
                "sbatch --array=0-999 --output=a/logs/%A-1%3a.log a/slurm.sh 1000",
                "sbatch --array=0 --output=a/logs/%A-2%3a.log a/slurm.sh 2000"
            ]
        );
        let some: IndexList = [3, 999, 1000, 1001, 5007].into_iter().collect();
        assert_eq!(
            Scheduler::Slurm.submit("a/slurm.sh", &some),
            [
                "sbatch --array=3,999 a/slurm.sh",
                "sbatch --array=0-1 --output=a/logs/%A-1%3a.log a/slurm.sh 1000",
                "sbatch --array=7 --output=a/logs/%A-5%3a.log a/slurm.sh 5000"
            ]
        );
    }
}
