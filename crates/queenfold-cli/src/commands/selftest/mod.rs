//! `queenfold selftest`: shows what this machine has, counts small boards by each of its kernels, and compares with the known
//! counts.

mod machine;

use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::output::{print, print_json};
use queenfold::board::Size;
use queenfold::engine::{Counter, CounterSettings, Engine, Plan, Tally};
use queenfold::job;
use queenfold::outcome::{Outcome, check_census};
use queenfold::simd::Isa;

/// The largest board that is counted: large enough for every path of the kernels, and done in a moment.
const LAST: u32 = 12;

/// Flags of `selftest`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  queenfold selftest
  queenfold selftest --json

Shows the processor, the instruction sets, the memory and the GPUs, and what would be used. Then counts small boards by every \
engine with every instruction set of this machine. A GPU counts nothing here: it tests itself in each run.")]
pub struct Args {
    /// Print one JSON object for the machine and for each check, on a line
    #[arg(long)]
    json: bool,
}

/// What came of a check: why it failed, or that this machine cannot make it.
type Verdict = Result<(), (&'static str, String)>;

const FAILED: &str = "failed";
const SKIPPED: &str = "skipped";

/// Shows the machine, counts small boards by every engine with every instruction set of it, and by the oracle of
/// each engine, and compares with the known counts. Prints one line per check. Devices are not tested
/// here: each tests itself when it is opened.
pub fn run(args: &Args) -> Result<(), Failure> {
    machine::tell(args.json)?;
    let mut failed = 0;
    let mut tell = |engine: Engine, kernel: &str, verdict: Verdict| {
        failed += u32::from(matches!(verdict, Err((FAILED, _))));
        if args.json {
            let (word, why) = verdict
                .err()
                .map_or(("ok", None), |(word, why)| (word, Some(why)));
            let json = json!({"engine": engine, "kernel": kernel, "result": word, "why": why});
            return print_json(&json);
        }
        let name = match kernel {
            ORACLE => format!("{engine} by its oracle"),
            _ => format!("{engine} on {kernel}"),
        };
        print(&match verdict {
            Ok(()) => format!("ok    {name}, n = 1..={LAST}"),
            Err((FAILED, why)) => format!("FAIL  {name}: {why}"),
            Err((_, why)) => format!("skip  {name}: {why}"),
        })
    };
    for engine in Engine::ALL {
        for isa in Isa::ALL {
            let settings = CounterSettings { isa };
            let verdict = match isa.is_available() {
                true => check(engine, |plan| plan.counter(&settings)),
                false => Err((SKIPPED, format!("this machine has no {isa}"))),
            };
            tell(engine, isa.name(), verdict)?;
        }
        tell(engine, ORACLE, check(engine, |plan| plan.oracle()))?;
    }
    match failed {
        0 => Ok(()),
        _ => Err(Failure::new(
            Exit::SelfTest,
            format!("{failed} checks failed"),
        )),
    }
}

const ORACLE: &str = "oracle";

/// Counts the boards up to [`LAST`].
fn check(engine: Engine, counter: impl Fn(&dyn Plan) -> Box<dyn Counter>) -> Verdict {
    let mut sizes = Size::all().take_while(|n| n.get() <= LAST);
    let checked = sizes.try_for_each(|n| {
        let plan = job::plan(engine, n);
        compare(plan.as_ref(), counter(plan.as_ref()).as_mut())
    });
    checked.map_err(|why| (FAILED, why))
}

/// Counts a plan, and compares the result with the known counts.
fn compare(plan: &dyn Plan, counter: &mut dyn Counter) -> Result<(), String> {
    let n = plan.size();
    let counted = (0..plan.tasks())
        .map(|index| counter.count(&plan.task(index)))
        .sum::<Result<Tally, _>>()
        .map_err(|mismatch| mismatch.to_string())?;
    if plan.engine().counts_all() {
        let outcome = Outcome::new(n, &counted, None);
        return outcome.map(drop).map_err(|wrong| wrong.to_string());
    }
    check_census(n, &counted).map_err(|wrong| wrong.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use queenfold::engine::{NotCounted, Task, TaskWatch};

    /// Counts correctly except for one completion, or one symmetric solution.
    struct Wrong(Box<dyn Counter>);

    impl Counter for Wrong {
        fn backend(&self) -> &'static str {
            "wrong"
        }

        fn count_watched(&mut self, task: &Task, watch: &TaskWatch) -> Result<Tally, NotCounted> {
            let mut tally = self.0.count_watched(task, watch)?;
            tally.completions.add(8, 1);
            tally.r180 += 8;
            Ok(tally)
        }
    }

    #[test]
    fn a_wrong_counter_fails_the_check_of_every_engine() {
        let n = Size::new(8).unwrap();
        for engine in Engine::ALL {
            let plan = job::plan(engine, n);
            assert_eq!(compare(plan.as_ref(), plan.oracle().as_mut()), Ok(()));
            let error = compare(plan.as_ref(), &mut Wrong(plan.oracle())).unwrap_err();
            assert!(error.contains("known"), "{error}");
        }
    }
}
