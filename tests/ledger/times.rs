//! The times that a run tells are the times that it took.

use std::path::Path;
use std::process::Output;
use std::time::Duration;

use queenfold_ledger::ledger::Store;
use serde_json::Value as Json;

use crate::common::program::{PROGRAM, isolated, of, text};
use crate::common::skip::skipped;

/// Runs a script in which `q` is the program on one core, in the folder of a test. Returns what it printed, and the CPU
/// seconds of the programs that it started; `None` if the system cannot keep a program on one core.
fn on_one_core(folder: &Path, script: &str) -> Option<(Vec<Json>, f64)> {
    const PRELUDE: &str = "command -v taskset > /dev/null || exit 99
core=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
q() { taskset -c $core \"$PROGRAM\" \"$@\" --quiet; }\n";
    let Output { status, stdout, .. } = isolated("sh")
        .args(["-c", &format!("{PRELUDE}{script}\ntimes")])
        .env("PROGRAM", PROGRAM)
        .current_dir(folder)
        .output()
        .unwrap();
    if status.code() == Some(99) {
        skipped("needs taskset");
        return None;
    }
    let out = String::from_utf8(stdout).unwrap();
    let (json, times) = out.trim_end().rsplit_once("\n0m").unwrap();
    let seconds = |time: &str| {
        let (minutes, seconds) = time.strip_suffix('s').unwrap().split_once('m').unwrap();
        60.0 * minutes.parse::<f64>().unwrap() + seconds.parse::<f64>().unwrap()
    };
    let children = format!("0m{times}");
    let lines = json.lines().filter(|line| line.starts_with('{'));
    Some((
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect(),
        children.split_whitespace().map(seconds).sum(),
    ))
}

/// A program takes some CPU time before it counts and after that.
fn assert_cpu(told: &Json, really: f64) {
    let told = told.as_f64().unwrap();
    assert!(
        told <= really + 0.02 && told >= 0.8 * really - 0.15,
        "{told} s told, {really} s used"
    );
}

#[test]
fn cpu_time_is_that_of_the_system_with_more_workers_than_cores_and_across_a_resume() {
    let folder = tempfile::tempdir().unwrap();
    let whole = "q run -n 17 --workers 4 --dir whole --json; q resume whole --json";
    let Some((told, _)) = on_one_core(folder.path(), whole) else {
        return;
    };
    // Asked again, it says the same; nothing is left to count.
    for figure in ["seconds", "cpu_seconds"] {
        assert_eq!(told[0][figure], told[1][figure]);
    }
    let parts = "q run -n 17 --workers 4 --dir parts --time-limit 60ms; q resume parts --json";
    let (told, used) = on_one_core(folder.path(), parts).unwrap();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_cpu(&told[0]["cpu_seconds"], used);
    assert!(told[0]["seconds"].as_f64().unwrap() > 0.06, "{told:?}");
}

#[test]
fn second_counts_have_a_time_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let [dir, merged] = ["run", "merged"].map(|name| folder.path().join(name));
    let json = |arguments: &[&str]| -> Json {
        let (code, out, err) = of(&[arguments, &["--json"]].concat());
        assert_eq!(code, 0, "{err}");
        serde_json::from_str(&out).unwrap()
    };
    let figures = |of: &Json| [of["seconds"].clone(), of["cpu_seconds"].clone()];
    let first = json(&["run", "-n", "14", "--dir", text(&dir)]);
    assert_eq!(figures(&json(&["resume", text(&dir)])), figures(&first));
    assert_eq!(first["counted"]["again_seconds"], 0.0);
    let report = json(&["report", text(&dir)]);
    assert_eq!(report["cpu_seconds"], first["cpu_seconds"]);
    let again = json(&["verify", "--again", text(&dir)]);
    assert_eq!(figures(&again), figures(&first));
    assert!(again["counted"]["again_seconds"].as_f64().unwrap() > 0.0);
    assert!(again["counted"]["again_cpu_seconds"].as_f64().unwrap() > 0.0);
    assert_eq!(figures(&json(&["resume", text(&dir)])), figures(&first));
    let second = json(&["report", text(&dir)]);
    for figure in ["wall_seconds", "cpu_seconds"] {
        assert_eq!(second[figure], report[figure]);
    }
    let together = json(&["gather", text(&dir), "--into", text(&merged)]);
    assert_eq!(together["seconds"], first["seconds"]);
    assert_eq!(
        together["counted"]["again_seconds"],
        again["counted"]["again_seconds"]
    );
}

#[test]
fn a_cpu_time_that_was_not_recorded_is_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let page = folder.path().join("page.html");
    let (code, _, err) = of(&["run", "-n", "8", "--dir", text(&dir)]);
    assert_eq!(code, 0, "{err}");
    let html = || {
        let (code, _, err) = of(&["report", text(&dir), "-o", text(&page)]);
        assert_eq!(code, 0, "{err}");
        std::fs::read_to_string(&page).unwrap()
    };
    assert!(html().contains("CPU time"));
    // As an earlier version of the program writes it.
    let store = Store::open_to_write(&dir).unwrap();
    store.begin().unwrap();
    for mut session in store.sessions().unwrap() {
        assert!(session.cpu.unwrap() > Duration::ZERO);
        session.cpu = None;
        store.put_session(&session).unwrap();
    }
    store.commit().unwrap();
    drop(store);
    let ledger = rusqlite::Connection::open(dir.join("ledger.db")).unwrap();
    let sql = "SELECT count(*) FROM session WHERE facts LIKE '%cpu%'";
    let with: i64 = ledger.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(with, 0);
    drop(ledger);
    let (code, out, err) = of(&["resume", text(&dir), "--json"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains(r#""cpu_seconds":null"#), "{out}");
    let (_, out, _) = of(&["report", text(&dir), "--json"]);
    assert!(out.contains(r#""cpu_seconds":null"#), "{out}");
    std::fs::remove_file(&page).unwrap();
    assert!(!html().contains("CPU time"));
}
