//! What the coordinator of a run says of the processes that count, as lines and as JSON.

use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::actors::{Gone, HostProgress};
use crate::telemetry::{Snapshot, duration, rate, several};

/// A process that is silent for longer is said to be: it gives a sign of life several times in the shortest lease.
pub const SILENT: Duration = Duration::from_secs(5);

/// A line for each process that takes part, and for those that are gone.
pub fn process_lines(run: &Snapshot) -> impl Iterator<Item = String> {
    let processes = run.progress.hosts.iter().flatten();
    let there = processes.map(|process| {
        format!(
            "process     {}: {}, {}, {}, holds {}, since {}",
            process.host,
            does(process),
            rate(process.nodes, process.joined),
            several(process.tasks, "task"),
            process.tasks_held,
            duration(process.joined)
        )
    });
    let gone = run.progress.gone.iter().map(|process| {
        format!(
            "gone        {}: {}, {}, seen {} ago",
            process.host,
            does(process),
            several(process.tasks, "task"),
            duration(process.silent)
        )
    });
    there.chain(gone)
}

/// What a process does, in words.
pub fn does(process: &HostProgress) -> String {
    match process.gone {
        Some(Gone::Lost) => return format!("lost for {}", duration(process.silent)),
        Some(gone) => return gone.name().to_owned(),
        None => {}
    }
    match process {
        _ if process.silent > SILENT => format!("silent for {}", duration(process.silent)),
        _ if process.sick > 0 => format!("{} faulty", several(process.sick, "worker")),
        _ if process.paused => "paused".to_owned(),
        _ if process.tasks_held == 0 => "waits".to_owned(),
        _ => format!("counts by {}", process.isa),
    }
}

/// The same for programs.
pub fn processes_json(run: &Snapshot) -> Vec<Json> {
    let processes = run.progress.hosts.as_deref().unwrap_or_default();
    let object = |process: &HostProgress| {
        json!({
            "host": process.host,
            "isa": process.isa,
            "cpu_workers": process.cpu_workers,
            "devices": process.devices,
            "tasks": process.tasks,
            "tasks_held": process.tasks_held,
            "nodes_per_second": process.nodes_per_second(),
            "joined_seconds": process.joined.as_secs_f64(),
            "silent_seconds": process.silent.as_secs_f64(),
            "paused": process.paused,
            "faulty_workers": process.sick,
        })
    };
    processes.iter().map(object).collect()
}

/// The processes that are gone without leave, for programs.
pub fn gone_json(run: &Snapshot) -> Vec<Json> {
    let object = |process: &HostProgress| {
        json!({
            "host": process.host,
            "why": process.gone.map(Gone::name),
            "tasks": process.tasks,
            "silent_seconds": process.silent.as_secs_f64(),
        })
    };
    run.progress.gone.iter().map(object).collect()
}
