//! How much memory the process may use, and how much of it each worker.

use std::path::Path;

use super::proc_files::read;

/// The memory that each of `workers` may use, in bytes: an equal share of three quarters of what the
/// process may use. If that is unknown, 512 MiB.
pub(super) fn per_worker(usable: Option<u64>, workers: usize) -> u64 {
    const UNKNOWN: u64 = 512 << 20;
    let share = |usable: u64| usable / 4 * 3 / workers.max(1) as u64;
    usable.map_or(UNKNOWN, share)
}

/// The smallest memory limit of the process's cgroup and its ancestors (cgroup version 2 or 1).
pub(super) fn of_cgroup(root: &Path) -> Option<u64> {
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
    fn workers_share_three_quarters_of_the_usable_memory() {
        assert_eq!(per_worker(Some(8 << 30), 3), 2 << 30);
        assert_eq!(per_worker(Some(8 << 30), 0), 6 << 30);
        assert_eq!(per_worker(None, 64), 512 << 20);
    }
}
