//! What a ledger takes from many processes.

use super::*;
use crate::board::Size;
use crate::chain::ChainPlan;
use crate::engine::{CountedBy, Decision, Method, Origin, Tally, WorkerId};
use crate::ledger::{ProcessFacts, Recording};

fn plans() -> Vec<Arc<dyn Plan>> {
    vec![Arc::new(ChainPlan::new(Size::new(14).unwrap()))]
}

fn intake(dir: &Path) -> Intake {
    intake_of(dir, &plans())
}

fn intake_of(dir: &Path, plans: &[Arc<dyn Plan>]) -> Intake {
    let info = RunInfo::new(plans[0].size(), plans, Shard::WHOLE, String::new());
    let mut intake = Intake::create(dir, &info, plans).unwrap();
    for host in ["one", "two"] {
        intake.join(host, facts(host)).unwrap();
    }
    intake
}

/// The same of 18 queens: of 14 there are too few tasks for a party to be trusted.
fn large(dir: &Path) -> (Arc<dyn Plan>, Intake) {
    let plan: Arc<dyn Plan> = Arc::new(ChainPlan::new(Size::new(18).unwrap()));
    let intake = intake_of(dir, &[Arc::clone(&plan)]);
    (plan, intake)
}

fn facts(host: &str) -> Facts {
    Facts {
        host: host.to_owned(),
        ..Facts::default()
    }
}

fn result(task: u64, solutions: u128) -> TaskResult {
    let mut tally = Tally::default();
    tally.completions.add(8, solutions);
    TaskResult {
        key: plans()[0].key(task),
        tally,
        origin: Origin {
            worker: WorkerId::Cpu(0),
            counted_by: CountedBy::Cpu("scalar".into()),
        },
        audited_by: None,
        duration: Duration::from_millis(3),
    }
}

fn from(host: &str, items: impl IntoIterator<Item = Finding>) -> (String, Vec<Finding>) {
    (host.to_owned(), items.into_iter().collect())
}

#[test]
fn a_result_is_recorded_once_whoever_delivers_it_however_often() {
    let dir = tempfile::tempdir().unwrap();
    let mut intake = intake(dir.path());
    let item = || Finding::Result(result(3, 5));
    let written = intake
        .write(&[from("one", [item(), item()]), from("two", [item()])])
        .unwrap();
    assert_eq!(written.recorded.len(), 1);
    assert_eq!(written.recorded[0].key, plans()[0].key(3));
    assert_eq!(written.again, 2);
    let again = intake.write(&[from("two", [item()])]).unwrap();
    assert_eq!((again.recorded.len(), again.again), (0, 1));
    // Nobody knows a process that did not join.
    assert_eq!(
        intake.write(&[from("three", [item()])]).unwrap(),
        Written::default()
    );
    drop(intake);
    let store = Store::open_to_read(dir.path()).unwrap();
    let tasks = |wanted: &str| {
        let mut count = (0, 0);
        store
            .for_each_task(|task| {
                count.0 += u64::from(task.record.session == wanted);
                count.1 += u64::from(task.second.is_some_and(|second| second.session == wanted));
                Ok(())
            })
            .unwrap();
        count
    };
    assert_eq!((tasks("one"), tasks("two")), ((1, 0), (0, 1)));
}

#[test]
fn a_second_count_that_differs_names_both_and_stays_in_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let mut intake = intake(dir.path());
    let of = |solutions| [Finding::Result(result(3, solutions))];
    intake.write(&[from("one", of(5))]).unwrap();
    let more = [Finding::Result(result(4, 1)), Finding::Result(result(3, 6))];
    let error = intake.write(&[from("two", more)]).unwrap_err().to_string();
    for part in ["worker-0 of one", "worker-0 of two", "0/0/0/5", "0/0/0/6"] {
        assert!(error.contains(part), "{error}");
    }
    drop(intake);
    let store = Store::open_to_read(dir.path()).unwrap();
    let sums = store.sums().unwrap();
    // What came with it is recorded.
    assert_eq!(sums.coverage.done(), 2);
    assert_eq!(sums.contested, [plans()[0].key(3)]);
}

