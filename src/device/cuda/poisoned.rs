//! Devices that this process can use no longer, because their context is poisoned.
//!
//! CUDA keeps one context of a device for the whole process. After some errors (a kernel that reads
//! beyond its memory, an uncorrectable error of the memory) every call fails until the process ends, and
//! while a kernel runs, no call that frees something returns.

use std::collections::BTreeMap;

use parking_lot::Mutex;

/// Why a process uses a device no longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Poisoned {
    /// The driver reported an error, which may stick to the process: another one may use the device.
    Failed,
    /// A kernel on it does not end. It was left to run, with all its memory.
    Endless,
}

impl Poisoned {
    pub(super) const fn in_words(self) -> &'static str {
        match self {
            Self::Failed => "its error stays as long as this process",
            Self::Endless => "a launch on it does not end",
        }
    }
}

/// By the numbers of the devices.
static POISONED: Mutex<BTreeMap<usize, Poisoned>> = Mutex::new(BTreeMap::new());

/// Notes that this process can no longer use device `index`.
pub(super) fn poison(index: usize, how: Poisoned) {
    let mut poisoned = POISONED.lock();
    let known = poisoned.entry(index).or_insert(how);
    *known = how.max(*known);
}

/// Whether this process can no longer use device `index`.
pub(super) fn poisoned(index: usize) -> Option<Poisoned> {
    POISONED.lock().get(&index).copied()
}

/// Whether a kernel that this process has started does not end. Such a process must end without running
/// the destructors of its libraries (`_exit` of C): that of the CUDA driver waits for the kernel.
pub fn has_endless_kernel() -> bool {
    POISONED
        .lock()
        .values()
        .any(|how| *how == Poisoned::Endless)
}
