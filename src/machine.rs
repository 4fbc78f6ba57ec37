//! What this machine offers the process: cores, memory, the name of its processor.

use std::fs;
use std::path::Path;

/// What the machine offers this process. A fact that the system does not report is `None`, never an
/// error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Cores that the process may use, at least 1. CPU affinity and cgroup limits are respected.
    pub cores: usize,
    /// The processor's own name, such as `AMD EPYC 9654`.
    pub cpu: Option<String>,
    /// Main memory in bytes.
    pub memory: Option<u64>,
    /// The memory limit of the cgroup in bytes, where it is less than the main memory.
    pub memory_limit: Option<u64>,
}

impl Machine {
    /// Asks the system.
    pub fn detect() -> Self {
        let memory = read("/proc/meminfo").and_then(|text| main_memory(&text));
        let limit = cgroup_limit(Path::new("/sys/fs/cgroup"));
        Self {
            cores: num_cpus::get().max(1),
            cpu: read("/proc/cpuinfo").and_then(|text| cpu_name(&text)),
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
        const UNKNOWN: u64 = 512 << 20;
        let share = |usable: u64| usable / 4 * 3 / workers.max(1) as u64;
        self.usable_memory().map_or(UNKNOWN, share)
    }
}

fn read(path: impl AsRef<Path>) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// The value after `key :` in the text of a file in `/proc`.
fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key && !value.trim().is_empty()).then(|| value.trim())
    })
}

fn cpu_name(cpuinfo: &str) -> Option<String> {
    field(cpuinfo, "model name").map(str::to_owned)
}

fn main_memory(meminfo: &str) -> Option<u64> {
    let kib = field(meminfo, "MemTotal")?.strip_suffix("kB")?;
    kib.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The smallest memory limit of the process's cgroup and its ancestors (cgroup version 2 or 1).
fn cgroup_limit(root: &Path) -> Option<u64> {
    let groups = read("/proc/self/cgroup")?;
    let limits = groups.lines().flat_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, group) = (parts.next().unwrap_or(""), parts.next().unwrap_or("/"));
        let (root, file) = if controllers.is_empty() {
            (root.to_owned(), "memory.max")
        } else {
            (root.join("memory"), "memory.limit_in_bytes")
        };
        Path::new(group.trim_start_matches('/'))
            .ancestors()
            .filter_map(|group| read(root.join(group).join(file))?.trim().parse().ok())
            .collect::<Vec<u64>>()
    });
    limits.min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_proc_are_read() {
        let cpuinfo = "processor\t: 0\nmodel name\t: Some CPU @ 2.0GHz\nflags : a b\n";
        assert_eq!(cpu_name(cpuinfo), Some("Some CPU @ 2.0GHz".into()));
        assert_eq!(cpu_name("processor : 0\n"), None);
        assert_eq!(
            main_memory("MemTotal:       16 kB\nMemFree: 3 kB"),
            Some(16384)
        );
        assert_eq!(main_memory("MemTotal: much"), None);
    }

    #[test]
    fn workers_share_three_quarters_of_the_usable_memory() {
        let machine = Machine {
            cores: 4,
            cpu: None,
            memory: Some(16 << 30),
            memory_limit: Some(8 << 30),
        };
        assert_eq!(machine.memory_per_worker(3), 2 << 30);
        assert_eq!(machine.memory_per_worker(0), 6 << 30);
        let unknown = Machine {
            memory: None,
            memory_limit: None,
            ..machine
        };
        assert_eq!(unknown.memory_per_worker(64), 512 << 20);
    }

    #[test]
    fn some_core_is_always_there() {
        assert!(Machine::detect().cores >= 1);
    }
}