#[test]
fn a_correction_that_is_delivered_twice_is_logged_once() {
    let dir = tempfile::tempdir().unwrap();
    let mut intake = intake(dir.path());
    let correction = Finding::Correction(Box::new(Correction {
        recorded: result(3, 5),
        others: vec![result(3, 6)],
        decision: Some(Decision {
            result: result(3, 6),
            method: Method::Oracle,
        }),
    }));
    let items = [
        Finding::Result(result(3, 5)),
        correction.clone(),
        correction.clone(),
    ];
    intake.write(&[from("one", items)]).unwrap();
    intake.write(&[from("one", [correction])]).unwrap();
    drop(intake);
    let store = Store::open_to_read(dir.path()).unwrap();
    assert_eq!(store.corrections().unwrap().len(), 1);
    assert_eq!(
        store.sums().unwrap().tallies[&crate::engine::Engine::Chain].found(),
        48
    );
}

/// A correction of task 3, from 5 to 6, that was decided on another worker.
fn correction() -> Finding {
    let mut elsewhere = result(3, 6);
    elsewhere.origin.worker = WorkerId::Cpu(1);
    Finding::Correction(Box::new(Correction {
        recorded: result(3, 5),
        others: vec![result(3, 6)],
        decision: Some(Decision {
            result: elsewhere,
            method: Method::SameKernel,
        }),
    }))
}

/// What is recorded of task 3, and whether it is contested, after `one` recorded 5.
fn corrected_by(host: &str, confirmed_by: Option<&str>, correction: Finding) -> (u128, bool) {
    let dir = tempfile::tempdir().unwrap();
    let mut intake = intake(dir.path());
    for host in ["one"].into_iter().chain(confirmed_by) {
        let item = Finding::Result(result(3, 5));
        intake.write(&[from(host, [item])]).unwrap();
    }
    let outcome = intake.write(&[from(host, [correction])]);
    if let Err(error) = &outcome {
        for part in [
            "worker-0 of one",
            &format!(" of {host} "),
            "0/0/0/5",
            "0/0/0/6",
        ] {
            assert!(error.to_string().contains(part), "{error}");
        }
    }
    drop(intake);
    let store = Store::open_to_read(dir.path()).unwrap();
    let sums = store.sums().unwrap();
    let is_contested = sums.contested == [plans()[0].key(3)];
    assert_eq!(outcome.is_err(), is_contested);
    let record = store.get(plans()[0].key(3)).unwrap().unwrap();
    (record.result.tally.completions.by_weight()[3], is_contested)
}

#[test]
fn a_process_corrects_only_what_it_recorded_itself() {
    assert_eq!(corrected_by("one", None, correction()), (6, false));
    // The count of another process is contradicted, and nothing is replaced.
    assert_eq!(corrected_by("two", None, correction()), (5, true));
    // So is what another one has counted as well.
    assert_eq!(corrected_by("one", Some("two"), correction()), (5, true));
}

#[test]
fn the_worker_that_counted_wrongly_does_not_decide() {
    let Finding::Correction(mut correction) = correction() else {
        panic!("no correction");
    };
    let decision = correction.decision.as_mut().unwrap();
    decision.result.origin.worker = WorkerId::Cpu(0);
    let correction = Finding::Correction(correction);
    assert_eq!(corrected_by("one", None, correction), (5, true));
}

#[test]
fn a_process_takes_back_only_what_it_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let mut intake = intake(dir.path());
    let task = plans()[0].key(3);
    intake
        .write(&[from("one", [Finding::Result(result(3, 5))])])
        .unwrap();
    let back = || [Finding::Withdrawal(task)];
    let written = intake.write(&[from("two", back())]).unwrap();
    assert_eq!(written.withdrawn, []);
    let written = intake.write(&[from("one", back())]).unwrap();
    assert_eq!(written.withdrawn, [task]);
}

#[test]
fn what_no_count_gives_is_refused_and_what_came_before_it_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let mut intake = intake(dir.path());
    for bad in [result(3, 1 << 100), result(1 << 40, 1)] {
        let items = [Finding::Result(result(2, 1)), Finding::Result(bad)];
        let written = intake.write(&[from("two", items)]).unwrap();
        let [(who, what)] = &written.refused[..] else {
            panic!("{written:?}");
        };
        assert!(who == "two" && what.starts_with("it delivered"), "{what}");
    }
    drop(intake);
    let intake = Intake::resume(dir.path(), |_| plans()).unwrap();
    assert_eq!(intake.recorded().done(), 1);
}

