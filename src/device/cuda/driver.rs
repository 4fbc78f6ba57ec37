//! What the CUDA driver says about the machine, and which devices this process can use no longer.

use std::collections::BTreeMap;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUdevice_attribute};

use parking_lot::Mutex;

use super::{FoundDevices, guarded};
use crate::device::{DeviceError, Properties};
use crate::engine::{DeviceIdentity, DeviceKernel};

/// The oldest driver that reads the embedded kernels, CUDA 12.2: it has all functions that this program calls.
const LEAST: i32 = 12_020;

/// The function for the time between two events. The bindings call a newer one with the same
/// parameters, which only drivers of CUDA 12.8 and later have.
const ELAPSED: &str = "cuEventElapsedTime";

/// Looks for CUDA devices. Never fails: [`FoundDevices::missing`] says what is missing.
pub fn devices() -> FoundDevices {
    guarded(look)
        .unwrap_or_else(Err)
        .unwrap_or_else(|missing| FoundDevices {
            missing,
            ..FoundDevices::default()
        })
}

fn look() -> Result<FoundDevices, String> {
    start()?;
    let count = result::device::get_count().map_err(describe)?;
    if count == 0 {
        return Err("the CUDA driver shows no device".to_owned());
    }
    let (mut devices, mut failing) = (Vec::new(), Vec::new());
    for index in 0..count as usize {
        match properties(index) {
            Ok(properties) => devices.push(properties),
            Err(why) => failing.push((index, why)),
        }
    }
    let missing = match failing.first() {
        Some((index, why)) if devices.is_empty() => {
            format!("the CUDA driver cannot describe device {index}: {why}")
        }
        _ => String::new(),
    };
    Ok(FoundDevices {
        devices,
        failing,
        missing,
    })
}

/// Loads the driver and starts it.
pub(super) fn start() -> Result<(), String> {
    // SAFETY: loading the library runs no code of ours, and its initialisers are what CUDA programs
    // run.
    if !unsafe { sys::is_culib_present() } {
        return Err("no CUDA driver: libcuda not found".to_owned());
    }
    let version = version().map_err(describe)?;
    if version < LEAST {
        let (least, found) = (in_words(LEAST), in_words(version));
        return Err(format!(
            "the CUDA driver is too old: {least} is the least, and it is of {found}"
        ));
    }
    result::init().map_err(|error| match error.0 {
        sys::CUresult::CUDA_ERROR_NO_DEVICE => "the CUDA driver shows no device".to_owned(),
        _ => format!("the CUDA driver does not start: {}", describe(error)),
    })
}

/// The newest CUDA that the driver knows, as 1000 times its first number and 10 times its second.
fn version() -> Result<i32, DriverError> {
    let mut version = 0;
    // SAFETY: the pointer is to a live integer.
    unsafe { sys::cuDriverGetVersion(&raw mut version) }.result()?;
    Ok(version)
}

fn in_words(version: i32) -> String {
    format!("CUDA {}.{}", version / 1000, version % 1000 / 10)
}

/// What the driver says about device `index`. It must be started.
pub(super) fn properties(index: usize) -> Result<Properties, String> {
    let device = result::device::get(index as i32).map_err(describe)?;
    let attribute = |which| {
        // SAFETY: `device` is one that the driver has just given.
        unsafe { result::device::get_attribute(device, which) }.map_err(describe)
    };
    let compute = (
        attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)? as u32,
        attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)? as u32,
    );
    let multiprocessors =
        attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)? as u32;
    let shared_memory =
        attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)?
            as u32;
    let watchdog = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT)?;
    // SAFETY: as above.
    let memory = unsafe { result::device::total_mem(device) }.map_err(describe)?;
    Ok(Properties {
        identity: DeviceIdentity {
            kernel: DeviceKernel::Cuda,
            index,
            name: result::device::get_name(device).map_err(describe)?,
        },
        compute: Some(compute),
        memory: memory as u64,
        multiprocessors,
        shared_memory: Some(shared_memory),
        watchdog: watchdog != 0,
        driver: in_words(version().map_err(describe)?),
    })
}

/// Milliseconds from one event to another; both are recorded and complete.
///
/// # Safety
/// Both events live.
pub(super) unsafe fn elapsed(from: sys::CUevent, to: sys::CUevent) -> Result<f32, DriverError> {
    type Elapsed = unsafe extern "C" fn(*mut f32, sys::CUevent, sys::CUevent) -> sys::CUresult;
    let mut milliseconds = 0.0;
    // SAFETY: the function has this type since CUDA 3.2, and every driver has it. The events live, says
    // the caller; the pointer is to a live number.
    unsafe {
        let elapsed = sys::culib().get::<Elapsed>(ELAPSED);
        let elapsed = elapsed.map_err(|_| DriverError(sys::CUresult::CUDA_ERROR_NOT_FOUND))?;
        elapsed(&raw mut milliseconds, from, to).result()?;
    }
    Ok(milliseconds)
}

/// A driver's error in words.
pub(super) fn describe(error: DriverError) -> String {
    let name = error.error_name().map(|name| name.to_string_lossy());
    name.map_or_else(
        |_| format!("CUDA error {}", error.0 as u32),
        |name| name.into_owned(),
    )
}

/// What a driver's error means for a launch.
pub(super) fn failed(error: DriverError) -> DeviceError {
    match error.0 {
        sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => DeviceError::OutOfMemory,
        _ => DeviceError::Lost(describe(error)),
    }
}

/// Why this process uses a device no longer: its context is poisoned.
///
/// CUDA keeps one context of a device for the whole process. After some errors (a kernel that reads
/// beyond its memory, an uncorrectable error of the memory) every call fails until the process ends, and
/// while a kernel runs, no call that frees something returns.
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
