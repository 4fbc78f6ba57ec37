//! A slot: the buffers and events of one launch at a time, which the next launch uses again, and the clock that says when
//! these events happened.

use std::ffi::c_void;
use std::ptr;
use std::time::Duration;

use cudarc::driver::result::{self, DriverError, event, stream};
use cudarc::driver::sys::{
    CUdeviceptr, CUevent, CUevent_flags, CUevent_wait_flags, CUfunction, CUmodule, CUresult,
    CUstream,
};

use super::driver::elapsed;
use crate::engine::{Completed, DeviceSpan, DeviceSpans, Launch, Ticket};

/// A kernel ready to be launched.
#[derive(Clone, Copy)]
pub(super) struct Ready {
    pub(super) module: CUmodule,
    pub(super) function: CUfunction,
    /// As many blocks as the device runs at a time.
    pub(super) blocks: u32,
    /// Threads in a block.
    pub(super) block: u32,
    /// Bytes of shared memory of a block.
    pub(super) shared: u32,
    /// Registers of a thread.
    pub(super) registers: u32,
}

/// Writing this, or anything above the number of jobs, to a launch's next job ends it early.
const NO_MORE: u32 = 1 << 31;

/// Words of `Progress` in kernels/device.h, the beginning of what is sent: next job, jobs done.
const PROGRESS: usize = 2;
/// Where jobs begin in what is sent, in words: a multiple of 16 bytes.
const HEADER: usize = 4;

/// Bytes for jobs and tables that a slot has at least where there is memory: those of a million jobs of the
/// chain. The first launches are small, and memory grows with them, a few times in a run.
pub(super) const LEAST_UP: usize = 16 << 20;

fn bytes_up(launch: &Launch) -> usize {
    (HEADER + launch.jobs().len() + launch.tables().len()) * 4
}

fn bytes_down(launch: &Launch) -> usize {
    launch.sums() * 8 + PROGRESS * 4
}

pub(super) struct Slot {
    stream: CUstream,
    stream_number: usize,
    /// Jobs and tables on their way up.
    up: Buffers,
    /// Sums, and at their end progress, on their way down.
    down: Buffers,
    /// Beginning, after the upload, after the kernel, after the download.
    events: [Event; 4],
    /// After the copy that ended a launch early.
    cancelled: Event,
    /// Whether such a copy may still be under way.
    cancelling: bool,
    /// A launch, and how many sums it gives.
    holds: Option<(Ticket, usize)>,
}

/// A buffer on the device, and one as long in host memory that the device can reach.
struct Buffers {
    host: *mut c_void,
    device: CUdeviceptr,
    bytes: usize,
}

impl Buffers {
    const NONE: Self = Self {
        host: ptr::null_mut(),
        device: 0,
        bytes: 0,
    };

    fn allocate(bytes: usize) -> Result<Self, DriverError> {
        let mut made = Self::NONE;
        // SAFETY: a context is current. Flags 0: cached memory, which the CPU can read quickly.
        made.host = unsafe { result::malloc_host(bytes, 0) }?;
        // SAFETY: a context is current.
        made.device = unsafe { result::malloc_sync(bytes) }?;
        made.bytes = bytes;
        Ok(made)
    }

    /// Makes room for so many bytes. The previous contents are lost.
    fn reserve(&mut self, bytes: usize) -> Result<(), DriverError> {
        if bytes <= self.bytes {
            return Ok(());
        }
        // Half as much again as before: a buffer grows a few times only.
        let roomy = bytes
            .max(self.bytes + self.bytes / 2)
            .next_multiple_of(1 << 20);
        *self = Self::NONE;
        *self = Self::allocate(roomy)?;
        Ok(())
    }

    /// The first `words` of the host's buffer.
    fn words(&mut self, words: usize) -> &mut [u32] {
        assert!(words * 4 <= self.bytes);
        // SAFETY: the buffer is that long, aligned to a page, and written before it is read: what
        // goes up by the CPU, what comes down by the device.
        unsafe { std::slice::from_raw_parts_mut(self.host.cast(), words) }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // An error means that the context is lost, and the memory with it.
        if !self.host.is_null() {
            // SAFETY: it came from `malloc_host` and is freed once.
            let _ = unsafe { result::free_host(self.host) };
        }
        if self.device != 0 {
            // SAFETY: it came from `malloc_sync` and is freed once.
            let _ = unsafe { result::memory_free(self.device) };
        }
    }
}

impl Slot {
    /// A slot of `stream`, whose context is current.
    pub(super) fn new(stream: CUstream, stream_number: usize) -> Result<Self, DriverError> {
        let event = || Event::new(CUevent_flags::CU_EVENT_BLOCKING_SYNC);
        Ok(Self {
            stream,
            stream_number,
            up: Buffers::NONE,
            down: Buffers::NONE,
            events: [event()?, event()?, event()?, event()?],
            cancelled: event()?,
            cancelling: false,
            holds: None,
        })
    }