#[test]
fn one_process_goes_on_with_what_many_began_and_they_with_what_it_did() {
    let dir = tempfile::tempdir().unwrap();
    let mut many = intake(dir.path());
    many.write(&[from("one", [Finding::Result(result(3, 5))])])
        .unwrap();
    assert!(matches!(
        Intake::resume(dir.path(), |_| plans()),
        Err(LedgerError::Locked { .. })
    ));
    many.close().unwrap();
    drop(many);
    let single = Recording::resume(dir.path(), &plans(), &ProcessFacts::default()).unwrap();
    crate::actors::Recorder::take(&single, Finding::Result(result(4, 1))).unwrap();
    drop(single);
    let mut many = Intake::resume(dir.path(), |_| plans()).unwrap();
    assert_eq!(many.recorded().done(), 2);
    many.join("one", facts("one")).unwrap();
    many.join("new", facts("new")).unwrap();
    many.write(&[from("new", [Finding::Result(result(5, 1))])])
        .unwrap();
    let numbers: Vec<_> = many
        .store
        .sessions()
        .unwrap()
        .into_iter()
        .map(|session| session.facts.number)
        .collect();
    assert_eq!(
        numbers.iter().collect::<BTreeSet<_>>().len(),
        3,
        "{numbers:?}"
    );
}

/// A ledger with this many sessions, each of a host of its own.
fn with_sessions(dir: &Path, number: usize) {
    drop(intake(dir));
    let store = Store::open_to_write(dir).unwrap();
    store.begin().unwrap();
    for at in 0..number {
        let session = Session {
            id: format!("{at:016x}"),
            facts: facts(&at.to_string()),
            elapsed: Duration::from_secs(1),
            cpu: None,
            committed: 0,
        };
        store.put_session(&session).unwrap();
    }
    store.commit().unwrap();
}

fn sessions(dir: &Path) -> Vec<Session> {
    Store::open_to_read(dir).unwrap().sessions().unwrap()
}

#[test]
fn of_many_sessions_one_is_continued_by_a_process_of_the_same_host_and_configuration() {
    let dir = tempfile::tempdir().unwrap();
    with_sessions(dir.path(), REUSED_FROM);
    let mut intake = Intake::resume(dir.path(), |_| plans()).unwrap();
    // Two processes of one host at once, and one of another host.
    for (id, host) in [("again", "7"), ("beside", "7"), ("other", "none")] {
        intake.join(id, facts(host)).unwrap();
    }
    let item = |task| [Finding::Result(result(task, 5))];
    let delivered = [
        from("again", item(1)),
        from("beside", item(2)),
        from("other", item(3)),
    ];
    assert_eq!(intake.write(&delivered).unwrap().recorded.len(), 3);
    // It may take back what it delivered.
    let back = [Finding::Withdrawal(plans()[0].key(1))];
    assert_eq!(
        intake
            .write(&[from("again", back)])
            .unwrap()
            .withdrawn
            .len(),
        1
    );
    intake.write(&[from("again", item(1))]).unwrap();
    drop(intake);
    assert_eq!(sessions(dir.path()).len(), REUSED_FROM + 2);
    let store = Store::open_to_read(dir.path()).unwrap();
    let by = |task| store.get(plans()[0].key(task)).unwrap().unwrap().session;
    assert_eq!(
        [by(1), by(2), by(3)],
        [format!("{:016x}", 7), "beside".into(), "other".into()]
    );
    // The time of both counts.
    assert!(store.session(&by(1)).unwrap().unwrap().elapsed >= Duration::from_secs(1));
}

