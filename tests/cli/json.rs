//! Every command that ends in facts has `--json`, whose counts are decimal strings.

use serde_json::Value;

use crate::common::help::groups_in;
use crate::common::program::{json, output, printed, stdout, words};

/// Commands without `--json`, and why.
const WITHOUT: [(&str, &str); 8] = [
    ("pause", "it does something, or says why it could not"),
    ("stop", "it does something, or says why it could not"),
    ("report", "it writes a page"),
    ("array", "it writes scripts"),
    ("explain", "a text for people"),
    ("config", "`config --json`"),
    ("help", "a text for people"),
    ("resume", "as of `run`"),
];

#[test]
fn every_command_with_facts_has_json() {
    let mut found = 0;
    let groups = groups_in(&stdout(&["--help"]));
    for name in groups.into_iter().flat_map(|(_, names)| names) {
        if WITHOUT.iter().any(|(without, _)| *without == name) {
            continue;
        }
        let help = stdout(&[&name, "--help"]);
        assert!(help.contains("--json"), "{name}");
        found += 1;
    }
    assert!(found >= 12, "only {found} commands found");
}

/// The counts of 9 queens.
fn assert_nine(result: &Value) {
    let counts = ["total", "unique", "r180", "r90"].map(|name| &result[name]);
    assert_eq!(counts, ["352", "46", "16", "0"], "{result}");
    assert_eq!(result["n"], 9);
    assert_eq!(result["classes"]["c8"], "42");
}

#[test]
fn what_is_checked_of_a_run_is_said_in_json() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (whole, part, merged, file) = (path("n9"), path("part"), path("merged"), path("n9.cert"));
    stdout(&["run", "-n", "9", "--dir", &whole, "-q"]);

    let verified = json(&["verify", &whole, "--sample", "0.5", "--seed", "7", "--json"]);
    assert_nine(&verified["result"]);
    assert_eq!(verified["seed"], "7");
    assert_eq!(
        (&verified["known"], &verified["by"]),
        (&true.into(), &"kernel".into())
    );
    assert_eq!(verified["tasks_done"], verified["tasks_total"]);
    assert!(verified["recounted"].as_u64() > Some(0), "{verified}");
    assert_eq!(verified["wrong"], serde_json::json!([]));

    let certified = json(&["certify", &whole, "-o", &file, "--json"]);
    assert_nine(&certified["result"]);
    let checked = json(&["check", &file, "--json"]);
    assert_nine(&checked["result"]);
    assert_eq!(checked["root"], certified["root"]);
    assert_eq!(checked["challenge"], Value::Null);
    let challenged = json(&[
        "check",
        &file,
        "--challenge",
        "x",
        "--sample",
        "3",
        "--json",
    ]);
    assert_eq!(challenged["challenge"]["draws"], 3);

    assert_nine(&json(&["gather", &whole, "--into", &merged, "--json"])["result"]);
    stdout(&["run", "-n", "13", "--dir", &part, "--shard", "0/2", "-q"]);
    let shard = json(&["verify", &part, "--sample", "1", "--json"]);
    assert_eq!(
        (&shard["result"], &shard["seed"]),
        (&Value::Null, &Value::Null)
    );
    let output = output(&["gather", &part, "--into", &path("other"), "--json"]);
    assert_eq!(output.status.code(), Some(4));
    let missing: Value = serde_json::from_str(&printed(&output.stdout)).expect("one object");
    assert!(missing["tasks_done"].as_u64() < missing["tasks_total"].as_u64());
    assert_eq!(missing["result"], Value::Null);
}

#[test]
fn an_array_that_is_not_whole_names_its_shards_in_json() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path().join("array").display().to_string();
    let args = words!("array -n 13 --shards 2 --for hyperqueue --dir {}", &dir);
    stdout(&args);
    let output = output(&["gather", &dir, "--json"]);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let gathered: Value = serde_json::from_str(&printed(&output.stdout)).expect("one object");
    assert_eq!(gathered["not_begun"], serde_json::json!([0, 1]));
    assert_eq!(
        (&gathered["result"], &gathered["tasks_done"]),
        (&Value::Null, &0.into())
    );
}

#[test]
fn a_self_test_is_a_line_for_the_machine_and_for_each_check() {
    let lines = stdout(&["selftest", "--json"]);
    let mut objects = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("an object"));
    let machine: Value = objects.next().expect("the machine");
    assert_eq!(machine["isas"][0], "portable");
    let checks: Vec<Value> = objects.collect();
    assert!(checks.len() >= 9, "{lines}");
    let words = ["ok", "skipped"].map(Value::from);
    assert!(
        checks.iter().all(|check| words.contains(&check["result"])),
        "{lines}"
    );
    assert!(
        checks.iter().any(|check| check["kernel"] == "oracle"),
        "{lines}"
    );
}

#[test]
fn known_counts_are_printed_in_every_form() {
    let last = json(&["known", "-n", "26", "--json"]);
    assert_eq!(last["total"], "22317699616364044");
    assert_eq!(stdout(&["known"]).lines().count(), 33);
    assert_eq!(json(&["known", "-n", "28", "--json"])["total"], Value::Null);
    let line = stdout(&["known", "-n", "28"]);
    assert!(
        line.ends_with("28:     -       -  1250901440  32896\n"),
        "{line}"
    );
}
