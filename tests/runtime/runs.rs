//! Runs that finish, are stopped, are paused, or fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::alone::run_alone;
use crate::common::run_spec::run_spec;
use queenfold::actors::{Control, RunSpec, RunState};
use queenfold::board::{GivenBoard, Size};
use queenfold::chain::ChainPlan;
use queenfold::engine::{
    Counter, CounterSettings, Engine, Mismatch, NotCounted, Plan, PlanName, Tally, Task, TaskWatch,
};
use queenfold::simd::Isa;

/// Totals of A000170, n = 1..13.
const TOTALS: [u128; 13] = [1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2_680, 14_200, 73_712];

pub fn spec(plans: Vec<Arc<dyn Plan>>, workers: usize) -> RunSpec {
    run_spec(plans, workers, Isa::Portable)
}

pub fn chain(n: u32) -> Arc<dyn Plan> {
    Arc::new(ChainPlan::new(Size::new(n).unwrap()))
}

type Count = dyn Fn(u64, &TaskWatch) -> Result<Tally, NotCounted> + Send + Sync;

/// A plan whose tallies a function of the task's index gives.
struct Made {
    tasks: u64,
    count: Arc<Count>,
    counters: Arc<AtomicU64>,
}

pub fn made(
    tasks: u64,
    count: impl Fn(u64) -> Result<Tally, Mismatch> + Send + Sync + 'static,
) -> Arc<dyn Plan> {
    made_watched(tasks, move |index, _| Ok(count(index)?))
}

/// The same of a function that is told when the task is given up.
pub fn made_watched(
    tasks: u64,
    count: impl Fn(u64, &TaskWatch) -> Result<Tally, NotCounted> + Send + Sync + 'static,
) -> Arc<dyn Plan> {
    Arc::new(Made {
        tasks,
        count: Arc::new(count),
        counters: Arc::default(),
    })
}

pub fn tally(r90: u64) -> Tally {
    Tally {
        r90: r90.into(),
        partitions: 1,
        nodes: 1,
        ..Tally::default()
    }
}

impl Plan for Made {
    fn name(&self) -> PlanName {
        PlanName {
            engine: Engine::Census,
            version: 1,
        }
    }

    fn given(&self) -> GivenBoard {
        // The board of the chain plans that share a run with it.
        Size::new(12).unwrap().into()
    }

    fn tasks(&self) -> u64 {
        self.tasks
    }

    fn task(&self, index: u64) -> Task {
        Task {
            key: self.key(index),
            ranks: 10 * index..10 * index + 10,
            cost: 1.0,
        }
    }

    fn total_cost(&self) -> f64 {
        self.tasks as f64
    }

    fn counter(&self, _: &CounterSettings) -> Box<dyn Counter> {
        self.counters.fetch_add(1, Ordering::Relaxed);
        self.oracle()
    }

    fn oracle(&self) -> Box<dyn Counter> {
        Box::new(MadeCounter(Arc::clone(&self.count)))
    }
}

struct MadeCounter(Arc<Count>);

impl Counter for MadeCounter {
    fn backend(&self) -> &'static str {
        "made"
    }

    fn count_watched(&mut self, task: &Task, watch: &TaskWatch) -> Result<Tally, NotCounted> {
        (self.0)(task.key.index, watch)
    }
}

#[test]
fn every_n_up_to_13_is_exact_with_any_number_of_workers() {
    for (n, total) in (1..).zip(TOTALS) {
        let tallies = [1, 2, 4].map(|workers| {
            let control = Control::new();
            let report = run_alone(&spec(vec![chain(n)], workers), &control).unwrap();
            assert!(report.is_whole());
            assert_eq!(report.tasks_done, report.tasks_planned);
            assert_eq!(report.workers.len(), workers);
            let tasks: u64 = report.workers.iter().map(|worker| worker.tasks).sum();
            assert_eq!(tasks, report.tasks_planned);
            let progress = control.progress();
            assert_eq!(progress.state, RunState::Finished);
            assert_eq!(progress.solutions, total);
            assert_eq!(progress.share, Some(1.0));
            assert_eq!(report.tasks_total, report.tasks_planned);
            assert_eq!(progress.tasks_total, Some(report.tasks_total));
            report.tallies[&Engine::Chain]
        });
        assert_eq!(tallies[0].completions.solutions(), total, "n = {n}");
        assert_eq!(tallies[0], tallies[1]);
        assert_eq!(tallies[0], tallies[2]);
    }
}

