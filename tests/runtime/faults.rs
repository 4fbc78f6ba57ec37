//! Runs with injected faults are exact, or fail and give no result.

use std::sync::Arc;
use std::time::Duration;

use super::alone::run_alone;
use super::runs::spec;
use crate::common::faults::Faults;
use queenfold::actors::{Control, Report, RunError, RunState};
use queenfold::board::Size;
use queenfold::chain::ChainPlan;
use queenfold::engine::{Engine, Plan};

/// A board and its total, from OEIS A000170.
const TOTAL: (u32, u128) = (14, 365_596);

fn run_with(faults: &str, workers: usize) -> (Result<Report, RunError>, Control) {
    let plan = ChainPlan::new(Size::new(TOTAL.0).unwrap());
    assert!(plan.tasks() >= 12, "too few tasks for the faults");
    let mut spec = spec(vec![Arc::new(plan)], workers);
    spec.batch_time = Duration::from_millis(5);
    let control = Control::new();
    control.inject(Faults::of(faults));
    (run_alone(&spec, &control), control)
}

fn assert_exact(faults: &str) {
    for workers in [1, 2, 4] {
        let report = run_with(faults, workers).0.unwrap();
        assert!(report.is_whole());
        let tally = report.tallies[&Engine::Chain];
        assert_eq!(tally.completions.solutions(), TOTAL.1, "{workers} workers");
        assert_eq!(report.tasks_done, report.tasks_planned);
    }
}

#[test]
fn panics_in_a_tenth_of_all_tasks_leave_the_count_exact() {
    assert_exact("panics=0.1");
}

#[test]
fn a_panic_in_every_task_leaves_the_count_exact() {
    assert_exact("panics=1");
}

#[test]
fn dead_workers_are_replaced_and_their_batches_counted() {
    assert_exact("deaths=3");
}

#[test]
fn panics_and_deaths_together_leave_the_count_exact() {
    assert_exact("panics=0.5,deaths=5");
}

#[test]
fn a_panic_in_every_try_fails_the_run_with_the_ranks() {
    for workers in [1, 2] {
        let (outcome, control) = run_with("panics=0.1,again=1", workers);
        let error = outcome.unwrap_err();
        assert!(
            error.to_string().contains("failed twice: injected panic"),
            "{error}"
        );
        assert!(matches!(error, RunError::TaskFailed { ranks, .. } if !ranks.is_empty()));
        assert_eq!(control.progress().state, RunState::Failed);
    }
}

#[test]
fn a_worker_that_dies_again_and_again_fails_the_run() {
    let error = run_with("deaths=1000", 1).0.unwrap_err();
    assert!(
        error.to_string().contains("worker-0 died 9 times"),
        "{error}"
    );
}
