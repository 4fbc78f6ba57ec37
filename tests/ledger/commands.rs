//! The commands on run directories: what they print, and their exit codes.

use serde_json::Value as Json;

use super::sqlite;
use super::*;
use crate::common::program::{
    PROGRAM, Running, isolated, of, said, status, tells, text, wait_until, words,
};
#[cfg(target_os = "linux")]
use crate::common::ptx_machine::Machine;

#[test]
fn a_finished_shard_is_done_and_says_what_the_total_needs() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let start = ["run", "-n", "13", "--shard", "0/3", "--dir", text(&run)];
    for command in [&start[..], &["resume", text(&run)]] {
        let (code, out, err) = of(command);
        assert_eq!(
            (code, out.as_str(), err.lines().count()),
            (0, "", 2),
            "{err}"
        );
        let says = err.contains("shard 0/3 is complete") && err.contains("of parts 1-2 too");
        assert!(says && err.contains("queenfold gather"), "{err}");
        let counted = err.lines().last().unwrap();
        assert!(
            counted.contains(" once, on 1 host; `queenfold verify --again "),
            "{err}"
        );
    }
    let quiet = of(&["resume", text(&run), "--quiet"]);
    assert_eq!(quiet, (0, String::new(), String::new()));
    let (code, out, err) = of(&["verify", text(&run), "--sample", "1"]);
    assert!(
        code == 0 && out.contains("covered   shard 0/3 is complete"),
        "{out}{err}"
    );
}

#[test]
fn a_run_is_not_taken_out_of_itself() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    assert_eq!(of(&["run", "-n", "8", "--dir", text(&run)]).0, 0);
    let same = run.join("..").join("run");
    let (code, _, err) = of(&["gather", "--take-out", text(&same), "--into", text(&run)]);
    assert_eq!((code, err.lines().count()), (2, 1), "{err}");
    assert!(err.contains("cannot be taken out of itself"), "{err}");
    assert_eq!(of(&["resume", text(&run)]).0, 0);
}

#[test]
fn a_shard_that_is_stopped_exits_4() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let (code, out, err) = of(&words!(
        "run -n 20 --engine chain --shard 0/3 --time-limit 1ms --dir {}",
        text(&run)
    ));
    assert_eq!((code, out.as_str()), (4, ""), "{err}");
    assert!(
        err.contains("time limit") && !err.contains("complete"),
        "{err}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn too_few_open_files_are_named_as_the_cause() {
    let dir = tempfile::tempdir().unwrap();
    let mut causes = 0;
    for limit in 4..10 {
        let run = dir.path().join(limit.to_string());
        let command = format!(
            "ulimit -n {limit}; exec {} run -n 12 --dir {}",
            PROGRAM,
            text(&run)
        );
        let output = isolated("sh").args(["-c", &command]).output().unwrap();
        let (code, _, err) = said(&output);
        assert!(!err.contains("killed"), "{limit}: {err}");
        assert!(err.lines().count() <= 1, "{limit}: {err}");
        // There are no files left to listen for signals with.
        assert!(limit > 4 || err.contains("`ulimit -n` shows"), "{err}");
        causes += u32::from(code == 1 && err.contains("ulimit -n"));
    }
    assert!(causes > 0);
}

/// Otherwise a worker that was started could be the first that gets no memory, and the program would abort.
#[cfg(target_os = "linux")]
#[test]
fn workers_without_room_in_the_address_space_are_refused_before_any_is_started() {
    let command = format!(
        "ulimit -v 300000; exec {} run -n 12 --gpu off --workers 1000",
        PROGRAM
    );
    let output = isolated("sh").args(["-c", &command]).output().unwrap();
    let (code, out, err) = said(&output);
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    let says = "error: 1000 workers need 6036 MiB of address space, and the process may have 292 MiB (`ulimit -v`)";
    assert_eq!(err.trim_end(), says);
}

