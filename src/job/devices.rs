//! Which devices take part in a run.

use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use tracing::{info, warn};

use super::{DeviceChoice, HardwareSettings, JobError};
use crate::actors::DeviceSpec;
use crate::board::Size;
use crate::device::OwnerSettings;
use crate::device::cuda::{self, CudaSettings};
use crate::engine::{Engine, NoLauncher, Plan, core_seconds};
use crate::simd::Isa;

/// The smallest board for which `auto` opens a GPU: smaller ones are done before it is open, and so are given
/// boards that cost less than it.
const WORTH_OPENING: u32 = 16;

/// Devices that were not asked for are not opened for boards that the CPU workers count in this many
/// seconds, by the table of costs.
///
/// 2 s on a current core are allowed for opening a GPU and compiling its kernel: an assumption.
/// A current core is the Zen 5 that takes 0.6 times the seconds of the table (`engine/costs.rs`).
const NOT_WORTH_OPENING: f64 = 2.0 / 0.6;

/// The devices that jobs may use, looked for once: at the start, or if none was asked for, when a board is
/// worth it. To start a driver takes up to seconds.
pub struct Devices {
    found: OnceLock<Found>,
    settings: HardwareSettings,
    auto: bool,
}

/// The devices of a machine.
#[derive(Default)]
struct Found {
    devices: Vec<DeviceSpec>,
    /// Which others there are, and why they take no part: lines for the log, until they are written.
    left_out: Mutex<Vec<String>>,
}

impl Devices {
    /// Looks for the devices that `settings` ask for. `workers`: the CPU workers that count too.
    ///
    /// # Errors
    /// Devices were asked for by name, or there are no CPU workers, and no device is there; there is
    /// neither worker nor device by choice; or a setting is beyond its [limits](super::limits).
    pub fn find(settings: &HardwareSettings, workers: usize) -> Result<Self, JobError> {
        settings.check_devices()?;
        let found = match settings.devices {
            DeviceChoice::Off => Some(Found::default()),
            // Devices that were neither asked for nor needed may be missing.
            DeviceChoice::Auto if settings.device_indices.is_none() && workers > 0 => None,
            DeviceChoice::Auto | DeviceChoice::Cuda => Some(cuda(settings)?),
        };
        if workers == 0 && found.as_ref().is_some_and(|found| found.devices.is_empty()) {
            return Err(JobError::NoWorkers);
        }
        Ok(Self {
            found: found.map_or_else(OnceLock::new, OnceLock::from),
            settings: settings.clone(),
            auto: settings.devices == DeviceChoice::Auto && workers > 0,
        })
    }

    /// The devices. If they were not looked for, looks for them, and notes in the log if there are none.
    fn all(&self) -> &[DeviceSpec] {
        let found = self.found.get_or_init(|| {
            cuda(&self.settings).unwrap_or_else(|missing| {
                info!("{missing}");
                Found::default()
            })
        });
        for why in found.left_out.lock().drain(..) {
            warn!("{why}");
        }
        &found.devices
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all().is_empty()
    }

    /// Those that take part in a run of `plans` with this number of CPU workers: all of them if they
    /// count one of the plans, and none otherwise. A board smaller than those that they count is left to the CPU workers,
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
        let worth = |plan: &Arc<dyn Plan>| {
            let is_short = plan.engine() == Engine::Colour
                && plan.total_cost() < NOT_WORTH_OPENING * workers as f64;
            self.are_worth_opening(plan.as_ref())
                && (!self.auto || (plan.launcher().is_ok() && !is_short))
        };
        if !plans.iter().any(worth) || self.is_empty() {
            return Ok(&[]);
        }
        match self.unused(plans) {
            None => Ok(self.all()),
            Some(why) if workers == 0 => Err(why),
            Some(JobError::BoardNotForDevices { n, boards })
                if !self.auto && n.get() > *boards.end() =>
            {
                Err(JobError::BoardNotForDevices { n, boards })
            }
            Some(_) => Ok(&[]),
        }
    }

    /// Whether the board of a plan takes long enough, or they were asked for by name.
    pub fn are_worth_opening(&self, plan: &dyn Plan) -> bool {
        let least = Size::new(WORTH_OPENING).map(|n| core_seconds(Engine::Chain, n, Isa::Avx512));
        let is_short = !plan.given().is_free()
            && (plan.engine() == Engine::Census || least.is_ok_and(|s| plan.total_cost() < s));
        !self.auto || (plan.size().get() >= WORTH_OPENING && !is_short)
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
                Err(NoLauncher::Board(counted)) => {
                    boards.get_or_insert((plan.size(), counted));
                }
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
        if self.auto {
            return Ok(());
        }
        match self.unused(plans) {
            Some(why @ JobError::EngineNotForDevices(_)) => Err(why),
            _ => Ok(()),
        }
    }
}

