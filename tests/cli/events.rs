//! Events of runs for other programs: `--events`.

use std::fs;

use queenfold::actors::{Progress, RunEvent, RunState};
use serde_json::Value as Json;

use crate::common::program::{output, printed, queenfold, refusal, stdout, tells, words};

/// The lines that are no events: headers of runs.
fn is_header(line: &Json) -> bool {
    line["queenfold_events"].is_number()
}

fn lines(text: &str) -> Vec<Json> {
    let parse = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    text.lines().map(parse).collect()
}

#[test]
fn the_events_of_runs_are_added_to_a_file_and_tell_all_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("events");
    let name = file.to_str().unwrap();
    stdout(&["run", "-n", "11..=12", "--events", name]);
    stdout(&["run", "-n", "13", "--events", name]);
    let text = fs::read_to_string(&file).unwrap();
    let lines = lines(&text);
    let headers: Vec<_> = lines.iter().filter(|line| is_header(line)).collect();
    assert_eq!(headers.len(), 3);
    for header in headers {
        assert_eq!(header["queenfold_events"], 4);
        assert_eq!(header["program"], env!("CARGO_PKG_VERSION"));
        assert!(header["began"].as_f64().unwrap() > 1.7e9);
    }
    assert!(is_header(&lines[0]));
    // An account of the events alone knows the totals: 2680, 14200, 73712.
    let mut account = Progress::default();
    let mut totals = Vec::new();
    for line in text
        .lines()
        .filter(|line| !line.contains("queenfold_events"))
    {
        account.note(&serde_json::from_str::<RunEvent>(line).unwrap());
        if account.state == RunState::Finished {
            totals.push(account.solutions);
        }
    }
    totals.dedup();
    assert_eq!(totals, [2680, 14_200, 73_712]);
}

#[test]
fn one_file_is_not_written_for_two_purposes() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(".", folder.path().join("here")).unwrap();
    let file = folder.path().join("x");
    for (one, other) in [
        (["--events", "x"], ["--metrics", "./x"]),
        (["--trace", "here/x"], ["--events", "x"]),
        (["--metrics", "here/x"], ["--trace", "x"]),
    ] {
        for before in [None, Some("precious")] {
            if let Some(before) = before {
                fs::write(&file, before).unwrap();
            }
            let args = [&["run", "-n", "8"][..], &one, &other].concat();
            let line = refusal(queenfold(&args).current_dir(folder.path()), 2);
            assert!(line.contains(one[0]) && line.contains(other[0]), "{line}");
            assert_eq!(fs::read_to_string(&file).ok().as_deref(), before);
        }
        fs::remove_file(&file).unwrap();
    }
    stdout(&words!("run -n 8 --events /dev/null --trace /dev/null"));
}

#[test]
fn a_metrics_file_that_cannot_be_written_is_refused_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    for (path, why) in [
        ("none/metrics", "No such file"),
        ("file/metrics", "Not a directory"),
    ] {
        let args = ["run", "-n", "8", "--events", "events", "--metrics", path];
        let line = refusal(queenfold(&args).current_dir(folder.path()), 1);
        tells(&line, &[&format!("metrics file {path}: {why}")]);
        assert!(!folder.path().join("events").exists());
    }
}

#[test]
fn events_on_standard_output_leave_every_line_json() {
    let text = stdout(&["run", "-n", "12", "--events", "-", "--json"]);
    let lines = lines(&text);
    assert!(is_header(&lines[0]));
    assert_eq!(
        lines.iter().filter(|line| line["total"] == "14200").count(),
        1
    );
    let line = refusal(&mut queenfold(&["run", "-n", "8", "--events", "-"]), 2);
    assert!(line.contains("--events - needs --json"), "{line}");
    let line = refusal(
        &mut queenfold(&["run", "-n", "8", "--events", "no/such/file"]),
        1,
    );
    assert!(line.contains("events file no/such/file: "), "{line}");
}

