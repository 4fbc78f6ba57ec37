//! What the commands print with `--json` is what docs/output.schema.json says, to the last key.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::json_schema::Schema;
use crate::common::program::{output, printed, stdout};

const SCHEMA: &str = include_str!("../../docs/output.schema.json");

/// The outputs of a command that this test runs, each with the name of its definition.
struct Outputs(Vec<(&'static str, Value)>);

impl Outputs {
    /// The objects that the program prints. It ends with `code`.
    fn add_ended(&mut self, definition: &'static str, code: i32, args: &[&str]) {
        let output = output(args);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {output:?}");
        let lines = printed(&output.stdout);
        assert!(!lines.is_empty(), "{args:?}");
        self.0.extend(lines.lines().map(|line| {
            let object = serde_json::from_str(line).expect("an object");
            (definition, object)
        }));
    }

    fn add(&mut self, definition: &'static str, args: &[&str]) {
        self.add_ended(definition, 0, args);
    }
}

/// What is wrong with an object, if anything.
fn mismatch(definition: &str, object: &Value) -> Option<String> {
    let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    let wrong = Schema(&schema).check(&schema["$defs"][definition], object);
    wrong
        .err()
        .map(|why| format!("{definition}: {why}\n{object}"))
}

#[test]
fn every_object_has_the_keys_of_the_schema() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (whole, shard, array) = (path("whole"), path("shard"), path("array"));
    let (certificate, merged, parts) = (path("n13.cert"), path("merged"), path("parts"));
    let mut found = Outputs(Vec::new());

    found.add("run", &["run", "-n", "7..=8", "--json"]);
    found.add("run", &["run", "-n", "8", "--queens", "b4", "--json"]);
    found.add("run", &["run", "-n", "9", "--no-unique", "--json"]);
    found.add("run", &["run", "-n", "13", "--dir", &whole, "--json", "-q"]);
    let part = ["run", "-n", "13", "--dir", &shard, "--shard", "0/2"];
    found.add(
        "run_without_total",
        &[&part[..], &["--json", "-q"]].concat(),
    );
    found.add(
        "run_without_total",
        &["verify", "--again", &shard, "--json"],
    );
    found.add("run", &["verify", "--again", &whole, "--json"]);
    found.add("status", &["status", &whole, "--check", "--json"]);
    found.add("status", &["status", &shard, "--json"]);
    found.add("report", &["report", &whole, "--json"]);
    found.add("report", &["report", &shard, "--json"]);
    found.add("verify", &["verify", &whole, "--json"]);
    found.add("verify", &["verify", &shard, "--sample", "1", "--json"]);
    found.add(
        "certify",
        &["certify", &whole, "-o", &certificate, "--json"],
    );
    found.add("check", &["check", &certificate, "--json"]);
    let challenge = ["--challenge", "x", "--sample", "2", "--json"];
    found.add(
        "check",
        &[&["check", &certificate][..], &challenge].concat(),
    );
    let of_shard = path("shard.cert");
    found.add("certify", &["certify", &shard, "-o", &of_shard, "--json"]);
    found.add("check", &["check", &of_shard, "--json"]);
    found.add(
        "verify_against",
        &["verify", &whole, "--against", &shard, "--json"],
    );
    found.add(
        "gather_into",
        &["gather", &whole, "--into", &merged, "--json"],
    );
    found.add_ended(
        "gather_into",
        4,
        &["gather", &shard, "--into", &parts, "--json"],
    );
    found.add(
        "gather_take_out",
        &["gather", "--take-out", &shard, "--into", &parts, "--json"],
    );
    let flags = ["--shards", "2", "--for", "hyperqueue", "--dir", &array];
    stdout(&[&["array", "-n", "13"][..], &flags].concat());
    found.add("status_of_array", &["status", &array, "--json"]);
    found.add_ended("gather", 4, &["gather", &array, "--json"]);

    found.add("census", &["run", "--census", "-n", "8", "--json"]);
    found.add("known", &["known", "--json"]);
    found.add("solve", &["solve", "-n", "6", "--json"]);
    found.add("solve", &["solve", "-n", "9", "--seed", "1", "--json"]);
    found.add_ended("solve", 1, &["solve", "-n", "3", "--json"]);
    let small = ["-n", "6", "--json"];
    found.add(
        "ladder",
        &[&["ladder", "--method", "all"][..], &small].concat(),
    );
    found.add("estimate", &["estimate", "-n", "16", "--json"]);
    // No task of it is counted in so little time.
    let short = ["estimate", "-n", "28", "--for", "50ms", "--json"];
    found.add("estimate", &short);
    let machine = found.0.len();
    found.add("selftest", &["selftest", "--json"]);
    found.0[machine].0 = "machine";
    found.add("bench", &["bench", "--for", "1s", "--json"]);
    found.add("config", &["config", "--json"]);

    for (definition, object) in &found.0 {
        assert_eq!(mismatch(definition, object), None);
    }
    // What is defined is also seen, but for what takes a GPU, many hosts or minutes.
    let seen: BTreeSet<_> = found
        .0
        .iter()
        .map(|(name, _)| format!("#/$defs/{name}"))
        .collect();
    let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    let defined = schema["anyOf"].as_array().expect("a list");
    let unseen: Vec<_> = defined
        .iter()
        .filter_map(|place| place["$ref"].as_str()?.strip_prefix("#/$defs/"))
        .filter(|name| !seen.contains(&format!("#/$defs/{name}")))
        .collect();
    assert_eq!(unseen, ["bench_gpu"]);
}

#[test]
fn a_key_that_is_missing_or_unknown_is_noticed() {
    let known =
        json!({"queenfold_json": 1, "n": 1, "total": "1", "unique": "1", "r180": "1", "r90": "1"});
    assert_eq!(mismatch("known", &known), None);
    let altered = |key: &str, value: Option<Value>| {
        let mut object = known.clone();
        let keys = object.as_object_mut().expect("an object");
        match value {
            Some(value) => keys.insert(key.to_owned(), value),
            None => keys.remove(key),
        };
        mismatch("known", &object)
    };
    assert!(altered("more", Some(json!(1))).is_some());
    assert!(altered("r90", None).is_some());
    assert!(altered("total", Some(json!(1))).is_some());
    assert!(altered("total", Some(json!("01"))).is_some());
}
