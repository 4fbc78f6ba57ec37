//! Who counted a task, and with what.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::DeviceIdentity;

/// Where a result comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Origin {
    /// The worker whose thread counted, or waited for its device to count.
    pub worker: WorkerId,
    /// What counted.
    pub counted_by: CountedBy,
}

/// Names a worker of a run: its thread, its lane in a trace, its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WorkerId {
    /// A CPU worker, numbered from 0: `worker-0`.
    Cpu(usize),
    /// The thread that owns a device, by the number of the device: `gpu-0`.
    Device(usize),
}

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu(number) => write!(f, "worker-{number}"),
            Self::Device(number) => write!(f, "gpu-{number}"),
        }
    }
}

/// A text that names no worker.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` does not name a worker")]
pub struct WorkerIdError(String);

impl FromStr for WorkerId {
    type Err = WorkerIdError;

    fn from_str(text: &str) -> Result<Self, WorkerIdError> {
        let number = |prefix| text.strip_prefix(prefix)?.parse().ok();
        let cpu = number("worker-").map(Self::Cpu);
        cpu.or_else(|| number("gpu-").map(Self::Device))
            .filter(|id| id.to_string() == text)
            .ok_or_else(|| WorkerIdError(text.to_owned()))
    }
}

/// What counted a task.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CountedBy {
    /// A kernel on the CPU: of a CPU worker. In older records also of the thread of a device.
    Cpu(KernelName),
    /// A device.
    Device(DeviceIdentity),
}

impl CountedBy {
    /// The name of the kernel of the CPU or of the device: `avx512`, `cuda`, `cuda-transposed`.
    pub fn backend(&self) -> &str {
        match self {
            Self::Cpu(kernel) => kernel,
            Self::Device(device) => device.kernel.name(),
        }
    }

    /// The name of the CPU kernel, or what its maker calls the device: `avx512`, `NVIDIA H100`.
    pub fn name(&self) -> &str {
        match self {
            Self::Cpu(kernel) => kernel,
            Self::Device(device) => &device.name,
        }
    }

    /// Whether it counts the other way of those that a plan has: by a [`recounter`](super::Plan::recounter) or
    /// [`relauncher`](super::Plan::relauncher) of the colour engine.
    pub fn is_transposed(&self) -> bool {
        is_transposed(self.backend())
    }

    /// Whether it is the CPU kernel of this name.
    pub fn is_kernel(&self, name: &str) -> bool {
        matches!(self, Self::Cpu(kernel) if kernel == name)
    }
}

/// Whether a kernel of this name counts the other way of those that a plan has: `kernel_name` of the colour engine and
/// [`DeviceKernel`](super::DeviceKernel) name it so.
pub(super) fn is_transposed(kernel: &str) -> bool {
    kernel.ends_with("-transposed")
}

/// For messages: `avx512 on the CPU`, `cuda on NVIDIA H100`.
impl fmt::Display for CountedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu(kernel) => write!(f, "{kernel} on the CPU"),
            Self::Device(device) => write!(f, "{} on {}", device.kernel, device.name),
        }
    }
}

/// The name of a CPU kernel, as its counter gives it: `avx512`, `scalar`, ….
pub type KernelName = Cow<'static, str>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::DeviceKernel;

    #[test]
    fn a_worker_is_read_as_it_is_written() {
        for (id, text) in [
            (WorkerId::Cpu(0), "worker-0"),
            (WorkerId::Cpu(191), "worker-191"),
            (WorkerId::Device(3), "gpu-3"),
        ] {
            assert_eq!(id.to_string(), text);
            assert_eq!(text.parse(), Ok(id));
        }
        for text in ["", "worker-", "worker-01", "worker--1", "gpu-x", "tpu-0"] {
            assert!(text.parse::<WorkerId>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_device_is_no_kernel_whatever_its_name() {
        let device = CountedBy::Device(DeviceIdentity {
            kernel: DeviceKernel::Cuda,
            index: 0,
            name: "scalar".to_owned(),
        });
        assert!(!device.is_kernel("scalar") && !device.is_kernel("cuda"));
        assert!(CountedBy::Cpu("scalar".into()).is_kernel("scalar"));
    }
}
