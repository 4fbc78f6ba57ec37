//! Which CUDA devices there are, and how one is used.

use std::time::Duration;

use super::Properties;

/// The result of looking for CUDA devices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundDevices {
    /// Those that the driver describes, in CUDA's order.
    pub devices: Vec<Properties>,
    /// The numbers of the others, and what the driver says instead.
    pub failing: Vec<(usize, String)>,
    /// Why no device can be used, in words; empty if there are devices.
    pub missing: String,
}

/// How a CUDA device is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CudaSettings {
    /// Its number among the devices that CUDA shows, from 0.
    pub index: usize,
    /// Streams, 1 to 4: launches of different streams overlap.
    pub streams: usize,
    /// Launches that each stream holds, 1 to 4.
    pub slots_per_stream: usize,
    /// How long launches may take to end that were asked to. A job takes some milliseconds; a launch that is
    /// still not done counts as endless.
    pub grace: Duration,
}

impl Default for CudaSettings {
    fn default() -> Self {
        Self {
            index: 0,
            streams: 2,
            slots_per_stream: 2,
            grace: Duration::from_secs(5),
        }
    }
}