#[test]
fn a_ledger_of_the_most_sessions_takes_no_more_and_stays_whole() {
    let dir = tempfile::tempdir().unwrap();
    with_sessions(dir.path(), MOST_SESSIONS);
    let mut intake = Intake::resume(dir.path(), |_| plans()).unwrap();
    for (id, host) in [("again", "7"), ("other", "none")] {
        intake.join(id, facts(host)).unwrap();
    }
    let item = |task| [Finding::Result(result(task, 5))];
    let written = intake
        .write(&[from("other", item(1)), from("again", item(2))])
        .unwrap();
    let refused = (
        "other".to_owned(),
        "the ledger takes no more sessions".to_owned(),
    );
    assert_eq!(
        (written.recorded.len(), written.refused),
        (1, vec![refused])
    );
    drop(intake);
    let store = Store::open_to_write(dir.path()).unwrap();
    let mut session = store.sessions().unwrap().remove(0);
    store.put_session(&session).unwrap();
    session.id = "one more".to_owned();
    let error = store.put_session(&session).unwrap_err().to_string();
    assert!(
        error.contains("it takes no more sessions: it has the most"),
        "{error}"
    );
    assert_eq!(sessions(dir.path()).len(), MOST_SESSIONS);
    // `resume` of a machine that is new says so, too.
    drop(store);
    let recording = Recording::resume(dir.path(), &plans(), &ProcessFacts::default()).unwrap();
    let (told, said) = std::sync::mpsc::channel();
    let flushed = crate::actors::Flushed::new(move |done| told.send(done).unwrap());
    crate::actors::Recorder::flush(&recording, flushed);
    let error = said.recv().unwrap().unwrap_err().to_string();
    assert!(error.contains("it takes no more sessions"), "{error}");
}

#[test]
fn of_many_sessions_a_run_continues_its_own() {
    let dir = tempfile::tempdir().unwrap();
    with_sessions(dir.path(), REUSED_FROM);
    let process = ProcessFacts::default();
    let own = || {
        let recording = Recording::resume(dir.path(), &plans(), &process).unwrap();
        recording.session().to_owned()
    };
    let first = own();
    assert_eq!(own(), first);
    let all = sessions(dir.path());
    assert_eq!(all.len(), REUSED_FROM + 1);
    // It is the latest again.
    let latest = all
        .iter()
        .max_by_key(|session| session.facts.number)
        .unwrap();
    assert_eq!(
        (latest.id.as_str(), latest.facts.number),
        (first.as_str(), 2)
    );
}

/// What is recorded of task 3, who is to count it no more, and who is refused, after these have counted it in a run
/// that is counted twice.
fn counted_twice(counts: &[(&str, u128)]) -> (u128, Option<BTreeSet<String>>, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let mut intake = intake(dir.path());
    assert_eq!(intake.count_twice(Quorum::ALL).unwrap(), []);
    for host in ["three", "four"] {
        intake.join(host, facts(host)).unwrap();
    }
    // Another process of the same host, and two of the same user.
    intake.join("one-again", facts("one")).unwrap();
    intake.join("anna.1", facts("one")).unwrap();
    intake.join("anna.2", facts("two")).unwrap();
    let mut wanted = None;
    let mut refused = Vec::new();
    for (by, count) in counts {
        let written = intake.write(&[from(by, [Finding::Result(result(3, *count))])]);
        let written = written.unwrap();
        for (task, counted_by) in written.wanted {
            assert_eq!(task, plans()[0].key(3));
            wanted = Some(counted_by);
        }
        if !written.agreed.is_empty() {
            wanted = None;
        }
        refused.extend(written.refused.into_iter().map(|(session, _)| session));
    }
    // The next coordinator knows the same.
    let again = intake.count_twice(Quorum::ALL).unwrap();
    let again = again.into_iter().map(|(_, counted_by)| counted_by).next();
    assert_eq!(again, wanted);
    drop(intake);
    let store = Store::open_to_read(dir.path()).unwrap();
    let record = store.get(plans()[0].key(3)).unwrap().unwrap();
    let is_contested = !store.sums().unwrap().contested.is_empty();
    assert!(!is_contested || wanted.is_some());
    refused.sort();
    (
        record.result.tally.completions.by_weight()[3],
        wanted,
        refused,
    )
}

