//! Where tasks come from, and where results go.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use queenfold::actors::{
    Control, Finding, Flushed, OnCheckpoint, Part, Progress, RecordError, Recorder, Report,
    Restored, RunError, RunSpec, RunState, Source, Step, Supply, Walk, WholePlans, evenly_spaced,
};
use queenfold::engine::{Engine, Mismatch, Plan, Tally};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

use crate::alone::run_alone;
use crate::runs::{chain, made, spec, tally};

/// A source that gives these steps, then the end. It does not say how many tasks these are.
struct Steps(Vec<Step>);

impl Source for Steps {
    fn open(&self, _: &dyn Plan) -> Supply {
        Supply {
            walk: Box::new(StepsWalk(self.0.clone().into_iter())),
            size: None,
            restored: Restored::default(),
            part: Part::WHOLE,
        }
    }
}

struct StepsWalk(std::vec::IntoIter<Step>);

impl Walk for StepsWalk {
    fn step(&mut self) -> Step {
        self.0.next().unwrap_or(Step::End)
    }
}

fn from(source: impl Source + 'static, plan: Arc<dyn Plan>) -> RunSpec {
    RunSpec {
        source: Arc::new(source),
        ..spec(vec![plan], 2)
    }
}

#[test]
fn a_source_may_have_nothing_for_a_while_and_then_more() {
    let later = Step::Later(Duration::from_millis(30));
    let steps = [
        later,
        Step::Task(3),
        later,
        later,
        Step::Task(4),
        Step::Task(9),
        later,
    ];
    let source = Steps(steps.to_vec());
    let plan = made(10, |task| Ok(tally(task)));
    let control = Control::new();
    let report = run_alone(&from(source, plan), &control).unwrap();
    assert_eq!((report.tasks_done, report.is_whole()), (3, false));
    let progress = control.progress();
    assert_eq!((progress.tasks_done, progress.tasks_total), (3, None));
    assert_eq!((progress.share, progress.eta), (None, None));
    assert_eq!(report.tallies[&Engine::Census].r90, 16);
    assert!(report.elapsed >= Duration::from_millis(4 * 30));
}

/// Stops a run of this source as soon as it has counted a task.
fn stopped_after_a_task(source: Steps) -> Report {
    let control = Control::new();
    let drain = control.clone();
    let stop = thread::spawn(move || {
        while drain.progress().tasks_done == 0 {
            thread::sleep(Duration::from_millis(5));
        }
        drain.drain();
    });
    let report = run_alone(&from(source, made(5, |task| Ok(tally(task)))), &control).unwrap();
    stop.join().unwrap();
    report
}

#[test]
fn a_run_that_waits_for_its_source_can_be_stopped() {
    let source = Steps(vec![Step::Task(0), Step::Later(Duration::from_secs(3600))]);
    assert_eq!(stopped_after_a_task(source).tasks_done, 1);
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
        evenly_spaced(plan, self.0, 3, Restored::default())
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

/// Counts 100,000 tasks and then task 7 again, with the tally `again`.
fn delivered_again(again: Tally) -> Result<u128, RunError> {
    const TASKS: u64 = 100_000;
    let steps = (0..TASKS).map(Step::Task).chain([Step::Task(7)]);
    let times = AtomicU64::new(0);
    let count = move |task| -> Result<Tally, Mismatch> {
        let second = task == 7 && times.fetch_add(1, Ordering::Relaxed) > 0;
        Ok(if second { again } else { tally(task) })
    };
    let report = run_alone(
        &from(Steps(steps.collect()), made(TASKS, count)),
        &Control::new(),
    )?;
    assert_eq!((report.tasks_done, report.is_whole()), (TASKS, true));
    let counted: u64 = report.workers.iter().map(|worker| worker.tasks).sum();
    assert_eq!(counted, TASKS + 1);
    Ok(report.tallies[&Engine::Census].r90)
}

#[test]
fn a_task_delivered_again_after_100_000_others_must_agree_and_is_not_added() {
    assert_eq!(delivered_again(tally(7)), Ok(4_999_950_000));
    let Err(RunError::Mismatch { task, message, .. }) = delivered_again(tally(8)) else {
        panic!("two counts of a task were accepted");
    };
    assert_eq!(task.index, 7);
    assert!(message.contains("twice"), "{message}");
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

/// Another source for each engine: an hour's wait for the census, soon a task for the chain.
struct Unequal;

impl Source for Unequal {
    fn open(&self, plan: &dyn Plan) -> Supply {
        let steps = match plan.engine() {
            Engine::Census => vec![Step::Later(Duration::from_secs(3600))],
            _ => vec![
                Step::Task(0),
                Step::Later(Duration::from_millis(20)),
                Step::Task(1),
            ],
        };
        Steps(steps).open(plan)
    }
}

#[test]
fn a_long_wait_of_one_source_does_not_delay_another() {
    let control = Control::new();
    let drain = control.clone();
    let stop = thread::spawn(move || {
        let since = Instant::now();
        while drain.progress().tasks_done < 2 && since.elapsed() < Duration::from_secs(120) {
            thread::sleep(Duration::from_millis(5));
        }
        drain.drain();
    });
    let plans = vec![made(10, |task| Ok(tally(task))), chain(12)];
    let spec = RunSpec {
        source: Arc::new(Unequal),
        ..spec(plans, 1)
    };
    let report = run_alone(&spec, &control).unwrap();
    stop.join().unwrap();
    assert_eq!(report.tasks_done, 2);
}

#[test]
fn a_source_may_wait_for_ever_and_must_stay_within_the_plan() {
    let steps = Steps(vec![Step::Task(0), Step::Task(5)]);
    let plan = made(5, |task| Ok(tally(task)));
    let error = run_alone(&from(steps, plan), &Control::new()).unwrap_err();
    assert!(error.to_string().contains("task 5 "), "{error}");

    let source = Steps(vec![Step::Task(0), Step::Later(Duration::MAX)]);
    assert_eq!(stopped_after_a_task(source).tasks_done, 1);
}

#[test]
fn a_run_refuses_plans_that_do_not_fit_together() {
    for (plans, why) in [
        (vec![chain(12), chain(12)], "two plans of the engine chain"),
        (
            vec![chain(10), made(5, |task| Ok(tally(task)))],
            "different boards",
        ),
    ] {
        let error = run_alone(&spec(plans, 1), &Control::new()).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
}
