//! The chain kernel on the emulated device: exact counts, and what its owner does when it fails.
#![cfg(feature = "emulated-gpu")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use queenfold::board::{Size, known};
use queenfold::engine::{Plan, Tally, Task, TaskId};
use queenfold::gpu::{
    ChainBatcher, Device, Emulated, EmulatedSettings, Event, Fault, Launch, OpenError, Opener,
    Owner, OwnerSettings, Trouble, measure,
};

fn batcher(n: u32) -> ChainBatcher {
    ChainBatcher::new(Size::new(n).unwrap()).unwrap()
}

fn tasks(batcher: &ChainBatcher) -> Vec<Task> {
    let plan = batcher.plan();
    (0..plan.tasks()).map(|index| plan.task(index)).collect()
}

/// Opens emulated devices on which `trouble` strikes. Submission 0 of the first is its self-test.
fn opener(threads: usize, trouble: Arc<Trouble>) -> Opener {
    Box::new(move || {
        Ok(Box::new(Emulated::new(EmulatedSettings {
            threads,
            fault: Arc::clone(&trouble),
            ..EmulatedSettings::default()
        })) as Box<dyn Device>)
    })
}

fn healthy() -> Arc<Trouble> {
    Arc::new(|_, _| None)
}

/// What came of a run on one device: each task's tally, the tasks returned at the end, the reasons.
#[derive(Default)]
struct Outcome {
    tallies: BTreeMap<TaskId, Tally>,
    left: Vec<Task>,
    reasons: Vec<String>,
    given_up: bool,
    mismatch: Option<String>,
}

impl Outcome {
    fn total(&self) -> u128 {
        let sum: Tally = self.tallies.values().copied().sum();
        sum.completions.solutions()
    }
}

/// Lets `owner` count `queue`, `per_launch` tasks at a time; what it returns goes back to the queue.
fn drive(mut owner: Owner, mut queue: Vec<Task>, per_launch: usize) -> Outcome {
    let mut outcome = Outcome::default();
    loop {
        while owner.wants().is_some() && !queue.is_empty() {
            let rest = queue.split_off(per_launch.min(queue.len()));
            owner.offer(std::mem::replace(&mut queue, rest));
        }
        for event in owner.work(Duration::from_millis(20)) {
            match event {
                Event::Counted { tallies, .. } => {
                    for (task, tally) in tallies {
                        let before = outcome.tallies.insert(task.id, tally);
                        assert!(before.is_none(), "{} counted twice", task.id);
                    }
                }
                Event::Returned {
                    tasks,
                    reason,
                    given_up,
                } => {
                    queue.extend(tasks);
                    outcome.reasons.push(reason);
                    outcome.given_up |= given_up;
                }
                Event::Mismatch(what) => {
                    outcome.mismatch = Some(what);
                    return outcome;
                }
            }
        }
        if outcome.given_up || (queue.is_empty() && owner.is_idle()) {
            outcome.left = queue;
            outcome.left.extend(owner.close());
            return outcome;
        }
    }
}

fn quick() -> OwnerSettings {
    OwnerSettings {
        least_patience: Duration::from_millis(300),
        ..OwnerSettings::default()
    }
}

#[test]
fn totals_of_5_to_13_queens_are_the_known_ones_and_every_task_agrees_with_the_reference() {
    for n in 5..=13 {
        let batcher = batcher(n);
        let tasks = tasks(&batcher);
        let mut oracle = batcher.plan().oracle();
        let expected: BTreeMap<_, _> = tasks
            .iter()
            .map(|task| (task.id, oracle.count(task).unwrap()))
            .collect();
        let owner = Owner::open(opener(2, healthy()), batcher, OwnerSettings::default()).unwrap();
        let outcome = drive(owner, tasks, 1);
        assert_eq!(outcome.tallies.len(), expected.len(), "n = {n}");
        for (task, tally) in &outcome.tallies {
            assert!(tally.agrees_with(&expected[task]), "n = {n}, {task}");
        }
        assert_eq!(outcome.total(), known(Size::new(n).unwrap()).unwrap().total);
    }
}

#[test]
fn random_failures_lose_nothing_and_count_nothing_twice() {
    for seed in 0..8_u64 {
        let batcher = batcher(13);
        let tasks = tasks(&batcher);
        let state = AtomicU64::new(seed);
        let trouble = Arc::new(move |number: u64, _: &Launch| {
            let random = state
                .fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed)
                .wrapping_mul(0xbf58_476d_1ce4_e5b9)
                >> 32;
            // The first submission is the self-test.
            match (number, random % 5) {
                (1.., 0) => Some(Fault::Lost),
                (1.., 1) => Some(Fault::JobMissing),
                (1.., 2) => Some(Fault::Hangs),
                _ => None,
            }
        });
        let settings = OwnerSettings {
            restarts: 200,
            ..quick()
        };
        let owner = Owner::open(opener(1, trouble), batcher, settings).unwrap();
        let outcome = drive(owner, tasks, 1);
        assert_eq!(
            (outcome.total(), outcome.left.len()),
            (73_712, 0),
            "seed {seed}"
        );
    }
}

#[test]
fn a_device_that_keeps_failing_is_opened_twice_again_and_then_given_up() {
    for fault in [Fault::Lost, Fault::Hangs, Fault::JobMissing] {
        let opened = Arc::new(AtomicU64::new(0));
        let trouble: Arc<Trouble> =
            Arc::new(move |number, _: &Launch| (number > 0).then_some(fault));
        let mut open = opener(1, trouble);
        let counting = Arc::clone(&opened);
        let open: Opener = Box::new(move || {
            counting.fetch_add(1, Ordering::Relaxed);
            open()
        });
        let batcher = batcher(14);
        let all = tasks(&batcher);
        let owner = Owner::open(open, batcher, quick()).unwrap();
        let outcome = drive(owner, all.clone(), 1);
        assert!(outcome.given_up, "{fault:?}: {:?}", outcome.reasons);
        assert_eq!(opened.load(Ordering::Relaxed), 3, "{fault:?}");
        assert_eq!(outcome.tallies.len() + outcome.left.len(), all.len());
    }
}

