//! `verify --again`, `verify --against` and `verify --origin`: every task counted twice, and every difference decided.

use queenfold::engine::{Completions, Correction, WorkerId};
use queenfold_ledger::ledger::{Confirmation, RecordedTask};

use super::*;
use crate::common::program::{PROGRAM, Running, of, said, status, tells, text, wait_until, words};
#[cfg(target_os = "linux")]
use crate::common::ptx_machine::Machine;

/// The total of the board of most tests.
const TOTAL: &str = "365596";

fn board() -> String {
    N.to_string()
}

/// A finished run of the chain.
pub fn run(dir: &Path) {
    let (code, _, err) = of(&words!(
        "run -n {} --engine chain --dir {}",
        &board(),
        text(dir)
    ));
    assert_eq!(code, 0, "{err}");
}

pub fn again(dir: &Path, more: &[&str]) -> (i32, String, String) {
    of(&[&["verify", "--again", text(dir)], more].concat())
}

fn tasks(dir: &Path) -> Vec<RecordedTask> {
    let mut tasks = Vec::new();
    let store = Store::open_to_read(dir).unwrap();
    let read = store.for_each_task(|task| tasks.push(task));
    read.unwrap();
    tasks
}

fn confirmation(dir: &Path) -> Confirmation {
    let sums = Store::open_to_read(dir).unwrap().sums();
    sums.unwrap().who.confirmation
}

pub fn wrong(at: usize, dir: &Path, more: u128) -> Entry {
    verifying::forge(dir, at, |entry| {
        entry.result.tally.completions.add(8, more);
    })
}

fn renamed_host(dir: &Path, host: &str) {
    let store = Store::open_to_write(dir).unwrap();
    store.begin().unwrap();
    for mut session in store.sessions().unwrap() {
        session.facts.host = host.to_owned();
        store.put_session(&session).unwrap();
    }
    store.commit().unwrap();
}

