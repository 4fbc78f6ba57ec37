//! Where settings come from, which `config show` prints, and which settings are refused.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value as Json;
use tempfile::TempDir;

use crate::program::{self, refusal};

/// The program in `folder`.
fn queenfold(folder: &Path, args: &[&str]) -> Command {
    let mut command = program::queenfold(args);
    command.current_dir(folder);
    command
}

/// A folder with the files `queenfold.toml` (`local`) and `other.toml` (`other`).
fn folder(local: &str, other: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("queenfold.toml"), local).expect("written");
    fs::write(folder.path().join("other.toml"), other).expect("written");
    folder
}

#[test]
fn the_first_source_that_names_a_value_wins() {
    let folder = folder(
        "[run]\nworkers = 2\nn = 5\nunique = false\nisa = \"portable\"\n",
        "[run]\nworkers = 3\nn = 6\nunique = true\n",
    );
    let shown = queenfold(folder.path(), &["config", "show", "--json"])
        .args(["--config", "other.toml", "--workers", "5"])
        .env("QUEENFOLD_RUN_WORKERS", "4")
        .env("QUEENFOLD_RUN_N", "7")
        .output()
        .expect("it starts");
    let shown: Json = serde_json::from_slice(&shown.stdout).expect("JSON");
    for (key, value, origin) in [
        ("run.workers", Json::from(5), "flag --workers"),
        ("run.n", 7.into(), "environment variable QUEENFOLD_RUN_N"),
        ("run.unique", true.into(), "file other.toml"),
        ("run.isa", "portable".into(), "file ./queenfold.toml"),
        ("run.engine", "auto".into(), "default"),
    ] {
        assert_eq!(shown[key]["value"], value, "{key}");
        assert_eq!(shown[key]["origin"], origin, "{key}");
    }
}

#[test]
fn what_config_shows_is_a_configuration_that_changes_nothing() {
    let folder = folder("[run]\nn = \"4..=6\"\nbatch_time = \"20ms\"\n", "");
    let show = |args: &[&str]| {
        let output = queenfold(folder.path(), args).output().expect("it starts");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let values = |text: &str| {
        text.lines()
            .map(|line| {
                line.split(" # ")
                    .next()
                    .unwrap_or_default()
                    .trim_end()
                    .to_owned()
            })
            .collect::<Vec<_>>()
    };
    let first = show(&["config", "show"]);
    fs::write(folder.path().join("other.toml"), &first).expect("written");
    let second = show(&["config", "show", "--config", "other.toml"]);
    assert_eq!(values(&first), values(&second));
    assert!(!second.contains("# default"), "{second}");
}

#[test]
fn a_run_takes_its_board_from_the_local_file() {
    let folder = folder("[run]\nn = 6\n[output]\njson = true\n", "");
    let output = queenfold(folder.path(), &["run"])
        .output()
        .expect("it starts");
    let record: Json = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&record["n"], &record["total"]), (&6.into(), &"4".into()));
}

#[test]
fn what_is_refused_is_named_with_file_key_and_what_would_do() {
    for (text, parts) in [
        ("[run]\nworker = 2\n", ["run.worker", "`run.workers`"]),
        (
            "[run]\nworkers = 5000\n",
            ["line 2: run.workers = 5000", "from 0 to 1024"],
        ),
        ("[run]\nn = \"9..=5\"\n", ["run.n", "from 1 to 32"]),
        (
            "[trace]\nfilter = \"a=b=c\"\n",
            ["trace.filter", "log filter"],
        ),
        (
            "[trace]\nfilter = \"[[\"\n",
            ["line 2: trace.filter", "log filter"],
        ),
        ("[run\n", ["queenfold.toml", "line 1"]),
    ] {
        let folder = folder(text, "");
        let line = refusal(&mut queenfold(folder.path(), &["run", "-n", "4"]), 2);
        for part in parts.iter().chain(&["./queenfold.toml"]) {
            assert!(line.contains(part), "{line}");
        }
    }
    let folder = folder("", "");
    let mut command = queenfold(folder.path(), &["run", "-n", "4"]);
    let line = refusal(command.env("QUEENFOLD_RUN_WORKERS", "many"), 2);
    assert!(
        line.contains("QUEENFOLD_RUN_WORKERS") && line.contains("1024"),
        "{line}"
    );
}

