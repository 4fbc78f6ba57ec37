//! `bench --gpu`: how fast a GPU counts.

use std::sync::Arc;

use super::draft::Draft;
use super::report::{BenchReport, BoardReport};
use crate::bench;
use crate::config::whole;
use crate::exit::{Exit, Failure};
use crate::output::say;
use queenfold::actors::DeviceSpec;
use queenfold::board::Size;
use queenfold::device::cuda::{Cuda, CudaSettings, devices, open};
use queenfold::device::{OwnerSettings, fitted};
use queenfold::engine::Engine;
use queenfold::job::{device_plan, plan};
use queenfold::machine::Machine;
use queenfold::words::several;

/// Flags of `bench --gpu`.
#[derive(Debug, clap::Args)]
pub struct GpuArgs {
    /// Measure the GPU: kernel times, how busy it is, exact totals, and runs mixed with CPU workers
    #[arg(long, group = "what")]
    pub gpu: bool,

    /// The number of the device
    #[arg(long, requires = "gpu", value_name = "INDEX", default_value_t = 0, value_parser = whole(0..=usize::MAX))]
    device: usize,

    /// The largest board, 10 to 24
    #[arg(long, requires = "gpu", value_name = "N", default_value_t = 22, value_parser = whole(10..=24_u32))]
    up_to: u32,
}

/// The board on which CPU and device together are compared with each alone, and in how many rounds.
const MIXED: u32 = 22;
const ROUNDS: usize = 5;

/// The largest board that is counted by the chain in a few seconds.
const CHAIN: u32 = 20;

/// Measures a GPU. Every total is compared with the known one. If a failure or a signal ends the
/// command early, it prints the reason and what was measured until then.
pub fn run(args: &GpuArgs, json: bool) -> Result<(), Failure> {
    let found = devices();
    let mut shown = found.devices.iter();
    let Some(properties) = shown.find(|device| device.identity.index == args.device) else {
        let mut failing = found.failing.into_iter();
        let failing = failing.find(|(index, _)| *index == args.device);
        let others = several(found.devices.len() as u64, "CUDA device");
        let why = match failing {
            Some((_, why)) => why,
            None if found.devices.is_empty() => found.missing,
            None => format!("this machine has {others}"),
        };
        let what = format!("no CUDA device {}: {why}", args.device);
        return Err(Failure::new(Exit::Unavailable, what));
    };
    let settings = CudaSettings {
        index: args.device,
        ..CudaSettings::default()
    };
    // Kept open until the end, so that no run includes the time to create its context.
    let opened = Cuda::open(settings.clone());
    let mut device = opened.map_err(|error| Failure::new(Exit::Unavailable, error.0))?;
    let spec = DeviceSpec {
        index: args.device,
        name: properties.identity.name.clone(),
        open: Arc::new(move || open(&settings)),
        settings: OwnerSettings::default(),
    };
    let report = BenchReport {
        device: properties.clone(),
        boards: Vec::new(),
        mixed: None,
        error: None,
    };
    Draft::measure(report, json, |draft| {
        for n in 10..=args.up_to {
            let engines = [Engine::Chain, Engine::Colour];
            for engine in &engines[usize::from(n > CHAIN)..] {
                let plan = plan(*engine, size(n)?);
                let result = bench::board(&spec, &plan)?;
                let launcher = plan.launcher().map_err(|_| broken("no kernel for it"))?;
                let program = fitted(launcher, properties).program();
                let (registers, warps_per_multiprocessor) =
                    device.occupancy(program).map_err(broken)?;
                let said = format!(
                    "n = {n}: kernel {:.3} s, wall {:.3} s by the {engine} engine",
                    result.kernel_seconds, result.seconds
                );
                // Noted before it is printed: a user who stops the program at this line finds the board in the report.
                let program = program.to_string();
                let board = BoardReport {
                    result,
                    program,
                    registers,
                    warps_per_multiprocessor,
                };
                draft.note(|report| report.boards.push(board));
                say(&said);
            }
        }
        let n = size(MIXED.min(args.up_to))?;
        let none = || broken(format!("n = {n}: no kernel for it"));
        let plan = device_plan(n).ok_or_else(none)?;
        let mixed = bench::mixed(&spec, &plan, Machine::detect().cores, ROUNDS)?;
        draft.note(|report| report.mixed = Some(mixed));
        Ok(())
    })
}

fn size(n: u32) -> Result<Size, Failure> {
    Size::new(n).map_err(broken)
}

fn broken(why: impl std::fmt::Display) -> Failure {
    Failure::new(Exit::Error, why)
}
