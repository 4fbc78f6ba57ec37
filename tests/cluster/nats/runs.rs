//! Whole runs over a server: the same counts and signature as on one machine, whatever comes and goes.

use std::path::Path;

use queenfold::ledger::Store;
use serde_json::Value as Json;

use super::process::{Process, recorded, signature, signature_of_one, wait_for_tasks};
use super::server::NatsServer;
use crate::program::{output, queenfold, stdout, text};

/// The board of the tests that take seconds: 6 s of a core by the chain's portable kernel, in 257 tasks.
pub const N: &str = "17";
pub const TOTAL: &str = "95815104";
pub const COUNT: [&str; 4] = ["-n", N, "--engine", "chain"];
pub const ONE_SLOW_CORE: [&str; 4] = ["--workers", "1", "--isa", "portable"];

/// Asserts that the coordinator has printed the total.
pub fn assert_done(serve: Process, total: &str) {
    let (code, out, said) = serve.end();
    assert_eq!(code, 0, "{said}");
    assert!(out.contains(total), "{out}{said}");
}

#[test]
fn a_coordinator_logs_what_its_filter_lets_through() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    // Nobody listens there.
    let nowhere = "nats://127.0.0.1:1";
    let args = ["serve", dir.to_str().unwrap(), "-n", "8", "--nats", nowhere];
    let output = queenfold(&args)
        .env("QUEENFOLD_TRACE_FILTER", "async_nats=debug")
        .output()
        .unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("connecting to server"), "{said}");
}

#[test]
fn a_run_over_workers_is_the_run_on_one_machine() {
    let Some(server) = NatsServer::start() else {
        return;
    };
    let dir = server.folder().join("run");
    let [events, notice] = ["events", "notice"].map(|name| server.folder().join(name));
    let tee = format!("tee {}", notice.display());
    let told = ["--events", events.to_str().unwrap(), "--on-event", &tee];
    let mut serve = Process::serve(&server.url(), &dir, &[&COUNT[..], &told].concat());
    let journals = server.folder().join("journals");
    let work = || Process::work(&server.url(), &journals, &ONE_SLOW_CORE);
    let (one, two) = (work(), work());
    // A worker that leaves early, in order.
    let early = work();
    wait_for_tasks(&dir, 10);
    early.send("-INT");
    let (code, _, said) = early.end();
    assert_eq!(code, 4, "{said}");
    assert!(said.contains("the rest goes to others"), "{said}");
    assert!(!serve.has_ended(), "too fast for this test");
    assert_done(serve, TOTAL);
    let events = std::fs::read_to_string(&events).unwrap();
    assert!(events.matches("host_joined").count() >= 3, "{events}");
    let early = "\"host_left\":{";
    assert!(
        events.contains(early) && events.contains("\"how\":\"left\""),
        "{events}"
    );
    let last = events.lines().last().unwrap();
    assert!(last.contains("\"state\":\"finished\""), "{last}");
    let notice = std::fs::read_to_string(&notice).unwrap();
    assert!(
        notice.contains("\"event\":\"finished\"") && notice.contains(TOTAL),
        "{notice}"
    );
    for worker in [one, two] {
        let (code, out, said) = worker.end();
        assert_eq!((code, out.as_str()), (0, ""), "{said}");
        assert!(said.contains("run test is done"), "{said}");
    }
    assert_eq!(
        signature(&dir),
        signature_of_one(server.folder(), N, "chain")
    );
    // Nothing is left of the journals.
    let left = std::fs::read_dir(journals.join("test")).unwrap();
    assert_eq!(left.count(), 0);
    let status: Json =
        serde_json::from_str(&stdout(&["status", dir.to_str().unwrap(), "--json"])).unwrap();
    let host = &status["hosts"][0];
    assert_eq!(status["state"], "finished");
    assert!(
        (2..=3).contains(&host["sessions"].as_u64().unwrap()),
        "{host}"
    );
    assert_eq!(host["tasks"], status["tasks_total"]);
    assert!(host["nodes_per_second"].as_f64().unwrap() > 0.0, "{host}");
}

