//! How much memory the process may use.

use std::path::Path;

use super::proc_files::read;

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