#[cfg(target_os = "linux")]
#[test]
fn with_an_audit_of_1_every_task_of_a_device_and_its_host_is_counted_twice() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let device = ["--gpu", "cuda", "--workers", "0", "--engine", "chain"];
    let command = [&["run", "-n", "12", "--dir", text(&run)], &device[..]].concat();
    let output = Machine::new("")
        .command(&command)
        .env("QUEENFOLD_RUN_AUDIT", "1")
        .output()
        .unwrap();
    let (code, _, err) = said(&output);
    assert_eq!(code, 0, "{err}");
    for record in records(&run).unwrap() {
        let second = record.result.audited_by.expect("counted twice");
        assert!(
            !record.result.origin.counted_by.is_kernel(&second),
            "{}",
            record.result.key
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_is_the_same_with_and_without_a_device() {
    let dir = tempfile::tempdir().unwrap();
    let machine = Machine::new("");
    let path = |name: &str| dir.path().join(name);
    let run = |name: &str, more: &[&str]| {
        let path = path(name);
        let arguments = ["run", "-n", "14", "--engine", "chain", "--dir", text(&path)];
        let mut command = machine.command(&[&arguments[..], more].concat());
        let (code, out, err) = said(&command.env("QUEENFOLD_RUN_AUDIT", "1").output().unwrap());
        assert!(code == 0 || more.contains(&"--shard"), "{name}: {err}");
        out
    };
    let device = ["--gpu", "cuda", "--workers", "0"];
    let workers = ["--gpu", "off", "--workers", "1"];
    run("device", &device);
    run("workers", &workers);
    run("mixed", &["--gpu", "cuda", "--workers", "1"]);
    run("half", &[&device[..], &["--shard", "0/2"]].concat());
    run("rest", &[&workers[..], &["--shard", "1/2"]].concat());
    let [half, rest, merged] = ["half", "rest", "merged"].map(path);
    let merge = ["gather", text(&half), text(&rest), "--into", text(&merged)];
    let (code, _, err) = of(&merge);
    assert_eq!(code, 0, "{err}");
    let expected = signature(&path("workers"));
    for name in ["device", "mixed", "merged"] {
        assert_eq!(signature(&path(name)), expected, "{name}");
        let path = path(name);
        let (code, _, err) = of(&["verify", text(&path), "--sample", "1"]);
        assert_eq!(code, 0, "{name}: {err}");
        let (code, out, err) = of(&["resume", text(&path), "--json"]);
        assert_eq!(code, 0, "{name}: {err}");
        let total = serde_json::from_str::<Json>(&out).unwrap()["total"].clone();
        assert_eq!(total, "365596", "{name}");
    }
    for record in records(&path("device")).unwrap() {
        assert!(record.result.audited_by.is_some(), "{}", record.result.key);
    }
}

#[test]
fn a_directory_that_holds_a_run_is_not_used_for_another() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let (code, out, _) = of(&["run", "-n", "10", "--dir", text(&run), "--json"]);
    assert_eq!(code, 0);
    let (code, nothing, err) = of(&["run", "-n", "11", "--dir", text(&run)]);
    assert_eq!((code, nothing.as_str()), (2, ""));
    tells(&err, &["holds a run", "queenfold resume"]);
    let (code, again, _) = of(&["resume", text(&run), "--json"]);
    assert_eq!(code, 0);
    let total = |text: &str| serde_json::from_str::<Json>(text).unwrap()["total"].clone();
    assert_eq!(total(&out), total(&again));
    assert_eq!(status(&run).unwrap()["sessions"], 1);
    // Who counted is told, not what this machine would count with now.
    let slow = dir.path().join("slow");
    let how = ["--engine", "chain", "--isa", "portable", "--workers", "3"];
    let (code, ..) = of(&[&["run", "-n", "10", "--dir", text(&slow)], &how[..]].concat());
    assert_eq!(code, 0);
    let (_, again, _) = of(&["resume", text(&slow), "--json", "--workers", "1"]);
    let again: Json = serde_json::from_str(&again).unwrap();
    assert_eq!(
        (&again["isa"], &again["workers"]),
        (&"portable".into(), &3.into())
    );
    for wrong in [
        vec!["run", "-n", "4..=5", "--dir", "somewhere"],
        vec!["run", "-n", "8", "--shard", "0/2"],
        vec!["run", "-n", "8", "--dir", "somewhere", "--shard", "2/2"],
        vec!["verify", text(&run), "--sample", "0"],
        vec!["verify", text(&run), "--sample", "1.5"],
        vec!["verify", text(&run), "--again", "--sample", "1"],
        vec!["verify", text(&run), "--against", "other", "--sample", "1"],
        vec!["verify", text(&run), "--against", "other", "--again"],
        vec!["verify", text(&run), "--workers", "1"],
        vec!["gather", text(&run)],
    ] {
        let (code, out, err) = of(&wrong);
        assert_eq!(
            (code, out.as_str(), err.lines().count()),
            (2, "", 1),
            "{wrong:?}: {err}"
        );
    }
    assert!(!Path::new("somewhere").exists());
}

#[test]
fn shards_are_merged_and_a_missing_one_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| text(&dir.path().join(name)).to_owned();
    let [zero, one, two, into] = ["0", "1", "2", "into"].map(path);
    for (shard, dir) in [("0/3", &zero), ("1/3", &one), ("2/3", &two)] {
        let (code, out, err) = of(&words!(
            "run -n 14 --engine chain --shard {} --dir {}",
            shard,
            dir
        ));
        assert_eq!((code, out.as_str()), (0, ""));
        assert!(err.contains(&format!("shard {shard} is complete")), "{err}");
    }
    let (code, out, err) = of(&["gather", &zero, &two, "--into", &into]);
    assert_eq!((code, out.as_str()), (4, ""));
    assert!(err.contains("2 of 3 parts; missing 1"), "{err}");
    let (code, _, err) = of(&["verify", &into, "--sample", "1"]);
    assert!(code == 4 && err.contains("5 tasks missing"), "{err}");
    let (code, out, err) = of(&["gather", &one, "--into", &into]);
    assert!(
        code == 0 && out.contains("365596") && out.contains("45752"),
        "{out}{err}"
    );
    let whole = path("whole");
    assert_eq!(
        of(&["run", "-n", "14", "--engine", "chain", "--dir", &whole]).0,
        0
    );
    assert_eq!(signature(Path::new(&into)), signature(Path::new(&whole)));
}

