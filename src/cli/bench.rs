use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::exit::{Exit, Failure};
use super::print;
use super::usage::say;
use crate::actors::{self, Control, DeviceSpec, RunSpec};
use crate::board::{Size, known};
use crate::chain::ChainPlan;
use crate::config::Machine;
use crate::engine::CounterSettings;
use crate::gpu::cuda::{Cuda, CudaSettings, devices};
use crate::gpu::{ChainBatcher, Device, Measured, Opener, Owner, OwnerSettings, Program, measure};
use crate::simd::Isa;

/// Flags of `bench`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Measure the GPU: kernel times, how busy it is, exact totals, a run mixed with CPU workers
    #[arg(long, required = true)]
    gpu: bool,

    /// Print it as JSON
    #[arg(long)]
    json: bool,

    /// The number of the device
    #[arg(long, value_name = "INDEX", default_value_t = 0)]
    device: usize,

    /// Threads per block: 32, 64, … 256
    #[arg(long, value_name = "THREADS", default_value_t = 128, value_parser = block)]
    block: u32,

    /// Streams of the device, 1 to 4
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=4))]
    streams: u8,

    /// Launches that each stream holds, 1 to 4
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=4))]
    slots: u8,

    /// How long a launch should take, in milliseconds, 50 to 5000
    #[arg(long, value_name = "MS", default_value_t = 400, value_parser = clap::value_parser!(u64).range(50..=5000))]
    batch_time: u64,

    /// The largest board
    #[arg(long, value_name = "N", default_value_t = 22, value_parser = clap::value_parser!(u32).range(10..=24))]
    up_to: u32,
}

fn block(text: &str) -> Result<u32, String> {
    text.parse()
        .ok()
        .filter(|block: &u32| {
            (32..=Program::MOST_THREADS).contains(block) && block.is_multiple_of(32)
        })
        .ok_or_else(|| "expected 32, 64, … 256".to_owned())
}

/// The kernel times to reach on an H200, in seconds: a quarter of those published for an equal chip.
const TARGETS: [(u32, f64); 3] = [(20, 1.0), (21, 7.0), (22, 60.0)];

/// The board on which CPU and device together are compared with each alone, and how often.
const MIXED: u32 = 20;
const PAIRS: usize = 5;

/// The share of the time that the device should be busy, and the board where that is measured.
const BUSY: (u32, f64) = (21, 0.97);

/// Measures a GPU. Every total is compared with the known one.
pub fn run(args: &Args) -> Result<(), Failure> {
    let found = devices();
    if args.device >= found.devices.len() {
        let why = if found.missing.is_empty() {
            format!("there are {} CUDA devices", found.devices.len())
        } else {
            found.missing
        };
        return Err(Failure::new(
            Exit::Unavailable,
            format!("no CUDA device {}: {why}", args.device),
        ));
    }
    let settings = CudaSettings {
        index: args.device,
        block: args.block,
        streams: args.streams.into(),
        slots_per_stream: args.slots.into(),
        ..CudaSettings::default()
    };
    let unavailable = |why: String| Failure::new(Exit::Unavailable, why);
    let mut device = Cuda::open(settings.clone()).map_err(|error| unavailable(error.0))?;
    let properties = device.properties().clone();
    let mut boards = Vec::new();
    for n in (10..=args.up_to).filter_map(|n| Size::new(n).ok()) {
        let Some(program) = Program::chain(n) else {
            continue;
        };
        let (registers, warps) = device
            .occupancy(program)
            .map_err(|error| unavailable(error.to_string()))?;
        let measured = count(args, &settings, n)?;
        say(&format!(
            "n = {n}: kernel {:.3} s, wall {:.3} s",
            measured.kernel.as_secs_f64(),
            measured.wall.as_secs_f64()
        ));
        boards.push(board(n, program, registers, warps, &measured));
    }
    drop(device);
    let mixed = Size::new(MIXED.min(args.up_to))
        .map_err(|error| error.to_string())
        .and_then(|n| mixed(args, &settings, n))
        .map_err(|why| Failure::new(Exit::Error, why))?;
    let report = json!({
        "device": properties,
        "settings": {
            "block": args.block,
            "streams": args.streams,
            "slots": args.slots,
            "batch_ms": args.batch_time,
        },
        "boards": boards,
        "mixed": mixed,
    });
    if args.json {
        return print(&report.to_string());
    }
    print(&format!("{}, {}", properties.name, properties.compiler))?;
    for board in &boards {
        print(&format!(
            "{:>3}  kernel {:>10.4} s  wall {:>10.4} s  busy {:>6.4}  {}",
            board["n"], board["kernel_seconds"], board["seconds"], board["busy"], board["reached"]
        ))?;
    }
    print(&format!("mixed  {mixed}"))
}

