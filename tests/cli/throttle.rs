//! How a run behaves as a guest: hours, heat, priority.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use super::threads::wait_for_thread;
use crate::common::program::{Running, output, printed, queenfold, refusal, tells, words};

/// The hour of the day by the local clock.
fn hour() -> u32 {
    let date = Command::new("date").arg("+%H").output().unwrap();
    printed(&date.stdout).trim().parse().unwrap()
}

/// What `status` says of the run in `dir` when it says so.
fn paused_status(dir: &str) -> Json {
    let since = Instant::now();
    loop {
        let status = output(&["status", dir, "--json"]);
        let json: Json = serde_json::from_slice(&status.stdout).unwrap_or_default();
        if json["state"] == "paused" {
            return json;
        }
        assert!(since.elapsed() < Duration::from_secs(60), "{json}");
        sleep(Duration::from_millis(100));
    }
}

#[test]
fn the_status_of_a_paused_run_says_so_and_a_second_process_says_only_that_it_is_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let dir = dir.to_str().unwrap();
    let from = (hour() + 2) % 24;
    let hours = format!("{from:02}:00-{:02}:00", (from + 1) % 24);
    let mut run = Running::start(&words!(
        "run -n 20 --during {} --time-limit 120 --dir {}",
        &hours,
        dir
    ));
    let json = paused_status(dir);
    assert_eq!(json["paused_for"], serde_json::json!(["hours"]));
    assert!(json["eta_seconds"].is_null(), "{json}");
    let said = printed(&output(&["status", dir]).stdout);
    assert!(said.contains(", paused (outside its hours)"), "{said}");
    assert!(!said.contains("\nleft "), "{said}");
    // A second process does not tell when it would have counted.
    let line = refusal(&mut queenfold(&["resume", dir, "--during", &hours]), 1);
    assert!(line.contains("in use by another process"), "{line}");
    run.kill().unwrap();
    run.wait().unwrap();
    // What the process has left says nothing of a run that nobody counts.
    let json: Json = serde_json::from_slice(&output(&["status", dir, "--json"]).stdout).unwrap();
    assert_eq!(json["state"], "stopped");
    assert_eq!(json["paused_for"], serde_json::json!([]));
}

#[test]
fn a_run_waits_for_its_hours_and_says_until_when_and_why() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, events) = (folder.path().join("run"), folder.path().join("events"));
    let from = (hour() + 2) % 24;
    // Midnight at the end of a day is told as 24:00.
    let hours = format!("{from:02}:00-{:02}:00", from + 1);
    let stopped = output(&words!(
        "run -n 12 --during {} --time-limit 2 --dir {} --events {}",
        &hours,
        dir.to_str().unwrap(),
        events.to_str().unwrap()
    ));
    let said = printed(&stopped.stderr);
    assert_eq!(stopped.status.code(), Some(4), "{said}");
    tells(
        &said,
        &[&format!("pausing until {from:02}:00: --during {hours}")],
    );
    let told = fs::read_to_string(&events).unwrap();
    let reasons = told.lines().find_map(|line| {
        let event: Json = serde_json::from_str(line).unwrap();
        event["kind"]["paused_for"]["reasons"].as_array().cloned()
    });
    assert_eq!(reasons.unwrap(), ["hours"]);
    // In its hours, it counts.
    let hours = format!("{:02}:00-{from:02}:00", hour());
    let counted = output(&["resume", dir.to_str().unwrap(), "--during", &hours]);
    assert!(
        printed(&counted.stdout).contains("14200"),
        "{}",
        printed(&counted.stderr)
    );
    // The report names the pause and its reason.
    let page = folder.path().join("report.html");
    output(&[
        "report",
        dir.to_str().unwrap(),
        "-o",
        page.to_str().unwrap(),
    ]);
    assert!(
        fs::read_to_string(&page)
            .unwrap()
            .contains("outside its hours")
    );
}

