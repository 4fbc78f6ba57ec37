//! How fast the CPU workers count, or a device: the measurements of `queenfold bench` and `bench --gpu`.
//!
//! Whole boards on CPU workers ([`on_cpu`]) or on a device ([`board`]), and runs of both ([`mixed`]).
//!
//! Every total is compared with the known one, so that no time is reported for a wrong count.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde::Serialize;

use queenfold::actors::{
    self, Control, DeviceSpec, EventKind, Observer, Report, RunEvent, RunSpec, TimeSpan, WholePlans,
};
use queenfold::board::{Size, decimal, known};
use queenfold::engine::{CounterSettings, Engine, Plan, Tally};
use queenfold::simd::Isa;

/// CPU workers alone are stopped after this many times the best time of the device alone: by then
/// they are certainly slower, and by how much does not matter.
const CPU_AT_MOST: f64 = 3.0;

/// CPU workers alone are never stopped before this time, in seconds.
const CPU_AT_LEAST: f64 = 5.0;

/// Why there is no measurement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BenchError {
    /// The device, or the run, failed.
    #[error("n = {n}: {why}")]
    Failed {
        /// The board.
        n: Size,
        /// In words.
        why: String,
    },
    /// The count differs from the known one.
    #[error("n = {n}: counted {counted}, but {known} is known")]
    Mismatch {
        /// The board.
        n: Size,
        /// What was counted.
        counted: u128,
        /// The known number.
        known: u128,
    },
}

/// What counting a board on CPU workers took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CpuRun {
    /// Wall time from the first task to the final tally.
    pub seconds: f64,
    /// CPU time of all threads.
    pub cpu_seconds: f64,
}

/// A board counted by the device alone.
#[derive(Clone, Debug, Serialize)]
pub struct BoardResult {
    /// Its size.
    pub n: u32,
    /// The engine by which it was counted.
    pub engine: Engine,
    /// Solutions counted.
    #[serde(serialize_with = "decimal::serialize")]
    pub total: u128,
    /// `known` if the total equals the known one, `unknown` if none is known.
    pub verified: &'static str,
    /// The time in which at least one kernel ran.
    pub kernel_seconds: f64,
    /// Wall time from the first task to the last tally. It includes making jobs, and excludes opening
    /// the device and compiling.
    pub seconds: f64,
    /// `kernel_seconds` as a share of the time from the beginning of the first kernel to the end of the
    /// last.
    pub busy: f64,
    /// Launches.
    pub launches: u64,
    /// Nodes searched.
    #[serde(serialize_with = "decimal::serialize")]
    pub nodes: u64,
    /// `nodes` per second of `kernel_seconds`.
    pub nodes_per_second: f64,
}

/// CPU workers and the device together, compared with each alone: wall times of whole runs.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MixedResult {
    /// The board.
    pub n: u32,
    /// CPU workers.
    pub workers: usize,
    /// The CPU workers alone, in each round.
    pub cpu_seconds: Vec<f64>,
    /// Whether they were stopped before the end in that round; the time is then a lower bound.
    pub cpu_cut_off: Vec<bool>,
    /// The device alone, in each round.
    pub device_seconds: Vec<f64>,
    /// Both, in each round.
    pub mixed_seconds: Vec<f64>,
    /// The share of the nodes that the device counted, in each mixed run.
    pub mixed_device_share: Vec<f64>,
    /// The time between the first and the last of them to finish, in each mixed run.
    pub mixed_skew_seconds: Vec<f64>,
}

/// Counts `plan` on `workers` by the kernel of `isa`. `None` if that takes longer than `limit`.
///
/// # Errors
/// The run failed or counted wrongly.
pub fn on_cpu(
    plan: &Arc<dyn Plan>,
    isa: Isa,
    workers: usize,
    limit: Duration,
) -> Result<Option<CpuRun>, BenchError> {
    let report = count(plan, (isa, workers), &[], Some(limit), Vec::new())?;
    Ok(report.is_whole().then_some(CpuRun {
        seconds: report.elapsed.as_secs_f64(),
        cpu_seconds: report.cpu.as_secs_f64(),
    }))
}

/// Counts `plan` on the device alone.
///
/// # Errors
/// The device failed or counted wrongly, or does not count this plan.
pub fn board(device: &DeviceSpec, plan: &Arc<dyn Plan>) -> Result<BoardResult, BenchError> {
    let n = plan.size();
    let failed = |why: String| BenchError::Failed { n, why };
    let none = |_| failed("no kernel for it".to_owned());
    plan.launcher().map_err(none)?;
    let kernels = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&kernels);
    let observer = Arc::new(move |event: &RunEvent| {
        if let EventKind::LaunchDone(launch) = &event.kind {
            heard.lock().push(launch.kernel);
        }
    });
    let devices = std::slice::from_ref(device);
    let report = count(plan, (Isa::best(), 0), devices, None, vec![observer])?;
    if let Some(faulty) = report.faulty.first() {
        return Err(failed(faulty.reason.clone()));
    }
    let tally = report.tallies.values().copied().sum::<Tally>();
    let kernels = std::mem::take(&mut *kernels.lock());
    let launches = kernels.len() as u64;
    let (kernel, window) = union(kernels);
    let kernel_seconds = kernel.as_secs_f64();
    Ok(BoardResult {
        n: n.get(),
        engine: plan.engine(),
        total: tally.completions.solutions(),
        verified: known(n).map_or("unknown", |_| "known"),
        kernel_seconds,
        seconds: report.elapsed.as_secs_f64(),
        busy: kernel_seconds / window.as_secs_f64().max(1e-9),
        launches,
        nodes: tally.nodes,
        nodes_per_second: tally.nodes as f64 / kernel_seconds.max(1e-9),
    })
}

