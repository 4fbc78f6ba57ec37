//! What the program says in a user's first hour: the commands in `first_hour.md`, each with its whole output.
//! After a change that is meant, `SNAPSHOTS=overwrite cargo test --release --test it cli::first_hour` writes
//! the outputs. Read the difference before you commit it.

use std::fmt::Write;
use std::path::Path;

use regex::Regex;
use snapbox::{Assert, Data, Redactions};

use crate::common::program::{printed, queenfold};

const TRANSCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cli/first_hour.md");

/// The transcript with what the commands print now: stdout, then stderr, then the exit code unless it is 0.
fn replay(transcript: &str, folder: &Path) -> String {
    let mut replayed = String::new();
    let mut inside = false;
    for line in transcript.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if let Some(command) = line.strip_prefix("$ queenfold").filter(|_| inside) {
            let arguments: Vec<_> = command.split_whitespace().collect();
            let mut program = queenfold(&arguments);
            program.current_dir(folder);
            // What a machine has is not what is tested, and an audit is drawn at random.
            for (setting, value) in [("WORKERS", "1"), ("GPU", "off"), ("AUDIT", "0")] {
                program.env(format!("QUEENFOLD_RUN_{setting}"), value);
            }
            // Neither the width of a terminal nor its colours.
            program.env_remove("COLUMNS").env_remove("CLICOLOR_FORCE");
            let output = program.output().unwrap();
            let [out, err] = [&output.stdout, &output.stderr].map(|said| printed(said));
            write!(replayed, "{line}\n{out}{err}").unwrap();
            match output.status.code() {
                Some(0) => {}
                code => writeln!(replayed, "[exit code {}]", code.unwrap()).unwrap(),
            }
            continue;
        } else if inside {
            // What it printed before.
            continue;
        }
        writeln!(replayed, "{line}").unwrap();
    }
    replayed
}

/// What differs from one machine or run to another.
fn redactions() -> Redactions {
    let mut redactions = Redactions::new();
    for (name, pattern) in [
        ("[TIME]", r"[0-9]{2}:[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}"),
        (
            "[TIME]",
            r"(?m)^ *[0-9]+: +[0-9]+ +[0-9-]+(?<redacted> +[0-9.]+ (?:µs|ms|s))(?:$|  )",
        ),
        (
            "[TIMES]",
            r"(?<redacted>(?: +[0-9.]+ (?:µs|ms|s)){2} +[0-9.]+x)  ",
        ),
        ("[WALL]", r"(?m)^seconds +(?<redacted>.*)$"),
        ("[NODES]", r#""nodes":"(?<redacted>[0-9]+)""#),
        ("[SECONDS]", r#""[a-z_]*seconds":(?<redacted>[0-9.e-]+)"#),
        ("[CLOCK]", r#""recorded_at":(?<redacted>[0-9]+)"#),
        ("[RATE]", r"(?m)^(?:speed|process) +(?<redacted>.*)$"),
        ("[SPEED]", r"(?m)^worker +worker-[0-9]+: (?<redacted>.*)$"),
        ("[AGE]", r"(?m)^checkpoint +(?<redacted>.*) ago$"),
        (
            "[KERNELS]",
            r"(?m)^ +(?:chain|colour|census): [0-9]+ tasks? (?<redacted>by .*, recorded by .*)$",
        ),
        ("[KERNEL]", r#""(?:isa|backend)":"(?<redacted>[a-z0-9]+)""#),
        (
            "[DIGEST]",
            r#""(?:blake3|signature|session)":"(?<redacted>[0-9a-f]+)""#,
        ),
        ("[DIGEST]", r"(?m)^root +(?<redacted>[0-9a-f]{64})$"),
        ("[SOME]", r"(?<redacted>[0-9]+) by another kernel"),
        (
            "[BUILD]",
            r"(?m)^(?:commit|features|kernels|plans) +(?<redacted>.*)$",
        ),
        (
            "[PROGRAM]",
            r"queenfold (?<redacted>[0-9]+\.[0-9]+\.[0-9]+)",
        ),
    ] {
        redactions
            .insert(name, Regex::new(pattern).unwrap())
            .unwrap();
    }
    redactions
}

/// On other processors, help names other instruction sets.
#[cfg(target_arch = "x86_64")]
#[test]
fn every_output_of_the_first_hour_is_as_it_was_read() {
    let folder = tempfile::tempdir().unwrap();
    let transcript = std::fs::read_to_string(TRANSCRIPT).unwrap();
    let replayed = replay(&transcript, folder.path());
    Assert::new()
        .action_env("SNAPSHOTS")
        .redact_with(redactions())
        .eq(replayed, Data::read_from(Path::new(TRANSCRIPT), None));
}

#[test]
fn the_first_hour_has_forty_commands() {
    let transcript = std::fs::read_to_string(TRANSCRIPT).unwrap();
    let commands = transcript
        .lines()
        .filter(|line| line.starts_with("$ queenfold"));
    assert!(commands.count() >= 40);
}