#[test]
fn two_plans_are_counted_in_one_run_and_summed_apart() {
    let plans = vec![chain(12), made(1000, |task| Ok(tally(task)))];
    let report = run_alone(&spec(plans, 2), &Control::new()).unwrap();
    assert_eq!(
        report.tallies[&Engine::Chain].completions.solutions(),
        14_200
    );
    assert_eq!(report.tallies[&Engine::Census].r90, 499_500);
    // One of the two workers may have started too late to get a task.
    assert!(
        report
            .workers
            .iter()
            .any(|worker| worker.counted_by_name() == "portable")
    );
}

#[test]
fn a_drain_in_the_middle_gives_a_part_and_says_so() {
    let control = Control::new();
    let drain = control.clone();
    let plan = made(100_000, move |task| {
        if task == 61_803 {
            drain.drain();
        } else if task > 61_803 {
            // The rest takes longer than the drain needs to be noticed on a busy machine.
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(tally(1))
    });
    let report = run_alone(&spec(vec![plan], 2), &control).unwrap();
    assert!(!report.is_whole());
    assert!(report.tasks_done < 100_000);
    assert_eq!(
        report.tallies[&Engine::Census].r90,
        report.tasks_done.into()
    );
    assert_eq!(control.progress().state, RunState::Stopped);
}

#[test]
fn a_drain_ends_a_paused_run() {
    let control = Control::new();
    control.pause();
    let other = control.clone();
    let thread = std::thread::spawn(move || {
        while other.progress().state != RunState::Paused {
            std::thread::yield_now();
        }
        other.drain();
    });
    let report = run_alone(&spec(vec![chain(10)], 2), &control).unwrap();
    thread.join().unwrap();
    assert!(!report.is_whole());
}

#[test]
fn a_paused_run_stands_still_and_goes_on_to_the_exact_end() {
    let control = Control::new();
    let pause = control.clone();
    let plan = made(3000, move |task| {
        if task == 0 {
            pause.pause();
        }
        std::thread::sleep(Duration::from_micros(100));
        Ok(tally(task))
    });
    let other = control.clone();
    let thread = std::thread::spawn(move || {
        while other.progress().state != RunState::Paused {
            std::thread::yield_now();
        }
        // What was in hand comes in after a moment, which is long on a busy machine. A run that does not
        // pause never stands still.
        let mut before = other.progress().tasks_done;
        loop {
            std::thread::sleep(Duration::from_millis(50));
            let now = other.progress().tasks_done;
            if now == before {
                break;
            }
            before = now;
        }
        assert_eq!(other.progress().state, RunState::Paused);
        other.resume();
        before
    });
    let report = run_alone(&spec(vec![plan], 2), &control).unwrap();
    assert!(thread.join().unwrap() < 3000);
    assert!(report.is_whole());
    assert_eq!(report.tallies[&Engine::Census].r90, 2999 * 3000 / 2);
}

#[test]
fn the_time_limit_drains() {
    let plan = made(1_000_000, |_| {
        std::thread::sleep(Duration::from_millis(1));
        Ok(tally(1))
    });
    let spec = RunSpec {
        time_limit: Some(Duration::from_secs(1)),
        ..spec(vec![plan], 2)
    };
    let report = run_alone(&spec, &Control::new()).unwrap();
    assert!(!report.is_whole());
    // Without the limit, the tasks take two workers eight minutes.
    assert!(report.elapsed < Duration::from_secs(120), "{report:?}");
}

#[test]
fn a_counter_that_contradicts_itself_fails_the_run() {
    let plan = made(500, |task| match task {
        77 => Err(Mismatch("seven is eight".to_owned())),
        _ => Ok(tally(1)),
    });
    let control = Control::new();
    let error = run_alone(&spec(vec![plan], 2), &control).unwrap_err();
    assert_eq!(
        error.to_string(),
        "task census-1:77 of n = 12 (ranks 770..780): seven is eight"
    );
    assert_eq!(control.progress().state, RunState::Failed);
}
