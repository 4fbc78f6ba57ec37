//! `queenfold devices`: shows the processor and the GPUs of this machine, and what `auto` chooses on it.

use serde_json::{Value, json};

use crate::args::whole::whole;
use crate::config::Bytes;
use crate::exit::Failure;
use crate::output::{print, print_json};
use queenfold::board::Size;
use queenfold::device::cuda::{Cuda, CudaSettings, devices};
use queenfold::device::fitted;
use queenfold::job::{Hardware, HardwareSettings, device_plan};
use queenfold::machine::Machine;
use queenfold::simd::Isa;
use queenfold::words::several;

/// Flags of `devices`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  queenfold devices
  queenfold devices -n 24 --json")]
pub struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,

    /// The board whose kernel is checked for how it fits each GPU, 5 to 30, and for which `auto` is asked
    #[arg(short, value_name = "N", default_value_t = 20, value_parser = whole(5..=30_u32), allow_hyphen_values = true)]
    n: u32,
}

/// Shows the machine. What the system does not report is `unknown`, or `null` in JSON.
pub fn run(args: &Args) -> Result<(), Failure> {
    let machine = Machine::detect();
    let available: Vec<_> = Isa::ALL
        .into_iter()
        .filter(|isa| isa.is_available())
        .map(Isa::name)
        .collect();
    let gpus = gpus(args.n);
    let n = Size::new(args.n).map_err(Failure::usage)?;
    let hardware = Hardware::find(&HardwareSettings::default())?;
    let engine = hardware.choose_engine(n)?;
    if args.json {
        return print_json(&json!({
            "cpu": machine.cpu,
            "cores": machine.cores,
            "isas": available,
            "isa": Isa::best().name(),
            "memory": machine.memory.map(|bytes| bytes.to_string()),
            "memory_limit": machine.memory_limit.map(|bytes| bytes.to_string()),
            "gpus": gpus.devices,
            "gpu_missing": gpus.missing,
            "auto": {
                "n": args.n,
                "engine": engine.name(),
            },
        }));
    }
    let memory = match (machine.memory, machine.memory_limit) {
        (Some(memory), None) => Bytes(memory).rounded(),
        (Some(memory), Some(limit)) => {
            format!(
                "{}, limited to {}",
                Bytes(memory).rounded(),
                Bytes(limit).rounded()
            )
        }
        (None, Some(limit)) => format!("limited to {}", Bytes(limit).rounded()),
        (None, None) => "unknown".into(),
    };
    print(&format!(
        "CPU               {}\n\
         Cores             {}\n\
         Instruction sets  {}; auto takes {}\n\
         Memory            {memory}\n\
         GPUs              {}\n\
         auto takes the {engine} engine for n = {n} on {}",
        machine.cpu.as_deref().unwrap_or("unknown"),
        machine.cores,
        available.join(", "),
        Isa::best(),
        gpus.in_words(),
        several(hardware.workers as u64, "CPU worker"),
    ))
}

/// The GPUs of the machine, or why none was found.
struct GpuListing {
    devices: Vec<Value>,
    missing: Option<String>,
}

impl GpuListing {
    fn in_words(&self) -> String {
        let text = |gpu: &Value, key: &str| match &gpu[key] {
            Value::String(text) => text.clone(),
            Value::Null => "unknown".to_owned(),
            other => other.to_string(),
        };
        let devices = self.devices.iter().map(|gpu| {
            if gpu["name"].is_null() {
                let (index, why) = (text(gpu, "index"), text(gpu, "error"));
                return format!("{index}: the CUDA driver cannot describe it: {why}");
            }
            let memory = text(gpu, "memory").parse().map(Bytes);
            let fits = match &gpu["error"] {
                Value::String(why) => format!("not usable: {why}"),
                _ => format!(
                    "{} registers, {} warps per multiprocessor at n = {}",
                    text(gpu, "registers"),
                    text(gpu, "warps_per_multiprocessor"),
                    text(gpu, "n"),
                ),
            };
            format!(
                "{}: {}, compute capability {}.{}, {}, {}, {fits}",
                text(gpu, "index"),
                text(gpu, "name"),
                gpu["compute"][0],
                gpu["compute"][1],
                memory.map_or_else(|_| "memory unknown".to_owned(), Bytes::rounded),
                text(gpu, "driver"),
            )
        });
        let lines: Vec<_> = devices.chain(self.missing.clone()).collect();
        lines.join("\n                  ")
    }
}

/// Looks for GPUs, and how the kernel for boards of size `n` fits on them. What a device does not
/// report is `null`.
fn gpus(n: u32) -> GpuListing {
    let found = devices();
    let described = found.devices.iter().map(|properties| {
        let opened = Cuda::open(CudaSettings {
            index: properties.identity.index,
            ..CudaSettings::default()
        });
        let mut described = json!(properties);
        described["n"] = json!(n);
        let plan = Size::new(n).ok().and_then(device_plan);
        let launcher = plan.and_then(|plan| plan.launcher().ok());
        match (opened, launcher) {
            (Ok(mut device), Some(launcher)) => {
                let launcher = fitted(launcher, properties);
                match device.occupancy(launcher.program()) {
                    Ok((registers, warps)) => {
                        described["registers"] = json!(registers);
                        described["warps_per_multiprocessor"] = json!(warps);
                    }
                    Err(error) => described["error"] = json!(error.to_string()),
                }
            }
            (Err(error), _) => described["error"] = json!(error.to_string()),
            (Ok(_), None) => {}
        }
        described
    });
    let failing = found.failing.iter();
    let failing = failing.map(|(index, why)| json!({ "index": index, "error": why }));
    GpuListing {
        devices: described.chain(failing).collect(),
        missing: (!found.missing.is_empty()).then_some(found.missing),
    }
}
