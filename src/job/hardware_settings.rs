//! Which hardware is asked for, before it is looked for.

use std::time::Duration;

use super::JobError;
use crate::engine::CounterSettings;
use crate::simd::Isa;

/// What a job may use; `None` leaves the choice to the program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HardwareSettings {
    /// The instruction set of the CPU workers. Default: the widest that the processor has.
    pub isa: Option<Isa>,
    /// CPU workers, 0 to 1024. Default: one for each core that the process may use.
    pub workers: Option<usize>,
    /// Which kind of devices.
    pub devices: DeviceChoice,
    /// The numbers of the devices that take part, 0 to 63, none twice. Default: all.
    pub device_indices: Option<Vec<usize>>,
    /// How devices are used.
    pub device: DeviceSettings,
}

impl HardwareSettings {
    /// What the counters of CPU workers may use.
    ///
    /// # Errors
    /// The instruction set that was asked for is not available, or a setting is beyond its
    /// [limits](super::limits).
    pub fn counter(&self) -> Result<CounterSettings, JobError> {
        self.check_workers()?;
        let isa = self.isa.unwrap_or_else(Isa::best);
        if !isa.is_available() {
            return Err(JobError::IsaUnavailable(isa));
        }
        Ok(CounterSettings { isa })
    }
}

/// Which devices take part in a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// Every GPU of the machine, where it is worth opening.
    #[default]
    Auto,
    /// None.
    Off,
    /// Every GPU of the machine; it is an error if there is none.
    Cuda,
    /// One made of host threads.
    Emulated,
}

/// How devices are used.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceSettings {
    /// Threads per block: a multiple of 32 from 32 to 256 ([`BLOCK_THREADS`](crate::engine::BLOCK_THREADS)).
    pub block: u32,
    /// Streams, 1 to 4: launches of different streams overlap.
    pub streams: usize,
    /// Launches that each stream holds, 1 to 4.
    pub slots_per_stream: usize,
    /// How long a launch should take, 50 ms to 5 s.
    pub batch_time: Duration,
}

impl Default for DeviceSettings {
    fn default() -> Self {
        Self {
            block: 256,
            streams: 2,
            slots_per_stream: 2,
            batch_time: Duration::from_secs(3),
        }
    }
}
