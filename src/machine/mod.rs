//! What this machine offers the process: cores, memory, the name of its processor, folders of its user.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod granted;
#[cfg(target_os = "linux")]
mod linux;
mod memory_limit;
#[cfg(all(feature = "cli", feature = "cuda"))]
mod nvml;
mod proc_files;
#[cfg(feature = "cli")]
mod temperature;
mod user_folders;

use std::path::Path;

#[cfg(not(target_os = "linux"))]
use elsewhere::{memory, processor};
use granted::Granted;
#[cfg(target_os = "linux")]
use linux::{memory, processor};
#[cfg(feature = "cli")]
pub use temperature::temperatures;
pub use user_folders::user_folder;

/// What the machine offers this process. A fact that the system does not report is `None`, never an
/// error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Cores that the process may use, at least 1. CPU affinity, cgroup limits and what Slurm or HyperQueue
    /// granted are respected.
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
            cpu: processor(),
            memory,
            memory_limit: limit.filter(|limit| memory.is_none_or(|memory| *limit < memory)),
        }
    }

    /// The memory that the process may use at most, in bytes.
    pub fn usable_memory(&self) -> Option<u64> {
        self.memory_limit.or(self.memory)
    }

    /// The memory that each of `workers` may use, in bytes: an equal share of three quarters of
    /// what the process may use. If the system reports no size, 512 MiB.
    pub fn memory_per_worker(&self, workers: usize) -> u64 {
        memory_limit::per_worker(self.usable_memory(), workers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_share_what_the_limit_allows() {
        let machine = Machine {
            cores: 4,
            cpu: None,
            memory: Some(16 << 30),
            memory_limit: Some(8 << 30),
        };
        assert_eq!(machine.memory_per_worker(3), 2 << 30);
        let unlimited = Machine {
            memory_limit: None,
            ..machine
        };
        assert_eq!(unlimited.memory_per_worker(3), 4 << 30);
    }

    #[test]
    fn some_core_is_always_there() {
        assert!(Machine::detect().cores >= 1);
    }
}
