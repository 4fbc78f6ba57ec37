//! The temperatures of NVIDIA GPUs, from the driver's own library NVML, which is loaded if it is there.
//!
//! The four functions and their types are those of NVIDIA's `nvml.h`:
//! <https://docs.nvidia.com/deploy/nvml-api/>.

#![expect(unsafe_code, reason = "calls of the library of the driver")]

use std::ffi::{OsStr, c_int, c_uint, c_void};
use std::ptr;
use std::sync::OnceLock;

use libloading::Library;

/// The library's name.
const NAME: &str = if cfg!(windows) {
    "nvml.dll"
} else {
    "libnvidia-ml.so.1"
};

/// `NVML_SUCCESS`.
const SUCCESS: c_int = 0;

/// `NVML_TEMPERATURE_GPU`: the sensor of the chip.
const CHIP: c_int = 0;

type Init = unsafe extern "C" fn() -> c_int;
type DeviceCount = unsafe extern "C" fn(*mut c_uint) -> c_int;
type DeviceByIndex = unsafe extern "C" fn(c_uint, *mut *mut c_void) -> c_int;
type Temperature = unsafe extern "C" fn(*mut c_void, c_int, *mut c_uint) -> c_int;

/// The temperature of each GPU in °C, without those that do not tell.
pub fn gpus() -> Vec<f64> {
    static NVML: OnceLock<Option<Nvml>> = OnceLock::new();
    let nvml = NVML.get_or_init(|| Nvml::open(NAME.as_ref()));
    nvml.as_ref().map(Nvml::temperatures).unwrap_or_default()
}

/// The library, initialised.
struct Nvml {
    device_count: DeviceCount,
    device_by_index: DeviceByIndex,
    temperature: Temperature,
    /// The functions are valid as long as it is loaded.
    _library: Library,
}

impl Nvml {
    /// `None` if there is no such library, or no driver that answers it.
    fn open(name: &OsStr) -> Option<Self> {
        // SAFETY: the driver's library may be loaded by any process, and its four functions have the types
        // that nvml.h gives them.
        unsafe {
            let library = Library::new(name).ok()?;
            let init = *library.get::<Init>(b"nvmlInit_v2\0").ok()?;
            let nvml = Self {
                device_count: *library.get(b"nvmlDeviceGetCount_v2\0").ok()?,
                device_by_index: *library.get(b"nvmlDeviceGetHandleByIndex_v2\0").ok()?,
                temperature: *library.get(b"nvmlDeviceGetTemperature\0").ok()?,
                _library: library,
            };
            (init() == SUCCESS).then_some(nvml)
        }
    }

    fn temperatures(&self) -> Vec<f64> {
        let mut count = 0;
        // SAFETY: the library is initialised, and the pointer is that of a live variable.
        if unsafe { (self.device_count)(&raw mut count) } != SUCCESS {
            return Vec::new();
        }
        (0..count)
            .filter_map(|index| self.temperature(index))
            .map(f64::from)
            .collect()
    }

    fn temperature(&self, index: c_uint) -> Option<c_uint> {
        let (mut device, mut celsius) = (ptr::null_mut(), 0);
        // SAFETY: as in `temperatures`; a handle stays valid while the library is loaded.
        unsafe {
            let found = (self.device_by_index)(index, &raw mut device) == SUCCESS;
            (found && (self.temperature)(device, CHIP, &raw mut celsius) == SUCCESS)
                .then_some(celsius)
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::*;

    /// A library of three GPUs, the second of which does not tell.
    const THREE: &str = "
        static int gpus[3] = {55, -1, 71};
        int nvmlInit_v2(void) { return FAILS; }
        int nvmlDeviceGetCount_v2(unsigned *count) { *count = 3; return 0; }
        int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) { *device = gpus + index; return 0; }
        int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius) {
            if (sensor != 0 || *(int *)device < 0) return 3;
            *celsius = *(int *)device;
            return 0;
        }";

    fn compile(folder: &Path, name: &str, options: &[&str], source: &str) -> std::path::PathBuf {
        let (file, library) = (folder.join(format!("{name}.c")), folder.join(name));
        std::fs::write(&file, source).unwrap();
        let compiler = Command::new("cc")
            .args(["-shared", "-fPIC", "-o"])
            .args([&library, &file])
            .args(options)
            .status();
        assert!(compiler.unwrap().success());
        library
    }

    #[test]
    fn gpus_that_tell_their_temperature_count() {
        let folder = tempfile::tempdir().unwrap();
        let open = |name, options: &[&str], source| {
            let library = compile(folder.path(), name, options, source);
            Nvml::open(library.as_os_str()).map(|nvml| nvml.temperatures())
        };
        assert_eq!(open("three", &["-DFAILS=0"], THREE), Some(vec![55.0, 71.0]));
        assert_eq!(open("fails", &["-DFAILS=9"], THREE), None);
        assert_eq!(open("other", &[], "int other;"), None);
        assert!(Nvml::open(folder.path().join("none").as_os_str()).is_none());
    }
}