#[cfg(target_os = "linux")]
#[test]
fn events_that_cannot_be_written_are_told_of_once_and_the_run_goes_on() {
    let done = output(&["run", "-n", "14", "--events", "/dev/full"]);
    let (out, said) = (printed(&done.stdout), printed(&done.stderr));
    assert_eq!(done.status.code(), Some(0), "{said}");
    assert!(out.contains("365596"), "{out}");
    assert_eq!(said.matches("the run does without").count(), 1, "{said}");
}

#[test]
fn metrics_are_replaced_until_the_run_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.prom");
    let name = file.to_str().unwrap();
    fs::write(&file, "# HELP queenfold_run_info of another run").unwrap();
    stdout(&["run", "-n", "14", "--metrics", name, "--workers", "2"]);
    let text = fs::read_to_string(&file).unwrap();
    for line in [
        "queenfold_run_info{n=\"14\",",
        "queenfold_run_state{state=\"finished\"} 1\n",
        "queenfold_share_done_ratio 1\n",
        "queenfold_worker_busy_seconds_total{worker=\"worker-1\",",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// A script that adds its input to a file beside it.
fn script(folder: &std::path::Path, more: &str) -> (String, std::path::PathBuf) {
    use std::os::unix::fs::PermissionsExt;
    let (script, told) = (folder.join("tell"), folder.join("told"));
    fs::write(
        &script,
        format!("#!/bin/sh\ncat >> '{}'\n{more}\n", told.display()),
    )
    .unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    (script.to_str().unwrap().to_owned(), told)
}

#[test]
fn a_command_reads_that_a_run_is_done_or_was_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let (script, told) = script(folder.path(), "");
    stdout(&["run", "-n", "9..=10", "--on-event", &script]);
    let dir = folder.path().join("n 27");
    let stopped = output(&words!(
        "run -n 27 --time-limit 1 --on-event {} --dir {}",
        &script,
        dir.to_str().unwrap()
    ));
    assert_eq!(stopped.status.code(), Some(4));
    let told = lines(&fs::read_to_string(&told).unwrap());
    let events: Vec<_> = told
        .iter()
        .map(|line| line["event"].as_str().unwrap())
        .collect();
    assert_eq!(events, ["finished", "finished", "stopped"]);
    assert_eq!(told[1]["queenfold_notice"], 3);
    assert_eq!(told[1]["text"], "n = 10 has 724 solutions");
    assert_eq!(told[1]["result"]["unique"], "92");
    assert_eq!(told[1]["directory"], Json::Null);
    assert_eq!(told[2]["directory"], dir.to_str().unwrap());
    assert!(
        told[2]["text"].as_str().unwrap().contains("resume"),
        "{}",
        told[2]
    );
}

#[test]
fn a_command_that_fails_is_told_of_once_and_the_run_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let (script, _) = script(folder.path(), "echo no mail >&2; exit 3");
    let done = output(&[
        "run",
        "-n",
        "8..=9",
        "--on-event",
        &format!("'{script}' a b"),
    ]);
    let said = printed(&done.stderr);
    assert_eq!(done.status.code(), Some(0), "{said}");
    assert!(printed(&done.stdout).contains("352"));
    assert_eq!(said.matches("failed (exit status: 3)").count(), 1, "{said}");
    assert_eq!(said.matches("no mail").count(), 2, "{said}");
}

#[test]
fn a_shell_runs_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let tools = folder.path().join("my tools");
    fs::create_dir(&tools).unwrap();
    let (script, told) = script(&tools, "");
    let script = script.replace(' ', "\\ ");
    // What it leaves behind holds up nothing.
    let command = format!("{script}; sleep 100 >/dev/null 2>&1 & exit 0");
    stdout(&["run", "-n", "8", "--on-event", &command]);
    assert_eq!(lines(&fs::read_to_string(told).unwrap()).len(), 1);
}

#[test]
fn the_documentation_names_every_state_and_version() {
    let page = crate::common::text_of("docs/FORMATS.md");
    for state in RunState::ALL {
        assert_eq!(serde_json::to_value(state).unwrap(), state.name());
        assert!(page.contains(&format!("`{}`", state.name())), "{state:?}");
    }
    let header = format!(
        "\"queenfold_events\":{}",
        queenfold_cli::telemetry::EVENT_FORMAT
    );
    assert!(page.contains(&header));
}
