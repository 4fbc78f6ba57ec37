//! Which hardware is asked for, before it is looked for.

use super::JobError;
use crate::engine::CounterSettings;
use crate::simd::Isa;

/// What a job may use; `None` leaves the choice to the program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HardwareSettings {
    /// The instruction set of the CPU workers. Default: the widest that the processor has.
    pub isa: Option<Isa>,
    /// CPU workers, 0 to 1024. Default: one for each core that the process may use. With 0, devices count alone, and
    /// one worker takes what they cannot: the census, audits, rechecks.
    pub workers: Option<usize>,
    /// Which kind of devices.
    pub devices: DeviceChoice,
    /// The numbers of the devices that take part, 0 to 63, none twice. Default: all.
    pub device_indices: Option<Vec<usize>>,
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
}
