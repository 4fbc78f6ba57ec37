//! `queenfold ladder` and `queenfold explain`: tables, JSON, refusals, and the early end of a run.

use std::io::{BufRead, BufReader, Read};
use std::time::{Duration, Instant};

use queenfold_cli::ladder::{METHODS, STEPS};
use regex::Regex;
use serde_json::Value as Json;

use super::ladder;
use crate::common::program::{
    Running, output, printed, queenfold, refusal, refuses, stdout, tells, words,
};

#[test]
fn methods_are_put_side_by_side() {
    let methods = ["--method", "backtrack,bitmap", "--method", "mirror,bitmap"];
    let rest = ["-n", "6", "--style", "recursive", "--json"];
    let table = stdout(&[&["ladder"], &methods[..], &rest].concat());
    let names = table.lines().map(|line| {
        let row: Json = serde_json::from_str(line).unwrap();
        row["method"].as_str().unwrap().to_owned()
    });
    let names: Vec<_> = names.collect();
    assert_eq!(names, ["backtrack", "bitmap", "mirror"]);
    let boards = [&["ladder"], &methods[..], &["-n", "4", "--boards"]].concat();
    let line = refusal(&mut queenfold(&boards), 2);
    assert!(line.contains("--boards needs one --method NAME"), "{line}");
}

#[test]
fn the_table_has_a_row_for_each_method_style_and_board() {
    let out = output(&ladder("all", &["-n", "5..=6"]));
    let table = printed(&out.stdout);
    let styles: usize = METHODS.iter().map(|method| method.styles.len()).sum();
    // A style without its device has a line instead.
    let stderr = printed(&out.stderr);
    let missing = |line: &&str| line.contains("no GPU") || line.contains("needs the Cargo feature");
    // What holds for several styles is said once: "node-layer, gpu; bit-board, gpu: no GPU".
    let styles_of = |line: &str| {
        1 + line
            .split(": ")
            .next()
            .unwrap_or_default()
            .matches("; ")
            .count()
    };
    let missing: usize = stderr.lines().filter(missing).map(styles_of).sum();
    assert_eq!(table.lines().count(), 1 + 2 * (styles - missing), "{table}");
    let header = table.lines().next().unwrap();
    tells(header, &["CPU time", "Wall time", "Speed"]);
    // Up to the end of a speed.
    let column = |line: &str| line.find("x  ").map(|at| line[..at].chars().count());
    let widths: Vec<_> = table.lines().skip(1).map(column).collect();
    assert!(widths.iter().all(|width| *width == widths[0]), "{table}");
    let first = table.lines().nth(1).unwrap();
    assert!(
        first.starts_with(" 5: ") && first.contains(" 1.00x "),
        "{first}"
    );
    assert!(
        first.contains(" – ") && first.ends_with("tuples, recursive"),
        "{first}"
    );
}

#[test]
fn json_rows_have_decimal_strings_and_null_for_what_is_not_given() {
    let rows: Vec<Json> = stdout(&ladder("all", &["-n", "8", "--json"]))
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |method, style| {
        rows.iter()
            .find(|row| row["method"] == method && row["style"] == style)
            .unwrap()
    };
    let bitmap = of("bitmap", Json::from("iterative"));
    assert_eq!(bitmap["n"], 8);
    assert_eq!(bitmap["total"], "92");
    assert_eq!(bitmap["nodes"], "2056");
    assert_eq!(bitmap["unique"], Json::Null);
    assert_eq!(bitmap["classes"], Json::Null);
    assert!(bitmap["seconds"].is_f64());
    let parallel = of("symmetry-parallel", Json::Null);
    assert_eq!(parallel["unique"], "12");
    assert_eq!(parallel["classes"]["c4"], "1");
    assert_eq!(parallel["classes"]["c8"], "11");
    for row in &rows {
        let keys: Vec<_> = row
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        let expected =
            words!("queenfold_json n method style total unique classes nodes seconds cpu_seconds");
        assert_eq!(keys, expected);
    }
}

#[test]
fn what_cannot_be_is_refused_in_one_line() {
    refuses(
        2,
        r#"
        ladder --method bogosort => invalid value 'bogosort'
        ladder --method bitmap -n 33 => from 1 to 32
        ladder --method bitmap --style gpu => no such style
        ladder --method bit-board --style recursive => no such style
        ladder --method bitmap --plot - => --plot - goes with --from
        ladder --method symmetry-parallel --step => --step
        ladder --method all --boards => one --method
        ladder --method bitmap --json --boards => --boards
        ladder --method bitmap --time-limit 0 => number of seconds
        ladder --method bitmap --time-limit -1 => number of seconds
        ladder --method bitmap --time-limit soon => number of seconds
        ladder --method bit-board --boards => lists none
        ladder --method node-layer --boards --style gpu => node-layer, gpu: a device counts solutions and lists none
        ladder --from rows.json => --plot
        ladder --from /nowhere --plot x.svg => /nowhere
        "#,
    );
}

#[test]
fn one_style_is_a_row_and_no_style_is_all() {
    let rows = |style: &[&str]| {
        let args = [&["-n", "6", "--json"], style].concat();
        let out = output(&ladder("node-layer", &args));
        assert_eq!(out.status.code(), Some(0), "{out:?}");
        printed(&out.stdout).lines().count()
    };
    assert_eq!(rows(&["--style", "iterative"]), 1);
    assert!(rows(&[]) >= 2);
}