#[cfg(unix)]
#[test]
fn a_local_file_that_links_nowhere_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let link = folder.path().join("queenfold.toml");
    std::os::unix::fs::symlink("gone.toml", link).expect("linked");
    let line = refusal(&mut queenfold(folder.path(), &["run", "-n", "4"]), 2);
    assert!(line.contains("./queenfold.toml"), "{line}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_without_end_and_one_that_is_too_long_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for device in ["/dev/zero", "/dev/full"] {
        let args = ["run", "-n", "4", "--config", device];
        let line = refusal(&mut queenfold(folder.path(), &args), 2);
        assert!(
            line.contains(device) && line.contains("no regular file"),
            "{line}"
        );
    }
    let long = folder.path().join("long.toml");
    fs::write(&long, "#".repeat((1 << 20) + 1)).expect("written");
    let args = ["run", "-n", "4", "--config", "long.toml"];
    let line = refusal(&mut queenfold(folder.path(), &args), 2);
    assert!(
        line.contains("long.toml") && line.contains("1 MiB"),
        "{line}"
    );
}

#[test]
fn what_is_refused_is_told_on_one_printable_line() {
    for text in [
        "\"a\\nb\" = 1",
        "\"\\u001b[31mx\" = 1",
        "\u{1b} = 1",
        "run = \"\\n\"",
    ] {
        let folder = folder(text, "");
        let line = refusal(&mut queenfold(folder.path(), &["run", "-n", "4"]), 2);
        assert!(!line.trim_end().contains(char::is_control), "{line:?}");
    }
}

#[test]
fn settings_of_the_gpu_are_refused_beyond_their_ranges_with_file_key_value_and_range() {
    for (key, wrong, range) in [
        (
            "block",
            &["0", "31", "33", "288"][..],
            "a multiple of 32 from 32 to 256",
        ),
        ("streams", &["0", "5"], "from 1 to 4"),
        ("slots", &["0", "5"], "from 1 to 4"),
        ("batch_ms", &["49", "5001"], "from 50 to 5000"),
    ] {
        for value in wrong {
            let folder = folder(&format!("[gpu]\n{key} = {value}\n"), "");
            let line = refusal(&mut queenfold(folder.path(), &["run", "-n", "4"]), 2);
            let place = format!("queenfold.toml, line 2: gpu.{key} = {value} is refused");
            assert!(line.contains(&place) && line.contains(range), "{line}");
        }
    }
}

/// `auto` goes by what `bench --calibrate` kept, if it was measured on this processor.
#[test]
fn a_calibration_decides_between_the_engines_and_is_shown() {
    let home = tempfile::tempdir().expect("a folder");
    let kept = home.path().join("queenfold/calibration.toml");
    fs::create_dir(kept.parent().expect("a folder")).expect("made");
    let run = |args: &[&str]| {
        let mut command = program::queenfold(args);
        command.env("XDG_CONFIG_HOME", home.path());
        let output = command.output().expect("it starts");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        (
            String::from_utf8(output.stdout).expect("text"),
            String::from_utf8(output.stderr).expect("text"),
        )
    };
    let json = |args: &[&str]| serde_json::from_str::<Json>(&run(args).0).expect("JSON");
    let cpu = json(&["devices", "--json"])["cpu"]
        .as_str()
        .unwrap_or("unknown")
        .to_owned();
    let keep = |cpu: &str, chain: f64, colour: f64| {
        let text = format!(
            "cpu = {cpu:?}\n[[boards]]\nisa = \"portable\"\nn = 14\nchain_seconds = {chain:?}\n\
             colour_seconds = {colour:?}\n"
        );
        fs::write(&kept, text).expect("written");
    };
    let engine = || {
        let args = [
            "run", "-n", "14", "--isa", "portable", "--json", "--gpu", "off",
        ];
        json(&args)["engine"]
            .as_str()
            .expect("an engine")
            .to_owned()
    };
    let shown = || {
        let (text, _) = run(&["config", "show"]);
        let line = text.lines().find(|line| line.starts_with("engine = "));
        line.expect("a line").to_owned()
    };
    assert!(
        shown().contains("built-in times; `queenfold bench --calibrate`"),
        "{}",
        shown()
    );
    for (chain, colour, expected) in [(1.0, 0.1, "colour"), (0.1, 1.0, "chain")] {
        keep(&cpu, chain, colour);
        assert_eq!(engine(), expected);
        assert!(shown().contains(&format!("by the times in {}", kept.display())));
    }
    keep("Another CPU", 0.1, 1.0);
    assert_eq!(engine(), "colour");
    let (_, said) = run(&["run", "-n", "8"]);
    assert!(
        said.contains("measured on another processor, Another CPU"),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(shown().contains("is not used"), "{}", shown());
}