#[test]
fn two_parties_that_agree_are_right_and_whoever_differs_is_named() {
    let by = |parties: &[&str]| Some(parties.iter().map(|party| (*party).to_owned()).collect());
    let none = Vec::<String>::new;
    for (counts, expected) in [
        (&[("one", 5)][..], (5, by(&["host one"]), none())),
        (
            &[("one", 5), ("one-again", 5)],
            (5, by(&["host one"]), none()),
        ),
        (
            &[("anna.1", 5), ("anna.2", 5)],
            (5, by(&["user anna"]), none()),
        ),
        // It does not contradict itself either: another one has to.
        (
            &[("one", 5), ("one-again", 6)],
            (5, by(&["host one"]), none()),
        ),
        (&[("one", 5), ("two", 5)], (5, None, none())),
        (&[("one", 5), ("anna.1", 5)], (5, None, none())),
        (
            &[("one", 5), ("one-again", 5), ("two", 5)],
            (5, None, none()),
        ),
        (
            &[("one", 6), ("two", 5)],
            (6, by(&["host one", "host two"]), none()),
        ),
        (
            &[("one", 6), ("two", 5), ("one-again", 6)],
            (6, by(&["host one", "host two"]), none()),
        ),
        (
            &[("one", 6), ("two", 5), ("three", 5)],
            (5, None, vec!["one".to_owned()]),
        ),
        (
            &[("one", 5), ("two", 6), ("three", 5)],
            (5, None, vec!["two".to_owned()]),
        ),
        (
            &[("one", 6), ("two", 5), ("three", 7)],
            (6, by(&["host one", "host three", "host two"]), none()),
        ),
        (
            &[("one", 6), ("two", 5), ("three", 7), ("four", 5)],
            (5, None, vec!["one".to_owned(), "three".to_owned()]),
        ),
        // Too late to matter.
        (
            &[("one", 5), ("two", 5), ("three", 6)],
            (5, None, vec!["three".to_owned()]),
        ),
        (&[("one", 5), ("two", 5), ("three", 5)], (5, None, none())),
    ] {
        assert_eq!(counted_twice(counts), expected, "{counts:?}");
    }
}

#[test]
fn of_a_party_that_others_confirm_fewer_tasks_are_counted_twice_until_one_is_wrong() {
    let dir = tempfile::tempdir().unwrap();
    let (plan, mut intake) = large(dir.path());
    intake.join("three", facts("three")).unwrap();
    let quorum = Quorum::new(0.25, [1; 32]);
    assert_eq!(intake.count_twice(quorum).unwrap(), []);
    let mut write = |by: &str, tasks: std::ops::Range<u64>, count: u128| {
        let items = results_of(&plan, tasks, count);
        intake.write(&[from(by, items)]).unwrap()
    };
    assert_eq!(write("one", 0..300, 5).wanted.len(), 300);
    let written = write("two", 0..99, 5);
    assert_eq!((written.agreed.len(), written.all_wanted), (99, None));
    let some = write("two", 99..100, 5).all_wanted.unwrap();
    // A quarter of 200, and of 100, give or take five standard deviations.
    assert!((20..80).contains(&some.len()), "{}", some.len());
    let more = write("one", 300..400, 5).wanted;
    assert!((4..46).contains(&more.len()), "{}", more.len());
    // Whoever is not known yet is not trusted.
    assert_eq!(write("three", 400..500, 5).wanted.len(), 100);
    let task = some[0].0.index;
    let written = write("three", task..task + 1, 6);
    assert_eq!((written.wanted.len(), &written.all_wanted), (1, &None));
    let written = write("two", task..task + 1, 6);
    assert_eq!(written.refused[0].0, "one");
    let all = written.all_wanted.unwrap();
    assert_eq!(all.len(), 300 - 1 + 100);
    let mut again = intake.count_twice(quorum).unwrap();
    again.sort();
    let mut all = all;
    all.sort();
    assert_eq!(again, all);
}

#[test]
fn a_trusted_party_that_contradicts_itself_has_to_be_confirmed() {
    let dir = tempfile::tempdir().unwrap();
    let (plan, mut intake) = large(dir.path());
    intake.join("one-again", facts("one")).unwrap();
    intake.count_twice(Quorum::new(0.25, [1; 32])).unwrap();
    let mut write = |by: &str, tasks: std::ops::Range<u64>, count: u128| {
        let items = results_of(&plan, tasks, count);
        let written = intake.write(&[from(by, items)]).unwrap();
        let wanted = written.wanted.into_iter().map(|(task, _)| task.index);
        wanted.collect::<Vec<_>>()
    };
    write("one", 0..100, 5);
    write("two", 0..100, 5);
    let chosen = write("one", 100..200, 5);
    let task = (100..200).find(|task| !chosen.contains(task)).unwrap();
    assert!(write("one-again", task..task + 1, 5).is_empty());
    assert_eq!(write("one-again", task..task + 1, 6), [task]);
}

