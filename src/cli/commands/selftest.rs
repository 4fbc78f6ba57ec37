use crate::board::Size;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::print;
use crate::engine::{Counter, CounterSettings, Engine, Plan, Tally};
use crate::job;
use crate::outcome::{Outcome, check_census};
use crate::simd::Isa;

/// The largest board that is counted: large enough for every path of the kernels, and done in a moment.
const LAST: u32 = 12;

/// Counts small boards by every engine with every instruction set of this machine, and by the oracle of
/// each engine, and compares with the known counts. Prints one line per check. Devices are not tested
/// here: each tests itself when it is opened.
pub fn run() -> Result<(), Failure> {
    let mut failed = 0;
    for engine in Engine::ALL {
        for isa in Isa::ALL {
            let name = format!("{engine} on {isa}");
            if !isa.is_available() {
                print(&format!("skip  {name}: this machine has no {isa}"))?;
                continue;
            }
            let settings = CounterSettings { isa };
            failed += check(&name, engine, |plan| plan.counter(&settings))?;
        }
        let name = format!("{engine} by its oracle");
        failed += check(&name, engine, |plan| plan.oracle())?;
    }
    match failed {
        0 => Ok(()),
        _ => Err(Failure::new(
            Exit::SelfTest,
            format!("{failed} checks failed"),
        )),
    }
}

/// Prints the outcome of one check; 1 if it failed.
fn check(
    name: &str,
    engine: Engine,
    counter: impl Fn(&dyn Plan) -> Box<dyn Counter>,
) -> Result<u32, Failure> {
    let sizes = Size::all().take_while(|n| n.get() <= LAST);
    let wrong = sizes
        .map(|n| {
            let plan = job::plan(engine, n);
            compare(plan.as_ref(), counter(plan.as_ref()).as_mut())
        })
        .find_map(Result::err);
    match wrong {
        None => print(&format!("ok    {name}, n = 1..={LAST}"))?,
        Some(wrong) => {
            print(&format!("FAIL  {name}: {wrong}"))?;
            return Ok(1);
        }
    }
    Ok(0)
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
    use crate::engine::{NotCounted, Task, TaskWatch};

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