/// The time that `spans` cover, and the time from their first beginning to their last end.
fn union(mut spans: Vec<TimeSpan>) -> (Duration, Duration) {
    spans.sort_by_key(|span| span.start);
    let begin = spans.first().map_or(Duration::ZERO, |span| span.start);
    let (mut covered, mut until) = (Duration::ZERO, begin);
    for span in spans {
        covered += span.end.saturating_sub(span.start.max(until));
        until = until.max(span.end);
    }
    (covered, until - begin)
}

/// Counts `plan` on the device alone, on the device and CPU workers together, and on the workers
/// alone, in turn, `rounds` times.
///
/// The workers alone may be stopped before the end; the JSON says so.
///
/// # Errors
/// A run failed or counted wrongly.
pub fn mixed(
    device: &DeviceSpec,
    plan: &Arc<dyn Plan>,
    workers: usize,
    rounds: usize,
) -> Result<MixedResult, BenchError> {
    let devices = std::slice::from_ref(device);
    let mut result = MixedResult {
        n: plan.size().get(),
        workers,
        ..MixedResult::default()
    };
    for round in 0..rounds {
        // Another one begins each round, because the first run finds caches and clocks in another
        // state. The very first is the device's, whose time limits that of the workers.
        let mut turns = [(0, devices), (workers, devices), (workers, &[][..])];
        turns.rotate_left(round % 3);
        for (workers, devices) in turns {
            let limit = devices.is_empty().then(|| {
                let best = result
                    .device_seconds
                    .iter()
                    .copied()
                    .fold(f64::INFINITY, f64::min);
                let limit = CPU_AT_MOST * best;
                Duration::from_secs_f64(limit.clamp(CPU_AT_LEAST, 3600.0))
            });
            let report = count(plan, (Isa::best(), workers), devices, limit, Vec::new())?;
            let seconds = report.elapsed.as_secs_f64();
            if limit.is_some() {
                result.cpu_seconds.push(seconds);
                result.cpu_cut_off.push(!report.is_whole());
            } else if workers == 0 {
                result.device_seconds.push(seconds);
            } else {
                let device = report.workers.last();
                let share = device.map_or(0.0, |device| report.share_of(device));
                result.mixed_seconds.push(seconds);
                result.mixed_skew_seconds.push(report.skew().as_secs_f64());
                result.mixed_device_share.push(share);
            }
        }
    }
    Ok(result)
}

/// Runs the plan. A run with a limit may come back unfinished.
fn count(
    plan: &Arc<dyn Plan>,
    (isa, workers): (Isa, usize),
    devices: &[DeviceSpec],
    time_limit: Option<Duration>,
    observers: Vec<Arc<dyn Observer>>,
) -> Result<Report, BenchError> {
    let n = plan.size();
    let failed = |why: String| BenchError::Failed { n, why };
    let spec = RunSpec {
        plans: vec![Arc::clone(plan)],
        workers,
        counter: CounterSettings { isa },
        batch_time: actors::BATCH_TIME,
        time_limit,
        audit: 0.0,
        audit_all: Duration::ZERO,
        canary: None,
        check: None,
        source: Arc::new(WholePlans),
        recorder: None,
        observers,
    };
    let report =
        actors::run(&spec, devices, &Control::new()).map_err(|error| failed(error.to_string()))?;
    if report.is_whole() {
        let sums = report.tallies.values();
        let counted: u128 = sums.map(|tally| tally.completions.solutions()).sum();
        let known = known(n).map_or(counted, |known| known.total);
        if counted != known {
            return Err(BenchError::Mismatch { n, counted, known });
        }
    } else if time_limit.is_none() {
        return Err(failed("a run ended early".to_owned()));
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_spans_share_is_covered_once() {
        let span = |start, end| TimeSpan {
            start: Duration::from_secs(start),
            end: Duration::from_secs(end),
        };
        let spans = vec![span(8, 9), span(1, 4), span(2, 3), span(3, 6)];
        let (covered, window) = union(spans);
        assert_eq!((covered.as_secs(), window.as_secs()), (6, 8));
        assert_eq!(union(Vec::new()), (Duration::ZERO, Duration::ZERO));
    }
}
