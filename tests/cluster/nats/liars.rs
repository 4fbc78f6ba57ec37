//! Workers that lie, repeat themselves, are late, or are of another version.

use std::time::Duration;

use queenfold::cluster::lease::{Down, PROTOCOL, Up};
use queenfold::engine::Engine;

use super::process::{Process, recorded};
use super::raw::RawWorker;
use super::runs::assert_done;
use super::server::NatsServer;

const COUNT: [&str; 6] = ["-n", "14", "--engine", "chain", "--lease", "2s"];
const TOTAL: &str = "365596";

fn serve(server: &NatsServer) -> Process {
    Process::serve(&server.url(), &server.folder().join("run"), &COUNT)
}

fn work(server: &NatsServer) -> Process {
    Process::work(&server.url(), server.folder(), &["--workers", "1"])
}

#[test]
fn a_second_count_that_differs_ends_the_run_and_names_both() {
    let Some(server) = NatsServer::start() else {
        return;
    };
    let serve = serve(&server);
    let mut honest = RawWorker::join(&server.url(), "honest", 14);
    let mut liar = RawWorker::join(&server.url(), "liar", 14);
    let lease = honest.lease();
    let mut results = honest.count_all(&lease);
    honest.report(&results, 1);
    honest.await_receipt();
    results[0].tally.completions.add(8, 1);
    liar.report(&results, 1);
    let (code, out, said) = serve.end();
    assert_eq!((code, out.as_str()), (3, ""), "{said}");
    for part in ["host-of-honest", "host-of-liar", "chain-1:", "run --again"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // Workers hear it too.
    honest.await_answer(|down| matches!(down, Down::Finish(_)).then_some(()));
}

#[test]
fn a_wrong_tally_that_nobody_counted_again_gives_no_total() {
    let Some(server) = NatsServer::start() else {
        return;
    };
    let serve = serve(&server);
    let mut liar = RawWorker::join(&server.url(), "liar", 14);
    let lease = liar.lease();
    let mut results = liar.count_all(&lease);
    results[0].tally.completions.add(8, 1);
    liar.report(&results, 1);
    liar.await_receipt();
    liar.say(&Up::Leave);
    let worker = work(&server);
    let (code, out, said) = serve.end();
    assert_eq!((code, out.as_str()), (3, ""), "{said}");
    worker.end();
    // The guard that finds it: what that host did is counted again.
    let dir = server.folder().join("run");
    let again =
        crate::program::output(&["verify", dir.to_str().unwrap(), "--origin", "host-of-liar"]);
    assert_eq!(again.status.code(), Some(3), "{again:?}");
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
    let mut other = RawWorker::connect(&server.url(), "program", 14);
    let mut hello = other.hello();
    hello.program = "queenfold 0.0.1".to_owned();
    other.say(&Up::Hello(hello));
    let why = other.await_answer(refused);
    assert!(
        why.contains("host-of-program: it runs queenfold 0.0.1"),
        "{why}"
    );
    let mut other = RawWorker::connect(&server.url(), "plan", 14);
    let mut hello = other.hello();
    hello.plans.as_mut().unwrap().names[0] = "chain-0".to_owned();
    other.say(&Up::Hello(hello));
    let why = other.await_answer(refused);
    assert!(why.contains("host-of-plan: it has plan chain-0"), "{why}");
    let mut other = RawWorker::connect(&server.url(), "protocol", 14);
    other.say_bytes(vec![(PROTOCOL + 1) as u8, 0]);
    let why = other.await_answer(refused);
    assert!(why.contains("worker protocol: it speaks version"), "{why}");
    // What no count gives.
    let mut other = RawWorker::join(&server.url(), "forger", 14);
    let mut result = other.count(Engine::Chain, 0);
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