fn cuda(settings: &HardwareSettings) -> Result<Found, JobError> {
    let found = cuda::devices();
    if !found.missing.is_empty() {
        let why = format!("no GPU takes part: {}", found.missing);
        return Err(JobError::DeviceUnavailable(why));
    }
    let count = found.devices.len() + found.failing.len();
    let mut left_out = Vec::new();
    let indices = settings.device_indices.clone().unwrap_or_else(|| {
        for (index, why) in &found.failing {
            left_out.push(format!(
                "GPU {index} takes no part: the CUDA driver cannot describe it: {why}"
            ));
        }
        let described = found.devices.iter();
        described.map(|device| device.identity.index).collect()
    });
    let devices = indices
        .into_iter()
        .map(|index| {
            let mut devices = found.devices.iter();
            let device = devices.find(|device| device.identity.index == index);
            let device = device.ok_or_else(|| {
                let failing = found.failing.iter().find(|(failing, _)| *failing == index);
                JobError::DeviceUnavailable(match failing {
                    Some((_, why)) => {
                        format!("no GPU {index}: the CUDA driver cannot describe it: {why}")
                    }
                    None => {
                        format!("no GPU {index}: the CUDA driver shows {count}, numbered from 0")
                    }
                })
            })?;
            let settings = CudaSettings {
                index,
                ..CudaSettings::default()
            };
            Ok(DeviceSpec {
                index,
                name: device.identity.name.clone(),
                open: Arc::new(move || cuda::open(&settings)),
                settings: OwnerSettings::default(),
            })
        })
        .collect::<Result<_, JobError>>()?;
    Ok(Found {
        devices,
        left_out: left_out.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{OpenError, OwnerSettings};
    use crate::job::plan;

    #[test]
    fn devices_take_part_only_where_they_count() {
        let devices = || {
            let device = DeviceSpec {
                index: 0,
                name: "never opened".to_owned(),
                open: Arc::new(|| Err(OpenError(String::new()))),
                settings: OwnerSettings::default(),
            };
            let found = Found {
                devices: vec![device],
                ..Found::default()
            };
            Devices {
                found: OnceLock::from(found),
                settings: HardwareSettings::default(),
                auto: false,
            }
        };
        let taking_part = |engine, n, workers| {
            let plans = [engine, Engine::Census].map(|engine| plan(engine, Size::new(n).unwrap()));
            let devices = devices();
            devices.for_plans(&plans, workers).map(<[_]>::len)
        };
        for workers in [0, 1] {
            for engine in [Engine::Chain, Engine::Colour] {
                assert_eq!(taking_part(engine, 12, workers).unwrap(), 1);
            }
        }
        assert_eq!(taking_part(Engine::Chain, 4, 1).unwrap(), 0);
        assert_eq!(taking_part(Engine::Census, 12, 1).unwrap(), 0);
        let refused = |engine| {
            let plans = [plan(engine, Size::new(12).unwrap())];
            devices().check_engine(&plans)
        };
        assert!(refused(Engine::Census).is_err());
        assert!(refused(Engine::Colour).is_ok());
        assert!(refused(Engine::Chain).is_ok());
        for n in [4, 29] {
            let refused = taking_part(Engine::Chain, n, 0).unwrap_err();
            let board = matches!(&refused, JobError::BoardNotForDevices { boards, .. } if *boards.end() == 28);
            assert!(board, "{refused}");
        }
    }
}
