//! The commands that steer a run of another process.

use crate::common::program::{Running, of, status, tasks_done, text, wait_for_more};

/// Of which every task takes a tenth of a second.
const LONG: [&str; 9] = [
    "run",
    "-n",
    "19",
    "--engine",
    "chain",
    "--isa",
    "portable",
    "--workers",
    "1",
];

#[test]
fn a_run_is_paused_resumed_and_stopped_by_commands() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let name = text(&run);
    let process = Running::start(&[&LONG[..], &["--dir", name]].concat());
    wait_for_more(&run, 0);
    let expected = |says: &str| (0, format!("{name}: {says}\n"), String::new());
    for _ in 0..2 {
        // A second request changes nothing.
        assert_eq!(of(&["pause", name]), expected("paused (asked for)"));
        assert_eq!(status(&run).unwrap()["state"], "paused");
    }
    // What was counted until then is committed within a second, on a busy machine within a few.
    let settled = |_| {
        let before = tasks_done(&run);
        std::thread::sleep(std::time::Duration::from_secs(3));
        (tasks_done(&run) == before).then_some(before)
    };
    let paused = (0..4).find_map(settled).expect("it is paused");
    // Whoever says how to count wants to count here.
    for flags in [&["--workers", "1"][..], &["-q"]] {
        let (code, _, err) = of(&[&["resume", name], flags].concat());
        let goes_on =
            format!(") and paused: `queenfold resume {name}` without flags lets it go on");
        assert!(code == 1 && err.contains("in use"), "{err}");
        assert!(err.contains(&goes_on), "{err}");
        assert_eq!(err.lines().count(), 1, "{err}");
    }
    assert_eq!(of(&["resume", name]), expected("running"));
    wait_for_more(&run, paused);
    let (code, _, err) = of(&["resume", name]);
    assert!(code == 1 && err.contains("in use"), "{err}");
    let (code, out, err) = of(&["stop", name]);
    let stopped = format!("{name}: stopped; continue with `queenfold resume {name}`\n");
    assert_eq!(
        (code, out.as_str(), err.as_str()),
        (0, stopped.as_str(), "")
    );
    let (code, _, said) = process.end();
    assert_eq!(code, 4, "{said}");
    for line in [
        "pausing within two seconds, as `queenfold pause` asks",
        "going on, as `queenfold resume` asks",
        "stopping within two seconds, as `queenfold stop` asks",
        "stopped by `queenfold stop` after",
    ] {
        assert_eq!(said.matches(line).count(), 1, "{line}: {said}");
    }
    assert!(!run.join("request").exists());
}

#[test]
fn where_nobody_counts_there_is_nothing_to_pause_or_to_stop() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let name = text(&run);
    let (code, out, err) = of(&["pause", name]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("does not exist"), "{err}");
    assert_eq!(of(&["run", "-n", "10", "--dir", name]).0, 0);
    for (command, expected) in [("pause", 1), ("stop", 0)] {
        let (code, out, err) = of(&[command, name]);
        assert_eq!((code, out.as_str()), (expected, ""));
        let line = format!("nothing to {command}: no process works on {name}, which is finished\n");
        assert!(err.ends_with(&line), "{err}");
    }
    assert!(!run.join("request").exists());
    let (code, out, _) = of(&["resume", name]);
    assert!(code == 0 && out.contains("724"), "{out}");
}

#[test]
fn a_run_that_does_not_obey_is_not_waited_for_for_ever() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let name = text(&run);
    let process = Running::start(&[&LONG[..], &["--dir", name]].concat());
    wait_for_more(&run, 0);
    process.send("-STOP");
    for command in ["pause", "stop"] {
        let (code, out, err) = of(&[command, name, "--wait", "1"]);
        assert_eq!((code, out.as_str()), (1, ""));
        let holder = format!("process {} on ", process.id());
        let why = format!("was asked to {command}, and has not done so within 1.0 s");
        assert!(err.contains(&holder) && err.contains(&why), "{err}");
    }
    // The request was taken back: the run goes on.
    process.send("-CONT");
    wait_for_more(&run, tasks_done(&run));
    assert_eq!(of(&["stop", name]).0, 0);
    assert_eq!(process.end().0, 4);
}
