//! Main memory and the processor, as the system's own functions tell them.

use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

/// Main memory in bytes.
pub(super) fn memory() -> Option<u64> {
    let asked = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    let memory = System::new_with_specifics(asked).total_memory();
    (memory > 0).then_some(memory)
}

/// The limit on the address space of the process: none is known.
pub(super) const fn address_space() -> Option<u64> {
    None
}

/// The processor's own name, such as `Apple M2`.
pub(super) fn processor() -> Option<String> {
    let asked = RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing());
    let system = System::new_with_specifics(asked);
    let name = system.cpus().first()?.brand().trim();
    (!name.is_empty()).then(|| name.to_owned())
}
