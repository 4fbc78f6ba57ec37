//! `queenfold bench`: what it says of the machine, its limits, and a signal.

use std::io::Read;
use std::thread::sleep;
use std::time::{Duration, Instant};

use queenfold::simd::Isa;
use serde_json::Value as Json;

use crate::child::{send, spawn};
use crate::program::{output, queenfold, refusal, text};
use crate::threads::wait_for_thread;

#[test]
fn a_benchmark_ends_in_time_and_says_what_it_could_not_count() {
    let begun = Instant::now();
    let args = ["bench", "--isa", "portable", "--for", "300ms"];
    // Where nothing was counted, that is an error.
    let said = |args: &[&str]| {
        let output = output(args);
        (output.status.code(), text(&output.stdout))
    };
    let (code, json) = said(&[&args[..], &["--json"]].concat());
    let found: Json = serde_json::from_str(&json).unwrap();
    let series = found["series"].as_array().unwrap();
    let is_empty = |of: &Json| of["runs"].as_array().unwrap().is_empty();
    let error = series
        .iter()
        .all(is_empty)
        .then_some("no board was counted in the time that --for gave");
    assert_eq!(found["error"].as_str(), error, "{found}");
    assert_eq!(code, Some(i32::from(error.is_some())));
    let (_, text) = said(&args);
    // Portable code takes more than 20 s of a core for the board of the score.
    assert!(begun.elapsed() < Duration::from_secs(20), "{text}");
    assert_eq!(found["score"], Json::Null, "{found}");
    assert_eq!(found["record"], Json::Null, "{found}");
    let first = &found["series"][0];
    assert_eq!(
        (&first["isa"], &first["n"]),
        (&"portable".into(), &19.into())
    );
    assert_eq!(first["workers"], found["workers"]);
    assert!(
        text.contains("score      none: n = 19 was not counted in time"),
        "{text}"
    );
    for part in [
        "processor  ",
        "\nlayout     ",
        "\ncaches     ",
        "\nload       ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn the_log_says_what_runs_begin() {
    let args = ["bench", "--isa", "portable", "--for", "300ms"];
    let output = queenfold(&args)
        .env("QUEENFOLD_TRACE_FILTER", "info")
        .output()
        .expect("it starts");
    let said = text(&output.stderr);
    assert!(said.contains("run begins"), "{said}");
}

#[test]
fn a_kernel_that_is_not_there_is_refused() {
    let missing = Isa::ALL.into_iter().find(|isa| !isa.is_available());
    let Some(isa) = missing else {
        return;
    };
    let line = refusal(&mut queenfold(&["bench", "--isa", isa.name()]), 6);
    assert!(
        line.contains(&format!("this machine has no {isa}")),
        "{line}"
    );
}

#[test]
fn a_benchmark_that_is_stopped_prints_what_it_has_measured() {
    let mut child = spawn(&["bench", "--json"]);
    wait_for_thread(&mut child, "signals", 0);
    sleep(Duration::from_millis(200));
    send("-INT", &child);
    let mut printed = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut printed)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(4), "{printed}");
    let found: Json = serde_json::from_str(&printed).unwrap();
    assert_eq!(found["error"], "stopped by a signal", "{found}");
    assert!(found["series"].as_array().unwrap().len() > 3, "{found}");
}
