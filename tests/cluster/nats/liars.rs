//! Workers that lie, repeat themselves, are late, or are of another version.

use std::time::Duration;

use queenfold::actors::Finding;
use queenfold::cluster::lease::{Down, PROTOCOL, Up};
use queenfold::engine::{Correction, Decision, Engine, Method, TaskResult, WorkerId};

use super::process::{Process, recorded};
use super::raw::{RawWorker, session_of};
use super::runs::assert_done;
use super::server::NatsServer;
use crate::program::text;

const COUNT: [&str; 6] = ["-n", "14", "--engine", "chain", "--lease", "2s"];
const TOTAL: &str = "365596";

fn serve(server: &NatsServer) -> Process {
    Process::serve(&server.url(), &server.folder().join("run"), &COUNT)
}

fn work(server: &NatsServer) -> Process {
    Process::work(&server.url(), server.folder(), &["--workers", "1"])
}

/// A count that is not right, and that nothing but another count shows to be wrong.
fn wrong(result: &TaskResult) -> TaskResult {
    let mut wrong = result.clone();
    wrong.tally.completions.add(8, 1);
    wrong
}

/// Two workers that were asked to count the same tasks, and the right results of these: the lease of the first one has
/// ended.
fn both_asked(server: &NatsServer) -> (RawWorker, RawWorker, Vec<TaskResult>) {
    let mut honest = RawWorker::join(&server.url(), "honest", 14);
    let lease = honest.lease();
    std::thread::sleep(Duration::from_secs(3));
    let mut liar = RawWorker::join(&server.url(), "liar", 14);
    assert_eq!(liar.lease().ranges, lease.ranges);
    honest.say_hello_until_welcome();
    let results = honest.count_all(&lease);
    (honest, liar, results)
}