#[test]
fn every_task_is_counted_twice_and_the_result_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let run_dir = dir.path().join("run");
    run(&run_dir);
    let before = (signature(&run_dir), records(&run_dir).unwrap());
    let (code, out, err) = again(&run_dir, &[]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains(TOTAL) && out.contains("45752"), "{out}");
    tells(&out, &["17 of 17 tasks twice (100.0 %), 0 once, on 1 host"]);
    assert_eq!((signature(&run_dir), records(&run_dir).unwrap()), before);
    let counted = confirmation(&run_dir);
    assert_eq!((counted.tasks, counted.twice, counted.hosts), (17, 17, 1));
    assert_eq!((counted.on_other_host, counted.corrections), (0, 0));
    for RecordedTask { record, second } in tasks(&run_dir) {
        let second = second.unwrap();
        assert_ne!(record.session, second.session);
    }
    // The status tells how fast the second count was, and who counted.
    let (_, said, _) = of(&["status", text(&run_dir)]);
    let speed = said.lines().find(|line| line.starts_with("process "));
    assert!(
        speed
            .unwrap()
            .ends_with(", when it counted tasks a second time"),
        "{said}"
    );
    // Either worker may have counted so small a board alone.
    let named = |worker: &str| said.contains(&format!("\nworker      {worker}: "));
    assert!(named("worker-0") || named("worker-1"), "{said}");
    let json = status(&run_dir).unwrap();
    assert_eq!(json["second_counts"], 17);
    // The second time, nothing is left to count.
    let sessions = status(&run_dir).unwrap()["sessions"].as_u64();
    let (code, out, _) = again(&run_dir, &["--json"]);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &json["total"]), (0, &TOTAL.into()));
    assert_eq!(json["counted"]["twice"], 17);
    let status = status(&run_dir).unwrap();
    assert_eq!(status["sessions"].as_u64(), sessions);
    assert_eq!(status["counted"]["twice"], 17);
    let (_, out, _) = of(&["status", text(&run_dir)]);
    assert!(out.contains("counted     17 of 17 tasks twice"), "{out}");
    // Also the result of a run that counts once says how often.
    let once = dir.path().join("once");
    let (_, _, err) = of(&["run", "-n", "8", "--dir", text(&once)]);
    tells(&err, &["once, on 1 host; `queenfold verify --again "]);
    let (_, out, _) = of(&["resume", text(&once), "--json"]);
    assert!(out.contains(r#""twice":0"#), "{out}");
    let (_, out, _) = of(&["run", "-n", "8", "--json"]);
    assert!(out.contains(r#""counted":null"#), "{out}");
}

#[test]
fn the_kernel_is_another_one_that_is_not_much_slower_or_the_one_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let slow = dir.path().join("slow");
    let n = board();
    let (code, ..) = of(&words!(
        "run -n {} --engine chain --isa portable --dir {}",
        &n,
        text(&slow)
    ));
    assert_eq!(code, 0);
    let kernels = |dir: &Path| {
        let tasks = tasks(dir)
            .into_iter()
            .filter(|task| task.record.result.key.engine == Engine::Chain);
        let seconds = tasks.map(|task| task.second.unwrap().result.origin.counted_by);
        let names: std::collections::BTreeSet<_> =
            seconds.map(|by| by.backend().to_owned()).collect();
        names.into_iter().collect::<Vec<_>>()
    };
    again(&slow, &[]);
    if Isa::best() != Isa::Portable {
        assert!(!kernels(&slow).contains(&"portable".to_owned()));
    }
    let fast = dir.path().join("fast");
    run(&fast);
    again(&fast, &["--isa", "portable"]);
    assert_eq!(kernels(&fast), ["portable"]);
}

#[test]
fn a_wrong_record_is_found_decided_replaced_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let run_dir = dir.path().join("it's a run");
    run(&run_dir);
    let good = signature(&run_dir);
    let bad = wrong(3, &run_dir, 1);
    let (code, out, err) = again(&run_dir, &[]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains(TOTAL), "{out}");
    assert_eq!(signature(&run_dir), good);
    let task = bad.result.key.to_string();
    for says in [
        &task,
        "the oracle decided",
        "the record is replaced",
        "/worker-",
    ] {
        assert!(err.contains(says), "{err}");
    }
    let log = Store::open_to_read(&run_dir)
        .unwrap()
        .corrections()
        .unwrap();
    assert_eq!(log.len(), 2);
    assert!(log[0].is_open() && !log[1].is_open());
    assert_eq!(log[1].correction.recorded, bad);
    // The command that it proposes works as it is spelled.
    let proposed = err.lines().find(|line| line.contains("verify")).unwrap();
    let command = proposed.split('`').nth(1).unwrap();
    let path = Path::new(PROGRAM).parent().unwrap();
    let output = std::process::Command::new("sh")
        .args([
            "-c",
            &format!("PATH='{}':\"$PATH\" {command}", path.display()),
        ])
        .output()
        .unwrap();
    let (code, out, err) = said(&output);
    assert_eq!(code, 0, "{command}: {out}{err}");
    assert!(out.contains("recounted "), "{out}");
    // The run remembers: its end says it again.
    let (code, _, err) = of(&["resume", text(&run_dir)]);
    assert_eq!(code, 0);
    assert!(err.contains(&task) && err.contains("verify"), "{err}");
    let (_, out, _) = of(&["status", text(&run_dir)]);
    assert!(out.contains("\ncorrections 2\n"), "{out}");
}

/// Leaves the counts of a task open: what is recorded, and another one.
fn open(dir: &Path, recorded: &Entry, other: u128) {
    let mut differs = recorded.clone();
    differs.result.tally.completions.add(8, other);
    differs.result.origin.worker = WorkerId::Cpu(9);
    let correction = Correction {
        recorded: recorded.clone(),
        others: vec![differs],
        decision: None,
    };
    let store = Store::open_to_write(dir).unwrap();
    store.begin().unwrap();
    store.correct(&correction, &recorded.session, 1).unwrap();
    store.commit().unwrap();
}

#[test]
fn a_wrong_second_count_is_refused_and_the_record_stays() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path());
    let record = records(dir.path()).unwrap().remove(3);
    open(dir.path(), &record, 1);
    // A killed run leaves it like this.
    assert_eq!(of(&["resume", text(dir.path())]).0, 3);
    let (code, out, err) = again(dir.path(), &[]);
    assert_eq!(code, 0, "{err}");
    assert!(
        out.contains(TOTAL) && err.contains("the record stays"),
        "{out}{err}"
    );
    tells(&err, &["--origin ", "/worker-9"]);
    assert_eq!(records(dir.path()).unwrap()[3], record);
    assert_eq!(confirmation(dir.path()).twice, 17);
}

