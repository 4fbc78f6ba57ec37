//! What this machine offers the process: cores, memory, the name of its processor, folders of its user.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod granted;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(feature = "cli")]
mod load;
mod memory_limit;
#[cfg(all(feature = "cli", feature = "cuda"))]
mod nvml;
mod proc_files;
#[cfg(feature = "cli")]
mod processor;
#[cfg(feature = "cli")]
mod temperature;
mod user_folders;

use std::path::Path;

#[cfg(not(target_os = "linux"))]
use elsewhere as here;
use granted::Granted;
use here::{memory, processor as name_of_processor};
#[cfg(target_os = "linux")]
use linux as here;
#[cfg(feature = "cli")]
pub use load::{Load, LoadWatch};
#[cfg(feature = "cli")]
pub use processor::{Cache, Processor};
#[cfg(feature = "cli")]
pub use temperature::{Temperature, temperatures};
pub use user_folders::user_folder;

/// What the machine offers this process. A fact that the system does not report is `None`, never an
/// error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Cores that the process may use, at least 1. CPU affinity, cgroup limits and what a scheduler of a cluster granted
    /// are respected.
    pub cores: usize,
    /// The processor's own name, such as `AMD EPYC 9654`.
    pub cpu: Option<String>,
    /// Main memory in bytes.
    pub memory: Option<u64>,
    /// The memory limit of the cgroup or of the scheduler's grant in bytes, where it is less than the main
    /// memory.
    pub memory_limit: Option<u64>,
}

impl Machine {
    /// Asks the system.
    pub fn detect() -> Self {
        let memory = memory();
        let granted = Granted::find();
        let limit = memory_limit::of_cgroup(Path::new("/sys/fs/cgroup"));
        let limit = limit.into_iter().chain(granted.memory).min();
        let cores = num_cpus::get().min(granted.cores.unwrap_or(usize::MAX));
        Self {
            cores: cores.max(1),
            cpu: name_of_processor(),
            memory,
            memory_limit: limit.filter(|limit| memory.is_none_or(|memory| *limit < memory)),
        }
    }
}

#[cfg(feature = "cli")]
impl Processor {
    /// Asks the system.
    pub fn detect() -> Self {
        here::described(Path::new("/"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_core_is_always_there() {
        assert!(Machine::detect().cores >= 1);
    }
}
