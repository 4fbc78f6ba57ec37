//! Certificates of runs whose counts were corrected: both checkers pass them as they are, and this program
//! refuses them when something else is said of a correction.

use std::fs;

use super::certificates::{leaves, python, sealed};
use super::second::{again, run, wrong};
use crate::common::program::{of, text};

/// What a test does to the lines of a certificate.
type Change<'a> = &'a dyn Fn(&mut Vec<String>);

#[test]
fn corrections_are_certified_and_what_is_said_of_them_is_checked() {
    let dir = tempfile::tempdir().unwrap();
    let [run_dir, file, changed] = ["run", "a.cert", "b.cert"].map(|name| dir.path().join(name));
    run(&run_dir);
    let bad = wrong(3, &run_dir, 1);
    let (code, _, error) = again(&run_dir, &[]);
    assert_eq!(code, 0, "{error}");
    let (code, _, error) = of(&["certify", text(&run_dir), "-o", text(&file)]);
    assert_eq!(code, 0, "{error}");
    let (code, out, error) = of(&["check", text(&file), "--challenge", "seed", "--sample", "3"]);
    assert_eq!(code, 0, "{error}");
    assert!(out.contains("), 2 corrections"), "{out}");
    if let Some((code, _, error)) = python(&[text(&file)]) {
        assert_eq!(code, 0, "{error}");
    }

    let lines = leaves(&fs::read_to_string(&file).unwrap());
    let begins = |start: &str| {
        let found = lines.iter().position(|line| line.starts_with(start));
        found.unwrap_or_else(|| panic!("{start} in {lines:#?}"))
    };
    // The first says what was found, the second what was decided.
    let (open, decided) = (begins("{\"correction\":0"), begins("{\"correction\":1"));
    let task = begins(&format!(
        "{{\"task\":{},\"plan\":\"chain-1\"",
        bad.result.key.index
    ));
    let decision = lines[decided]
        .split("\"decision\":")
        .nth(1)
        .and_then(|rest| rest.split(',').next())
        .unwrap();
    let with = |at: usize, from: String, to: &str| {
        assert!(lines[at].contains(&from), "{from} in {}", lines[at]);
        let to = lines[at].replacen(&from, to, 1);
        move |lines: &mut Vec<String>| lines[at].clone_from(&to)
    };
    let decided_by = format!("\"decision\":{decision}");
    let other = |to| with(decided, decided_by.clone(), to);
    let fewer = with(0, "\"corrections\":2".to_owned(), "\"corrections\":1");
    let changes: [(&str, Change); 8] = [
        ("a correction left out", &|lines| drop(lines.remove(open))),
        ("the decision left out", &|l| drop(l.remove(decided))),
        ("a correction twice", &|l| l.insert(open, l[open].clone())),
        ("a correction of another task", &|lines| {
            let line = lines.remove(decided);
            lines.insert(task, line);
        }),
        ("another decision", &other("\"decision\":0")),
        ("no decision", &other("\"decision\":null")),
        ("a decision that is not there", &other("\"decision\":9")),
        ("fewer corrections", &fewer),
    ];
    for (what, change) in changes {
        let mut other = lines.clone();
        change(&mut other);
        fs::write(&changed, sealed(&other)).unwrap();
        let (code, out, error) = of(&["check", text(&changed)]);
        assert!(code == 1 || code == 3, "{what}: exit code {code}");
        assert!(
            out.is_empty() && error.lines().count() == 1,
            "{what}: {out}{error}"
        );
    }
}
