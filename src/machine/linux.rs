//! Main memory and the processor, from files of `/proc`.

use super::memory_limit::of_address_space;
use super::proc_files::{field, read};

/// Main memory in bytes.
pub(super) fn memory() -> Option<u64> {
    main_memory(&read("/proc/meminfo")?)
}

/// The limit on the address space of the process, in bytes.
pub(super) fn address_space() -> Option<u64> {
    of_address_space(&read("/proc/self/limits")?)
}

/// The processor's own name, such as `AMD EPYC 9654`.
pub(super) fn processor() -> Option<String> {
    cpu_name(&read("/proc/cpuinfo")?)
}

fn main_memory(meminfo: &str) -> Option<u64> {
    let kib = field(meminfo, "MemTotal")?.strip_suffix("kB")?;
    kib.trim().parse::<u64>().ok()?.checked_mul(1024)
}

fn cpu_name(cpuinfo: &str) -> Option<String> {
    field(cpuinfo, "model name").map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_main_memory_is_read() {
        assert_eq!(
            main_memory("MemTotal:       16 kB\nMemFree: 3 kB"),
            Some(16384)
        );
        assert_eq!(main_memory("MemTotal: much"), None);
    }

    #[test]
    fn the_name_of_the_processor_is_read() {
        let cpuinfo = "processor\t: 0\nmodel name\t: Some CPU @ 2.0GHz\nflags : a b\n";
        assert_eq!(cpu_name(cpuinfo), Some("Some CPU @ 2.0GHz".into()));
        assert_eq!(cpu_name("processor : 0\n"), None);
    }
}
