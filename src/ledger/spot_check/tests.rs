//! Sessions that lie, and what the coordinator finds when it counts again.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::*;
use crate::board::Size;
use crate::engine::{
    CheckedBy, Correction, CountedBy, CounterSettings, Decision, Engine, Method, Origin, Plan,
    TaskResult, WorkerId,
};
use crate::ledger::{Facts, Intake, RunInfo, Shard};
use crate::simd::Isa;

const SETTINGS: fn() -> CounterSettings = || CounterSettings { isa: Isa::best() };

fn plans() -> Vec<Arc<dyn Plan>> {
    vec![crate::job::plan(Engine::Chain, Size::new(14).unwrap())]
}

/// What is found in all tasks, as `lie` changes them, each recorded by the session that `by` names. What is wrong is
/// contested then.
fn findings(
    by: impl Fn(u64) -> &'static str,
    lie: impl Fn(&mut TaskResult),
    corrections: Vec<(&str, Finding)>,
    sound: &[&str],
    seconds: f64,
) -> SpotCheck {
    let dir = tempfile::tempdir().unwrap();
    let plans = plans();
    let n = plans[0].size();
    let info = RunInfo::new(n, &plans, Shard::WHOLE, String::new());
    let mut intake = Intake::create(dir.path(), &info, &plans).unwrap();
    for host in ["one", "two"] {
        let facts = Facts {
            host: format!("host-{host}"),
            ..Facts::default()
        };
        intake.join(host, facts).unwrap();
    }
    for index in 0..plans[0].tasks() {
        let mut result = right(index);
        lie(&mut result);
        let item = vec![Finding::Result(result)];
        intake.write(&[(by(index).to_owned(), item)]).unwrap();
    }
    for (by, correction) in corrections {
        let item = vec![correction];
        intake.write(&[(by.to_owned(), item)]).unwrap();
    }
    let sound = sound.iter().map(|session| ((*session).to_owned(), true));
    intake.leave(&sound.collect::<Vec<_>>()).unwrap();
    drop(intake);
    let store = Store::open_to_read(dir.path()).unwrap();
    let how = VerifySettings {
        given_up: &AtomicBool::new(false),
        plans: &plans,
        by: CheckedBy::OtherKernel,
        settings: &SETTINGS(),
        done_by: None,
        workers: NonZeroUsize::MIN,
        begin: &|_| {},
        tell: &|_| {},
    };
    let found = spot_check(&store, &how, &|_| seconds).unwrap();
    drop(store);
    contest(
        dir.path(),
        &plans,
        &ProcessFacts::default(),
        &found.findings.wrong_records,
    )
    .unwrap();
    let sums = Store::open_to_read(dir.path()).unwrap().sums().unwrap();
    let wrong: Vec<_> = found
        .findings
        .wrong_records
        .iter()
        .map(|wrong| wrong.task)
        .collect();
    assert_eq!(sums.contested, wrong);
    found
}

fn right(index: u64) -> TaskResult {
    let plan = &plans()[0];
    let mut counter = plan.counter(&SETTINGS());
    TaskResult {
        key: plan.key(index),
        tally: counter.count(&plan.task(index)).unwrap(),
        origin: Origin {
            worker: WorkerId::Cpu(0),
            counted_by: CountedBy::Cpu(counter.backend().into()),
        },
        audited_by: None,
        duration: Duration::from_secs(1),
    }
}

#[test]
fn of_a_session_that_invents_its_counts_one_is_found_and_it_is_named() {
    let by = |index: u64| ["one", "two"][index as usize % 2];
    let lie = |result: &mut TaskResult| {
        if result.key.index % 2 == 1 {
            result.tally.completions.add(8, 3);
        }
    };
    let found = findings(by, lie, Vec::new(), &["one", "two"], 1.0).findings;
    assert_eq!(found.checked, 2);
    let [wrong] = &found.wrong_records[..] else {
        panic!("{found:?}");
    };
    assert_eq!(wrong.session, "two");
    assert!(wrong.to_string().contains("host-two/worker-0"), "{wrong}");
    let honest = findings(by, |_| {}, Vec::new(), &["one", "two"], 1.0).findings;
    assert_eq!((honest.checked, honest.wrong_records.len()), (2, 0));
}

#[test]
fn of_a_session_without_its_last_canary_every_task_is_counted_again_if_that_is_cheap() {
    let last = plans()[0].tasks() - 1;
    let lie = |result: &mut TaskResult| {
        if result.key.index == last {
            result.tally.completions.add(8, 3);
        }
    };
    assert!((2..60).contains(&last), "{last}");
    let found = findings(|_| "one", lie, Vec::new(), &[], 1.0);
    assert_eq!(found.findings.checked, last + 1);
    assert_eq!(found.unseen, BTreeSet::new());
    assert_eq!(found.findings.wrong_records.len(), 1);
    // It says that each took an hour, which changes nothing.
    let slow = |result: &mut TaskResult| result.duration = Duration::from_secs(3600);
    let found = findings(|_| "one", slow, Vec::new(), &[], 1.0);
    assert_eq!(found.findings.checked, last + 1);
    // It does take that long.
    let found = findings(|_| "one", |_| {}, Vec::new(), &[], 3600.0);
    assert_eq!(found.findings.checked, 1);
    assert_eq!(found.unseen, BTreeSet::from(["host-one".to_owned()]));
}

#[test]
fn what_a_session_corrected_itself_is_counted_again() {
    let mut forged = right(3);
    forged.tally.completions.add(8, 1);
    forged.origin.worker = WorkerId::Cpu(1);
    let correction = Finding::Correction(Box::new(Correction {
        recorded: right(3),
        others: vec![forged.clone()],
        decision: Some(Decision {
            result: forged,
            method: Method::SameKernel,
        }),
    }));
    let found = findings(|_| "one", |_| {}, vec![("one", correction)], &["one"], 1.0).findings;
    assert!(found.checked <= 2, "{found:?}");
    let wrong: Vec<_> = found.wrong_records.iter().map(|w| w.task.index).collect();
    assert_eq!(wrong, [3]);
}

#[test]
fn one_of_each_thousand_tasks_is_drawn() {
    let plan = crate::job::plan(Engine::Chain, Size::new(18).unwrap());
    for (tasks, expected) in [(1, 1), (1000, 1), (1001, 2), (2500, 3)] {
        let mut sample = Sample::default();
        for index in 0..tasks {
            sample.add(plan.key(index));
        }
        let drawn: Vec<_> = sample.drawn.iter().chain(&sample.candidate).collect();
        assert_eq!(drawn.len(), expected);
        for (block, task) in drawn.iter().enumerate() {
            assert_eq!(task.index / ONE_OF, block as u64);
        }
    }
}
