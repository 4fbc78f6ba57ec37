//! `bench --calibrate`: which engine is faster on which boards.

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::board::Size;
use crate::cli::control::stop_report::StopReport;
use crate::cli::exit::Failure;
use crate::cli::output::{print, print_json, say};
use crate::cli::session::calibration;
use crate::engine::{CounterSettings, Engine, MeasuredCost, Mismatch, Plan, Tally, core_seconds};
use crate::job;
use crate::machine::Machine;
use crate::outcome::Outcome;
use crate::simd::Isa;
use crate::system::ThreadClock;
use crate::telemetry::{duration, several};

/// The boards measured. Below, both engines take less than a millisecond; above, the colour engine is faster
/// with every instruction set, by a growing factor.
const BOARDS: std::ops::RangeInclusive<u32> = 12..=18;

/// How often a board is counted by both engines in turn. The number is odd, for the median.
const PAIRS: usize = 5;

/// The board that shows how fast the machine is now: a tenth of a second to a second with each set.
const PILOT: u32 = 16;

/// A pair that takes longer than this, in CPU seconds, is measured once.
const LONG: f64 = 2.0;

/// The times of both engines on one board.
struct Comparison {
    n: Size,
    chain: f64,
    colour: f64,
    pairs: usize,
}

/// The instruction sets of this machine, those that `auto` takes first: a signal may end the measurements.
fn sets() -> impl Iterator<Item = Isa> {
    Isa::ALL.into_iter().rev().filter(|isa| isa.is_available())
}

/// Measures the crossover between the engines on one core, with each instruction set of this
/// machine: CPU seconds of counting all solutions, with new plans and counters each time. Keeps each board as soon
/// as it is measured.
pub fn run(json: bool) -> Result<(), Failure> {
    let machine = Machine::detect();
    let mut records = Vec::new();
    let mut kept = String::new();
    let report = StopReport::listen("no board is measured")?;
    if !json {
        print(machine.cpu.as_deref().unwrap_or("an unknown CPU"))?;
    }
    let time = duration(expected()?);
    say(&format!(
        "the boards of 12 to 18 queens with each instruction set take about {time}"
    ));
    let mut measured = Vec::new();
    for isa in sets() {
        if !json {
            print(&format!(
                "\n{isa}\n  n     chain s    colour s   ratio  faster"
            ))?;
        }
        let mut rows = Vec::new();
        for n in BOARDS.filter_map(|n| Size::new(n).ok()) {
            let row = measure(n, isa)?;
            rows.push(row.record());
            measured.push(row.cost(isa));
            let done = in_words(calibration::keep(&measured));
            report.note(format!(
                "{} measured, {done}",
                several(measured.len() as u64, "board")
            ));
            kept = done;
            if json {
                say(&format!("{isa}, n = {n}: measured"));
            } else {
                print(&row.line())?;
            }
        }
        records.push(json!({"isa": isa.name(), "boards": rows}));
    }
    if json {
        print_json(&json!({"cpu": machine.cpu, "isas": records}))?;
    }
    say(&kept);
    Ok(())
}

/// Whether what was measured is kept.
fn in_words(kept: io::Result<PathBuf>) -> String {
    match kept {
        Ok(path) => format!("kept in {}: `auto` goes by it", path.display()),
        Err(error) => format!("not kept: {error}"),
    }
}

