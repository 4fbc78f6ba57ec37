//! The trace of a run. A binary of its own: whether anybody listens to a span is a fact of the
//! process, and a run without a trace that meets a span first may turn that span off for a moment.

use parking_lot::{Mutex, MutexGuard};

#[cfg(feature = "emulated-gpu")]
mod devices;
mod workers;

#[cfg(feature = "emulated-gpu")]
#[path = "../common/emulated_device.rs"]
mod emulated_device;
#[cfg(not(feature = "emulated-gpu"))]
#[path = "../common/skip.rs"]
mod skip;

/// Lets one run at a time be traced.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock()
}

#[cfg(not(feature = "emulated-gpu"))]
#[test]
fn traces_of_devices_are_skipped() {
    skip::skipped("traces of devices need --features emulated-gpu");
}