#[test]
fn a_guest_stays_one_until_it_is_told_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let dir = dir.to_str().unwrap();
    let limit = ["--workers", "1", "--time-limit", "100ms"];
    let stopped = |args: &[&str]| {
        let said = output(&[args, &limit].concat());
        assert_eq!(said.status.code(), Some(4), "{said:?}");
        printed(&said.stderr)
    };
    let guest = || {
        let said = printed(&output(&["status", dir]).stdout);
        let line = said.lines().find(|line| line.starts_with("guest "));
        line.map(|line| line[5..].trim().to_owned())
    };
    let begin = ["run", "-n", "20", "--isa", "portable", "--dir", dir];
    let manners = "--nice 19 --during 00:00-24:00 --progress-every 5m";
    let hook = ["--on-event", "cat >/dev/null; : SECRET"];
    let told: Vec<_> = manners.split(' ').collect();
    stopped(&[&begin[..], &told, &hook].concat());
    assert_eq!(guest().as_deref(), Some(manners));
    // Others get the ledger, and the page.
    output(&["report", dir, "-o", &format!("{dir}/report.html")]);
    for file in fs::read_dir(dir).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(6).any(|part| part == b"SECRET"));
    }
    let said = stopped(&["resume", dir]);
    assert!(said.contains(manners), "{said}");
    // A second count does not end it, either.
    let again = output(&[&["verify", "--again", dir][..], &limit].concat());
    assert!(printed(&again.stderr).contains(manners), "{again:?}");
    stopped(&["resume", dir, "--nice", "5", "--progress-every", "1h"]);
    assert_eq!(guest().as_deref(), Some("--nice 5 --during 00:00-24:00"));
    stopped(&["resume", dir, "--nice", "0", "--during", "none"]);
    assert_eq!(guest(), None);
    assert!(!stopped(&["resume", dir]).contains("session before"));
}

#[test]
fn hours_and_temperatures_that_are_none_are_refused() {
    let line = refusal(&mut queenfold(&["run", "-n", "8", "--during", "late"]), 2);
    assert!(line.contains("22:00-07:00"), "{line}");
    let line = refusal(&mut queenfold(&["run", "-n", "8", "--max-temp", "200"]), 2);
    assert!(line.contains("30 to 120"), "{line}");
}

#[test]
fn without_a_thermometer_there_is_no_limit_of_temperature() {
    let done = output(&["run", "-n", "8", "--max-temp", "120"]);
    let said = printed(&done.stderr);
    match done.status.code() {
        Some(6) => assert!(said.contains("shows no temperature"), "{said}"),
        code => assert_eq!(code, Some(0), "{said}"),
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_workers_of_a_nice_run_stand_back_and_what_listens_does_not() {
    let mut run = Running::start(&words!("run -n 20 --engine chain --workers 2 --nice 7"));
    wait_for_thread(&mut run, "worker-1", 5);
    let nice_of = |thread: &Path| -> Option<i32> {
        let stat = fs::read_to_string(thread.join("stat")).ok()?;
        // The 19th field; the second one, the name, is in parentheses.
        stat.rsplit(')')
            .next()?
            .split_whitespace()
            .nth(16)?
            .parse()
            .ok()
    };
    let own = nice_of(Path::new("/proc/self")).unwrap();
    let threads = fs::read_dir(format!("/proc/{}/task", run.id())).unwrap();
    let mut workers = 0;
    for thread in threads.flatten().map(|thread| thread.path()) {
        let (Some(nice), Ok(name)) = (nice_of(&thread), fs::read_to_string(thread.join("comm")))
        else {
            continue;
        };
        let is_worker = name.starts_with("worker-");
        workers += u32::from(is_worker);
        assert_eq!(
            nice,
            if is_worker { (own + 7).min(19) } else { own },
            "{name}"
        );
    }
    assert_eq!(workers, 2);
    run.kill().unwrap();
    run.wait().unwrap();
}