#[test]
fn the_ledger_knows_who_left_in_order_until_it_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let mut intake = intake(dir.path());
    let liar = Facts {
        took_leave: true,
        ..facts("liar")
    };
    intake.join("liar", liar).unwrap();
    for (task, host) in ["one", "two", "liar"].into_iter().enumerate() {
        let item = Finding::Result(result(task as u64, 5));
        intake.write(&[from(host, [item])]).unwrap();
    }
    let left = [("one".to_owned(), true), ("two".to_owned(), false)];
    intake.leave(&left).unwrap();
    let took_leave = || {
        let store = Store::open_to_read(dir.path()).unwrap();
        let sessions = store.sessions().unwrap().into_iter();
        let left = sessions.filter(|session| session.facts.took_leave);
        left.map(|session| session.id).collect::<Vec<_>>()
    };
    assert_eq!(took_leave(), ["one"]);
    intake.join("one", facts("one")).unwrap();
    let item = Finding::Result(result(3, 5));
    intake.write(&[from("one", [item])]).unwrap();
    assert_eq!(took_leave(), Vec::<String>::new());
    // The next coordinator has nothing to write of it but that it left, and of who never delivered not even that.
    drop(intake);
    let mut intake = Intake::resume(dir.path(), |_| plans()).unwrap();
    for worker in ["one", "idle"] {
        intake.join(worker, facts(worker)).unwrap();
    }
    let left = [("one".to_owned(), true), ("idle".to_owned(), true)];
    intake.leave(&left).unwrap();
    assert_eq!(took_leave(), ["one"]);
    // If it comes back, delivers nothing and is lost, all that it counted was seen to be right before.
    intake.join("one", facts("one")).unwrap();
    intake.leave(&[("one".to_owned(), false)]).unwrap();
    assert_eq!(took_leave(), ["one"]);
}

#[test]
fn a_process_does_not_leave_in_order_for_an_earlier_one_of_its_row() {
    let dir = tempfile::tempdir().unwrap();
    with_sessions(dir.path(), REUSED_FROM);
    let mut intake = Intake::resume(dir.path(), |_| plans()).unwrap();
    let left_in_order = |intake: &mut Intake, id: &str, host: &str, task: Option<u64>| {
        intake.join(id, facts(host)).unwrap();
        let items = task.map(|task| Finding::Result(result(task, 5)));
        intake
            .write(&[(id.to_owned(), items.into_iter().collect())])
            .unwrap();
        intake.leave(&[(id.to_owned(), true)]).unwrap();
        let sessions = sessions(dir.path()).into_iter();
        let left = sessions.filter(|session| session.facts.took_leave);
        left.map(|session| session.facts.host).collect::<Vec<_>>()
    };
    // That one was lost.
    for task in [None, Some(1)] {
        assert_eq!(
            left_in_order(&mut intake, "again", "7", task),
            Vec::<String>::new()
        );
    }
    for task in [2, 3] {
        let host = left_in_order(&mut intake, &format!("new-{task}"), "new", Some(task));
        assert_eq!(host, ["new"]);
    }
}

/// Results of these tasks of 18 queens, each with so many solutions.
fn results_of(plan: &Arc<dyn Plan>, tasks: std::ops::Range<u64>, count: u128) -> Vec<Finding> {
    let result = |task| TaskResult {
        key: plan.key(task),
        ..result(0, count)
    };
    tasks.map(|task| Finding::Result(result(task))).collect()
}

#[test]
fn who_takes_back_a_count_is_not_trusted_and_what_others_counted_nobody_takes_back() {
    let dir = tempfile::tempdir().unwrap();
    let (plan, mut intake) = large(dir.path());
    let quorum = Quorum::new(0.25, [1; 32]);
    assert_eq!(intake.count_twice(quorum).unwrap(), []);
    let mut write = |by: &str, items: Vec<Finding>| intake.write(&[from(by, items)]).unwrap();
    let take_back = |task| vec![Finding::Withdrawal(plan.key(task))];
    write("one", results_of(&plan, 0..300, 5));
    let few = write("two", results_of(&plan, 0..100, 5)).all_wanted;
    assert!(few.unwrap().len() < 100);
    assert_eq!(write("one", take_back(7)), Written::default());
    let written = write("one", take_back(200));
    assert_eq!(written.withdrawn, [plan.key(200)]);
    assert_eq!(written.all_wanted.unwrap().len(), 199);
    // It does not earn trust again, and the next coordinator knows.
    write("one", results_of(&plan, 200..201, 5));
    drop(intake);
    let plans = |_: &RunInfo| vec![Arc::clone(&plan)];
    let mut next = Intake::resume(dir.path(), plans).unwrap();
    assert_eq!(next.count_twice(quorum).unwrap().len(), 200);
}

