//! What a coordinator counts again itself, before it prints a total.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::calibration::Calibration;
use super::recount_cost::{RecountCost, by_kernel};
use crate::actors::Control;
use crate::cli::control::signals;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::say;
use crate::cli::shell::again_command;
use crate::config::RunConfig;
use crate::engine::{CheckedBy, CounterSettings, Plan, TaskKey};
use crate::ledger::{
    Coverage, LedgerError, ProcessFacts, Store, VerifySettings, contest, spot_check,
};
use crate::machine::Machine;
use crate::simd::Isa;
use crate::telemetry::printable;

/// Counts a sample of the run in `dir` again, as [`spot_check`] chooses it. `control` stops it. Returns the
/// hosts whose last canary was not seen, and of which only a sample was counted again.
///
/// # Errors
/// A count differs from its record: then that task is contested, and the session is named. Or the ledger cannot be
/// read or written.
pub fn count_sample_again(
    dir: &Path,
    plans: &[Arc<dyn Plan>],
    control: &Control,
    quiet: bool,
) -> Result<BTreeSet<String>, Failure> {
    let settings = CounterSettings { isa: Isa::best() };
    let workers = RunConfig::default().workers(&Machine::detect());
    let workers = NonZeroUsize::new(workers).unwrap_or(NonZeroUsize::MIN);
    let by = CheckedBy::OtherKernel;
    let begin = |tasks: &Coverage| {
        let tasks = tasks.iter().filter_map(|task| {
            let plan = plans.iter().find(|plan| plan.engine() == task.engine)?;
            Some((plan, task.index))
        });
        let cost = RecountCost::of(tasks, &settings, &Calibration::find().costs);
        if !quiet {
            say(&format!(
                "before the total, this host counts again {}",
                cost.line(by, workers)
            ));
        }
    };
    let tell = |_| {
        if control.is_draining() {
            say("stopped before its end: `serve` again begins this count again");
            signals::end_at_once(Exit::Stopped);
        }
    };
    let store = Store::open_to_read(dir)?;
    let how = VerifySettings {
        given_up: &AtomicBool::new(false),
        plans,
        by,
        settings: &settings,
        done_by: None,
        workers,
        begin: &begin,
        tell: &tell,
    };
    let costs = Calibration::find().costs;
    let rates = plans.iter().map(|plan| {
        let rate = by_kernel(plan.as_ref(), &settings, &costs);
        (Arc::clone(plan), rate)
    });
    let rates: Vec<_> = rates.collect();
    let seconds = |task: TaskKey| {
        let mut rates = rates.iter();
        let own = rates.find(|(plan, _)| plan.engine() == task.engine);
        own.map_or(0.0, |(plan, rate)| plan.task(task.index).cost * rate)
    };
    let checked = spot_check(&store, &how, &seconds)?;
    drop(store);
    let wrong = checked.findings.wrong_records;
    if wrong.is_empty() {
        return Ok(checked.unseen);
    }
    let process = ProcessFacts {
        isa: settings.isa.name().to_owned(),
        workers: workers.get() as u64,
        again: true,
        ..ProcessFacts::default()
    };
    let contested = contest(dir, plans, &process, &wrong);
    let lines = wrong
        .iter()
        .map(|wrong| format!("{wrong}; it was recorded by session {}", wrong.session));
    let advice = match contested {
        Ok(()) => format!("`{}` lets a third count decide", again_command(dir)),
        Err::<_, LedgerError>(error) => format!("this could not be noted in the ledger: {error}"),
    };
    let lines = lines.chain([advice]).map(|line| printable(&line));
    Err(Failure::counts_wrong(lines))
}
