use std::sync::Arc;

use super::devices::{DeviceChoice, DeviceSettings, Devices};
use super::{EngineChoice, JobError, engine_choice};
use crate::actors::DeviceSpec;
use crate::board::Size;
use crate::engine::{CounterSettings, Plan};
use crate::machine::Machine;
use crate::simd::Isa;

/// What a job may use; `None` leaves the choice to the program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HardwareSettings {
    /// The instruction set of the CPU workers. Default: the widest that the processor has.
    pub isa: Option<Isa>,
    /// CPU workers. Default: one for each core that the process may use.
    pub workers: Option<usize>,
    /// Memory that each CPU worker may plan with, in bytes. Default: an equal share of three quarters
    /// of what the process may use.
    pub memory_per_worker: Option<u64>,
    /// Which kind of devices.
    pub devices: DeviceChoice,
    /// The numbers of the devices that take part. Default: all.
    pub device_indices: Option<Vec<usize>>,
    /// How devices are used.
    pub device: DeviceSettings,
}

/// What a job counts on: found once, used by any number of jobs.
pub struct Hardware {
    /// CPU workers.
    pub workers: usize,
    /// What the counter of each worker may use.
    pub counter: CounterSettings,
    devices: Devices,
}

impl Hardware {
    /// Looks for what `settings` ask for.
    ///
    /// # Errors
    /// The instruction set or a device that was asked for is not available, or there is neither a
    /// worker nor a device.
    pub fn find(settings: &HardwareSettings) -> Result<Self, JobError> {
        let machine = Machine::detect();
        let workers = settings.workers.unwrap_or(machine.cores);
        Ok(Self {
            workers,
            counter: settings.counter(&machine)?,
            devices: Devices::find(settings, workers)?,
        })
    }

    /// The fastest engine for the board of size `n` on this hardware. Where devices make it a
    /// question, they are opened and measured.
    ///
    /// # Errors
    /// Devices were asked for, and do not count this board.
    pub fn choose_engine(&self, n: Size) -> Result<EngineChoice, JobError> {
        engine_choice::choose(n, self)
    }

    /// The devices that take part in a run of `plans`.
    ///
    /// # Errors
    /// They were asked for by name, and do not count the board.
    pub fn devices_for(&self, plans: &[Arc<dyn Plan>]) -> Result<&[DeviceSpec], JobError> {
        self.devices.for_plans(plans, self.workers)
    }

    /// All devices that were found.
    pub const fn devices(&self) -> &Devices {
        &self.devices
    }
}

impl HardwareSettings {
    /// What the counters of CPU workers on `machine` may use.
    ///
    /// # Errors
    /// The instruction set that was asked for is not available.
    pub fn counter(&self, machine: &Machine) -> Result<CounterSettings, JobError> {
        let isa = self.isa.unwrap_or_else(Isa::best);
        if !isa.is_available() {
            return Err(JobError::IsaUnavailable(isa));
        }
        let workers = self.workers.unwrap_or(machine.cores);
        let share = || machine.memory_per_worker(workers);
        Ok(CounterSettings {
            isa,
            memory: self.memory_per_worker.unwrap_or_else(share),
        })
    }
}
