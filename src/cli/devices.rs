use serde_json::json;

use super::exit::Failure;
use super::print;
use crate::config::{Bytes, Machine};
use crate::simd::Isa;

/// Flags of `devices`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

/// Shows the machine. What the system does not tell is `unknown`, or `null` in JSON.
pub fn run(args: &Args) -> Result<(), Failure> {
    let machine = Machine::detect();
    let available: Vec<_> = Isa::ALL
        .into_iter()
        .filter(|isa| isa.is_available())
        .map(Isa::name)
        .collect();
    if args.json {
        return print(
            &json!({
                "cpu": machine.cpu,
                "cores": machine.cores,
                "isas": available,
                "isa": Isa::best().name(),
                "memory": machine.memory.map(|bytes| bytes.to_string()),
                "memory_limit": machine.memory_limit.map(|bytes| bytes.to_string()),
            })
            .to_string(),
        );
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
         Memory            {memory}",
        machine.cpu.as_deref().unwrap_or("unknown"),
        machine.cores,
        available.join(", "),
        Isa::best(),
    ))
}