#[test]
fn verification_ends_with_3_and_the_task_where_a_digit_was_forged() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    assert_eq!(
        of(&["run", "-n", "14", "--engine", "chain", "--dir", text(&run)]).0,
        0
    );
    let (code, out, _) = of(&["verify", text(&run), "--sample", "0.5", "--seed", "7"]);
    assert!(
        code == 0 && out.contains("seed 7") && out.contains("chance"),
        "{out}"
    );
    verifying::forge(&run, 5, |record| record.result.tally.completions.add(8, 10));
    let (code, out, err) = of(&["verify", text(&run), "--sample", "1"]);
    assert_eq!(code, 3, "{out}");
    tells(&err, &["chain-1:4 of n = 14: "]);
    assert!(!out.contains("total"), "{out}");
    // Even without a second count, the known total reveals the forgery. The forged record is found, and
    // corrected.
    let (code, out, err) = of(&["resume", text(&run)]);
    assert!(code == 0 && out.contains("365596"), "{out}{err}");
    assert!(err.contains("tasks are counted again"), "{err}");
    // Who recorded it is to blame, not the worker of this process that has the same name.
    assert!(
        !err.contains("counts wrongly") && !err.contains("Test this hardware"),
        "{err}"
    );
    assert!(err.contains("count again what that worker did"), "{err}");
    assert_eq!(status(&run).unwrap()["faulty"], serde_json::json!([]));
    let (code, _, err) = of(&["verify", text(&run), "--sample", "1"]);
    assert_eq!(code, 0, "{err}");
}

#[test]
fn colour_tasks_are_verified_by_backtracking() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let (code, ..) = of(&["run", "-n", "13", "--engine", "colour", "--dir", text(&run)]);
    assert_eq!(code, 0);
    let (code, out, err) = of(&["verify", text(&run), "--sample", "1", "--by", "oracle"]);
    let kernels = format!("by scalar, recorded by {}", Isa::best());
    assert!(
        code == 0 && out.contains(&kernels) && out.contains("73712"),
        "{out}{err}"
    );
    // The last record of the chain; those of the census are first in the order of names.
    let last = records(&run).unwrap().len() - 1;
    verifying::forge(&run, last, |record| {
        let counts = record.result.tally.completions.by_weight().into_iter();
        let mut weights = counts.zip([1, 2, 4, 8]);
        let (_, weight) = weights.find(|(count, _)| *count > 0).unwrap();
        record.result.tally.completions.add(weight, 2)
    });
    let (code, _, err) = of(&["verify", text(&run), "--sample", "1", "--by", "oracle"]);
    assert!(code == 3 && err.contains("colour-1:7 of n = 13: "), "{err}");
}

