//! `bench --gpu`: how fast a GPU counts.

use std::sync::Arc;

use super::draft::Draft;
use super::report::{BenchReport, BoardReport};
use crate::args::whole::whole;
use crate::bench;
use crate::exit::{Exit, Failure};
use crate::output::say;
use queenfold::actors::DeviceSpec;
use queenfold::board::Size;
use queenfold::device::cuda::{Cuda, CudaSettings, devices, open};
use queenfold::device::{OwnerSettings, Properties, fitted};
use queenfold::engine::{Engine, Plan};
use queenfold::job::{device_plan, plan};
use queenfold::machine::Machine;

/// Flags of `bench --gpu`.
#[derive(Debug, clap::Args)]
pub struct GpuArgs {
    /// Measure the GPU: kernel times, how busy it is, exact totals, and runs mixed with CPU workers
    #[arg(long, group = "what")]
    gpu: bool,

    /// The number of the device
    #[arg(long, requires = "gpu", value_name = "INDEX", default_value_t = 0, value_parser = whole(0..=usize::MAX))]
    device: usize,

    /// The largest board, 10 to 24
    #[arg(long, requires = "gpu", value_name = "N", default_value_t = 22, value_parser = whole(10..=24_u32))]
    up_to: u32,
}

impl GpuArgs {
    /// Whether a GPU is to be measured.
    pub const fn is_asked_for(&self) -> bool {
        self.gpu
    }

    fn cuda(&self) -> CudaSettings {
        CudaSettings {
            index: self.device,
            ..CudaSettings::default()
        }
    }
}

/// The board on which CPU and device together are compared with each alone, and in how many rounds.
const MIXED: u32 = 22;
const ROUNDS: usize = 5;

/// The largest board that is counted by the chain.
const CHAIN: u32 = 20;

/// Measures a GPU. Every total is compared with the known one. If a failure or a signal ends the
/// command early, it prints the reason and what was measured until then.
pub fn run(args: &GpuArgs, json: bool) -> Result<(), Failure> {
    let found = devices();
    let mut shown = found.devices.iter();
    let Some(properties) = shown.find(|device| device.identity.index == args.device) else {
        let mut failing = found.failing.into_iter();
        let failing = failing.find(|(index, _)| *index == args.device);
        let why = match (failing, found.devices.len()) {
            (Some((_, why)), _) => why,
            (None, 0) => found.missing,
            (None, 1) => "there is 1 CUDA device".to_owned(),
            (None, count) => format!("there are {count} CUDA devices"),
        };
        return Err(Failure::new(
            Exit::Unavailable,
            format!("no CUDA device {}: {why}", args.device),
        ));
    };
    let settings = args.cuda();
    // Kept open until the end, so that no run includes the time to create its context.
    let mut device =
        Cuda::open(settings.clone()).map_err(|error| Failure::new(Exit::Unavailable, error.0))?;
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
    let draft = Draft::new(report, json);
    draft.print_when_stopped()?;
    let measured = measure(args, &mut device, properties, &spec, &draft);
    let error = measured.as_ref().err();
    draft.print(error.map(|failure| failure.message.as_str()))?;
    measured
}

fn measure(
    args: &GpuArgs,
    device: &mut Cuda,
    properties: &Properties,
    spec: &DeviceSpec,
    draft: &Draft<BenchReport>,
) -> Result<(), Failure> {
    for (engine, n) in boards(args.up_to) {
        let n = Size::new(n).map_err(broken)?;
        let plan = plan(engine, n);
        let launcher = plan.launcher().map_err(|_| no_kernel(n))?;
        let program = fitted(launcher, properties).program();
        let (registers, warps_per_multiprocessor) = device.occupancy(program).map_err(broken)?;
        let result = bench::board(spec, &plan)?;
        let said = format!(
            "n = {n}: kernel {:.3} s, wall {:.3} s by the {engine} engine",
            result.kernel_seconds, result.seconds
        );
        // Noted before it is printed: a user who stops the program at this line finds the board in the
        // report.
        draft.note(|report| {
            report.boards.push(BoardReport {
                result,
                program: program.to_string(),
                registers,
                warps_per_multiprocessor,
            });
        });
        say(&said);
    }
    let (plan, _) = plan_of(MIXED.min(args.up_to))?;
    let mixed = bench::mixed(spec, &plan, Machine::detect().cores, ROUNDS)?;
    draft.note(|report| report.mixed = Some(mixed));
    Ok(())
}

/// The boards that are counted, each by the engines that count it in a few seconds.
fn boards(up_to: u32) -> impl Iterator<Item = (Engine, u32)> {
    let engines = [(Engine::Chain, CHAIN), (Engine::Colour, up_to)];
    (10..=up_to).flat_map(move |n| {
        let counting = engines.into_iter().filter(move |(_, last)| n <= *last);
        counting.map(move |(engine, _)| (engine, n))
    })
}

/// The plan by which devices count a board fastest.
fn plan_of(n: u32) -> Result<(Arc<dyn Plan>, Size), Failure> {
    let n = Size::new(n).map_err(broken)?;
    Ok((device_plan(n).ok_or_else(|| no_kernel(n))?, n))
}

fn no_kernel(n: Size) -> Failure {
    broken(format!("n = {n}: no kernel for it"))
}

fn broken(why: impl std::fmt::Display) -> Failure {
    Failure::new(Exit::Error, why)
}