fn owner_settings(args: &Args) -> OwnerSettings {
    OwnerSettings {
        batch_time: Duration::from_millis(args.batch_time),
        ..OwnerSettings::default()
    }
}

/// Wall times of the chain engine on all CPU cores, on the device alone, and on both.
fn mixed(args: &Args, cuda: &CudaSettings, n: Size) -> Result<Value, String> {
    let cores = Machine::detect().cores;
    let cuda = cuda.clone();
    let device = DeviceSpec {
        open: Arc::new(move || {
            Cuda::open(cuda.clone()).map(|device| Box::new(device) as Box<dyn Device>)
        }),
        settings: owner_settings(args),
    };
    let seconds = |workers: usize, devices: &[DeviceSpec]| {
        let spec = RunSpec {
            plans: vec![Arc::new(ChainPlan::new(n))],
            workers,
            counter: CounterSettings {
                isa: Isa::best(),
                memory: 1 << 30,
            },
            queue_per_worker: 2,
            batch_time: Duration::from_millis(50),
            time_limit: None,
            audit: 0.0,
            recorder: None,
        };
        let report = actors::run_on(&spec, devices, &Control::new())
            .map_err(|error| format!("mixed run: {error}"))?;
        let total = report
            .tallies
            .values()
            .map(|tally| tally.completions.solutions())
            .sum::<u128>();
        match known(n) {
            Some(known) if known.total != total => Err(format!(
                "mixed run: counted {total}, but {} is known",
                known.total
            )),
            _ => Ok(report.elapsed.as_secs_f64()),
        }
    };
    let both = std::slice::from_ref(&device);
    let cpu = seconds(cores, &[])?;
    let (mut alone, mut together) = (Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        alone.push(seconds(0, both)?);
        together.push(seconds(cores, both)?);
    }
    let best = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
    Ok(json!({
        "n": n.get(),
        "workers": cores,
        "cpu_seconds": cpu,
        "device_seconds": alone,
        "mixed_seconds": together,
        "reached": best(&together) < best(&alone).min(cpu),
    }))
}

fn count(args: &Args, settings: &CudaSettings, n: Size) -> Result<Measured, Failure> {
    let failed = |why: String| Failure::new(Exit::Error, format!("n = {n}: {why}"));
    let settings = settings.clone();
    let open: Opener = Box::new(move || {
        let device = Cuda::open(settings.clone())?;
        Ok(Box::new(device) as Box<dyn Device>)
    });
    let batcher = ChainBatcher::new(n).ok_or_else(|| failed("no kernel for it".to_owned()))?;
    let owner =
        Owner::open(open, batcher, owner_settings(args)).map_err(|error| failed(error.0))?;
    let measured = measure(owner, n).map_err(failed)?;
    let total = measured.tally.completions.solutions();
    match known(n) {
        Some(known) if known.total != total => Err(Failure::new(
            Exit::Mismatch,
            format!("n = {n}: counted {total}, but {} is known", known.total),
        )),
        _ => Ok(measured),
    }
}

fn board(n: Size, program: Program, registers: u32, warps: u32, measured: &Measured) -> Value {
    let seconds = measured.kernel.as_secs_f64();
    let target = TARGETS.iter().find(|(of, _)| *of == n.get());
    let busy = (BUSY.0 == n.get()).then_some(BUSY.1);
    let reached = target.is_none_or(|(_, target)| seconds <= *target)
        && busy.is_none_or(|least| measured.busy() >= least);
    json!({
        "n": n.get(),
        "total": measured.tally.completions.solutions().to_string(),
        "verified": if known(n).is_some() { "known" } else { "unknown" },
        "kernel_seconds": seconds,
        "seconds": measured.wall.as_secs_f64(),
        "busy": measured.busy(),
        "launches": measured.launches,
        "nodes": measured.tally.nodes.to_string(),
        "nodes_per_second": measured.tally.nodes as f64 / seconds.max(f64::MIN_POSITIVE),
        "depth": program.depth,
        "registers": registers,
        "warps_per_multiprocessor": warps,
        "target_seconds": target.map(|(_, target)| target),
        "target_busy": busy,
        "reached": reached,
    })
}
