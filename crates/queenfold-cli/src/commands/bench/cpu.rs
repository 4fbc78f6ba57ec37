//! `bench`: how fast the processors of this machine count.

use std::cmp::Reverse;
use std::time::{Duration, Instant};

use super::cpu_report::{CpuReport, SCORED, Series, WALL};
use super::draft::Draft;
use crate::args::version::brief;
use crate::bench::on_cpu;
use crate::exit::{Exit, Failure};
use crate::output::bar;
use queenfold::board::Size;
use queenfold::engine::{Engine, core_seconds};
use queenfold::job::{JobError, plan};
use queenfold::machine::{LoadWatch, Machine, Processor};
use queenfold::simd::Isa;

/// How long the benchmark may take.
const BUDGET: Duration = Duration::from_secs(30);

/// How often each board is counted.
const RUNS: usize = 3;

/// The boards, what the score is made of first, and whether all workers count it, or one. In all they take 7 seconds on two cores of a Zen 3.
const BOARDS: [(Engine, u32, bool); 5] = [
    (SCORED.0, SCORED.1, true),
    (Engine::Colour, 18, false),
    (Engine::Chain, 17, false),
    (Engine::Colour, 18, true),
    (Engine::Chain, 17, true),
];

/// The kernels to measure, the widest first: those that are `wanted`, or else all of this processor.
fn kernels(wanted: &[Isa]) -> Result<Vec<Isa>, JobError> {
    if let Some(missing) = wanted.iter().find(|isa| !isa.is_available()) {
        return Err(JobError::IsaUnavailable(*missing));
    }
    let is_wanted = |isa: &Isa| match wanted {
        // A processor without vectors has no other.
        [] => isa.is_available() && (*isa != Isa::Portable || Isa::best() == Isa::Portable),
        named => named.contains(isa),
    };
    Ok(Isa::ALL.into_iter().rev().filter(is_wanted).collect())
}

/// Measures the processors. Every total is compared with the known one.
pub fn run(isa: &[Isa], budget: Option<Duration>, json: bool) -> Result<(), Failure> {
    let kernels = kernels(isa)?;
    let budget = budget.unwrap_or(BUDGET);
    let workers = Machine::detect().cores;
    let series = series(&kernels, workers);
    let report = CpuReport {
        watch: Some(LoadWatch::begin()),
        processor: Processor::detect(),
        workers,
        series,
        version: brief(),
        ..CpuReport::default()
    };
    Draft::measure(report, json, |draft| match measure(draft, budget)? {
        true => Ok(()),
        false => Err(Failure::new(
            Exit::Error,
            "no board was counted in the time that --for gave",
        )),
    })
}

/// What is to be counted. One worker is all of them on a machine with one core.
fn series(kernels: &[Isa], workers: usize) -> Vec<Series> {
    let mut series: Vec<Series> = Vec::new();
    for &isa in kernels {
        for (engine, n, by_all) in BOARDS {
            let workers = if by_all { workers } else { 1 };
            let new = Series::new(isa, engine, n, workers);
            if !series.iter().any(|of| of.is_same(&new)) {
                series.push(new);
            }
        }
    }
    series
}

/// Counts each board once, first those of the widest kernel and of these those that take the least time, so that little time is
/// enough for something; then again, as long as there is time. So a change of load meets all of them. Returns whether any was counted.
fn measure(draft: &Draft<CpuReport>, budget: Duration) -> Result<bool, Failure> {
    let begun = Instant::now();
    let mut series = Vec::new();
    draft.note(|report| series.clone_from(&report.series));
    let bar = bar(None, "{wide_msg}");
    let mut plans = Vec::new();
    for (place, of) in series.iter().enumerate() {
        let n = Size::new(of.n).map_err(Failure::usage)?;
        let seconds = core_seconds(of.engine, n, of.isa) / of.workers as f64;
        plans.push((Reverse(of.isa), seconds, place, plan(of.engine, n)));
    }
    plans.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    for round in 1..=RUNS {
        for (_, _, place, plan) in &plans {
            let of = &mut series[*place];
            let (elapsed, best) = (begun.elapsed(), of.least(WALL));
            let left = budget.saturating_sub(elapsed);
            // What does not fit is not begun; a first run is, because nobody knows.
            if left.is_zero() || best.is_some_and(|best| best > left.as_secs_f64()) {
                continue;
            }
            let [elapsed, all] = [elapsed, budget].map(|time| time.as_secs_f64());
            bar.set_message(format!(
                "{of}: run {round} of {RUNS} · {elapsed:.0} s of {all:.0} s"
            ));
            if let Some(run) = on_cpu(plan, of.isa, of.workers, left)? {
                of.runs.push(run);
                draft.note(|report| report.series[*place].runs.push(run));
            }
        }
    }
    bar.finish_and_clear();
    Ok(series.iter().any(|of| !of.runs.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portable_is_measured_only_if_it_is_asked_for() {
        let kernels = |isa: &[Isa]| kernels(isa).unwrap();
        let all = kernels(&[]);
        assert_eq!(all[0], Isa::best());
        assert_eq!(all.contains(&Isa::Portable), Isa::best() == Isa::Portable);
        assert_eq!(kernels(&[Isa::Portable]), [Isa::Portable]);
        assert!(all.is_sorted_by(|wide, narrow| wide > narrow));
    }

    #[test]
    fn nothing_is_counted_twice_on_a_machine_with_one_core() {
        assert_eq!(series(&[Isa::Portable], 8).len(), BOARDS.len());
        assert_eq!(series(&[Isa::Portable], 1).len(), 3);
    }
}