#[test]
fn a_run_goes_from_one_machine_to_many_and_back() {
    let Some(server) = NatsServer::start() else {
        return;
    };
    let dir = server.folder().join("run");
    let name = dir.to_str().unwrap();
    let alone = [
        "run",
        "-n",
        N,
        "--engine",
        "chain",
        "--dir",
        name,
        "--time-limit",
        "1s",
    ];
    let began = output(&[&alone[..], &ONE_SLOW_CORE, &["--gpu", "off"]].concat());
    assert_eq!(began.status.code(), Some(4), "{}", text(&began.stderr));
    let one = recorded(&dir);
    assert!(one > 0);
    let serve = Process::serve(&server.url(), &dir, &[]);
    let worker = Process::work(&server.url(), server.folder(), &ONE_SLOW_CORE);
    wait_for_tasks(&dir, one + 20);
    // The coordinator stops, and the worker keeps what it counts.
    serve.send("-INT");
    let (code, out, said) = serve.end();
    assert_eq!((code, out.as_str()), (4, ""), "{said}");
    worker.send("-INT");
    worker.end();
    let done = output(&["resume", name, "--gpu", "off"]);
    assert!(text(&done.stdout).contains(TOTAL), "{}", text(&done.stderr));
    assert_eq!(
        signature(&dir),
        signature_of_one(server.folder(), N, "chain")
    );
    // A finished run gives its result again, without any worker.
    assert_done(Process::serve(&server.url(), &dir, &["--json"]), TOTAL);
}

#[test]
fn what_a_killed_worker_has_counted_is_delivered_by_the_next_one() {
    let Some(server) = NatsServer::start() else {
        return;
    };
    let dir = server.folder().join("run");
    let mut serve = Process::serve(&server.url(), &dir, &COUNT);
    let journals = server.folder().join("journals");
    let mut worker = Process::work(&server.url(), &journals, &ONE_SLOW_CORE);
    wait_for_tasks(&dir, 10);
    // Nobody gives receipts any more, and the worker counts what it holds.
    serve.kill();
    let before = recorded(&dir);
    let journal = only_file(&journals.join("test"));
    let length = || std::fs::metadata(&journal).unwrap().len();
    let (at_first, since) = (length(), std::time::Instant::now());
    while length() < at_first + 500 {
        assert!(since.elapsed().as_secs() < 60, "nothing more is counted");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    worker.kill();
    let serve = Process::serve(&server.url(), &dir, &[]);
    let next = Process::work(&server.url(), &journals, &ONE_SLOW_CORE);
    wait_for_tasks(&dir, before + 1);
    assert_done(serve, TOTAL);
    let (_, _, said) = next.end();
    assert!(
        said.contains("results that a worker before this one had left"),
        "{said}"
    );
}

#[test]
fn a_killed_worker_does_not_take_leave_by_the_next_one() {
    let Some(server) = NatsServer::start() else {
        return;
    };
    let dir = server.folder().join("run");
    // A task takes some seconds: most of the time there is a receipt for all that is counted, and its journal has
    // nothing to deliver.
    let long = ["-n", "21", "--engine", "chain", "--no-unique"];
    let _serve = Process::serve(&server.url(), &dir, &long);
    let journals = server.folder().join("journals");
    let mut worker = Process::work(&server.url(), &journals, &ONE_SLOW_CORE);
    wait_for_tasks(&dir, 1);
    std::thread::sleep(std::time::Duration::from_millis(300));
    worker.kill();
    let before = recorded(&dir);
    let _next = Process::work(&server.url(), &journals, &ONE_SLOW_CORE);
    wait_for_tasks(&dir, before + 1);
    let sessions = Store::open_to_read(&dir).unwrap().sessions().unwrap();
    let left = sessions.iter().filter(|session| session.facts.took_leave);
    assert_eq!((sessions.len(), left.count()), (2, 0));
}

fn only_file(folder: &Path) -> std::path::PathBuf {
    let mut files = std::fs::read_dir(folder).unwrap();
    files.next().unwrap().unwrap().path()
}