#[test]
fn a_device_that_does_not_open_again_is_given_up() {
    let mut first = true;
    let mut open = opener(1, Arc::new(|number, _| (number > 0).then_some(Fault::Lost)));
    let open: Opener = Box::new(move || {
        if std::mem::take(&mut first) {
            open()
        } else {
            Err(OpenError("gone".to_owned()))
        }
    });
    let batcher = batcher(11);
    let all = tasks(&batcher);
    let outcome = drive(
        Owner::open(open, batcher, OwnerSettings::default()).unwrap(),
        all.clone(),
        1,
    );
    assert!(outcome.given_up && outcome.reasons[0].contains("gone"));
    assert_eq!(outcome.left, all);
}

#[test]
fn without_memory_batches_are_halved_until_they_fit() {
    let batcher = batcher(14);
    let tasks = tasks(&batcher);
    let jobs = batcher.batch(&tasks, 0).launch.job_count;
    let limit = jobs / 3;
    let trouble = Arc::new(move |_, launch: &Launch| {
        (launch.job_count > limit).then_some(Fault::OutOfMemory)
    });
    let settings = OwnerSettings {
        least_jobs: 16,
        ..OwnerSettings::default()
    };
    let owner = Owner::open(opener(1, trouble), batcher, settings).unwrap();
    let outcome = drive(owner, tasks, usize::MAX);
    assert_eq!(outcome.total(), 365_596);
    assert!(!outcome.given_up);
}

#[test]
fn without_memory_even_for_the_least_batch_the_device_is_given_up() {
    let batcher = batcher(13);
    let all = tasks(&batcher);
    let trouble = Arc::new(|number, _: &Launch| (number > 0).then_some(Fault::OutOfMemory));
    let owner = Owner::open(opener(1, trouble), batcher, OwnerSettings::default()).unwrap();
    let outcome = drive(owner, all.clone(), usize::MAX);
    assert!(outcome.given_up && outcome.reasons[0].contains("memory"));
    assert_eq!(outcome.left.len(), all.len());
}

#[test]
fn a_device_without_a_kernel_is_not_used() {
    let no_kernel = opener(1, Arc::new(|_, _| Some(Fault::NoKernel)));
    let error = Owner::open(no_kernel, batcher(12), OwnerSettings::default())
        .err()
        .unwrap();
    assert!(error.to_string().contains("no kernel"), "{error}");
}

#[test]
fn a_device_that_miscounts_a_small_board_is_refused() {
    for fault in [Fault::WrongSum, Fault::JobMissing] {
        let wrong = opener(1, Arc::new(move |_, _| Some(fault)));
        let error = Owner::open(wrong, batcher(12), OwnerSettings::default())
            .err()
            .unwrap();
        assert!(error.to_string().contains("emulated: "), "{error}");
    }
}

#[test]
fn a_sampled_job_with_another_count_fails_the_run() {
    let batcher = batcher(13);
    let all = tasks(&batcher);
    let trouble = Arc::new(|number, _: &Launch| (number == 2).then_some(Fault::WrongSum));
    let owner = Owner::open(opener(1, trouble), batcher, OwnerSettings::default()).unwrap();
    let outcome = drive(owner, all, 1);
    assert!(outcome.mismatch.unwrap().contains("sampled job"));
}

#[test]
fn a_halt_returns_what_is_not_counted_and_the_device_goes_on_afterwards() {
    let batcher = batcher(16);
    let all = tasks(&batcher);
    let mut owner = Owner::open(opener(1, healthy()), batcher, OwnerSettings::default()).unwrap();
    let (first, second) = all.split_at(all.len() / 2);
    owner.offer(first.to_vec());
    assert!(owner.work(Duration::from_millis(1)).is_empty());
    owner.offer(second.to_vec());
    let mut back = owner.halt();
    assert_eq!(back, second);
    while !owner.is_idle() {
        for event in owner.work(Duration::from_millis(100)) {
            match event {
                Event::Returned {
                    tasks, given_up, ..
                } => {
                    assert!(!given_up);
                    back.extend(tasks);
                }
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!(back.len(), all.len());
    owner.offer(first[..1].to_vec());
    let counted = loop {
        let events = owner.work(Duration::from_millis(100));
        if !events.is_empty() {
            break events;
        }
    };
    assert!(
        matches!(counted[..], [Event::Counted { .. }]),
        "{counted:?}"
    );
}

#[test]
fn a_board_is_measured_on_the_device_alone() {
    let n = Size::new(12).unwrap();
    let owner = Owner::open(opener(1, healthy()), batcher(12), OwnerSettings::default()).unwrap();
    let measured = measure(owner, n).unwrap();
    assert_eq!(measured.tally.completions.solutions(), 14_200);
    assert!(measured.launches > 0 && measured.kernel <= measured.window);
    assert!(measured.busy() <= 1.0);
}

#[test]
fn closing_ends_launches_early_and_returns_their_tasks() {
    let batcher = batcher(16);
    let all = tasks(&batcher);
    let mut owner = Owner::open(opener(1, healthy()), batcher, OwnerSettings::default()).unwrap();
    owner.offer(all.clone());
    assert!(owner.work(Duration::from_millis(1)).is_empty());
    let start = std::time::Instant::now();
    let left = owner.close();
    assert!(start.elapsed() < Duration::from_secs(1));
    assert_eq!(left.len(), all.len());
}