#[test]
fn an_explanation_names_its_step_and_begins_with_the_idea_of_the_list() {
    let list = stdout(&["explain"]);
    for method in METHODS {
        let (name, step) = (method.name, method.step);
        let out = stdout(&["explain", name]);
        // Pictures are shown without the fences of the documentation.
        let lines = method.text.lines().filter(|line| !line.starts_with("```"));
        let text = lines.collect::<Vec<_>>().join("\n");
        let expected = format!("Step {step}: {}\n\n{name}: {text}", STEPS[step - 1]);
        assert!(out.starts_with(&expected), "{out}");
        let idea = method.text.lines().next().unwrap();
        assert!(
            list.contains(&format!("    {name:<20}  {idea}\n")),
            "{name}"
        );
    }
    assert!(list.lines().all(|line| line.len() <= 80), "{list}");
    // The method and the engine of one name are explained together.
    let colour = stdout(&["explain", "colour"]);
    tells(&colour, &["\n\nengine colour: "]);
    assert_eq!(stdout(&["explain", "9"]), colour);
}

#[test]
fn a_method_over_its_time_limit_says_so_and_how_long_it_would_take() {
    let start = Instant::now();
    let args = words!("-n 6..=20 --style recursive --time-limit 0.1");
    let out = output(&ladder("bitmap", &args));
    assert!(start.elapsed() < Duration::from_secs(120));
    assert_eq!(out.status.code(), Some(0));
    let table = printed(&out.stdout);
    // Each board has a row: either a count, or why there is none.
    assert_eq!(table.lines().count(), 1 + 15, "{table}");
    let last = table.lines().last().unwrap();
    let over =
        Regex::new("^20: +– +– +more than 100 ms, about [0-9.]+ (hours|days)  bitmap, recursive$");
    assert!(over.unwrap().is_match(last), "{last}");
    assert!(table.contains("\n 6:     "), "{table}");
}

#[test]
fn what_would_take_days_is_not_begun_unless_the_limit_is_lifted() {
    let start = Instant::now();
    let limited = ["-n", "12", "--style", "recursive", "--time-limit", "100"];
    let table = stdout(&ladder("tuples", &limited));
    assert!(start.elapsed() < Duration::from_secs(99), "it was begun");
    assert!(table.contains("more than 1.7 minutes, about "), "{table}");
    assert!(table.contains("hours") || table.contains("days"), "{table}");
    let relative = words!("-n 11 --style recursive --method bitmap --time-limit 1");
    let table = stdout(&ladder("tuples", &relative));
    assert!(table.contains(" –  bitmap, recursive"), "{table}");
    let lifted = ["-n", "8", "--style", "recursive", "--time-limit", "none"];
    assert!(stdout(&ladder("tuples", &lifted)).contains(" 16777216 "));
}

#[test]
fn rows_for_programs_are_results_alone_and_what_takes_too_long_is_told_on_stderr() {
    let args = words!("-n 7..=14 --style recursive --time-limit 0.2 --json");
    let out = output(&ladder("tuples", &args));
    let (rows, stderr) = (printed(&out.stdout), printed(&out.stderr));
    assert!(!rows.contains("more than"), "{rows}");
    let told = stderr.matches("tuples, recursive: more than 200 ms");
    assert_eq!(told.count(), 1, "{stderr}");
}

#[test]
fn a_small_board_is_counted_again_until_its_time_is_known() {
    let json = stdout(&ladder(
        "symmetry",
        &["-n", "5", "--style", "recursive", "--json"],
    ));
    let row: Json = serde_json::from_str(&json).unwrap();
    // A first count takes several times as long as the best of thousands.
    let seconds = row["cpu_seconds"].as_f64().unwrap();
    assert!((1e-8..1e-4).contains(&seconds), "{json}");
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    for args in [
        ladder("bitmap", &["-n", "20", "--boards", "--style", "recursive"]),
        ladder("symmetry-parallel", &["-n", "20", "--boards"]),
        ladder("backtrack", &["-n", "9", "--step"]),
        ladder("all", &["-n", "4..=9"]),
    ] {
        let mut child = Running::start(&args);
        let mut reader = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        drop(reader);
        let (code, _, stderr) = child.end();
        assert_eq!(code, 0, "{args:?}: {stderr}");
        assert!(
            !stderr.contains("error") && !stderr.contains("panic"),
            "{stderr}"
        );
    }
}

#[test]
fn signals_end_it_between_rows() {
    for signal in ["-INT", "-TERM", "-USR1"] {
        ends_between_rows(signal);
    }
}

fn ends_between_rows(signal: &str) {
    let args = ladder(
        "bitmap",
        &words!("-n 8..=32 --style recursive --time-limit none"),
    );
    let mut child = Running::start(&args);
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut out = String::new();
    for _ in 0..4 {
        reader.read_line(&mut out).unwrap();
    }
    child.send(signal);
    let start = Instant::now();
    reader.read_to_string(&mut out).unwrap();
    let (code, _, stderr) = child.end();
    assert_eq!(code, 4, "{signal}");
    assert!(start.elapsed() < Duration::from_secs(120));
    assert!(out.ends_with("bitmap, recursive\n"), "{out}");
    assert!(
        stderr.starts_with("interrupted in bitmap, n = "),
        "{stderr}"
    );
}

#[test]
fn a_note_comes_once_after_the_table_and_only_where_it_says_something() {
    let notes = |n| {
        let args = ladder("carry-chain", &["-n", n]);
        let out = output(&args);
        printed(&out.stderr)
    };
    assert_eq!(notes("11"), "");
    let note = "carry-chain: unique is exact, by the census; the border classes alone would give \
                1788 for n = 12\n";
    assert_eq!(notes("12"), note);
}
