//! Runs that are stopped or paused while their tasks take long.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::alone::run_alone;
use super::runs::{made_watched, spec, tally};
use queenfold::actors::{Control, Progress, RunState, WorkerProgress, WorkerState};
use queenfold::board::Size;
use queenfold::engine::{Engine, Plan, Tally, TaskProgress};

/// Tasks of the plan.
const TASKS: u64 = 3;

/// A run that does not stop takes longer. The program promises two seconds, but a busy machine may take
/// many times as long.
const SOON: Duration = Duration::from_secs(60);

/// A plan whose tasks take forever until `quick` is set.
fn endless(quick: &Arc<AtomicBool>) -> Arc<dyn Plan> {
    let quick = Arc::clone(quick);
    made_watched(TASKS, move |_, watch| {
        watch.note(TaskProgress {
            nodes: 1_000,
            solutions: 10,
            share: 0.5,
        });
        while !quick.load(Ordering::Relaxed) {
            watch.check()?;
            thread::sleep(Duration::from_millis(1));
        }
        Ok(Tally {
            nodes: 2_000,
            ..tally(1)
        })
    })
}

/// Waits until the run under `control` is as `wanted`, for at most two minutes.
fn wait(control: &Control, wanted: impl Fn(&Progress) -> bool) {
    let since = Instant::now();
    while !wanted(&control.progress()) {
        let progress = control.progress();
        assert!(since.elapsed() < Duration::from_secs(120), "{progress:?}");
        thread::sleep(Duration::from_millis(1));
    }
}

fn counts(progress: &Progress) -> bool {
    let busy = |worker: &WorkerProgress| matches!(worker.state, WorkerState::Counting(_));
    !progress.workers.is_empty() && progress.workers.iter().all(busy)
}

#[test]
fn a_run_that_is_stopped_gives_up_tasks_that_take_long() {
    let control = Control::new();
    let other = control.clone();
    let stopper = thread::spawn(move || {
        wait(&other, counts);
        other.drain();
        Instant::now()
    });
    let report = run_alone(&spec(vec![endless(&Arc::default())], 2), &control).unwrap();
    let took = stopper.join().unwrap().elapsed();
    assert!(took < SOON, "{took:?}");
    assert_eq!((report.tasks_done, report.given_up), (0, 2));
    // Both workers had a task for the second that tasks are given, less the moment between their state
    // and the beginning of the task.
    assert!(report.lost > Duration::from_secs(1), "{:?}", report.lost);
}

#[test]
fn progress_shows_what_is_done_inside_of_tasks() {
    let control = Control::new();
    let other = control.clone();
    let watcher = thread::spawn(move || {
        // Two workers with half a task each, of three tasks.
        // The parts of a progress come one after the other.
        wait(&other, |progress| {
            let third = |share: f64| (share - 1.0 / 3.0).abs() < 1e-9;
            (progress.nodes, progress.solutions) == (2_000, 20) && progress.share.is_some_and(third)
        });
        let progress = other.progress();
        assert_eq!(progress.tasks_done, 0);
        assert_eq!(progress.eta.unwrap().uncertainty, None);
        other.drain();
    });
    let report = run_alone(&spec(vec![endless(&Arc::default())], 2), &control).unwrap();
    watcher.join().unwrap();
    assert_eq!(report.tasks_done, 0);
}

/// A task of 27 queens takes minutes.
#[test]
fn engines_tell_how_far_they_are_in_a_task() {
    for engine in [Engine::Chain, Engine::Colour, Engine::Census] {
        let control = Control::new();
        let other = control.clone();
        let watcher = thread::spawn(move || {
            wait(&other, |progress| {
                progress.nodes > 0 && progress.share > Some(0.0)
            });
            other.drain();
        });
        let plan = queenfold::job::plan(engine, Size::new(27).unwrap());
        run_alone(&spec(vec![plan], 1), &control).unwrap();
        watcher.join().unwrap();
    }
}

#[test]
fn a_time_limit_gives_up_tasks_that_take_long() {
    let mut spec = spec(vec![endless(&Arc::default())], 1);
    spec.time_limit = Some(Duration::from_millis(100));
    let report = run_alone(&spec, &Control::new()).unwrap();
    assert!(report.elapsed < SOON, "{report:?}");
    assert_eq!((report.tasks_done, report.given_up), (0, 1));
}

#[test]
fn a_run_that_is_paused_gives_up_tasks_and_counts_them_when_it_goes_on() {
    let control = Control::new();
    let other = control.clone();
    let quick = Arc::default();
    let plan = endless(&quick);
    let pauser = thread::spawn(move || {
        wait(&other, counts);
        other.pause();
        let since = Instant::now();
        wait(&other, |progress| progress.given_up == 2);
        let took = since.elapsed();
        assert!(took < SOON, "{took:?}");
        assert_eq!(other.progress().state, RunState::Paused);
        quick.store(true, Ordering::Relaxed);
        other.resume();
    });
    let report = run_alone(&spec(vec![plan], 2), &control).unwrap();
    pauser.join().unwrap();
    assert!(report.is_whole());
    assert_eq!(report.tallies[&Engine::Census].r90, u128::from(TASKS));
    assert_eq!(report.given_up, 2);
}

/// Every engine looks at its watch: a board far too large to count stops in time.
#[test]
fn tasks_of_large_boards_are_given_up() {
    for engine in [Engine::Chain, Engine::Colour, Engine::Census] {
        for n in [27, 32] {
            let plan = queenfold::job::plan(engine, Size::new(n).unwrap());
            let mut spec = spec(vec![plan], 1);
            spec.time_limit = Some(Duration::from_millis(10));
            let since = Instant::now();
            let report = run_alone(&spec, &Control::new()).unwrap();
            let took = since.elapsed();
            // A task of 32 queens takes longer on every machine.
            assert!(took < SOON, "{engine}, n = {n}: {took:?}");
            assert!(!report.is_whole());
        }
    }
}
