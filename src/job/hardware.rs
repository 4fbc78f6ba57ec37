//! What a job may use: cores, memory, instruction set, devices.

use std::sync::Arc;

use super::{Devices, JobError};
use crate::actors::DeviceSpec;
use crate::engine::{CounterSettings, Plan};
use crate::machine::Machine;
use crate::simd::Isa;
use crate::words::several;

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

/// What a job counts on: found once, used by any number of jobs.
pub struct Hardware {
    /// CPU workers. 0: devices count alone, and one worker what they cannot.
    pub workers: usize,
    /// What the counter of each worker may use.
    pub counter: CounterSettings,
    devices: Devices,
}

impl Hardware {
    /// Looks for what `settings` ask for.
    ///
    /// # Errors
    /// The instruction set or a device that was asked for is not available, there is neither a worker
    /// nor a device, or a setting is beyond its [limits](super::limits).
    pub fn find(settings: &HardwareSettings) -> Result<Self, JobError> {
        let machine = Machine::detect();
        let room = machine.room_for_workers();
        let workers = settings.workers.unwrap_or(machine.cores.min(room.max(1)));
        if workers > room {
            return Err(JobError::NoRoom(format!(
                "{} need {} MiB of address space, and the process may have {} MiB (`ulimit -v`)",
                several(workers as u64, "worker"),
                Machine::space_for(workers) >> 20,
                machine.address_space.unwrap_or(u64::MAX) >> 20
            )));
        }
        Ok(Self {
            workers,
            counter: settings.counter()?,
            devices: Devices::find(settings, workers)?,
        })
    }

    /// CPU workers of a run. There is one beside devices alone, too: it counts what devices do not, which is the census,
    /// audits and rechecks.
    #[doc(hidden)]
    pub fn workers_of_run(&self) -> usize {
        self.workers.max(1)
    }

    /// The devices that take part in a run of `plans`.
    ///
    /// # Errors
    /// They were asked for by name, and do not count the board; or there are no CPU workers, and the
    /// devices count none of the plans.
    pub fn devices_for(&self, plans: &[Arc<dyn Plan>]) -> Result<&[DeviceSpec], JobError> {
        self.devices.for_plans(plans, self.workers)
    }

    /// All devices that were found.
    pub const fn devices(&self) -> &Devices {
        &self.devices
    }
}
