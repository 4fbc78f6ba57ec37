//! Runs every example and checks its output. Cargo builds the examples with the tests. This binary
//! needs no feature.

use std::process::Command;

use crate::common::{example, examples};

/// What an example prints.
fn run(name: &str, arguments: &[&str]) -> String {
    let path = example(name);
    let output = Command::new(&path).args(arguments).output();
    let output = output.unwrap_or_else(|error| {
        panic!(
            "{}: {error}; `cargo build --examples` makes it",
            path.display()
        )
    });
    assert!(output.status.success(), "{name}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn count_prints_all_and_unique_solutions() {
    let printed = run("count", &["8"]);
    assert_eq!(
        printed,
        "92 solutions, by chain-1\n12 that differ by more than a rotation or reflection\n"
    );
}

#[test]
fn watch_prints_the_states_and_the_total() {
    let printed = run("watch", &["11"]);
    // Speeds come at any time, the last one while the run ends.
    let lines = printed.lines().filter(|line| !line.ends_with("nodes/s"));
    let expected = [
        "Planning",
        "Running",
        "Draining",
        "Finished",
        "2680 solutions",
    ];
    assert!(lines.eq(expected), "{printed}");
}

#[cfg(all(unix, not(target_env = "musl")))]
#[test]
fn resume_continues_what_was_stopped() {
    let directory = tempfile::tempdir().expect("a directory");
    let printed = run("resume", &[directory.path().to_str().expect("text")]);
    assert!(printed.ends_with("\n14772512 solutions\n"), "{printed}");
    assert!(
        printed.starts_with("stopped by the time limit "),
        "{printed}"
    );
}

#[test]
fn an_engine_of_ones_own_counts() {
    assert_eq!(run("own_engine", &["10"]), "724 solutions\n");
}

#[test]
fn examples_are_short() {
    let files = examples();
    assert_eq!(files.len(), 4);
    for file in files {
        let text = std::fs::read_to_string(&file).expect("text");
        assert!(text.lines().count() < 30, "{}", file.display());
    }
}