    pub(super) const fn is_free(&self) -> bool {
        self.holds.is_none()
    }

    pub(super) const fn stream_number(&self) -> usize {
        self.stream_number
    }

    /// Whether it has memory for `launch`.
    pub(super) fn has_room(&self, launch: &Launch) -> bool {
        bytes_up(launch) <= self.up.bytes && bytes_down(launch) <= self.down.bytes
    }

    /// Makes room for `launch`, at least these bytes for jobs and tables. To allocate memory and to free it may make
    /// the driver wait for all launches.
    pub(super) fn reserve(&mut self, launch: &Launch, least: usize) -> Result<(), DriverError> {
        self.up.reserve(bytes_up(launch).max(least))?;
        self.down.reserve(bytes_down(launch))
    }

    /// Frees its memory. It holds no launch.
    pub(super) fn release(&mut self) {
        (self.up, self.down) = (Buffers::NONE, Buffers::NONE);
    }

    /// Queues upload, kernel and download on the slot's stream. The slot has room for the launch.
    pub(super) fn launch(
        &mut self,
        kernel: Ready,
        ticket: Ticket,
        launch: &Launch,
    ) -> Result<(), DriverError> {
        let jobs = launch.jobs().len();
        let words = bytes_up(launch) / 4;
        let sum_bytes = launch.sums() * 8;
        let staged = self.up.words(words);
        staged[..HEADER].fill(0);
        staged[HEADER..][..jobs].copy_from_slice(launch.jobs());
        staged[HEADER + jobs..].copy_from_slice(launch.tables());

        let [begun, uploaded, counted, downloaded] = self.events.each_ref().map(|event| event.0);
        let mut progress = self.up.device;
        let mut first_job = self.up.device + HEADER as u64 * 4;
        let mut first_table = first_job + jobs as u64 * 4;
        let mut sums = self.down.device;
        let mut job_count = launch.job_count();
        let mut arguments: [*mut c_void; 5] = [
            (&raw mut first_job).cast(),
            (&raw mut job_count).cast(),
            (&raw mut first_table).cast(),
            (&raw mut sums).cast(),
            (&raw mut progress).cast(),
        ];
        let threads = launch.program().threads_for(launch.job_count());
        let blocks = threads.map_or(kernel.blocks, |threads| {
            threads.div_ceil(kernel.block).max(1)
        });
        // SAFETY: stream, events and buffers belong to the current context and to this slot, which
        // holds nothing. Buffers are as long as what is copied. The arguments are those of the
        // kernels' entries, in order, and are read before the launch returns. `Launch::new` has
        // checked every word that the kernel finds memory by.
        unsafe {
            if self.cancelling {
                let no_flags = CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
                stream::wait_event(self.stream, self.cancelled.0, no_flags)?;
            }
            event::record(begun, self.stream)?;
            result::memcpy_htod_async(self.up.device, self.up.words(words), self.stream)?;
            result::memset_d8_async(self.down.device, 0, bytes_down(launch), self.stream)?;
            event::record(uploaded, self.stream)?;
            result::launch_kernel(
                kernel.function,
                (blocks, 1, 1),
                (kernel.block, 1, 1),
                kernel.shared,
                self.stream,
                &mut arguments,
            )?;
            event::record(counted, self.stream)?;
            let (device, words) = (self.down.device, sum_bytes / 4);
            result::memcpy_dtoh_async(self.down.words(words), device, self.stream)?;
            let there = &mut self.down.words(words + PROGRESS)[words..];
            result::memcpy_dtoh_async(there, self.up.device, self.stream)?;
            event::record(downloaded, self.stream)?;
        }
        self.cancelling = false;
        self.holds = Some((ticket, launch.sums()));
        Ok(())
    }

    /// What the slot holds, if it is complete.
    pub(super) fn completed(&mut self, clock: &Clock) -> Result<Option<Completed>, DriverError> {
        let Some((ticket, sums)) = self.holds else {
            return Ok(None);
        };
        let [begun, uploaded, counted, downloaded] = self.events.each_ref().map(|event| event.0);
        // SAFETY: the event lives, and was recorded when the slot was filled.
        if !unsafe { reached(downloaded) }? {
            return Ok(None);
        }
        // SAFETY: all these events were recorded when the slot was filled, and are complete.
        let (start, [up, kernel, down]) = unsafe {
            let after = |event| elapsed(begun, event).map(milliseconds);
            let start = clock.time(begun)?;
            let ends = [after(uploaded)?, after(counted)?, after(downloaded)?];
            (start, ends.map(|end| start + end))
        };
        let words = self.down.words(sums * 2 + PROGRESS);
        let jobs_done = words[sums * 2 + 1];
        let sums = words[..sums * 2]
            .chunks_exact(2)
            .map(|half| u64::from(half[0]) | u64::from(half[1]) << 32)
            .collect();
        self.holds = None;
        let span = |start, end| DeviceSpan { start, end };
        Ok(Some(Completed {
            ticket,
            sums,
            jobs_done,
            stream: self.stream_number,
            spans: DeviceSpans {
                upload: span(start, up),
                kernel: span(up, kernel),
                download: span(kernel, down),
            },
        }))
    }