#[test]
fn a_second_count_that_differs_ends_the_run_and_names_both() {
    let Some(server) = NatsServer::start() else {
        return;
    };
    let serve = serve(&server);
    let (mut honest, mut liar, results) = both_asked(&server);
    honest.report(&results, 1);
    honest.await_receipt();
    liar.report(&[wrong(&results[0])], 1);
    let (code, out, said) = serve.end();
    assert_eq!((code, out.as_str()), (3, ""), "{said}");
    for part in ["host-of-honest", "host-of-liar", "chain-1:", "run --again"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // Workers hear it too.
    honest.await_answer(|down| matches!(down, Down::Finish(_)).then_some(()));
}

#[test]
fn a_correction_of_what_another_worker_counted_ends_the_run_and_names_both() {
    let Some(server) = NatsServer::start() else {
        return;
    };
    let serve = serve(&server);
    let (mut honest, mut liar, results) = both_asked(&server);
    honest.report(&results, 1);
    honest.await_receipt();
    let mut decision = wrong(&results[0]);
    decision.origin.worker = WorkerId::Cpu(1);
    let forged = Finding::Correction(Box::new(Correction {
        recorded: results[0].clone(),
        others: vec![wrong(&results[0])],
        decision: Some(Decision {
            result: decision,
            method: Method::SameKernel,
        }),
    }));
    liar.report_items(vec![forged], 1);
    let (code, out, said) = serve.end();
    assert_eq!((code, out.as_str()), (3, ""), "{said}");
    for part in ["host-of-honest", "host-of-liar", "chain-1:", "run --again"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn results_that_nobody_asked_for_are_in_no_total_and_their_sender_is_named() {
    let Some(server) = NatsServer::start() else {
        return;
    };
    let serve = serve(&server);
    let mut liar = RawWorker::join(&server.url(), "liar", 14);
    for engine in [Engine::Chain, Engine::Census] {
        let tasks = 0..liar.tasks(engine);
        let forged: Vec<_> = tasks.map(|task| wrong(&liar.count(engine, task))).collect();
        liar.report(&forged, 1);
    }
    liar.await_receipt();
    assert_eq!(recorded(&server.folder().join("run")), 0);
    liar.say(&Up::Leave);
    let worker = work(&server);
    let (code, out, said) = serve.end();
    assert!(code == 0 && out.contains(TOTAL), "{out}{said}");
    let session = session_of("liar").session();
    let line = said.lines().find(|line| line.contains("was not asked for"));
    let line = line.unwrap_or_else(|| panic!("{said}"));
    assert!(
        line.contains("host-of-liar") && line.contains(&session),
        "{line}"
    );
    worker.end();
}

#[test]
fn nobody_speaks_in_the_name_of_another_session_and_noise_expels_nobody() {
    let Some(server) = NatsServer::start() else {
        return;
    };
    let serve = serve(&server);
    let mut victim = RawWorker::join(&server.url(), "victim", 14);
    let lease = victim.lease();
    let results = victim.count_all(&lease);
    // It has heard the name of the session, as everybody can who may hear what a worker is told.
    let liar = RawWorker::connect(&server.url(), "liar", 14);
    let (victims, own) = (session_of("victim"), session_of("liar"));
    let forged = results.iter().map(wrong).map(Finding::Result);
    let forged = liar.reported(forged.collect());
    for said in [forged, Up::Leave, Up::Hello(liar.hello())] {
        liar.say_as(&victims, own.seal(&said));
    }
    for noise in [vec![1, 2, 3], Vec::new(), vec![(PROTOCOL + 1) as u8; 200]] {
        for _ in 0..1000 {
            liar.say_as(&victims, noise.clone());
        }
    }
    victim.report(&results, 1);
    victim.await_receipt();
    assert_eq!(recorded(&server.folder().join("run")), results.len() as u64);
    victim.say(&Up::Leave);
    let worker = work(&server);
    let (code, out, said) = serve.end();
    assert!(code == 0 && out.contains(TOTAL), "{out}{said}");
    for part in ["somebody else sent", "1000 ignored: what is no message"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(said.lines().count() < 40, "{said}");
    worker.end();
}

#[test]
fn of_a_session_that_invents_its_counts_a_task_is_counted_again_before_the_total() {
    let Some(server) = NatsServer::start() else {
        return;
    };
    let serve = serve(&server);
    let mut liar = RawWorker::join(&server.url(), "liar", 14);
    let lease = liar.lease();
    let counted = liar.count_all(&lease);
    let results: Vec<_> = counted.iter().map(wrong).collect();
    liar.report(&results, 1);
    liar.await_receipt();
    liar.say(&Up::Leave);
    let worker = work(&server);
    let (code, out, said) = serve.end();
    assert_eq!((code, out.as_str()), (3, ""), "{said}");
    assert!(said.contains("host-of-liar/worker-0"), "{said}");
    assert!(said.contains(&session_of("liar").session()), "{said}");
    worker.end();
    // `resume` counts it again, and what else the sums show to be wrong.
    let dir = server.folder().join("run");
    let resume = ["resume", dir.to_str().unwrap(), "--gpu", "off"];
    let resumed = crate::program::output(&resume);
    assert!(text(&resumed.stdout).contains(TOTAL), "{resumed:?}");
    assert!(
        text(&resumed.stderr).contains("host-of-liar"),
        "{resumed:?}"
    );
}

#[test]
fn where_each_task_is_counted_twice_a_liar_is_outvoted_and_named() {
    let Some(server) = NatsServer::start() else {
        return;
    };
    let serve = Process::serve(
        &server.url(),
        &server.folder().join("run"),
        &[&COUNT[..], &["--twice"]].concat(),
    );
    let mut liar = RawWorker::join(&server.url(), "liar", 14);
    let lease = liar.lease();
    let counted = liar.count_all(&lease);
    let lies: Vec<_> = counted.iter().map(wrong).collect();
    liar.report(&lies, 1);
    liar.await_receipt();
    // By its name it is another host, but nobody has another user.
    let other = std::thread::spawn({
        let url = server.url();
        move || RawWorker::join(&url, "honest", 14).count_until_done()
    });
    let worker = work(&server);
    let (code, out, said) = serve.end();
    assert!(code == 0 && out.contains(TOTAL), "{out}{said}");
    let line = said
        .lines()
        .find(|line| line.contains("otherwise than two others"));
    let line = line.unwrap_or_else(|| panic!("{said}"));
    assert!(line.contains("host-of-liar"), "{line}");
    assert_eq!(worker.end().0, 0);
    other.join().unwrap();
    assert!(said.contains("twice (100.0 %)"), "{said}");
}

fn several(tasks: usize) -> String {
    match tasks {
        1 => "1 task,".to_owned(),
        _ => format!("{tasks} tasks,"),
    }
}

#[test]
fn results_that_come_three_times_are_recorded_once() {
    let Some(server) = NatsServer::start() else {
        return;
    };
    let serve = serve(&server);
    let mut parrot = RawWorker::join(&server.url(), "parrot", 14);
    let lease = parrot.lease();
    let results = parrot.count_all(&lease);
    parrot.report(&results, 3);
    parrot.await_receipt();
    assert_eq!(recorded(&server.folder().join("run")), results.len() as u64);
    // Once more, as a worker does that has lost its receipt.
    parrot.report(&results, 3);
    parrot.say(&Up::Leave);
    let worker = work(&server);
    let (code, out, said) = serve.end();
    assert!(code == 0 && out.contains(TOTAL), "{out}{said}");
    // Two hosts, by their names.
    let line = said.lines().find(|line| line.contains("host-of-parrot:"));
    let line = line.unwrap_or_else(|| panic!("{said}"));
    assert!(
        line.contains(&several(results.len())) && line.contains("last seen"),
        "{line}"
    );
    worker.end();
}

#[test]
fn an_answer_that_comes_after_its_lease_is_taken() {
    let Some(server) = NatsServer::start() else {
        return;
    };
    let serve = serve(&server);
    let mut late = RawWorker::join(&server.url(), "late", 14);
    let lease = late.lease();
    let results = late.count_all(&lease);
    // Longer than a lease: its tasks go to another, who counts them.
    std::thread::sleep(Duration::from_secs(3));
    let mut other = RawWorker::join(&server.url(), "other", 14);
    let again = other.lease();
    assert_eq!(again.ranges, lease.ranges);
    let counted = other.count_all(&again);
    other.report(&counted, 1);
    other.await_receipt();
    late.report(&results, 1);
    late.await_answer(|down| matches!(down, Down::Unknown).then_some(()));
    late = RawWorker::join(&server.url(), "late", 14);
    late.report(&results, 1);
    late.await_receipt();
    for worker in [&late, &other] {
        worker.say(&Up::Leave);
    }
    let worker = work(&server);
    assert_done(serve, TOTAL);
    worker.end();
}

#[test]
fn whoever_is_of_another_version_is_refused_by_name() {
    let Some(server) = NatsServer::start() else {
        return;
    };
    let serve = serve(&server);
    let refused = |down| match down {
        Down::Refused(why) => Some(why),
        _ => None,
    };
    let welcome = RawWorker::join(&server.url(), "welcome", 14);
    let mut other = RawWorker::connect(&server.url(), "plan", 14);
    let mut hello = other.hello();
    hello.plans.as_mut().unwrap().names[0] = "chain-0".to_owned();
    other.say(&Up::Hello(hello));
    let why = other.await_answer(refused);
    assert!(why.contains("host-of-plan: it has plan chain-0"), "{why}");
    let mut other = RawWorker::connect(&server.url(), "protocol", 14);
    other.say_as(&session_of("protocol"), vec![(PROTOCOL + 1) as u8, 0]);
    other.await_answer(|down| matches!(down, Down::Unknown).then_some(()));
    // What no count gives.
    let mut other = RawWorker::join(&server.url(), "forger", 14);
    let lease = other.lease();
    let mut result = other.count(lease.engine, lease.ranges[0].0);
    result.tally.completions.add(8, 1 << 100);
    other.report(&[result], 1);
    let why = other.await_answer(refused);
    assert!(
        why.contains("host-of-forger") && why.contains("no count gives"),
        "{why}"
    );
    welcome.say(&Up::Leave);
    let worker = work(&server);
    assert_done(serve, TOTAL);
    worker.end();
}
