//! `bench --gpu`: how fast a GPU counts.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::draft::Draft;
use super::report::{BenchReport, BoardReport};
use crate::bench;
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

/// The boards that are counted, in this order.
const BOARDS: RangeInclusive<u32> = 10..=22;

/// In how many rounds CPU and device together are compared with each alone, on the largest board.
const ROUNDS: usize = 5;

/// The largest board that is counted by the chain in a few seconds.
const CHAIN: u32 = 20;

/// Measures the GPU of this number. No board is begun when the `budget` is over, but the first. Every total is compared with
/// the known one. If a failure or a signal ends the
/// command early, it prints the reason and what was measured until then.
pub fn run(index: usize, budget: Option<Duration>, json: bool) -> Result<(), Failure> {
    let begun = Instant::now();
    let found = devices();
    let mut shown = found.devices.iter();
    let Some(properties) = shown.find(|device| device.identity.index == index) else {
        let mut failing = found.failing.into_iter();
        let failing = failing.find(|(of, _)| *of == index);
        let others = several(found.devices.len() as u64, "CUDA device");
        let why = match failing {
            Some((_, why)) => why,
            None if found.devices.is_empty() => found.missing,
            None => format!("this machine has {others}"),
        };
        let what = format!("no CUDA device {index}: {why}");
        return Err(Failure::new(Exit::Unavailable, what));
    };
    let settings = CudaSettings {
        index,
        ..CudaSettings::default()
    };
    // Kept open until the end, so that no run includes the time to create its context.
    let opened = Cuda::open(settings.clone());
    let mut device = opened.map_err(|error| Failure::new(Exit::Unavailable, error.0))?;
    let spec = DeviceSpec {
        index,
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
        let is_time = || budget.is_none_or(|budget| begun.elapsed() < budget);
        let mut largest = *BOARDS.start();
        for n in BOARDS.take_while(|n| n == BOARDS.start() || is_time()) {
            largest = n;
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
        let n = size(largest)?;
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
