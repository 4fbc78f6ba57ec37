//! The time of a device, by its events.

use std::ptr;
use std::time::Duration;

use cudarc::driver::result::{DriverError, event};
use cudarc::driver::sys::{CUevent, CUevent_flags, CUresult, CUstream};

use super::driver::elapsed;

/// A mark is renewed when it is this old: the driver gives times in milliseconds with 24 bits, so that
/// times of 16 s and less are exact to a microsecond, and those of a month only to a quarter of a second.
const OLD: Duration = Duration::from_secs(10);

/// Measures when events happened, from when the device was opened.
pub(super) struct Clock {
    /// The event that times are measured from.
    mark: CUevent,
    /// When it happened.
    at: Duration,
    /// The event that becomes the mark once the device has reached it.
    next: CUevent,
    renewing: bool,
}

impl Clock {
    /// A clock that begins now. Waits until the device, which is idle, has reached the first mark.
    pub(super) fn start(aside: CUstream) -> Result<Self, DriverError> {
        // Dropped with events that are not made yet, it destroys those that are.
        let mut clock = Self {
            mark: ptr::null_mut(),
            at: Duration::ZERO,
            next: ptr::null_mut(),
            renewing: false,
        };
        for made in [&mut clock.mark, &mut clock.next] {
            *made = event::create(CUevent_flags::CU_EVENT_DEFAULT)?;
        }
        // SAFETY: event and stream belong to the current context.
        unsafe { event::record(clock.mark, aside) }?;
        Ok(clock)
    }

    /// Whether the device has reached the first mark, as far as is known. An error shows again at the
    /// first launch.
    pub(super) fn has_started(&self) -> bool {
        // SAFETY: the mark lives and is recorded.
        unsafe { reached(self.mark) != Ok(false) }
    }

    /// When `event` happened.
    ///
    /// # Safety
    /// The event lives, is recorded and complete.
    pub(super) unsafe fn time(&self, event: CUevent) -> Result<Duration, DriverError> {
        // SAFETY: the mark lives and is complete, for the event says the caller.
        let since = unsafe { elapsed(self.mark, event) }?;
        // An event may have happened before the mark.
        let seconds = self.at.as_secs_f64() + f64::from(since) / 1000.0;
        Ok(Duration::from_secs_f64(seconds.max(0.0)))
    }

    /// Renews the mark if it is old at the time `now`. `aside` must not wait for launches.
    pub(super) fn keep_exact(&mut self, now: Duration, aside: CUstream) -> Result<(), DriverError> {
        if !self.renewing && now.saturating_sub(self.at) > OLD {
            // SAFETY: event and stream belong to the current context.
            unsafe { event::record(self.next, aside) }?;
            self.renewing = true;
        }
        // SAFETY: the next mark lives and is recorded.
        if self.renewing && unsafe { reached(self.next) }? {
            // SAFETY: it is complete, too.
            self.at = unsafe { self.time(self.next) }?;
            std::mem::swap(&mut self.mark, &mut self.next);
            self.renewing = false;
        }
        Ok(())
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        for made in [self.mark, self.next] {
            if !made.is_null() {
                // SAFETY: it was made here and is destroyed once. An error means that it is gone.
                let _ = unsafe { event::destroy(made) };
            }
        }
    }
}

/// Whether the device has reached an event.
///
/// # Safety
/// The event lives and is recorded.
pub(super) unsafe fn reached(event: CUevent) -> Result<bool, DriverError> {
    // SAFETY: it lives, says the caller.
    match unsafe { event::query(event) } {
        Err(DriverError(CUresult::CUDA_ERROR_NOT_READY)) => Ok(false),
        done => done.map(|()| true),
    }
}
