//! The events and the progress that a run reports.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use queenfold::actors::{
    Control, EventKind, Finding, Flushed, Observer, OnCheckpoint, Progress, RecordError, Recorder,
    Report, RunEvent, RunSpec, RunState, WorkerProgress, WorkerState,
};
use queenfold::engine::{CountedBy, Engine, WorkerId};

use super::alone::run_alone;
use super::runs::{chain, made, spec, tally};

/// An observer that keeps all events.
#[derive(Default)]
struct Heard(Mutex<Vec<RunEvent>>);

impl Observer for Heard {
    fn event(&self, event: &RunEvent) {
        self.0.lock().unwrap().push(event.clone());
    }
}

impl Heard {
    /// Runs `spec` under `control`, and returns what was told.
    fn run(spec: RunSpec, control: &Control) -> (Report, Vec<RunEvent>) {
        let heard = Arc::new(Self::default());
        let spec = RunSpec {
            observers: vec![Arc::clone(&heard) as _],
            ..spec
        };
        let report = run_alone(&spec, control).unwrap();
        let events = std::mem::take(&mut *heard.0.lock().unwrap());
        (report, events)
    }
}

fn heard(spec: RunSpec) -> Vec<RunEvent> {
    Heard::run(spec, &Control::new()).1
}

#[test]
fn every_task_begins_and_is_done_once_by_the_same_worker() {
    let events = heard(spec(vec![chain(12), made(200, |task| Ok(tally(task)))], 2));
    let (mut begun, mut done) = (BTreeMap::new(), BTreeMap::new());
    let mut nodes = 0;
    for event in &events {
        match &event.kind {
            EventKind::TaskBegun { worker, key } => {
                assert_eq!(begun.insert(*key, *worker), None, "{key}");
            }
            EventKind::TaskCounted(result) => {
                nodes += result.tally.nodes;
                assert_eq!(done.insert(result.key, result.origin.worker), None);
            }
            _ => {}
        }
    }
    assert_eq!(begun, done);
    let plans = BTreeSet::from_iter(begun.keys().map(|key| key.engine));
    assert_eq!(plans, BTreeSet::from([Engine::Chain, Engine::Census]));
    let batches = events.iter().filter_map(|event| match &event.kind {
        EventKind::BatchDone {
            tasks, nodes, time, ..
        } => {
            assert!(time.start <= time.end);
            Some((*tasks, *nodes))
        }
        _ => None,
    });
    let (tasks, in_batches) = batches.fold((0, 0), |(t, n), (tasks, nodes)| (t + tasks, n + nodes));
    assert_eq!((tasks, in_batches), (begun.len(), nodes));
    let collected = events.iter().map(|event| match &event.kind {
        EventKind::Collected { tasks, .. } => *tasks,
        _ => 0,
    });
    assert_eq!(collected.sum::<usize>(), begun.len());
}

#[test]
fn the_states_of_a_run_and_the_end_of_each_worker_are_told() {
    let events = heard(spec(vec![made(50, |task| Ok(tally(task)))], 3));
    let states = events.iter().filter_map(|event| match &event.kind {
        EventKind::State(state) => Some(*state),
        _ => None,
    });
    assert!(states.eq([
        RunState::Planning,
        RunState::Running,
        RunState::Draining,
        RunState::Finished
    ]));
    let gone: BTreeSet<_> = events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::Gone { worker } => Some(*worker),
            _ => None,
        })
        .collect();
    assert_eq!(gone, BTreeSet::from([0, 1, 2].map(WorkerId::Cpu)));
    assert!(matches!(
        events.last().unwrap().kind,
        EventKind::State(RunState::Finished)
    ));
}

#[test]
fn audits_and_the_time_left_are_told() {
    let events = heard(RunSpec {
        audit: 1.0,
        ..spec(vec![chain(13)], 1)
    });
    let done = |event: &&RunEvent| matches!(event.kind, EventKind::TaskCounted(_));
    let tasks = events.iter().filter(done).count();
    let audits = events.iter().filter_map(|event| match &event.kind {
        EventKind::Audited { by, worker, .. } => Some((by.as_ref(), *worker)),
        _ => None,
    });
    let audits: Vec<_> = audits.collect();
    assert_eq!(audits.len(), tasks);
    assert!(audits.iter().all(|(by, _)| *by != "portable"));
    let ends = |event: &RunEvent| matches!(event.kind, EventKind::Advanced { eta: Some(eta), .. } if eta.left.is_zero());
    assert!(events.iter().any(ends));
}

