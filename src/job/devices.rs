//! Which devices take part in a run.

use std::sync::Arc;

use super::{DeviceChoice, HardwareSettings, JobError};
use crate::actors::DeviceSpec;
use crate::board::Size;
#[cfg(any(feature = "cuda", feature = "emulated-gpu"))]
use crate::device::OwnerSettings;
use crate::engine::{NoLauncher, Plan};

/// The smallest board for which `auto` opens a GPU: smaller ones are done before it is open.
const WORTH_OPENING: u32 = 16;

/// The devices that jobs may use, looked for once.
pub struct Devices {
    devices: Vec<DeviceSpec>,
    auto: bool,
    missing: Option<String>,
}

impl Devices {
    /// Looks for the devices that `settings` ask for. `workers`: the CPU workers that count too.
    ///
    /// # Errors
    /// Devices were asked for by name, or there are no CPU workers, and no device is there; there is
    /// neither worker nor device by choice; or a setting is beyond its [limits](super::limits).
    pub fn find(settings: &HardwareSettings, workers: usize) -> Result<Self, JobError> {
        settings.check_devices()?;
        let mut missing = None;
        let devices = match settings.devices {
            DeviceChoice::Off => Vec::new(),
            DeviceChoice::Auto => cuda(settings).or_else(|why| {
                if settings.device_indices.is_some() {
                    Err(JobError::DeviceUnavailable(why))
                } else {
                    missing = Some(why);
                    Ok(Vec::new())
                }
            })?,
            DeviceChoice::Cuda => cuda(settings).map_err(JobError::DeviceUnavailable)?,
            DeviceChoice::Emulated => emulated(settings).map_err(JobError::DeviceUnavailable)?,
        };
        if workers == 0 && devices.is_empty() {
            return Err(missing.map_or(JobError::NoWorkers, JobError::DeviceUnavailable));
        }
        Ok(Self {
            devices,
            auto: settings.devices == DeviceChoice::Auto && workers > 0,
            missing,
        })
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.devices.is_empty()
    }

    /// Why no device was found, if none was asked for by name.
    pub fn missing(&self) -> Option<&str> {
        self.missing.as_deref()
    }

    /// Whether they take part because they were found, and not because they were asked for.
    pub const fn were_found(&self) -> bool {
        self.auto
    }

    /// Those that take part in a run of `plans` with this number of CPU workers: all of them if they
    /// count one of the plans, and none otherwise. Their threads count the other plans on the CPU if
    /// there are no CPU workers. A board smaller than those that they count is left to the CPU workers,
    /// if there are any.
    ///
    /// # Errors
    /// They were asked for by name, and their kernels do not count the board; or there are no CPU
    /// workers, and the devices have no kernel of any of the plans.
    pub fn for_plans(
        &self,
        plans: &[Arc<dyn Plan>],
        workers: usize,
    ) -> Result<&[DeviceSpec], JobError> {
        let n = plans.iter().map(|plan| plan.size()).max();
        if self.is_empty() || !n.is_some_and(|n| self.are_worth_opening(n)) {
            return Ok(&[]);
        }
        match self.unused(plans) {
            None => Ok(&self.devices),
            Some(why) if workers == 0 => Err(why),
            Some(JobError::BoardNotForDevices { n, boards })
                if !self.auto && n.get() > *boards.end() =>
            {
                Err(JobError::BoardNotForDevices { n, boards })
            }
            Some(_) => Ok(&[]),
        }
    }

    /// Whether the board of size `n` takes long enough, or they were asked for by name.
    pub const fn are_worth_opening(&self, n: Size) -> bool {
        !self.auto || n.get() >= WORTH_OPENING
    }

    /// Why the devices that there are count none of `plans`; `None` if they do, or if there are none.
    pub fn unused(&self, plans: &[Arc<dyn Plan>]) -> Option<JobError> {
        if self.is_empty() {
            return None;
        }
        let mut boards = None;
        for plan in plans {
            match plan.launcher() {
                Ok(_) => return None,
                Err(NoLauncher::Board(counted)) => boards = Some((plan.size(), counted)),
                Err(NoLauncher::Engine) => {}
            }
        }
        match boards {
            Some((n, boards)) => Some(JobError::BoardNotForDevices { n, boards }),
            None => {
                let engine = plans.first()?.engine();
                Some(JobError::EngineNotForDevices(engine))
            }
        }
    }

    /// Refuses devices that were asked for by name and have no kernel of the engine of `plans`.
    ///
    /// # Errors
    /// As said.
    pub fn check_engine(&self, plans: &[Arc<dyn Plan>]) -> Result<(), JobError> {
        match self.unused(plans) {
            Some(why @ JobError::EngineNotForDevices(_)) if !self.auto => Err(why),
            _ => Ok(()),
        }
    }
}

