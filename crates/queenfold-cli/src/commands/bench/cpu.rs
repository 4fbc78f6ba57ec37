//! `bench`: how fast the processors of this machine count.

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::cpu_report::{CpuReport, SCORED, Series};
use super::draft::Draft;
use crate::bench::on_cpu;
use crate::config::{HumanDuration, Value};
use crate::exit::{Exit, Failure};
use crate::output::bar;
use queenfold::board::Size;
use queenfold::engine::{Engine, Plan, core_seconds};
use queenfold::job::{JobError, plan};
use queenfold::machine::{LoadWatch, Machine, Processor};
use queenfold::simd::Isa;

/// How long the benchmark may take.
const BUDGET: Duration = Duration::from_secs(30);

/// How often each board is counted.
const RUNS: usize = 3;

/// Who counts a board.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Workers {
    One,
    All,
}

/// The boards, what the score is made of first. In all they take 7 seconds on two cores of a Zen 3.
const BOARDS: [(Engine, u32, Workers); 6] = [
    (SCORED.0, SCORED.1, Workers::All),
    (Engine::Colour, 18, Workers::One),
    (Engine::Chain, 17, Workers::One),
    (Engine::Colour, 18, Workers::All),
    (Engine::Chain, 17, Workers::All),
    (Engine::Colour, 17, Workers::One),
];

/// Flags of `bench` without `--gpu`.
#[derive(Debug, clap::Args)]
pub struct CpuArgs {
    /// The kernels to measure, with commas between them; all of this processor but `portable` unless given
    #[arg(long, value_name = "ISA", value_delimiter = ',', value_parser = isa(), conflicts_with = "what")]
    isa: Vec<Isa>,

    /// How long the benchmark may take
    #[arg(long = "for", value_name = "TIME", value_parser = HumanDuration::parse, allow_hyphen_values = true, conflicts_with = "what")]
    budget: Option<HumanDuration>,
}

fn isa() -> impl TypedValueParser<Value = Isa> {
    PossibleValuesParser::new(Isa::ALL.map(Isa::name)).try_map(|name| name.parse::<Isa>())
}

impl CpuArgs {
    /// The kernels to measure, the widest first.
    fn kernels(&self) -> Result<Vec<Isa>, JobError> {
        if let Some(missing) = self.isa.iter().find(|isa| !isa.is_available()) {
            return Err(JobError::IsaUnavailable(*missing));
        }
        let is_wanted = |isa: &Isa| match self.isa.as_slice() {
            // A processor without vectors has no other.
            [] => isa.is_available() && (*isa != Isa::Portable || Isa::best() == Isa::Portable),
            named => named.contains(isa),
        };
        Ok(Isa::ALL.into_iter().rev().filter(is_wanted).collect())
    }
}

/// Measures the processors. Every total is compared with the known one.
pub fn run(args: &CpuArgs, json: bool) -> Result<(), Failure> {
    let kernels = args.kernels()?;
    let budget = args.budget.map_or(BUDGET, |HumanDuration(time)| time);
    let workers = Machine::detect().cores;
    let series = series(&kernels, workers);
    let watch = LoadWatch::begin();
    let report = CpuReport::new(Processor::detect(), workers, series, Some(watch));
    let draft = Draft::new(report, json);
    draft.print_when_stopped()?;
    let measured = measure(&draft, budget).and_then(|any| match any {
        true => Ok(()),
        false => Err(Failure::new(
            Exit::Error,
            "no board was counted in the time that --for gave",
        )),
    });
    let error = measured.as_ref().err();
    draft.print(error.map(|failure| failure.message.as_str()))?;
    measured
}

/// What is to be counted. One worker is all of them on a machine with one core.
fn series(kernels: &[Isa], workers: usize) -> Vec<Series> {
    let mut series: Vec<Series> = Vec::new();
    for &isa in kernels {
        for (engine, n, who) in BOARDS {
            let workers = match who {
                Workers::One => 1,
                Workers::All => workers,
            };
            let new = Series::new(isa, engine, n, workers);
            if !series.iter().any(|of| of.is_same(&new)) {
                series.push(new);
            }
        }
    }
    series
}

/// Counts each board once, those first that take the least time, so that little time is enough for something; then again, as
/// long as there is time. So a change of load meets all of them. Returns whether any was counted.
fn measure(draft: &Draft<CpuReport>, budget: Duration) -> Result<bool, Failure> {
    let begun = Instant::now();
    let mut series = Vec::new();
    draft.note(|report| series = report.series.clone());
    let bar = bar(None, "{wide_msg}");
    let mut places = Vec::new();
    for (place, of) in series.iter().enumerate() {
        let n = Size::new(of.n).map_err(Failure::usage)?;
        places.push((
            core_seconds(of.engine, n, of.isa) / of.workers as f64,
            place,
        ));
    }
    places.sort_by(|a, b| a.0.total_cmp(&b.0));
    for round in 0..RUNS {
        for &(_, place) in &places {
            let of = &mut series[place];
            let left = budget.saturating_sub(begun.elapsed());
            // What does not fit is not begun; a first run is, because nobody knows.
            if left.is_zero()
                || of
                    .best()
                    .is_some_and(|best| best.seconds > left.as_secs_f64())
            {
                continue;
            }
            bar.set_message(format!(
                "{of}: run {} of {RUNS} · {:.0} s of {:.0} s",
                round + 1,
                begun.elapsed().as_secs_f64(),
                budget.as_secs_f64()
            ));
            let plan: Arc<dyn Plan> = plan(of.engine, Size::new(of.n).map_err(Failure::usage)?);
            if let Some(run) = on_cpu(&plan, of.isa, of.workers, left)? {
                of.runs.push(run);
                draft.note(|report| report.series[place].runs.push(run));
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
        let kernels = |isa: &[Isa]| {
            let args = CpuArgs {
                isa: isa.to_vec(),
                budget: None,
            };
            args.kernels().unwrap()
        };
        let all = kernels(&[]);
        assert_eq!(all[0], Isa::best());
        assert_eq!(all.contains(&Isa::Portable), Isa::best() == Isa::Portable);
        assert_eq!(kernels(&[Isa::Portable]), [Isa::Portable]);
        assert!(all.is_sorted_by(|wide, narrow| wide > narrow));
    }

    #[test]
    fn nothing_is_counted_twice_on_a_machine_with_one_core() {
        assert_eq!(series(&[Isa::Portable], 8).len(), BOARDS.len());
        assert_eq!(series(&[Isa::Portable], 1).len(), 4);
    }
}
