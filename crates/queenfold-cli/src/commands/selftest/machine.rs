//! Shows the processor and the GPUs of this machine, and what `auto` chooses on it.

use serde_json::{Value, json};

use crate::config::bytes_text;
use crate::exit::Failure;
use crate::output::{print, print_json};
use queenfold::board::Size;
use queenfold::device::cuda::{Cuda, CudaSettings, devices};
use queenfold::device::fitted;
use queenfold::job::{Hardware, HardwareSettings, device_plan};
use queenfold::machine::Machine;
use queenfold::simd::Isa;
use queenfold::words::several;

/// The board whose kernel is checked for how it fits each GPU, and for which `auto` is asked.
const N: u32 = 20;

/// Shows the machine. What the system does not report is `unknown`, or `null` in JSON.
pub fn tell(to_json: bool) -> Result<(), Failure> {
    let machine = Machine::detect();
    let available = Isa::ALL.into_iter().filter(|isa| isa.is_available());
    let available: Vec<_> = available.map(Isa::name).collect();
    let n = Size::new(N).map_err(Failure::usage)?;
    let (gpus, missing) = gpus(n);
    let hardware = Hardware::find(&HardwareSettings::default())?;
    let engine = hardware.choose_engine(n)?;
    if to_json {
        return print_json(&json!({
            "cpu": machine.cpu,
            "cores": machine.cores,
            "isas": available,
            "isa": Isa::best().name(),
            "memory": machine.memory.map(|bytes| bytes.to_string()),
            "memory_limit": machine.memory_limit.map(|bytes| bytes.to_string()),
            "gpus": gpus,
            "gpu_missing": missing,
            "auto": { "n": n, "engine": engine.name() },
        }));
    }
    let memory = [machine.memory, machine.memory_limit].map(|bytes| bytes.map(bytes_text));
    let memory = match memory {
        [Some(memory), None] => memory,
        [Some(memory), Some(limit)] => format!("{memory}, limited to {limit}"),
        [None, Some(limit)] => format!("limited to {limit}"),
        [None, None] => "unknown".to_owned(),
    };
    let gpus = gpus.iter().map(in_words).chain(missing).collect::<Vec<_>>();
    print(&format!(
        "CPU               {}\n\
         Cores             {}\n\
         Instruction sets  {}; auto takes {}\n\
         Memory            {memory}\n\
         GPUs              {}\n\
         auto takes the {engine} engine for n = {n} on {}\n",
        machine.cpu.as_deref().unwrap_or("unknown"),
        machine.cores,
        available.join(", "),
        Isa::best(),
        gpus.join("\n                  "),
        several(hardware.workers as u64, "CPU worker"),
    ))
}

/// A device as `--json` describes it, in words.
fn in_words(gpu: &Value) -> String {
    let text = |key: &str| match &gpu[key] {
        Value::String(text) => text.clone(),
        Value::Null => "unknown".to_owned(),
        other => other.to_string(),
    };
    let (index, name, driver, error) = (text("index"), text("name"), text("driver"), text("error"));
    if gpu["name"].is_null() {
        return format!("{index}: the CUDA driver cannot describe it: {error}");
    }
    let memory = text("memory").parse();
    let memory = memory.map_or_else(|_| "memory unknown".to_owned(), bytes_text);
    let [major, minor] = [0, 1].map(|part| &gpu["compute"][part]);
    let fits = match gpu["error"].is_null() {
        false => format!("not usable: {error}"),
        true => {
            let [registers, warps, n] = ["registers", "warps_per_multiprocessor", "n"].map(text);
            format!("{registers} registers, {warps} warps per multiprocessor at n = {n}")
        }
    };
    format!("{index}: {name}, compute capability {major}.{minor}, {memory}, {driver}, {fits}")
}

/// The GPUs, and how the kernel for boards of size `n` fits on them; or why none was found. What a device does not report is
/// `null`.
fn gpus(n: Size) -> (Vec<Value>, Option<String>) {
    let found = devices();
    let described = found.devices.iter().map(|properties| {
        let mut described = json!(properties);
        described["n"] = json!(n);
        let opened = Cuda::open(CudaSettings {
            index: properties.identity.index,
            ..CudaSettings::default()
        });
        let launcher = device_plan(n).and_then(|plan| plan.launcher().ok());
        let fits = opened
            .map_err(|error| error.to_string())
            .and_then(|mut device| {
                let program = launcher.map(|launcher| fitted(launcher, properties).program());
                let fits = program.map(|program| device.occupancy(program)).transpose();
                fits.map_err(|error| error.to_string())
            });
        match fits {
            Ok(Some((registers, warps))) => {
                described["registers"] = json!(registers);
                described["warps_per_multiprocessor"] = json!(warps);
            }
            Ok(None) => {}
            Err(why) => described["error"] = json!(why),
        }
        described
    });
    let failing = found.failing.iter();
    let failing = failing.map(|(index, why)| json!({ "index": index, "error": why }));
    let missing = (!found.missing.is_empty()).then_some(found.missing.clone());
    (described.chain(failing).collect(), missing)
}
