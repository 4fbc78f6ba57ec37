//! Where tasks come from, and where results go.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use queenfold::actors::{
    Control, Finding, Flushed, OnCheckpoint, Part, Progress, RecordError, Recorder, Restored,
    RunError, RunSpec, RunState, Source, Supply, WholePlans,
};
use queenfold::engine::{Engine, Plan};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

use super::alone::run_alone;
use super::runs::{made, spec, tally};

fn from(source: impl Source + 'static, plan: Arc<dyn Plan>) -> RunSpec {
    RunSpec {
        source: Arc::new(source),
        ..spec(vec![plan], 2)
    }
}

/// A source that gives task 7 a second time, in place of the last one.
struct Twice;

impl Source for Twice {
    fn open(&self, plan: &dyn Plan) -> Supply {
        let tasks = (0..plan.tasks() - 1).chain([7]);
        Supply {
            walk: Box::new(tasks),
            ..WholePlans.open(plan)
        }
    }
}

#[test]
fn a_task_that_is_given_twice_is_not_added_twice() {
    let plan = made(1000, |task| Ok(tally(task)));
    let Err(RunError::Mismatch { task, message, .. }) =
        run_alone(&from(Twice, plan), &Control::new())
    else {
        panic!("a task is added twice");
    };
    assert_eq!(task.index, 7);
    assert!(message.contains("twice"), "{message}");
}

/// A source that takes a while to open, and then asks how far the run is.
struct SlowToOpen {
    control: Control,
    seen: Arc<Mutex<Progress>>,
}

impl Source for SlowToOpen {
    fn open(&self, plan: &dyn Plan) -> Supply {
        thread::sleep(Duration::from_millis(60));
        *self.seen.lock() = self.control.progress();
        WholePlans.open(plan)
    }
}

#[test]
fn to_open_a_source_is_part_of_the_time_of_a_run() {
    let control = Control::new();
    let seen = Arc::default();
    let spec = RunSpec {
        time_limit: Some(Duration::from_millis(40)),
        source: Arc::new(SlowToOpen {
            control: control.clone(),
            seen: Arc::clone(&seen),
        }),
        ..spec(vec![made(2, |task| Ok(tally(task)))], 1)
    };
    let report = run_alone(&spec, &control).unwrap();
    assert_eq!(report.tasks_done, 0);
    assert!(report.elapsed >= Duration::from_millis(60));
    let seen = seen.lock();
    assert_eq!(seen.state, RunState::Planning);
    assert!(seen.elapsed >= Duration::from_millis(60));
}

/// A source of every third task of a plan, from this index on.
struct Third(u64);

impl Source for Third {
    fn open(&self, plan: &dyn Plan) -> Supply {
        let part = Part::Spaced {
            residues: self.0..self.0 + 1,
            spacing: 3,
        };
        Supply::of(plan, part, Restored::default())
    }
}

#[test]
fn the_shards_of_a_plan_add_up_to_it() {
    let sums = [0, 1, 2].map(|shard| {
        let plan = made(1000, move |task| {
            assert_eq!(task % 3, shard);
            Ok(tally(task))
        });
        let report = run_alone(&from(Third(shard), plan), &Control::new()).unwrap();
        assert!(!report.is_whole());
        (report.tasks_done, report.tallies[&Engine::Census].r90)
    });
    assert_eq!(sums.map(|(tasks, _)| tasks), [334, 333, 333]);
    assert_eq!(sums.map(|(_, sum)| sum).iter().sum::<u128>(), 499_500);
}

/// A recorder whose flush takes until the time limit was logged.
#[derive(Default)]
struct Slow {
    flushed: Arc<AtomicBool>,
    after_flush: Arc<Mutex<Vec<bool>>>,
}

impl Recorder for Slow {
    fn take(&self, finding: Finding) -> Result<(), RecordError> {
        finding.unlogged()
    }

    fn on_checkpoint(&self, _: OnCheckpoint) {}

