//! Which devices take part in a run.

use std::sync::Arc;
#[cfg(any(feature = "cuda", feature = "emulated-gpu"))]
use std::time::Duration;

use super::exit::{Exit, Failure};
use crate::actors::DeviceSpec;
use crate::board::Size;
use crate::config::{Config, Gpu};
use crate::engine::{Engine, Plan};
#[cfg(any(feature = "cuda", feature = "emulated-gpu"))]
use crate::gpu::OwnerSettings;
use crate::gpu::Program;

/// The least board for which `auto` opens a GPU: smaller ones are done before it is open.
const WORTH_OPENING: u32 = 16;

/// The least board that devices count.
const LEAST_BOARD: u32 = 5;

/// The devices of a command, looked for once.
pub struct Gpus {
    devices: Vec<DeviceSpec>,
    auto: bool,
    missing: Option<String>,
}

impl Gpus {
    /// Looks for the devices that `config` asks for.
    ///
    /// # Errors
    /// Devices were asked for by name and are not there, or there is neither worker nor device.
    pub fn find(config: &Config, workers: usize) -> Result<Self, Failure> {
        let mut missing = None;
        let devices = match config.run.gpu {
            Gpu::Off => Vec::new(),
            Gpu::Auto => cuda(config).or_else(|none| {
                if config.run.device.0.is_some() {
                    Err(none)
                } else {
                    missing = Some(none.message);
                    Ok(Vec::new())
                }
            })?,
            Gpu::Cuda => cuda(config)?,
            Gpu::Emulated => emulated(config)?,
        };
        if workers == 0 && devices.is_empty() {
            return Err(Failure::usage(
                "0 workers count nothing: give --workers 1 or more, or a device with --gpu",
            ));
        }
        Ok(Self {
            devices,
            auto: config.run.gpu == Gpu::Auto && workers > 0,
            missing,
        })
    }

    /// Why none was found, where none was asked for.
    pub fn missing(&self) -> Option<&str> {
        self.missing.as_deref()
    }

    /// Whether they were found, not asked for.
    pub const fn are_found(&self) -> bool {
        self.auto
    }

    /// Those that take part in a run of `plans`, beside this number of CPU workers: those that count
    /// the board, if one of the plans is of the chain engine, or there is nobody else.
    ///
    /// # Errors
    /// They were asked for by name, and their kernel does not count the board.
    pub fn for_plans(
        &self,
        plans: &[Arc<dyn Plan>],
        workers: usize,
    ) -> Result<&[DeviceSpec], Failure> {
        let counted = plans.iter().find(|plan| plan.engine() == Engine::Chain);
        match counted.or_else(|| plans.first().filter(|_| workers == 0)) {
            Some(plan) => self.for_board(plan.size(), workers),
            None => Ok(&[]),
        }
    }

    /// Those that count the board of size `n`. A board below the least that they count is left to the
    /// CPU workers, if there are any.
    ///
    /// # Errors
    /// They were asked for by name, and their kernel does not count it.
    pub fn for_board(&self, n: Size, workers: usize) -> Result<&[DeviceSpec], Failure> {
        if self.devices.is_empty() || (self.auto && n.get() < WORTH_OPENING) {
            return Ok(&[]);
        }
        match Program::chain(n) {
            Some(_) => Ok(&self.devices),
            None if self.auto || (workers > 0 && n.get() < LEAST_BOARD) => Ok(&[]),
            None => Err(Failure::usage(format!(
                "devices count boards of {LEAST_BOARD} to {} queens, not of {n}",
                Program::LARGEST_BOARD
            ))),
        }
    }
}

#[cfg(any(feature = "cuda", feature = "emulated-gpu"))]
fn settings(config: &Config) -> OwnerSettings {
    OwnerSettings {
        batch_time: Duration::from_millis(config.gpu.batch_ms.0 as u64),
        ..OwnerSettings::default()
    }
}

fn unavailable(why: impl std::fmt::Display) -> Failure {
    Failure::new(Exit::Unavailable, why)
}

#[cfg(feature = "cuda")]
fn cuda(config: &Config) -> Result<Vec<DeviceSpec>, Failure> {
    use crate::gpu::Device;
    use crate::gpu::cuda::{Cuda, CudaSettings, devices};

    let found = devices();
    if !found.missing.is_empty() {
        return Err(unavailable(format!("no GPU takes part: {}", found.missing)));
    }
    let count = found.devices.len();
    let indices = config
        .run
        .device
        .0
        .as_ref()
        .map_or_else(|| (0..count).collect(), |indices| indices.0.clone());
    indices
        .into_iter()
        .map(|index| {
            let device = found.devices.get(index).ok_or_else(|| {
                unavailable(format!(
                    "no GPU {index}: the CUDA driver shows {count}, numbered from 0"
                ))
            })?;
            let cuda = CudaSettings {
                index,
                block: config.gpu.block.0,
                streams: config.gpu.streams.0,
                slots_per_stream: config.gpu.slots.0,
                ..CudaSettings::default()
            };
            Ok(DeviceSpec {
                index,
                name: device.identity.name.clone(),
                open: Arc::new(move || {
                    Cuda::open(cuda.clone()).map(|device| Box::new(device) as Box<dyn Device>)
                }),
                settings: settings(config),
            })
        })
        .collect()
}

#[cfg(not(feature = "cuda"))]
fn cuda(_: &Config) -> Result<Vec<DeviceSpec>, Failure> {
    Err(unavailable(
        "no GPU takes part: this program is built without CUDA",
    ))
}

#[cfg(feature = "emulated-gpu")]
fn emulated(config: &Config) -> Result<Vec<DeviceSpec>, Failure> {
    use crate::gpu::{Device, Emulated, EmulatedSettings};

    let indices = config
        .run
        .device
        .0
        .clone()
        .map_or(vec![0], |indices| indices.0);
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
            first_cost: 0.05,
            ..settings(config)
        },
    });
    Ok(specs.collect())
}

#[cfg(not(feature = "emulated-gpu"))]
fn emulated(_: &Config) -> Result<Vec<DeviceSpec>, Failure> {
    Err(unavailable(
        "no emulated device: this program is built without the feature `emulated-gpu`",
    ))
}
