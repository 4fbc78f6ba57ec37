//! A CUDA device as streams of launches.

use std::collections::HashMap;
use std::ffi::CString;
use std::time::{Duration, Instant};
use std::{mem, thread};

use cudarc::driver::result::{self, DriverError, function, module, occupancy};
use cudarc::driver::sys::{self, CUfunction_attribute, CUresult, CUstream};

use super::driver::{Poisoned, describe, failed, poison, poisoned, properties, start};
use super::embedded_ptx::for_device;
use super::slot::{Clock, LEAST_UP, Ready, Slot};
use super::{CudaSettings, guarded};
use crate::device::{Device, DeviceError, OpenError, Properties};
use crate::engine::{Completed, DeviceProgram, Launch, Ticket};

/// How long to sleep between two looks at the device: short compared with a launch, and long enough
/// to cost almost no CPU time.
const NAP: Duration = Duration::from_micros(500);

/// Threads of a warp.
const WARP: u32 = 32;

/// A GPU driven through CUDA.
///
/// Each stream holds a few launches: while one is counted, the next is uploaded, and launches of
/// other streams begin as soon as the device has room.
pub struct Cuda {
    properties: Properties,
    settings: CudaSettings,
    device: sys::CUdevice,
    kernels: HashMap<DeviceProgram, Ready>,
    slots: Vec<Slot>,
    streams: Vec<CUstream>,
    /// The stream for operations that must not wait for launches.
    aside: CUstream,
    /// `None` only while the device is opened.
    clock: Option<Clock>,
    /// The time that `clock` counts from.
    opened: Instant,
    submitted: u64,
}

/// Opens the device that `settings` name.
///
/// # Errors
/// There is no driver or no such device, or it cannot be used.
pub fn open(settings: &CudaSettings) -> Result<Box<dyn Device>, OpenError> {
    Ok(Box::new(Cuda::open(settings.clone())?))
}

impl Cuda {
    /// Opens the device that `settings` name.
    ///
    /// # Errors
    /// There is no driver or no such device, or it cannot be used.
    pub fn open(settings: CudaSettings) -> Result<Self, OpenError> {
        if let Some(why) = poisoned(settings.index) {
            return Err(OpenError(why.in_words().to_owned()));
        }
        guarded(|| Self::try_open(settings))
            .unwrap_or_else(Err)
            .map_err(OpenError)
    }

    fn try_open(settings: CudaSettings) -> Result<Self, String> {
        start()?;
        let index = settings.index;
        let count = result::device::get_count().map_err(describe)? as usize;
        if index >= count {
            return Err(format!("no CUDA device {index}: there are {count}"));
        }
        let properties = properties(index)?;
        let device = result::device::get(index as i32).map_err(describe)?;
        // SAFETY: the driver is started and has this device.
        let context = unsafe { result::primary_ctx::retain(device) }.map_err(describe)?;
        // From here on, dropping `cuda` releases everything.
        let mut cuda = Self {
            properties,
            device,
            kernels: HashMap::new(),
            slots: Vec::new(),
            streams: Vec::new(),
            aside: std::ptr::null_mut(),
            clock: None,
            opened: Instant::now(),
            submitted: 0,
            settings,
        };
        // SAFETY: the context was given just now.
        unsafe { result::ctx::set_current(context) }.map_err(describe)?;
        // A waiting thread must not spin. If the driver refuses this flag, its default is good enough:
        // this program mostly sleeps between two looks.
        let _ = result::ctx::set_flags(sys::CUctx_flags::CU_CTX_SCHED_BLOCKING_SYNC);
        cuda.make_streams().map_err(describe)?;
        Ok(cuda)
    }

    fn make_streams(&mut self) -> Result<(), DriverError> {
        let stream = || result::stream::create(result::stream::StreamKind::NonBlocking);
        self.aside = stream()?;
        for number in 0..self.settings.streams.max(1) {
            let made = stream()?;
            self.streams.push(made);
            for _ in 0..self.settings.slots_per_stream.max(1) {
                self.slots.push(Slot::new(made, number)?);
            }
        }
        let clock = self.clock.insert(Clock::start(self.aside)?);
        let recorded = Instant::now();
        // The device may need a moment to reach the first mark.
        while !clock.has_started() && recorded.elapsed() < Duration::from_millis(100) {
            thread::yield_now();
        }
        self.opened = Instant::now();
        Ok(())
    }