    fn flush(&self, flushed: Flushed) {
        let done = Arc::clone(&self.flushed);
        let logged = Arc::clone(&self.after_flush);
        thread::spawn(move || {
            // A flush that no timer interrupts ends after a while, so that the test fails and does not hang.
            let since = Instant::now();
            while logged.lock().is_empty() && since.elapsed() < Duration::from_secs(60) {
                thread::sleep(Duration::from_millis(10));
            }
            done.store(true, Ordering::Relaxed);
            flushed.answer(Ok(()));
        });
    }
}

/// For each log line that names the time limit: whether the flush was over by then.
struct LimitLines {
    flushed: Arc<AtomicBool>,
    after_flush: Arc<Mutex<Vec<bool>>>,
}

impl<S: Subscriber> Layer<S> for LimitLines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        struct NamesLimit(bool);
        impl Visit for NamesLimit {
            fn record_debug(&mut self, _: &Field, value: &dyn std::fmt::Debug) {
                self.0 |= format!("{value:?}").contains("time limit");
            }
        }
        let mut names = NamesLimit(false);
        event.record(&mut names);
        if names.0 {
            let flushed = self.flushed.load(Ordering::Relaxed);
            self.after_flush.lock().push(flushed);
        }
    }
}

#[test]
fn timers_run_during_a_long_flush() {
    // Long enough for three tasks on a busy machine.
    const LIMIT: Duration = Duration::from_secs(2);
    let recorder = Slow::default();
    let after_flush = Arc::clone(&recorder.after_flush);
    let lines = LimitLines {
        flushed: Arc::clone(&recorder.flushed),
        after_flush: Arc::clone(&after_flush),
    };
    let spec = RunSpec {
        recorder: Some(Arc::new(recorder)),
        time_limit: Some(LIMIT),
        ..spec(vec![made(3, |task| Ok(tally(task)))], 1)
    };
    // While there is one subscriber only, `tracing` lets the thread that logs a line first decide for all threads
    // whether anybody wants it. That may be the thread of another test, which has no subscriber.
    let _another = tracing::Dispatch::new(tracing_subscriber::registry());
    let subscriber = tracing_subscriber::registry().with(lines);
    let report = tracing::subscriber::with_default(subscriber, || {
        run_alone(&spec, &Control::new()).unwrap()
    });
    assert!(report.is_whole());
    assert!(report.elapsed >= LIMIT);
    assert_eq!(*after_flush.lock(), [false]);
}

/// A recorder that never answers a flush.
struct Forgetful;

impl Recorder for Forgetful {
    fn take(&self, finding: Finding) -> Result<(), RecordError> {
        finding.unlogged()
    }

    fn on_checkpoint(&self, _: OnCheckpoint) {}

    fn flush(&self, _: Flushed) {}
}

#[test]
fn a_flush_that_is_never_answered_fails_the_run() {
    let spec = RunSpec {
        recorder: Some(Arc::new(Forgetful)),
        ..spec(vec![made(3, |task| Ok(tally(task)))], 1)
    };
    let error = run_alone(&spec, &Control::new()).unwrap_err();
    assert!(matches!(error, RunError::Recorder(_)), "{error}");
}

#[test]
fn a_paused_run_ends_when_its_last_task_comes_back() {
    let control = Control::new();
    let pause = control.clone();
    let plan = made(1, move |task| {
        pause.pause();
        while pause.progress().state != RunState::Paused {
            thread::yield_now();
        }
        Ok(tally(task))
    });
    // A run that stays paused is ended after a while, so that the test fails and does not hang.
    let (over, wait) = std::sync::mpsc::channel::<()>();
    let resume = control.clone();
    let watch = thread::spawn(move || {
        let stuck = wait.recv_timeout(Duration::from_secs(120)).is_err();
        resume.drain();
        stuck
    });
    let report = run_alone(&spec(vec![plan], 1), &control).unwrap();
    let _ = over.send(());
    assert!(!watch.join().unwrap(), "the run waited for the resume");
    assert!(report.is_whole());
}