#[test]
fn three_different_counts_give_no_total() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path());
    let bad = wrong(3, dir.path(), 1);
    open(dir.path(), &bad, 1);
    for arguments in [&["verify", "--again"][..], &["verify"]] {
        let (code, out, err) = of(&[arguments, &[text(dir.path())]].concat());
        assert_eq!(code, 3, "{arguments:?} {out}{err}");
        assert!(!out.contains(TOTAL), "{out}");
        if !arguments.contains(&"--again") {
            continue;
        }
        assert!(err.contains("the task is contested"), "{err}");
        // The first of them, and what was counted now.
        let log = Store::open_to_read(dir.path())
            .unwrap()
            .corrections()
            .unwrap();
        assert_eq!(log.last().unwrap().correction.others.len(), 2);
        assert_eq!(status(dir.path()).unwrap()["counted"]["contested"], 1);
    }
    // A fourth count agrees with the third.
    let (code, out, err) = again(dir.path(), &[]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains(TOTAL), "{out}");
    assert_eq!(confirmation(dir.path()).contested, 0);
}

#[test]
fn a_run_that_is_not_finished_is_counted_again_as_far_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let [part, whole] = ["part", "whole"].map(|name| dir.path().join(name));
    let n = board();
    let chain = ["--engine", "chain", "--dir"];
    let (code, ..) = of(&[
        &["run", "-n", &n, "--shard", "0/3"],
        &chain[..],
        &[text(&part)],
    ]
    .concat());
    assert_eq!(code, 0);
    let (code, out, err) = again(&part, &[]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(out.lines().count(), 1, "{out}");
    assert!(out.starts_with("counted 7 of 7 tasks twice"), "{out}");
    let (_, out, _) = again(&part, &["--json"]);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (&json["total"], &json["counted"]["twice"]),
        (&serde_json::Value::Null, &7.into())
    );
    // What is counted after that has no second count yet.
    let (code, _, err) = of(&["gather", text(&part), "--into", text(&whole)]);
    assert_eq!(code, 4);
    assert!(err.contains("7 second counts added"), "{err}");
    let (code, ..) = of(&["resume", text(&whole)]);
    assert_eq!((code, confirmation(&whole).twice), (0, 7));
    // A stranger who checks the certificate sees them.
    let file = dir.path().join("whole.cert");
    let (code, _, err) = of(&["certify", text(&whole), "-o", text(&file)]);
    assert_eq!(code, 0, "{err}");
    let (_, out, err) = of(&["check", text(&file)]);
    tells(&out, &["counted   7 twice ("]);
    assert_eq!(err, "");
    again(&whole, &[]);
    assert_eq!(confirmation(&whole).twice, 17);
}

#[test]
fn a_second_count_is_stopped_and_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let n = "17";
    let (code, ..) = of(&words!(
        "run -n {} --engine chain --dir {}",
        n,
        text(dir.path())
    ));
    assert_eq!(code, 0);
    let running = Running::start(&["verify", "--again", text(dir.path()), "--workers", "1"]);
    wait_until(|| confirmation(dir.path()).twice > 0);
    running.send("-INT");
    let (code, out, err) = running.end();
    let counted = confirmation(dir.path());
    if code == 4 {
        assert!(out.is_empty(), "{out}");
        tells(&err, &["continue with `queenfold verify --again "]);
        assert!(counted.twice < counted.tasks);
    }
    let (code, _, err) = again(dir.path(), &["--time-limit", "1ms"]);
    assert!(code == 4 || counted.twice == counted.tasks, "{err}");
    let (code, out, err) = again(dir.path(), &[]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("95815104"), "{out}");
    let after = confirmation(dir.path());
    assert_eq!(after.twice, after.tasks);
    assert!(after.twice >= counted.twice);
}

#[test]
fn what_cannot_be_counted_again_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let nothing = text(dir.path());
    let (code, _, err) = of(&["verify", "--again", nothing]);
    assert_eq!((code, err.lines().count()), (1, 1), "{err}");
    for more in [["-n", "8"], ["--engine", "colour"], ["--dir", "x"]] {
        let (code, _, err) = again(dir.path(), &more);
        assert_eq!(code, 2, "{err}");
    }
}