    /// Registers per thread, and warps per multiprocessor, of a program's kernel.
    ///
    /// # Errors
    /// The device cannot run it.
    pub fn occupancy(&mut self, program: DeviceProgram) -> Result<(u32, u32), DeviceError> {
        let ready = self.kernel(program)?;
        let blocks = ready.blocks / self.properties.multiprocessors.max(1);
        Ok((ready.registers, blocks * ready.block / WARP))
    }

    /// The kernel of `program`, which is loaded once.
    fn kernel(&mut self, program: DeviceProgram) -> Result<Ready, DeviceError> {
        if let Some(ready) = self.kernels.get(&program) {
            return Ok(*ready);
        }
        let memory = self.properties.shared_memory.unwrap_or_default();
        let image = for_device(program, memory)
            .ok_or_else(|| DeviceError::NoKernel(format!("none of {program}")))?;
        let ready = match self.load(program, &image) {
            Ok(ready) => ready,
            Err(error) => return Err(DeviceError::NoKernel(unless_failed(error)?)),
        };
        self.kernels.insert(program, ready);
        Ok(ready)
    }

    fn load(&self, program: DeviceProgram, image: &str) -> Result<Ready, DriverError> {
        let image = CString::new(image).unwrap_or_default();
        // SAFETY: the image is a terminated text, and lives through the call.
        let module = unsafe { module::load_data(image.as_ptr().cast()) }?;
        let ready = self.prepare(program, module);
        if ready.is_err() {
            // SAFETY: it was loaded just now. An error does no harm: the module stays loaded.
            let _ = unsafe { module::unload(module) };
        }
        ready
    }

    fn prepare(&self, program: DeviceProgram, module: sys::CUmodule) -> Result<Ready, DriverError> {
        let entry = CString::new(program.entry()).unwrap_or_default();
        let memory = self.properties.shared_memory.unwrap_or_default();
        let sizes = || program.block_sizes(memory);
        let shared = sizes().last().map_or(0, |most| program.block_memory(most));
        // SAFETY: the module is loaded, and the function belongs to it.
        unsafe {
            let function = module::get_function(module, entry)?;
            for (attribute, value) in [
                (
                    CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                    shared as i32,
                ),
                // In per cent. Kernels that use shared memory get all of it; for the others it is more
                // useful as a cache.
                (
                    CUfunction_attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                    if shared > 0 { 100 } else { 0 },
                ),
            ] {
                function::set_function_attribute(function, attribute, value)?;
            }
            let registers = function::get_function_attribute(
                function,
                CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS,
            )?;
            // Threads that work together wait for each other: the more, the longer. But a larger block, with one memory for
            // more threads, may use more of the shared memory of a multiprocessor.
            let (mut block, mut per_multiprocessor) = (0, 0);
            for threads in sizes() {
                let blocks = occupancy::max_active_block_per_multiprocessor(
                    function,
                    threads as i32,
                    program.block_memory(threads) as usize,
                )?;
                let blocks = blocks.max(0) as u32;
                if 10 * blocks * threads >= 11 * per_multiprocessor * block {
                    (block, per_multiprocessor) = (threads, blocks);
                }
            }
            if per_multiprocessor == 0 {
                // A launch would fail with an error that looks like a lost device.
                return Err(DriverError(CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES));
            }
            Ok(Ready {
                module,
                function,
                blocks: self.properties.multiprocessors * per_multiprocessor,
                block,
                shared: program.block_memory(block),
                registers: registers as u32,
            })
        }
    }

    /// The free slot whose stream holds the fewest launches.
    fn free_slot(&self) -> Option<usize> {
        let load = |stream| {
            let held = self.slots.iter().filter(|slot| !slot.is_free());
            held.filter(|slot| slot.stream_number() == stream).count()
        };
        (0..self.slots.len())
            .filter(|&slot| self.slots[slot].is_free())
            .min_by_key(|&slot| load(self.slots[slot].stream_number()))
    }

    fn try_submit(&mut self, launch: &Launch) -> Result<Ticket, DeviceError> {
        let kernel = self.kernel(launch.program())?;
        let slot = self
            .free_slot()
            .ok_or_else(|| DeviceError::Lost("no slot is free".to_owned()))?;
        let ticket = Ticket(self.submitted);
        if !self.slots[slot].has_room(launch) {
            if !self.slots.iter().all(Slot::is_free) {
                return Err(DeviceError::Busy);
            }
            // All at once, so that no launch has to wait for the memory of another again.
            let mut slots = self.slots.iter_mut();
            let reserved = slots.try_for_each(|slot| slot.reserve(launch, LEAST_UP));
            if reserved.is_err() {
                // There may be enough for this launch alone.
                self.slots.iter_mut().for_each(Slot::release);
                self.slots[slot].reserve(launch, 0).map_err(failed)?;
            }
        }
        let launched = self.slots[slot].launch(kernel, ticket, launch);
        launched.map_err(failed)?;
        self.submitted += 1;
        Ok(ticket)
    }