#[test]
fn a_damaged_ledger_gives_one_clear_line_and_no_number() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    assert_eq!(of(&["run", "-n", "13", "--dir", text(&run)]).0, 0);
    sqlite(&run)
        .execute(
            "UPDATE record SET weight8 = '1' WHERE engine = 'chain' AND task = 1",
            [],
        )
        .unwrap();
    let commands: [&[&str]; 4] = [
        &["resume", text(&run)],
        &["verify", text(&run)],
        &["status", "--check", text(&run)],
        &["gather", text(&run), "--into", "merged"],
    ];
    for command in commands {
        let (code, out, err) = of(command);
        assert_eq!(code, 1, "{command:?}: {err}");
        tells(&err, &["damaged", "chain-1:1 of n = "]);
        assert!(
            !out.contains("signature") && !out.contains("73712"),
            "{out}"
        );
    }
    let merged = Path::new(env!("CARGO_TARGET_TMPDIR")).join("merged");
    assert!(!merged.exists());
}

#[test]
fn the_kernel_of_the_census_is_known_to_verify() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("n12");
    let (code, _, err) = of(&["run", "-n", "12", "--gpu", "off", "--dir", text(&run)]);
    assert_eq!(code, 0, "{err}");
    let (code, out, err) = of(&["verify", "--sample", "1", text(&run)]);
    assert_eq!(code, 0, "{err}");
    tells(&out, &["1 task by squares, recorded by scalar"]);
}

#[test]
fn the_status_of_a_finished_run_is_not_that_of_a_live_one() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("n12");
    let (code, _, err) = of(&["run", "-n", "12", "--gpu", "off", "--dir", text(&run)]);
    assert_eq!(code, 0, "{err}");
    let (_, out, _) = of(&["status", text(&run)]);
    for line in ["\nspeed       ", "\nprocess     on ", " tasks/s in "] {
        assert!(out.contains(line), "{out}");
    }
    assert!(
        !out.contains("in 0.0 s") && !out.contains("\nleft") && !out.contains(" 1 tasks"),
        "{out}"
    );
}

#[test]
fn watching_ends_when_the_run_is_stopped() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("n20");
    let mut running = Running::start(&words!(
        "run -n 20 --engine chain --gpu off --dir {}",
        text(&run)
    ));
    wait_until(|| status(&run).is_some());
    running.kill().unwrap();
    running.wait().unwrap();
    let (code, out, err) = of(&["status", "--watch", text(&run)]);
    assert_eq!(code, 0, "{err}");
    let resume = format!("continue with `queenfold resume {}`", text(&run));
    assert!(out.contains(&resume), "{out}");
    assert!(!out.contains(" 0.0 tasks/s"), "{out}");
}

#[test]
fn a_file_in_place_of_a_run_is_named_as_one() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("q.sh");
    std::fs::write(&file, "").unwrap();
    let empty = dir.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    std::fs::write(empty.join("ledger.db"), "").unwrap();
    for command in ["resume", "status"] {
        let (code, _, err) = of(&[command, text(&file)]);
        assert_eq!(code, 1, "{err}");
        assert!(err.contains("q.sh is a file, not a run directory"), "{err}");
        let (code, _, err) = of(&[command, text(&empty)]);
        assert_eq!(code, 1, "{err}");
        assert!(err.contains("the file is empty"), "{err}");
    }
}

#[test]
fn a_glance_believes_records_and_gives_out_no_count() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    assert_eq!(
        of(&["run", "-n", "14", "--engine", "chain", "--dir", text(&run)]).0,
        0
    );
    let solutions = |more: &[&str]| {
        let (code, out, err) = of(&[&["status", text(&run), "--json"], more].concat());
        assert_eq!(code, 0, "{err}");
        let status: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!(
            (&status["state"], &status["tasks_done"]),
            (&"finished".into(), &17.into())
        );
        status["plans"][0]["solutions"].clone()
    };
    assert_eq!(solutions(&["--check"]), "365596");
    assert_eq!(solutions(&[]), serde_json::Value::Null);
    let changed =
        sqlite(&run).execute("UPDATE record SET weight8 = weight8 + 1 WHERE task = 3", []);
    assert_eq!(changed.unwrap(), 1);
    assert_eq!(solutions(&[]), serde_json::Value::Null);
    for command in [&["verify"][..], &["status", "--check"]] {
        let (code, out, err) = of(&[command, &[text(&run)]].concat());
        assert!(
            code == 1 && err.contains("does not match its digest"),
            "{command:?}: {out}{err}"
        );
    }
}
