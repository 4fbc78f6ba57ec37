//! `queenfold bench`: what it says of the machine, its limits, and a signal.

use std::thread::sleep;
use std::time::{Duration, Instant};

use queenfold::simd::Isa;
use serde_json::{Value as Json, json};

use super::threads::wait_for_thread;
use crate::common::program::{Running, output, printed, queenfold, refusal, tells};

/// What a benchmark prints, as JSON and as text.
fn bench(isa: Isa, time: &str) -> (Json, String) {
    let args = ["bench", "--isa", isa.name(), "--for", time];
    let json = output(&[&args[..], &["--json"]].concat());
    let found: Json = serde_json::from_str(&printed(&json.stdout)).unwrap();
    let failed = !found["error"].is_null();
    assert_eq!(json.status.code(), Some(i32::from(failed)), "{found}");
    (found, printed(&output(&args).stdout))
}

#[test]
fn a_benchmark_ends_in_time_and_says_what_it_could_not_count() {
    let begun = Instant::now();
    let (found, text) = bench(Isa::Portable, "1ms");
    assert!(begun.elapsed() < Duration::from_secs(20), "{text}");
    let error = "no board was counted in the time that --for gave";
    assert_eq!(found["error"], error, "{found}");
    assert_eq!(found["score"], Json::Null, "{found}");
    let first = &found["series"][0];
    assert_eq!(
        (&first["isa"], &first["n"]),
        (&"portable".into(), &19.into())
    );
    assert_eq!(first["workers"], found["workers"]);
    assert!(!text.contains("score"), "{text}");
    for part in [
        "processor  ",
        "\nlayout     ",
        "\ncaches     ",
        "nothing was measured",
        "\nload       ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn little_time_is_enough_for_a_projected_score_and_for_no_record() {
    // 0.4 to 0.7 CPU seconds for 17 or 18 queens, the first boards; a machine that has less for this ends with an error.
    let (found, text) = bench(Isa::best(), "1s");
    let is_counted = |engine: Option<&str>| {
        let mut series = found["series"].as_array().unwrap().iter();
        series.any(|of| of["runs"] != json!([]) && engine.is_none_or(|name| of["engine"] == name))
    };
    assert_eq!(found["error"].is_null(), is_counted(None), "{found}");
    // Another engine says nothing of the board of the score.
    assert_ne!(
        found["score"].is_null(),
        is_counted(Some("colour")),
        "{found}"
    );
    let by_wall_time = found["score_n"] == 19 && found["by_cpu_time"] == false;
    assert_eq!(found["record"].is_string(), by_wall_time, "{found}");
    let is_measured = text.contains("     1\n");
    assert_ne!(is_measured, text.contains("nothing was measured"), "{text}");
}

#[test]
fn the_log_says_what_runs_begin() {
    let args = ["bench", "--isa", "portable", "--for", "300ms"];
    let output = queenfold(&args)
        .env("QUEENFOLD_TRACE_FILTER", "info")
        .output()
        .expect("it starts");
    let said = printed(&output.stderr);
    assert!(said.contains("run begins"), "{said}");
}

#[test]
fn a_kernel_that_is_not_there_is_refused() {
    let missing = Isa::ALL.into_iter().find(|isa| !isa.is_available());
    let Some(isa) = missing else {
        return;
    };
    let line = refusal(&mut queenfold(&["bench", "--isa", isa.name()]), 6);
    tells(&line, &[&format!("this machine has no {isa}")]);
}

#[test]
fn a_benchmark_that_is_stopped_prints_what_it_has_measured() {
    let mut child = Running::start(&["bench", "--json"]);
    wait_for_thread(&mut child, "signals", 0);
    sleep(Duration::from_millis(200));
    child.send("-INT");
    let (code, printed, _) = child.end();
    assert_eq!(code, 4, "{printed}");
    let found: Json = serde_json::from_str(&printed).unwrap();
    assert_eq!(found["error"], "stopped by a signal", "{found}");
    assert!(found["series"].as_array().unwrap().len() > 3, "{found}");
}