    fn try_poll(&mut self, patience: Duration) -> Result<Option<Completed>, DeviceError> {
        let begin = Instant::now();
        let gone = || DeviceError::Lost("it was not opened".to_owned());
        let clock = self.clock.as_mut().ok_or_else(gone)?;
        loop {
            for slot in &mut self.slots {
                if let Some(completed) = slot.completed(clock).map_err(failed)? {
                    let now = completed.spans.download.end;
                    clock.keep_exact(now, self.aside).map_err(failed)?;
                    return Ok(Some(completed));
                }
            }
            let left = patience.saturating_sub(begin.elapsed());
            if left.is_zero() {
                return Ok(None);
            }
            thread::sleep(NAP.min(left));
        }
    }

    fn note<T>(&mut self, outcome: Result<T, DeviceError>) -> Result<T, DeviceError> {
        if let Err(DeviceError::Lost(_)) = outcome {
            poison(self.settings.index, Poisoned::Failed);
        }
        outcome
    }
}

/// Why a kernel cannot be used, in words.
///
/// # Errors
/// It is not that: the device has failed, or has no memory.
fn unless_failed(error: DriverError) -> Result<String, DeviceError> {
    let is_of_the_kernel = matches!(
        error.0,
        CUresult::CUDA_ERROR_INVALID_VALUE
            | CUresult::CUDA_ERROR_JIT_COMPILATION_DISABLED
            | CUresult::CUDA_ERROR_JIT_COMPILER_NOT_FOUND
            | CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
            | CUresult::CUDA_ERROR_NOT_FOUND
            | CUresult::CUDA_ERROR_INVALID_IMAGE
            | CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU
            | CUresult::CUDA_ERROR_INVALID_PTX
            | CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION
    );
    match is_of_the_kernel {
        true => Ok(describe(error)),
        false => Err(failed(error)),
    }
}

impl Device for Cuda {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn opened(&self) -> Instant {
        self.opened
    }

    fn slots(&self) -> usize {
        self.slots.len()
    }

    fn submit(&mut self, launch: &Launch) -> Result<Ticket, DeviceError> {
        let outcome = guarded(|| self.try_submit(launch));
        self.note(outcome.unwrap_or_else(|panic| Err(DeviceError::Lost(panic))))
    }

    fn poll(&mut self, patience: Duration) -> Result<Option<Completed>, DeviceError> {
        let outcome = guarded(|| self.try_poll(patience));
        self.note(outcome.unwrap_or_else(|panic| Err(DeviceError::Lost(panic))))
    }

    fn cancel(&mut self) {
        let aside = self.aside;
        for slot in &mut self.slots {
            // A launch that cannot be cancelled ends by itself.
            let _ = slot.cancel(aside);
        }
    }
}

impl Cuda {
    /// Whether launches are under way that do not end although they were asked to, for as long as
    /// [`CudaSettings::grace`]. A lost context, whichever device of this process lost it, has no launches any more.
    fn has_endless_launch(&mut self) -> bool {
        let begin = Instant::now();
        loop {
            if poisoned(self.settings.index).is_some() || self.slots.iter().all(Slot::is_free) {
                return false;
            }
            if begin.elapsed() >= self.settings.grace {
                return true;
            }
            self.cancel();
            // The result is not needed. An error ends the waiting.
            let _ = self.poll(Duration::from_millis(50));
        }
    }
}

impl Drop for Cuda {
    fn drop(&mut self) {
        // Memory must outlive the launches that use it.
        if self.has_endless_launch() {
            // Every call that would release something waits for the kernel. So nothing is released until
            // the process ends.
            poison(self.settings.index, Poisoned::Endless);
            mem::forget((mem::take(&mut self.slots), self.clock.take()));
            return;
        }
        self.slots.clear();
        self.clock = None;
        // SAFETY: all of it was made here and is released once, after everything that uses it. An error
        // means that it is gone already.
        unsafe {
            for ready in self.kernels.values() {
                let _ = module::unload(ready.module);
            }
            for &stream in self.streams.iter().chain([&self.aside]) {
                if !stream.is_null() {
                    let _ = result::stream::destroy(stream);
                }
            }
            let _ = result::primary_ctx::release(self.device);
        }
    }
}
