//! Which device counted: its kind and identity, as results keep them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What sort of device counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceKind {
    /// A GPU driven through CUDA.
    Cuda,
}

impl DeviceKind {
    /// All.
    pub const ALL: [Self; 1] = [Self::Cuda];

    /// The name used on the command line and in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cuda => "cuda",
        }
    }
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Which device: enough to find it again on its machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DeviceIdentity {
    /// What sort.
    pub kind: DeviceKind,
    /// Its number among the devices of its sort, from 0.
    pub index: usize,
    /// Its maker's name for it.
    pub name: String,
}
