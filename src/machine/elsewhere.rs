//! Main memory and the processor, as the system's own functions tell them.

use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

use super::processor::Processor;

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

/// The mean clock of the processors, in MHz.
pub(super) fn clock() -> Option<f64> {
    let asked = RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing().with_frequency());
    let system = System::new_with_specifics(asked);
    let clocks = system.cpus().iter().map(|cpu| cpu.frequency() as f64);
    let mean = clocks.sum::<f64>() / system.cpus().len() as f64;
    // A system that knows no clock tells 0.
    (mean > 0.0).then_some(mean)
}

/// The processors, as far as the system tells; it has no files below a root.
pub(super) fn described(_: &std::path::Path) -> Processor {
    let asked = RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing().with_frequency());
    let system = System::new_with_specifics(asked);
    let clock = system.cpus().first().map(|cpu| cpu.frequency() as f64);
    Processor {
        name: processor(),
        threads: Some(system.cpus().len()).filter(|threads| *threads > 0),
        cores: System::physical_core_count(),
        mhz: clock.filter(|mhz| *mhz > 0.0),
        ..Processor::default()
    }
}