#[test]
fn progress_shows_what_each_worker_does() {
    let control = Control::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (watched, keep) = (control.clone(), Arc::clone(&seen));
    let counting = |worker: &WorkerProgress| matches!(worker.state, WorkerState::Counting(_));
    let both = AtomicBool::new(false);
    let plan = made(400, move |task| {
        let begun = Instant::now();
        loop {
            let workers = watched.progress().workers;
            if workers.len() == 2 && workers.iter().all(counting) {
                both.store(true, Ordering::Relaxed);
            }
            keep.lock().unwrap().extend(workers);
            // The first task waits until the other worker counts too, however late it starts.
            if both.load(Ordering::Relaxed) || begun.elapsed() > Duration::from_secs(120) {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(1).saturating_sub(begun.elapsed()));
        Ok(tally(task))
    });
    run_alone(&spec(vec![plan], 2), &control).unwrap();
    let seen = seen.lock().unwrap();
    let ids: BTreeSet<_> = seen
        .iter()
        .filter(|worker| counting(worker))
        .map(|worker| worker.id)
        .collect();
    assert_eq!(ids, BTreeSet::from([0, 1].map(WorkerId::Cpu)));
    let last = control.progress().workers;
    assert_eq!(last.iter().map(|worker| worker.tasks).sum::<u64>(), 400);
    for worker in &last {
        assert_eq!(worker.state, WorkerState::Gone);
        assert_eq!(worker.counted_by, Some(CountedBy::Cpu("made".into())));
        let speed = worker.nodes_per_second();
        assert!(speed > 0.0 && speed < 1100.0, "{speed}");
    }
}

#[test]
fn the_time_of_a_worker_is_busy_waiting_or_starved() {
    let control = Control::new();
    let watched = control.clone();
    // One task takes long, so the other worker has nothing to do at the end, after its 19 tasks.
    let plan = made(20, move |task| {
        if task == 0 {
            let begun = Instant::now();
            let others = |tasks| tasks < 19 && begun.elapsed() < Duration::from_secs(120);
            while others(
                watched
                    .progress()
                    .workers
                    .iter()
                    .map(|w| w.tasks)
                    .sum::<u64>(),
            ) {
                std::thread::sleep(Duration::from_millis(1));
            }
            std::thread::sleep(Duration::from_millis(300));
        } else {
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(tally(task))
    });
    let report = run_alone(&spec(vec![plan], 2), &control).unwrap();
    for worker in &report.workers {
        let known = worker.busy + worker.waiting + worker.starved;
        assert!(known <= report.elapsed, "{worker:?}");
        assert!(worker.finished <= report.elapsed, "{worker:?}");
    }
    let longest = |of: fn(&WorkerProgress) -> Duration| report.workers.iter().map(of).max();
    assert!(longest(|worker| worker.busy) >= Some(Duration::from_millis(300)));
    assert!(longest(|worker| worker.starved) >= Some(Duration::from_millis(150)));
}

#[test]
fn a_try_that_panics_is_told_and_its_time_is_busy() {
    let tried = AtomicU64::new(0);
    let plan = made(3, move |task| {
        if task == 1 && tried.fetch_add(1, Ordering::Relaxed) == 0 {
            std::thread::sleep(Duration::from_millis(50));
            panic!("queen 7 attacked");
        }
        Ok(tally(task))
    });
    let (report, events) = Heard::run(spec(vec![plan], 1), &Control::new());
    let panics = events.iter().filter_map(|event| match &event.kind {
        EventKind::TaskPanicked { key, message, .. } => Some((key.index, message.clone())),
        _ => None,
    });
    let panics: Vec<_> = panics.collect();
    assert!(
        matches!(&panics[..], [(1, message)] if message.starts_with("queen 7 attacked")),
        "{panics:?}"
    );
    assert!(report.workers[0].busy >= Duration::from_millis(50));
    assert_eq!(report.workers[0].tasks, 3);
}

/// A recorder that keeps nothing, and tells at once of these checkpoints.
struct Checkpoints([u64; 3]);

impl Recorder for Checkpoints {
    fn take(&self, finding: Finding) -> Result<(), RecordError> {
        finding.unlogged()
    }

    fn on_checkpoint(&self, tell: OnCheckpoint) {
        self.0.into_iter().for_each(tell);
    }

    fn flush(&self, flushed: Flushed) {
        flushed.answer(Ok(()));
    }
}

#[test]
fn a_checkpoint_without_results_is_not_told() {
    let control = Control::new();
    let spec = RunSpec {
        recorder: Some(Arc::new(Checkpoints([2, 0, 3]))),
        ..spec(vec![chain(8)], 1)
    };
    let (_, events) = Heard::run(spec, &control);
    let told = events.iter().filter_map(|event| match event.kind {
        EventKind::Checkpoint { tasks } => Some(tasks),
        _ => None,
    });
    assert!(told.eq([2, 3]));
    assert_eq!(control.progress().durable, 5);
}

/// An observer that panics at the first event of a task.
#[derive(Default)]
struct Panicking {
    heard: AtomicU64,
}

impl Observer for Panicking {
    fn event(&self, event: &RunEvent) {
        if event.kind.worker().is_some() {
            self.heard.fetch_add(1, Ordering::Relaxed);
            panic!("this observer has a bug");
        }
    }
}

#[test]
fn an_observer_that_panics_is_told_nothing_more_and_the_run_goes_on() {
    let (panicking, heard) = (Arc::new(Panicking::default()), Arc::new(Heard::default()));
    let spec = RunSpec {
        observers: vec![Arc::clone(&panicking) as _, Arc::clone(&heard) as _],
        ..spec(vec![chain(12)], 1)
    };
    let report = run_alone(&spec, &Control::new()).unwrap();
    assert!(report.is_whole());
    assert_eq!(panicking.heard.load(Ordering::Relaxed), 1);
    let done = EventKind::State(RunState::Finished);
    assert_eq!(heard.0.lock().unwrap().last().unwrap().kind, done);
}

#[test]
fn why_a_run_failed_is_told_before_it_ends() {
    let heard = Arc::new(Heard::default());
    let control = Control::new();
    let spec = RunSpec {
        observers: vec![Arc::clone(&heard) as _],
        ..spec(vec![made(5, |_| panic!("queen 7 attacked"))], 2)
    };
    let error = run_alone(&spec, &control).unwrap_err();
    let events = heard.0.lock().unwrap();
    let failed = EventKind::Failed {
        reason: error.to_string(),
    };
    let told: Vec<_> = events
        .iter()
        .filter(|event| matches!(event.kind, EventKind::Failed { .. }))
        .collect();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].kind, failed);
    assert_eq!(
        events.last().unwrap().kind,
        EventKind::State(RunState::Failed)
    );
    let mut sent = Progress::default();
    events.iter().for_each(|event| sent.note(event));
    assert_eq!(sent.failure, Some(error.to_string()));
    assert_eq!(control.progress().failure, sent.failure);
}
