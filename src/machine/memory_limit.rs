//! How much memory the process may use.

use std::path::Path;

use super::proc_files::read;

/// The smallest memory limit of the process's cgroup and its ancestors (cgroup version 2 or 1).
pub(super) fn of_cgroup(root: &Path) -> Option<u64> {
    let groups = read("/proc/self/cgroup")?;
    let limits = groups.lines().flat_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, group) = (parts.next().unwrap_or(""), parts.next().unwrap_or("/"));
        let (root, file) = match controllers {
            "" => (root.to_owned(), "memory.max"),
            "memory" => (root.join("memory"), "memory.limit_in_bytes"),
            // Its groups are those of another tree.
            _ => return Vec::new(),
        };
        Path::new(group.trim_start_matches('/'))
            .ancestors()
            .filter_map(|group| read(root.join(group).join(file))?.trim().parse().ok())
            .collect::<Vec<u64>>()
    });
    limits.min()
}

/// The limit on the address space of the process (`ulimit -v`), by the text of `/proc/self/limits`.
#[cfg(target_os = "linux")]
pub(super) fn of_address_space(limits: &str) -> Option<u64> {
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_on_the_address_space_is_read() {
        let limits = "Limit Soft Limit Hard Limit Units\n\
             Max locked memory 8388608 8388608 bytes\n\
             Max address space         104857600            unlimited            bytes";
        assert_eq!(of_address_space(limits), Some(104_857_600));
        assert_eq!(
            of_address_space(&limits.replace("104857600", "unlimited")),
            None
        );
        assert_eq!(of_address_space(""), None);
    }
}
