//! Which device counted, and by which kernel, as results keep them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// By which kernel a device counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceKernel {
    /// That of an engine, on a GPU driven through CUDA.
    Cuda,
    /// The same for the [other way](super::Plan::relauncher) to count.
    CudaTransposed,
}

impl DeviceKernel {
    /// All.
    pub const ALL: [Self; 2] = [Self::Cuda, Self::CudaTransposed];

    /// The name used in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cuda => "cuda",
            Self::CudaTransposed => "cuda-transposed",
        }
    }
}

impl fmt::Display for DeviceKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Which device: enough to find it again on its machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DeviceIdentity {
    /// By which kernel it counted; of a device that has not, [`Cuda`](DeviceKernel::Cuda).
    #[serde(rename = "kind")]
    pub kernel: DeviceKernel,
    /// Its number among the devices of its sort, from 0.
    pub index: usize,
    /// Its maker's name for it.
    pub name: String,
}