#[test]
fn two_runs_are_compared_task_by_task() {
    let dir = tempfile::tempdir().unwrap();
    let [a, b, c] = ["a", "b", "c"].map(|name| dir.path().join(name));
    run(&a);
    run(&b);
    let (code, out, _) = of(&["verify", text(&a), "--against", text(&b)]);
    assert_eq!(
        (code, out.as_str()),
        (0, "compared  17 tasks of both runs, 0 different\n")
    );
    renamed_host(&a, "node7");
    let bad = wrong(3, &b, 1);
    sqlite(&a)
        .execute("DELETE FROM record WHERE engine = 'census'", [])
        .unwrap();
    let (code, out, err) = of(&["verify", text(&a), "--against", text(&b)]);
    assert_eq!(code, 3, "{err}");
    for says in [&bad.result.key.to_string(), "(node7/worker-", "1 different"] {
        assert!(out.contains(says), "{out}");
    }
    let (code, out, _) = of(&["verify", text(&a), "--against", text(&b), "--json"]);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, 3);
    assert_eq!(json["common"], 16);
    assert_eq!(json["differing"][0]["task"], bad.result.key.index);
    assert_eq!(json["differing"][0]["counts"][0]["host"], "node7");
    let (code, ..) = of(&["run", "-n", "10", "--dir", text(&c)]);
    assert_eq!(code, 0);
    let (code, _, err) = of(&["verify", text(&a), "--against", text(&c)]);
    assert_eq!((code, err.lines().count()), (2, 1), "{err}");
}

#[test]
fn everything_that_an_origin_did_is_counted_again() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path());
    renamed_host(dir.path(), "node 7");
    for at in 0..17 {
        verifying::forge(dir.path(), at, |entry| {
            entry.result.origin.worker = WorkerId::Cpu(at % 3);
        });
    }
    let recounted = |arguments: &[&str]| {
        let (code, out, err) = of(&[&["verify", text(dir.path())], arguments].concat());
        assert_eq!(code, 0, "{arguments:?}: {err}");
        let line = out
            .lines()
            .find(|line| line.starts_with("recounted"))
            .unwrap();
        line.split_whitespace().nth(1).unwrap().to_owned()
    };
    for (arguments, tasks) in [
        (&["--origin", "worker-1"][..], "6"),
        (&["--origin", "node 7/worker-2"], "5"),
        (&["--origin", "node 7"], "17"),
        (&["--origin", "node 7", "--sample", "0.5"], "9"),
    ] {
        assert_eq!(recounted(arguments), tasks, "{arguments:?}");
    }
    let (code, _, err) = of(&["verify", text(dir.path()), "--origin", "worker-77"]);
    assert_eq!((code, err.lines().count()), (1, 1), "{err}");
    tells(&err, &["`worker-77` names no host, device or worker"]);
    // A difference names the worker, and says what to do.
    let bad = wrong(4, dir.path(), 1);
    let (code, _, err) = of(&["verify", text(dir.path()), "--sample", "1"]);
    assert_eq!(code, 3);
    for says in [
        &bad.result.key.to_string(),
        "by node 7/worker-1",
        "`queenfold verify --origin='node 7/worker-1' ",
        "`queenfold verify --again ",
    ] {
        assert!(err.contains(says), "{err}");
    }
}

#[test]
fn a_second_count_on_another_host_is_named_as_such() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path());
    renamed_host(dir.path(), "elsewhere");
    let (_, out, _) = again(dir.path(), &[]);
    tells(&out, &["on 2 hosts; the second time 17 on another host"]);
    assert_eq!(confirmation(dir.path()).on_other_host, 17);
}

#[test]
fn no_worker_counts_again_what_it_counted_first() {
    let dir = tempfile::tempdir().unwrap();
    let arguments = ["run", "-n", "16", "--engine", "chain", "--workers", "3"];
    let (code, ..) = of(&[&arguments[..], &["--dir", text(dir.path())]].concat());
    assert_eq!(code, 0);
    let (code, out, err) = again(dir.path(), &["--workers", "3"]);
    assert_eq!(code, 0, "{err}");
    let counted = confirmation(dir.path());
    assert_eq!(counted.on_same_worker, 0, "{out}");
    assert_eq!(counted.on_other_worker, counted.tasks);
    // One worker alone counts all the same.
    let alone = tempfile::tempdir().unwrap();
    run(alone.path());
    again(alone.path(), &["--workers", "1"]);
    assert_eq!(confirmation(alone.path()).twice, 17);
}

