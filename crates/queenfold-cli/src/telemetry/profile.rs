//! How the workers spent a run, as a table.

use std::fmt::Write;
use std::time::Duration;

use queenfold::actors::{Report, WorkerProgress};
use queenfold::words::{duration, percent, rate};

/// How the workers and devices spent the run, as a table: for each the share of its time inside tasks, the share of a core that
/// it had then, the shares waiting and starved, its tasks and its nodes per second of busy time; then how far apart the first
/// and the last of them finished.
pub fn profile(report: &Report) -> String {
    let names = report.workers.iter().map(WorkerProgress::counted_by_name);
    let wide = names.map(|name| name.chars().count()).fold(9, usize::max);
    let mut table = String::new();
    // Writing to a string cannot fail.
    let mut row = |[worker, kernel, tasks, core, waiting, starved, count, speed]: [&str; 8]| {
        let _ = writeln!(
            table,
            "{worker:<12} {kernel:<wide$} {tasks:>8} {core:>8} {waiting:>8} {starved:>8} {count:>10} {speed:>14}",
        );
    };
    row([
        "worker", "kernel", "in tasks", "core", "waiting", "starved", "tasks", "speed",
    ]);
    for worker in &report.workers {
        let all = worker.busy + worker.waiting + worker.starved;
        let core = worker.core_share().map(percent);
        row([
            &worker.id.to_string(),
            worker.counted_by_name(),
            &of(worker.busy, all),
            core.as_deref().unwrap_or("-"),
            &of(worker.waiting, all),
            &of(worker.starved, all),
            &worker.tasks.to_string(),
            &rate(worker.nodes, worker.busy),
        ]);
    }
    let skew = report.skew();
    let _ = writeln!(
        table,
        "finish skew  {:.1} ms, {} of {}",
        skew.as_secs_f64() * 1e3,
        of(skew, report.elapsed),
        duration(report.elapsed),
    );
    table
}

/// A share of the time in percent.
fn of(part: Duration, all: Duration) -> String {
    percent(match all.is_zero() {
        true => 0.0,
        false => part.div_duration_f64(all),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use queenfold::actors::WorkerState;
    use queenfold::engine::{CountedBy, DeviceIdentity, DeviceKernel, WorkerId};

    fn worker(index: usize, busy: u64, starved: u64) -> WorkerProgress {
        WorkerProgress {
            id: WorkerId::Cpu(index),
            counted_by: Some(CountedBy::Cpu("scalar".into())),
            state: WorkerState::Gone,
            until: Duration::from_secs(1),
            busy: Duration::from_millis(busy),
            waiting: Duration::from_millis(10),
            starved: Duration::from_millis(starved),
            finished: Duration::from_millis(1000 - starved),
            tasks: 64,
            nodes: busy * 100_000,
            batches: Duration::from_secs(1),
            cpu: Duration::from_millis(150),
        }
    }

    #[test]
    fn shares_speeds_and_skew_are_those_of_the_report_and_the_name_of_a_device_fits() {
        let gpu = DeviceIdentity {
            kernel: DeviceKernel::Cuda,
            index: 0,
            name: "NVIDIA H100 80GB HBM3".to_owned(),
        };
        let device = WorkerProgress {
            id: WorkerId::Device(0),
            counted_by: Some(CountedBy::Device(gpu)),
            batches: Duration::ZERO,
            ..worker(1, 970, 20)
        };
        let report = Report {
            elapsed: Duration::from_secs(1),
            workers: vec![worker(0, 990, 0), device],
            ..Report::default()
        };
        assert_eq!(
            profile(&report),
            "\
worker       kernel                in tasks     core  waiting  starved      tasks          speed
worker-0     scalar                  99.0 %   15.0 %    1.0 %    0.0 %         64    100 Mnode/s
gpu-0        NVIDIA H100 80GB HBM3   97.0 %        -    1.0 %    2.0 %         64    100 Mnode/s
finish skew  20.0 ms, 2.0 % of 1.0 s
"
        );
        assert!(profile(&Report::default()).contains("finish skew  0.0 ms, 0.0 % of 0.0 s"));
    }
}