    /// Ends the launch that it holds early, through another stream. The next launch waits for the copy that
    /// this takes.
    pub(super) fn cancel(&mut self, other: CUstream) -> Result<(), DriverError> {
        if self.is_free() {
            return Ok(());
        }
        // First the host's copy, in case it is not uploaded yet, then the device's.
        let first = &mut self.up.words(1)[..];
        first[0] = NO_MORE;
        self.cancelling = true;
        // SAFETY: the word lies in a buffer that lives as long as the slot, and the kernel reads it
        // atomically. Event and stream belong to the current context.
        unsafe {
            result::memcpy_htod_async(self.up.device, self.up.words(1), other)?;
            event::record(self.cancelled.0, other)
        }
    }
}

/// An event of the driver.
struct Event(CUevent);

impl Event {
    /// An event of the device whose context is current.
    fn new(flags: CUevent_flags) -> Result<Self, DriverError> {
        event::create(flags).map(Self)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: it was made here and is destroyed once. An error means that it is gone.
        let _ = unsafe { event::destroy(self.0) };
    }
}

fn milliseconds(time: f32) -> Duration {
    Duration::from_secs_f64(f64::from(time.max(0.0)) / 1000.0)
}

/// A mark is renewed when it is this old: the driver gives times in milliseconds with 24 bits, so that
/// times of 16 s and less are exact to a microsecond, and those of a month only to a quarter of a second.
const OLD: Duration = Duration::from_secs(10);

/// Measures when events happened, from when the device was opened.
pub(super) struct Clock {
    /// The event that times are measured from.
    mark: Event,
    /// When it happened.
    at: Duration,
    /// The event that becomes the mark once the device has reached it.
    next: Event,
    renewing: bool,
}

impl Clock {
    /// A clock that begins now. Waits until the device, which is idle, has reached the first mark.
    pub(super) fn start(aside: CUstream) -> Result<Self, DriverError> {
        let clock = Self {
            mark: Event::new(CUevent_flags::CU_EVENT_DEFAULT)?,
            at: Duration::ZERO,
            next: Event::new(CUevent_flags::CU_EVENT_DEFAULT)?,
            renewing: false,
        };
        // SAFETY: event and stream belong to the current context.
        unsafe { event::record(clock.mark.0, aside) }?;
        Ok(clock)
    }

    /// Whether the device has reached the first mark, as far as is known. An error shows again at the
    /// first launch.
    pub(super) fn has_started(&self) -> bool {
        // SAFETY: the mark lives and is recorded.
        unsafe { reached(self.mark.0) != Ok(false) }
    }

    /// When `event` happened.
    ///
    /// # Safety
    /// The event lives, is recorded and complete.
    unsafe fn time(&self, event: CUevent) -> Result<Duration, DriverError> {
        // SAFETY: the mark lives and is complete, for the event says the caller.
        let since = unsafe { elapsed(self.mark.0, event) }?;
        // An event may have happened before the mark.
        let seconds = self.at.as_secs_f64() + f64::from(since) / 1000.0;
        Ok(Duration::from_secs_f64(seconds.max(0.0)))
    }

    /// Renews the mark if it is old at the time `now`. `aside` must not wait for launches.
    pub(super) fn keep_exact(&mut self, now: Duration, aside: CUstream) -> Result<(), DriverError> {
        if !self.renewing && now.saturating_sub(self.at) > OLD {
            // SAFETY: event and stream belong to the current context.
            unsafe { event::record(self.next.0, aside) }?;
            self.renewing = true;
        }
        // SAFETY: the next mark lives and is recorded.
        if self.renewing && unsafe { reached(self.next.0) }? {
            // SAFETY: it is complete, too.
            self.at = unsafe { self.time(self.next.0) }?;
            std::mem::swap(&mut self.mark, &mut self.next);
            self.renewing = false;
        }
        Ok(())
    }
}

/// Whether the device has reached an event.
///
/// # Safety
/// The event lives and is recorded.
unsafe fn reached(event: CUevent) -> Result<bool, DriverError> {
    // SAFETY: it lives, says the caller.
    match unsafe { event::query(event) } {
        Err(DriverError(CUresult::CUDA_ERROR_NOT_READY)) => Ok(false),
        done => done.map(|()| true),
    }
}