/// How long the measurements will take, by the table of costs and by how long a board of each set takes
/// now: this machine may be slower, or busy.
fn expected() -> Result<Duration, Failure> {
    let pilot = Size::new(PILOT).map_err(Failure::usage)?;
    let mut seconds = 0.0;
    for isa in sets() {
        let cost = |n| [Engine::Chain, Engine::Colour].map(|engine| core_seconds(engine, n, isa));
        let begun = Instant::now();
        for engine in [Engine::Chain, Engine::Colour] {
            self::seconds(engine, pilot, isa)?;
        }
        let slower = begun.elapsed().as_secs_f64() / cost(pilot).iter().sum::<f64>();
        for n in BOARDS.filter_map(|n| Size::new(n).ok()) {
            let pair = slower * cost(n).iter().sum::<f64>();
            seconds += pair * if pair > LONG { 1.0 } else { PAIRS as f64 };
        }
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// Counts a board by both engines in turn, and takes the medians.
fn measure(n: Size, isa: Isa) -> Result<Comparison, Failure> {
    let (mut chain, mut colour) = (Vec::new(), Vec::new());
    while chain.len() < PAIRS {
        chain.push(seconds(Engine::Chain, n, isa)?);
        colour.push(seconds(Engine::Colour, n, isa)?);
        if chain[0] + colour[0] > LONG {
            break;
        }
    }
    Ok(Comparison {
        n,
        pairs: chain.len(),
        chain: median(chain),
        colour: median(colour),
    })
}

/// CPU seconds that counting the board takes. The total is compared with the known one.
fn seconds(engine: Engine, n: Size, isa: Isa) -> Result<f64, Failure> {
    let settings = CounterSettings { isa };
    let begun = ThreadClock::now();
    let plan = job::plan(engine, n);
    let tally = count(plan.as_ref(), &settings);
    let taken = begun.elapsed().as_secs_f64();
    let tally = tally.map_err(|why| Mismatch(format!("n = {n}, {engine}, {isa}: {why}")))?;
    Outcome::new(n, &tally, None)?;
    Ok(taken)
}

fn count(plan: &dyn Plan, settings: &CounterSettings) -> Result<Tally, Mismatch> {
    let mut counter = plan.counter(settings);
    (0..plan.tasks())
        .map(|index| counter.count(&plan.task(index)))
        .sum()
}

/// The median of an odd number of values.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

impl Comparison {
    fn cost(&self, isa: Isa) -> MeasuredCost {
        MeasuredCost {
            isa,
            n: self.n,
            chain: self.chain,
            colour: self.colour,
        }
    }

    fn ratio(&self) -> f64 {
        self.chain / self.colour
    }

    fn faster(&self) -> Engine {
        if self.ratio() > 1.0 {
            Engine::Colour
        } else {
            Engine::Chain
        }
    }

    fn line(&self) -> String {
        format!(
            "{:>3}  {:>10.5}  {:>10.5}  {:>6.2}  {}",
            self.n.get(),
            self.chain,
            self.colour,
            self.ratio(),
            self.faster()
        )
    }

    fn record(&self) -> Value {
        json!({
            "n": self.n.get(),
            "chain_seconds": self.chain,
            "colour_seconds": self.colour,
            "ratio": self.ratio(),
            "faster": self.faster().name(),
            "pairs": self.pairs,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_auto_needs_most_is_measured_first() {
        let sets: Vec<_> = sets().collect();
        assert_eq!((sets[0], sets.last()), (Isa::best(), Some(&Isa::Portable)));
    }

    #[test]
    fn a_row_names_the_engine_with_the_lesser_time() {
        let row = |chain, colour| Comparison {
            n: Size::new(16).unwrap(),
            chain,
            colour,
            pairs: 1,
        };
        assert_eq!(row(2.0, 1.0).record()["faster"], "colour");
        assert_eq!(row(1.0, 2.0).record()["faster"], "chain");
        assert_eq!(
            row(2.0, 1.0).line(),
            " 16     2.00000     1.00000    2.00  colour"
        );
    }

    #[test]
    fn a_board_is_measured_five_times_by_both_engines_and_its_median_taken() {
        let row = measure(Size::new(8).unwrap(), Isa::Portable).unwrap();
        assert_eq!(row.pairs, PAIRS);
        assert!(row.chain > 0.0 && row.colour > 0.0);
        assert_eq!(median(vec![3.0, 1.0, 9.0]), 3.0);
    }
}