#[test]
fn while_counts_differ_nobody_is_wrong() {
    let dir = tempfile::tempdir().unwrap();
    let (plan, mut intake) = large(dir.path());
    intake.join("liar", facts("liar")).unwrap();
    let quorum = Quorum::new(0.25, [1; 32]);
    intake.count_twice(quorum).unwrap();
    intake
        .write(&[
            from("liar", results_of(&plan, 300..301, 6)),
            from("one", results_of(&plan, 0..200, 5)),
            from("two", results_of(&plan, 0..100, 5)),
            from("one", results_of(&plan, 300..301, 5)),
        ])
        .unwrap();
    // A new coordinator trusts those that differ from the liar, and wants the contested task.
    let wanted = intake.count_twice(quorum).unwrap();
    assert!(wanted.len() < 60, "{}", wanted.len());
    assert!(wanted.iter().any(|(task, _)| *task == plan.key(300)));
}

#[test]
fn in_a_run_that_is_counted_twice_nobody_decides_about_the_count_of_another() {
    let dir = tempfile::tempdir().unwrap();
    let mut intake = intake(dir.path());
    intake.count_twice(Quorum::ALL).unwrap();
    let task = plans()[0].key(3);
    let write = |intake: &mut Intake, by: &str, item| intake.write(&[from(by, [item])]).unwrap();
    write(&mut intake, "one", Finding::Result(result(3, 5)));
    // A forged correction is a count that differs.
    let written = write(&mut intake, "two", correction());
    assert_eq!(written.wanted[0].1.len(), 2);
    // While that is open, nobody takes back what it counted.
    let written = write(&mut intake, "one", Finding::Withdrawal(task));
    assert_eq!(written.withdrawn, []);
    intake.join("three", facts("three")).unwrap();
    let written = write(&mut intake, "three", Finding::Result(result(3, 5)));
    assert_eq!(written.agreed, [task]);
    assert_eq!(written.refused[0].0, "two");
    drop(intake);
    let store = Store::open_to_read(dir.path()).unwrap();
    assert_eq!(store.sums().unwrap().contested, []);
    let record = store.get(task).unwrap().unwrap();
    assert_eq!(record.result.tally.completions.by_weight()[3], 5);
}

#[test]
fn what_is_written_says_what_is_recorded_in_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let mut intake = intake(dir.path());
    let task = plans()[0].key(3);
    let [doubted, again] = [5, 6].map(|count| Finding::Result(result(3, count)));
    let withdrawal = Finding::Withdrawal(task);
    let items = [doubted.clone(), withdrawal.clone()];
    let written = intake.write(&[from("one", items)]).unwrap();
    assert_eq!((written.recorded.len(), written.withdrawn.len()), (0, 0));
    let written = intake.write(&[from("one", [doubted])]).unwrap();
    assert_eq!((written.recorded.len(), written.withdrawn.len()), (1, 0));
    let written = intake.write(&[from("one", [withdrawal, again])]).unwrap();
    assert_eq!((written.recorded.len(), written.withdrawn.len()), (1, 1));
}

#[test]
fn a_corrected_count_that_is_withdrawn_and_counted_anew_contradicts_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut intake = intake(dir.path());
    let recorded = Finding::Result(result(3, 5));
    intake
        .write(&[from("one", [recorded, correction()])])
        .unwrap();
    let task = plans()[0].key(3);
    let anew = [Finding::Withdrawal(task), Finding::Result(result(3, 7))];
    let written = intake.write(&[from("one", anew)]).unwrap();
    assert_eq!(written.withdrawn, [task]);
    drop(intake);
    let store = Store::open_to_read(dir.path()).unwrap();
    assert_eq!(store.corrections().unwrap(), []);
    let sums = store.sums().unwrap();
    assert_eq!(sums.tallies[&crate::engine::Engine::Chain].found(), 56);
}
