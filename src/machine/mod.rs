//! What this machine offers the process: cores, memory, the name of its processor, folders of its user.

mod activity;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod granted;
#[cfg(target_os = "linux")]
mod linux;
mod load;
mod memory_limit;
#[cfg(feature = "cuda")]
mod nvml;
#[cfg(not(feature = "cuda"))]
mod nvml {
    pub(super) const fn gpus() -> Vec<f64> {
        Vec::new()
    }
}
mod proc_files;
mod processor;
mod temperature;
mod user_folders;

use std::path::Path;

pub use activity::{Activity, ActivityWatch};
#[cfg(not(target_os = "linux"))]
use elsewhere as here;
use granted::Granted;
use here::{address_space, memory, processor as name_of_processor};
#[cfg(target_os = "linux")]
use linux as here;
pub use load::{CpuShares, Load, LoadWatch};
pub use processor::{Cache, Processor};
pub use temperature::{Temperature, believed_temperatures, temperatures};
pub use user_folders::config_folder;

/// What the machine offers this process. A fact that the system does not report is `None`, never an
/// error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Cores that the process may use, at least 1. CPU affinity, cgroup limits and what a scheduler of a cluster granted
    /// are respected.
    pub cores: usize,
    /// The [title](Processor::title) of the processor, such as `AMD EPYC 9654 (family 25, model 17)`.
    pub cpu: Option<String>,
    /// Main memory in bytes.
    pub memory: Option<u64>,
    /// The memory limit of the cgroup, of the scheduler's grant or of the address space in bytes, where it is less
    /// than the main memory.
    pub memory_limit: Option<u64>,
    /// The limit on the address space of the process in bytes (`ulimit -v`).
    pub address_space: Option<u64>,
}

/// The address space that the program needs without any worker, in bytes: its code, its own threads and what they
/// hold. Measured with one and two workers: 30 MiB.
const OWN_SPACE: u64 = 36 << 20;

/// The address space of a worker: 2 MiB for its stack, and its lists (at 22 queens, 3 MiB).
const WORKER_SPACE: u64 = 6 << 20;

impl Machine {
    /// How many workers have room in the address space: where there is none for what a thread allocates, the
    /// program can only abort.
    pub fn room_for_workers(&self) -> usize {
        let workers = self.address_space.map_or(u64::MAX, |space| {
            space.saturating_sub(OWN_SPACE) / WORKER_SPACE
        });
        usize::try_from(workers).unwrap_or(usize::MAX)
    }

    /// The address space that so many workers need, in bytes.
    pub const fn space_for(workers: usize) -> u64 {
        OWN_SPACE + WORKER_SPACE * workers as u64
    }

    /// Asks the system.
    pub fn detect() -> Self {
        let memory = memory();
        let granted = Granted::find();
        let limit = memory_limit::of_cgroup(Path::new("/sys/fs/cgroup"));
        let address_space = address_space();
        let limits = limit.into_iter().chain(granted.memory).chain(address_space);
        let limit = limits.min();
        let cores = num_cpus::get().min(granted.cores.unwrap_or(usize::MAX));
        Self {
            cores: cores.max(1),
            cpu: name_of_processor(),
            memory,
            memory_limit: limit.filter(|limit| memory.is_none_or(|memory| *limit < memory)),
            address_space,
        }
    }
}

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
