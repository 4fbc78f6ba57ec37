//! The result for one board, as JSON.

use serde_json::{Value as Json, json};

use super::board_result::BoardResult;
use crate::telemetry::faulty_json;
use queenfold_ledger::ledger::host_name;

/// The result for one board as `--json` prints it: what was counted, how, and what it took.
pub fn result_json(counted: &BoardResult) -> Json {
    let result = &counted.result;
    let report = &result.report;
    let (isa, workers) = match counted.earlier() {
        Some(earlier) => (earlier.kernel.as_str(), earlier.workers),
        None => (result.kernel, result.workers as u64),
    };
    // Where an earlier process counted, the devices of this machine have no part in it.
    let devices = report.workers.iter().skip(result.workers);
    let devices = devices.filter(|_| counted.earlier().is_none());
    let device = devices.map(|device| {
        json!({
            // A device that was not opened, because the run was too short, has no other name.
            "name": match device.counted_by_name() {
                "" => device.id.to_string(),
                name => name.to_owned(),
            },
            "tasks": device.tasks,
            "nodes": device.nodes.to_string(),
            "share": report.share_of(device),
        })
    });
    let faulty = report.faulty.iter();
    let faulty = faulty.map(|of| faulty_json(&host_name(), of));
    let mut json = json!(result.outcome);
    for (key, value) in [
        ("engine", json!(result.plan.engine().name())),
        ("isa", json!(isa)),
        ("workers", json!(workers)),
        ("gpu", device.collect()),
        ("nodes", json!(report.nodes().to_string())),
        ("seconds", json!(result.elapsed.as_secs_f64())),
        (
            "cpu_seconds",
            json!(result.cpu.map(|cpu| cpu.as_secs_f64())),
        ),
        ("version", json!(env!("CARGO_PKG_VERSION"))),
        ("plan", json!(result.plan.name())),
        ("checked", json!(result.checked)),
        // How often the tasks in the directory of the run were counted.
        (
            "counted",
            json!(counted.who.as_ref().map(|who| who.confirmation)),
        ),
        ("corrected", json!(report.corrected)),
        ("faulty", faulty.collect()),
    ] {
        json[key] = value;
    }
    json
}
