//! The events and the progress that a run reports.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use queenfold::actors::{
    Control, Observer, RunEvent, RunSpec, RunState, WorkerProgress, WorkerState,
};
use queenfold::engine::{CountedBy, Engine, WorkerId};

use crate::alone::run_alone;
use crate::runs::{chain, made, spec, tally};

/// An observer that keeps all events.
#[derive(Default)]
struct Heard(Mutex<Vec<RunEvent>>);

impl Observer for Heard {
    fn event(&self, event: &RunEvent) {
        self.0.lock().unwrap().push(event.clone());
    }
}

fn heard(spec: RunSpec) -> Vec<RunEvent> {
    let heard = Arc::new(Heard::default());
    let spec = RunSpec {
        observers: vec![Arc::clone(&heard) as _],
        ..spec
    };
    run_alone(&spec, &Control::new()).unwrap();
    std::mem::take(&mut heard.0.lock().unwrap())
}

#[test]
fn every_task_begins_and_is_done_once_by_the_same_worker() {
    let events = heard(spec(vec![chain(12), made(200, |task| Ok(tally(task)))], 2));
    let (mut begun, mut done) = (BTreeMap::new(), BTreeMap::new());
    let mut nodes = 0;
    for event in &events {
        match event {
            RunEvent::TaskBegun { worker, key } => {
                assert_eq!(begun.insert(*key, *worker), None, "{key}");
            }
            RunEvent::TaskDone(result) => {
                nodes += result.tally.nodes;
                assert_eq!(done.insert(result.key, result.origin.worker), None);
            }
            _ => {}
        }
    }
    assert_eq!(begun, done);
    let plans = BTreeSet::from_iter(begun.keys().map(|key| key.engine));
    assert_eq!(plans, BTreeSet::from([Engine::Chain, Engine::Census]));
    let batches = events.iter().filter_map(|event| match event {
        RunEvent::BatchDone {
            tasks, nodes, time, ..
        } => {
            assert!(time.start <= time.end);
            Some((*tasks, *nodes))
        }
        _ => None,
    });
    let (tasks, in_batches) = batches.fold((0, 0), |(t, n), (tasks, nodes)| (t + tasks, n + nodes));
    assert_eq!((tasks, in_batches), (begun.len(), nodes));
    let collected = events.iter().map(|event| match event {
        RunEvent::Collected { tasks, .. } => *tasks,
        _ => 0,
    });
    assert_eq!(collected.sum::<usize>(), begun.len());
}

#[test]
fn the_states_of_a_run_and_the_end_of_each_worker_are_told() {
    let events = heard(spec(vec![made(50, |task| Ok(tally(task)))], 3));
    let states = events.iter().filter_map(|event| match event {
        RunEvent::State(state) => Some(*state),
        _ => None,
    });
    assert!(states.eq([
        RunState::Planning,
        RunState::Running,
        RunState::Draining,
        RunState::Done
    ]));
    let gone: BTreeSet<_> = events
        .iter()
        .filter_map(|event| match event {
            RunEvent::Gone { worker } => Some(*worker),
            _ => None,
        })
        .collect();
    assert_eq!(gone, BTreeSet::from([0, 1, 2].map(WorkerId::Cpu)));
    assert!(matches!(
        events.last(),
        Some(RunEvent::State(RunState::Done))
    ));
}

#[test]
fn audits_and_the_time_left_are_told() {
    let events = heard(RunSpec {
        audit: 1.0,
        ..spec(vec![chain(13)], 1)
    });
    let done = |event: &&RunEvent| matches!(event, RunEvent::TaskDone(_));
    let tasks = events.iter().filter(done).count();
    let audits = events.iter().filter_map(|event| match event {
        RunEvent::Audited { by, worker, .. } => Some((by.as_str(), *worker)),
        _ => None,
    });
    let audits: Vec<_> = audits.collect();
    assert_eq!(audits.len(), tasks);
    assert!(audits.iter().all(|(by, _)| *by != "portable"));
    let ends = |event: &RunEvent| matches!(event, RunEvent::Eta(Some(eta)) if eta.left.is_zero());
    assert!(events.iter().any(ends));
}

#[test]
fn progress_shows_what_each_worker_does() {
    let control = Control::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (watched, keep) = (control.clone(), Arc::clone(&seen));
    let plan = made(400, move |task| {
        let begun = Instant::now();
        keep.lock().unwrap().extend(watched.progress().workers);
        std::thread::sleep(Duration::from_millis(1).saturating_sub(begun.elapsed()));
        Ok(tally(task))
    });
    run_alone(&spec(vec![plan], 2), &control).unwrap();
    let seen = seen.lock().unwrap();
    let counting = |worker: &&WorkerProgress| matches!(worker.state, WorkerState::Counting(_));
    let ids: BTreeSet<_> = seen
        .iter()
        .filter(counting)
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
