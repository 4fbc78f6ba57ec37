//! Recycled memory of the host that a device reads itself: it need not be copied before it goes up.

use std::collections::HashMap;
use std::ffi::c_void;

use cudarc::driver::sys;

use crate::engine::Recycled;

/// The recycled memory that a device has seen. A context is current whenever it is used or dropped.
#[derive(Default)]
pub(super) struct Pinned {
    /// By its number: where it is, if it was pinned.
    seen: HashMap<usize, Option<*mut c_void>>,
}

impl Pinned {
    /// Whether the memory is pinned. Pins it when it is seen first, which takes longer than to copy what is in it.
    ///
    /// The system may refuse, because too much is pinned, or because another device of this process has done so.
    /// Then it is copied, as all other memory is.
    pub(super) fn has(&mut self, memory: Recycled) -> bool {
        let pinned = self.seen.entry(memory.number).or_insert_with(|| {
            let address: *mut c_void = memory.address.cast_mut().cast();
            // SAFETY: recycled memory is never freed or moved, and so long. A context is current.
            let done = unsafe {
                sys::cuMemHostRegister_v2(address, memory.bytes, sys::CU_MEMHOSTREGISTER_PORTABLE)
            };
            (done == sys::CUresult::CUDA_SUCCESS).then_some(address)
        });
        pinned.is_some()
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        for &address in self.seen.values().flatten() {
            // SAFETY: it was pinned here, and no launch uses it any more. An error means that the context is
            // lost.
            let _ = unsafe { sys::cuMemHostUnregister(address) };
        }
    }
}
