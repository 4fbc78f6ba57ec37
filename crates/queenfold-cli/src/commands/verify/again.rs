//! Counts a run a second time.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use crate::args::kept_settings;
use crate::commands::config::kept;
use crate::config::Layers;
use crate::exit::Failure;
use crate::output::{print, print_json, say};
use crate::print::board_result::BoardResult;
use crate::print::count_report;
use crate::print::result_table::Printer;
use crate::session::job_runner::JobRunner;
use crate::session::recount::wall_time;
use crate::telemetry::printable;
use queenfold::engine::{CountedBy, Plan, second_kernel};
use queenfold::words::several;
use queenfold_ledger::ledger::{FirstCounts, Store, WhoCounted};
use queenfold_ledger::run_directory::RunDirectory;

/// What a second count takes, by the kernels that it chooses.
fn cost_of_again(dir: &Path, runner: &JobRunner) -> Result<String, Failure> {
    let store = Store::open_to_read(dir)?;
    let plans = store.plans()?;
    let first = FirstCounts::read(&store)?;
    let left = first.once().count() as u64 + first.open().len() as u64;
    match (left, store.recorded_tasks()?) {
        (0, 0) => return Ok("to count again: nothing is recorded".to_owned()),
        (0, _) => {
            let nothing = "to count again: nothing, every recorded task is counted twice";
            return Ok(nothing.to_owned());
        }
        _ => {}
    }
    let planned: u64 = plans.iter().map(|plan| plan.tasks()).sum();
    let hardware = runner.hardware();
    let of_plan = |plan: &Arc<dyn Plan>| {
        let first = CountedBy::Cpu(plan.kernel(hardware.counter.isa).into());
        let kernel = second_kernel(plan.as_ref(), &hardware.counter, &first);
        plan.total_cost() * kernel.seconds_per_cost(plan.as_ref()).unwrap_or(0.0)
    };
    let all: f64 = plans.iter().map(of_plan).sum();
    let seconds = all * left as f64 / planned.max(1) as f64;
    let time = match hardware.devices_for(&plans)? {
        [] => wall_time(left, seconds, hardware),
        devices => format!("with {}", several(devices.len() as u64, "GPU")),
    };
    Ok(format!(
        "to count again: {}, by another kernel unless that takes four times as long, {time}",
        several(left, "task")
    ))
}

/// Counts a run a second time, and prints its result, and how often its tasks are counted now.
pub fn again(dir: &Path, mut settings: Layers, to_json: bool) -> Result<(), Failure> {
    let run = RunDirectory::resume(dir)?;
    let as_before = kept_settings::keep(&mut settings, dir);
    let run = run.configuration(kept(&settings));
    let config = settings.config();
    let runner = JobRunner::new(config, to_json)?;
    let n = run.job().size();
    if !config.output.quiet {
        if let Some(kept) = as_before {
            say(&printable(&format!("as the session before, with {kept}")));
        }
        say(&cost_of_again(dir, &runner)?);
    }
    let again = runner.count_again(run);
    let again = again.map_err(|failure| failure.what_helps(dir))?;
    let store = Store::open_to_read(dir)?;
    let lines = count_report::corrections(dir, &store, &again.corrections)?;
    lines.iter().for_each(|line| say(&printable(line)));
    if let Some(result) = again.result {
        Printer::new(n, to_json).print(&BoardResult {
            result,
            who: Some(WhoCounted {
                confirmation: again.confirmation,
                ..WhoCounted::default()
            }),
        })?;
    } else if to_json {
        print_json(&json!({ "n": n, "total": null, "counted": again.confirmation }))?;
    }
    if !to_json {
        print(&format!("counted {}", again.confirmation))?;
    }
    Ok(store.check_decided()?)
}
