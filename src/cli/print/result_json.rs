use serde::Serialize;
use serde_json::Value as Json;

use super::board_result::BoardResult;
use crate::engine::PlanName;
use crate::job::JobResult;
use crate::ledger::{Confirmation, host_name};
use crate::outcome::{Checked, Outcome};
use crate::telemetry::faulty_json;

/// The result for one board as `--json` prints it.
#[derive(Debug, Serialize)]
pub struct ResultJson {
    #[serde(flatten)]
    outcome: Outcome,
    engine: &'static str,
    isa: String,
    workers: u64,
    gpu: Vec<DeviceJson>,
    nodes: String,
    seconds: f64,
    cpu_seconds: Option<f64>,
    version: &'static str,
    plan: PlanName,
    checked: Checked,
    /// How often the tasks in the directory of the run were counted.
    counted: Option<Confirmation>,
    corrected: u64,
    faulty: Vec<Json>,
}

/// What a device counted, without what its thread counted on the CPU.
#[derive(Debug, Serialize)]
struct DeviceJson {
    name: String,
    tasks: u64,
    nodes: String,
    /// Its share of the work of this run, 0 to 1.
    share: f64,
}

impl ResultJson {
    /// The JSON of a result: what was counted, how, and what it took.
    pub fn new(counted: &BoardResult) -> Self {
        let BoardResult {
            result,
            confirmation,
            earlier,
        } = counted;
        let JobResult {
            outcome,
            plan,
            report,
            ..
        } = result;
        let (isa, workers) = match earlier {
            Some(earlier) => (earlier.kernel.clone(), earlier.workers),
            None => (result.kernel.to_owned(), result.workers as u64),
        };
        // Where an earlier process counted, the devices of this machine have no part in it.
        let devices = report.workers.iter().skip(result.workers);
        let devices = devices.filter(|_| earlier.is_none());
        Self {
            outcome: outcome.clone(),
            engine: plan.engine().name(),
            isa,
            workers,
            gpu: devices
                .map(|device| DeviceJson {
                    // A device that was not opened, because the run was too short, has no other name.
                    name: match device.counted_by_name() {
                        "" => device.id.to_string(),
                        name => name.to_owned(),
                    },
                    tasks: device.device_tasks,
                    nodes: device.device_nodes.to_string(),
                    share: report.device_share(device),
                })
                .collect(),
            nodes: report.nodes().to_string(),
            seconds: result.elapsed.as_secs_f64(),
            cpu_seconds: result.cpu.map(|cpu| cpu.as_secs_f64()),
            version: env!("CARGO_PKG_VERSION"),
            plan: plan.name(),
            checked: result.checked,
            counted: *confirmation,
            corrected: report.corrected,
            faulty: report
                .taken_out
                .iter()
                .map(|of| faulty_json(&host_name(), of))
                .collect(),
        }
    }
}
