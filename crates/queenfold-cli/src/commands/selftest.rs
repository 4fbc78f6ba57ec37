//! `queenfold selftest`: counts small boards by every kernel of this machine, and compares with the known counts.

use serde_json::{Value, json};

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
  queenfold selftest --json")]
pub struct Args {
    /// Print one JSON object for each check, on a line
    #[arg(long)]
    json: bool,
}

/// What came of a check.
enum Verdict {
    Right,
    Wrong(String),
    /// This machine cannot make it.
    Skipped(String),
}

/// Counts small boards by every engine with every instruction set of this machine, and by the oracle of
/// each engine, and compares with the known counts. Prints one line per check. Devices are not tested
/// here: each tests itself when it is opened.
pub fn run(args: &Args) -> Result<(), Failure> {
    let mut failed = 0;
    let mut tell = |engine: Engine, kernel: &str, verdict: Verdict| {
        failed += u32::from(matches!(verdict, Verdict::Wrong(_)));
        match args.json {
            true => print_json(&to_json(engine, kernel, &verdict)),
            false => print(&to_text(engine, kernel, &verdict)),
        }
    };
    for engine in Engine::ALL {
        for isa in Isa::ALL {
            let settings = CounterSettings { isa };
            let verdict = match isa.is_available() {
                true => check(engine, |plan| plan.counter(&settings)),
                false => Verdict::Skipped(format!("this machine has no {isa}")),
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

fn to_text(engine: Engine, kernel: &str, verdict: &Verdict) -> String {
    let name = match kernel {
        ORACLE => format!("{engine} by its oracle"),
        _ => format!("{engine} on {kernel}"),
    };
    match verdict {
        Verdict::Right => format!("ok    {name}, n = 1..={LAST}"),
        Verdict::Wrong(why) => format!("FAIL  {name}: {why}"),
        Verdict::Skipped(why) => format!("skip  {name}: {why}"),
    }
}

fn to_json(engine: Engine, kernel: &str, verdict: &Verdict) -> Value {
    let (word, why) = match verdict {
        Verdict::Right => ("ok", None),
        Verdict::Wrong(why) => ("failed", Some(why)),
        Verdict::Skipped(why) => ("skipped", Some(why)),
    };
    json!({"engine": engine, "kernel": kernel, "result": word, "why": why})
}

/// Counts the boards up to [`LAST`].
fn check(engine: Engine, counter: impl Fn(&dyn Plan) -> Box<dyn Counter>) -> Verdict {
    let sizes = Size::all().take_while(|n| n.get() <= LAST);
    let wrong = sizes
        .map(|n| {
            let plan = job::plan(engine, n);
            compare(plan.as_ref(), counter(plan.as_ref()).as_mut())
        })
        .find_map(Result::err);
    wrong.map_or(Verdict::Right, Verdict::Wrong)
}

/// Counts a plan, and compares the result with the known counts.
fn compare(plan: &dyn Plan, counter: &mut dyn Counter) -> Result<(), String> {
    let n = plan.size();
    let counted = (0..plan.tasks())
        .map(|index| counter.count(&plan.task(index)))
        .sum::<Result<Tally, _>>()
        .map_err(|mismatch| mismatch.to_string())?;
    if plan.engine().counts_all() {
        Outcome::new(n, &counted, None).map_err(|wrong| wrong.to_string())?;
        return Ok(());
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