#[test]
fn texts_of_strangers_are_shown_escaped() {
    let evil = "\u{1b}]0;owned\u{7}\u{202e}";
    let dir = tempfile::tempdir().unwrap();
    let [a, b] = ["a", "b"].map(|name| dir.path().join(name));
    run(&a);
    run(&b);
    let record = records(&a).unwrap().remove(3);
    open(&a, &record, 1);
    wrong(5, &b, 1);
    renamed_host(&a, evil);
    renamed_host(&b, evil);
    for arguments in [
        &["verify", "--again", text(&a)][..],
        &["resume", text(&a)],
        &["verify", text(&a), "--against", text(&b)],
        &["verify", text(&a), "--against", text(&b), "--json"],
        &["verify", text(&b), "--sample", "1"],
        &["verify", text(&b), "--origin", evil],
    ] {
        let (_, out, err) = of(arguments);
        let bad = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!out.contains(bad) && !err.contains(bad), "{out:?} {err:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_device_counted_first_is_counted_elsewhere_if_that_is_possible() {
    let dir = tempfile::tempdir().unwrap();
    let [first, alone] = ["first", "alone"].map(|name| dir.path().join(name));
    let n = board();
    let machine = Machine::new("");
    let again = |dir: &Path, workers| {
        said(&machine.run(&words!(
            "verify --again {} --gpu cuda --workers {}",
            text(dir),
            workers
        )))
    };
    for dir in [&first, &alone] {
        let arguments = words!(
            "run -n {} --engine chain --workers 0 --gpu cuda --dir {}",
            &n,
            text(dir)
        );
        let (code, _, err) = said(&machine.run(&arguments));
        assert_eq!(code, 0, "{err}");
    }
    let (code, out, err) = again(&first, "1");
    assert_eq!(code, 0, "{err}");
    let counted = confirmation(&first);
    assert_eq!((counted.twice, counted.on_other_device), (17, 16), "{out}");
    let (code, out, err) = again(&alone, "0");
    assert_eq!(code, 0, "{err}");
    assert_eq!(confirmation(&alone).on_same_worker, 17, "{out}");
}

/// A finished run of the colour engine on device 0 alone, and the machine with two of them.
#[cfg(target_os = "linux")]
fn run_on_a_device(dir: &Path, n: &str) -> Machine {
    let machine = Machine {
        devices: 2,
        ..Machine::new("")
    };
    let run = "run -n {} --engine colour --no-unique --gpu 0 --workers 0 --dir {}";
    said_by(&machine, &words!(run, n, text(dir)));
    machine
}

#[cfg(target_os = "linux")]
fn said_by(machine: &Machine, line: &[&str]) -> String {
    let (code, out, err) = said(&machine.run(line));
    assert_eq!(code, 0, "{line:?}: {err}");
    out + &err
}

#[cfg(target_os = "linux")]
#[test]
fn the_one_wrong_count_of_a_device_is_found_by_another_device_and_another_kernel() {
    let dir = tempfile::tempdir().unwrap();
    let [run, file] = ["run", "cert"].map(|name| dir.path().join(name));
    let machine = run_on_a_device(&run, "13");
    verifying::forge(&run, 3, |entry| {
        let counts = &mut entry.result.tally.completions;
        let at = counts.by_weight().iter().position(|&count| count > 0);
        counts.add(Completions::WEIGHTS[at.unwrap()], 5);
    });
    let again = words!("verify --again {} --gpu cuda --workers 0", text(&run));
    let told = said_by(&machine, &again);
    let by = [
        "by cuda on Fake GPU (",
        "/gpu-0), and",
        "by cuda-transposed on Fake GPU (",
    ];
    tells(
        &told,
        &[
            " 73712 ",
            "with 2 GPUs",
            "task colour-1:3 of n = 13 was counted as",
        ],
    );
    tells(&told, &by);
    let counted = confirmation(&run);
    assert_eq!((counted.twice, counted.corrections), (8, 2));
    assert_eq!((counted.on_other_device, counted.by_other_kernel), (8, 8));
    said_by(&machine, &["certify", text(&run), "-o", text(&file)]);
    let checked = said_by(&machine, &["check", text(&file)]);
    tells(
        &checked,
        &[
            "counted   8 twice (0 on another host, 8 by another worker or device, 8 by another kernel)",
        ],
    );
}

#[cfg(target_os = "linux")]
#[test]
fn the_only_device_counts_again_by_another_kernel_beside_workers_too() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let machine = run_on_a_device(&run, "9");
    for workers in ["0", "1"] {
        let (run, before) = (
            own_counts::copy(&run, workers),
            machine.calls("launch").len(),
        );
        let again = "verify --again {} --gpu 0 --workers {}";
        said_by(&machine, &words!(again, text(&run), workers));
        let counted = confirmation(&run);
        let by_device = counted.on_same_worker;
        assert_eq!((counted.twice, counted.by_other_kernel), (1, 1));
        // The worker may have counted the one task before the device was open.
        assert!(by_device == 1 || workers == "1");
        assert!(machine.calls("launch").len() > before, "{workers} workers");
    }
}