#[cfg(any(feature = "cuda", feature = "emulated-gpu"))]
fn owner_settings(settings: &HardwareSettings) -> OwnerSettings {
    OwnerSettings {
        batch_time: settings.device.batch_time,
        ..OwnerSettings::default()
    }
}

#[cfg(feature = "cuda")]
fn cuda(settings: &HardwareSettings) -> Result<Vec<DeviceSpec>, String> {
    use crate::device::Device;
    use crate::device::cuda::{Cuda, CudaSettings, devices};

    let found = devices();
    if !found.missing.is_empty() {
        return Err(format!("no GPU takes part: {}", found.missing));
    }
    let count = found.devices.len();
    let indices = settings.device_indices.clone();
    let indices = indices.unwrap_or_else(|| (0..count).collect());
    indices
        .into_iter()
        .map(|index| {
            let device = found.devices.get(index).ok_or_else(|| {
                format!("no GPU {index}: the CUDA driver shows {count}, numbered from 0")
            })?;
            let cuda = CudaSettings {
                index,
                block: settings.device.block,
                streams: settings.device.streams,
                slots_per_stream: settings.device.slots_per_stream,
                compiler: settings.device.compiler.clone(),
                ..CudaSettings::default()
            };
            Ok(DeviceSpec {
                index,
                name: device.identity.name.clone(),
                open: Arc::new(move || {
                    Cuda::open(cuda.clone()).map(|device| Box::new(device) as Box<dyn Device>)
                }),
                settings: owner_settings(settings),
            })
        })
        .collect()
}

#[cfg(not(feature = "cuda"))]
fn cuda(_: &HardwareSettings) -> Result<Vec<DeviceSpec>, String> {
    Err("no GPU takes part: this program is built without CUDA".to_owned())
}

#[cfg(feature = "emulated-gpu")]
fn emulated(settings: &HardwareSettings) -> Result<Vec<DeviceSpec>, String> {
    use crate::device::{Device, Emulated, EmulatedSettings};

    let indices = settings.device_indices.clone().unwrap_or_else(|| vec![0]);
    if let Some(index) = indices.iter().find(|index| **index > 0) {
        return Err(format!(
            "no emulated device {index}: there is one, with the number 0"
        ));
    }
    let specs = indices.into_iter().map(|index| DeviceSpec {
        index,
        name: "emulated".to_owned(),
        open: Arc::new(move || {
            Ok(Box::new(Emulated::new(EmulatedSettings {
                index,
                ..EmulatedSettings::default()
            })) as Box<dyn Device>)
        }),
        settings: OwnerSettings {
            first_cost: 0.002,
            ..owner_settings(settings)
        },
    });
    Ok(specs.collect())
}

#[cfg(not(feature = "emulated-gpu"))]
fn emulated(_: &HardwareSettings) -> Result<Vec<DeviceSpec>, String> {
    Err("no emulated device: this program is built without the feature `emulated-gpu`".to_owned())
}

#[cfg(all(test, feature = "emulated-gpu"))]
mod tests {
    use super::*;
    use crate::engine::Engine;
    use crate::job::plan;

    #[test]
    fn there_is_one_emulated_device() {
        let find = |index| {
            let settings = HardwareSettings {
                devices: DeviceChoice::Emulated,
                device_indices: Some(vec![index]),
                ..HardwareSettings::default()
            };
            Devices::find(&settings, 1).map(|_| ())
        };
        assert!(find(0).is_ok());
        let refused = find(7).unwrap_err().to_string();
        assert!(refused.contains("no emulated device 7"), "{refused}");
    }

    #[test]
    fn devices_take_part_only_where_they_count() {
        let settings = HardwareSettings {
            devices: DeviceChoice::Emulated,
            ..HardwareSettings::default()
        };
        let taking_part = |engine, n, workers| {
            let plans = [engine, Engine::Census].map(|engine| plan(engine, Size::new(n).unwrap()));
            let devices = Devices::find(&settings, workers).unwrap();
            devices.for_plans(&plans, workers).map(<[_]>::len)
        };
        for workers in [0, 1] {
            assert_eq!(taking_part(Engine::Chain, 12, workers).unwrap(), 1);
        }
        assert_eq!(taking_part(Engine::Join, 12, 1).unwrap(), 0);
        let refused = |engine| {
            let plans = [plan(engine, Size::new(12).unwrap())];
            Devices::find(&settings, 1).unwrap().check_engine(&plans)
        };
        assert!(refused(Engine::Join).is_err());
        assert!(refused(Engine::Chain).is_ok());
        for n in [4, 12, 29] {
            let refused = taking_part(Engine::Join, n, 0).unwrap_err();
            let engine = matches!(refused, JobError::EngineNotForDevices(Engine::Join));
            assert!(engine, "{refused}");
        }
    }
}
