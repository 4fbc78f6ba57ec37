//! Shards that are added to an array: smaller ones of what is missing, and second counts on other hosts.

use std::process::{Command, Output};

use serde_json::{Value as Json, json};

use super::array::Array;
use crate::common::program::{isolated, output, printed, stdout, tells};
use crate::common::skip::skipped;
use queenfold::simd::Isa;

/// The program on a machine of this name; `None` where the system has no other names.
fn on_host(host: &str, args: &[&str]) -> Option<Output> {
    let named = |script: &str| {
        let mut command = isolated("unshare");
        if !rustix::process::geteuid().is_root() {
            command.arg("--map-root-user");
        }
        command.args(["--uts", "sh", "-c", script, "sh", host]);
        command
    };
    let runs = |command: &mut Command| command.output().is_ok_and(|of| of.status.success());
    if !runs(&mut named("hostname \"$1\"")) {
        skipped("no host of another name: `unshare --uts` does not work here");
        return None;
    }
    let mut command = named("hostname \"$1\" && shift && exec \"$@\"");
    command.arg(env!("CARGO_BIN_EXE_queenfold")).args(args);
    Some(command.output().unwrap())
}

fn code(output: &Output) -> Option<i32> {
    output.status.code()
}

/// Array tasks of an array on a host of this name.
fn count(array: &Array, host: &str, tasks: std::ops::RangeInclusive<u64>) -> Option<()> {
    for task in tasks {
        let task = task.to_string();
        let counted = on_host(host, &["run", "--dir", array.name(), "--task", &task])?;
        assert_eq!(code(&counted), Some(0), "{counted:?}");
    }
    Some(())
}

fn json_of(args: &[&str]) -> (Option<i32>, Json) {
    let output = output(args);
    (
        code(&output),
        serde_json::from_slice(&output.stdout).unwrap(),
    )
}

#[test]
fn smaller_shards_take_the_place_of_what_is_missing() {
    let array = Array::make(14, 7, "slurm");
    for index in [0, 2] {
        array.count(index);
    }
    let said = stdout(&["array", "--rest", array.name(), "--shards", "9"]);
    // Of the shards 1 and 3, each part is a shard now; the shards 4 to 6 have one part.
    tells(&said, &["6 shards more, 7-12", "slurm.sh 7-12"]);
    let status = array.status();
    assert_eq!(status["not_begun"].to_string(), "[4,5,6,7,8,9,10,11,12]");
    assert_eq!(status["shards"], 11);
    // An array task that was submitted before takes one of those.
    array.count(3);
    assert_eq!(array.status()["finished"].to_string(), "[0,2,4]");
    (5..=12).for_each(|index| array.count(index));
    array.assert_total("365596");
    let said = stdout(&["array", "--rest", array.name()]);
    tells(&said, &["no shards added: what is missing "]);
    // A script for another scheduler can still be made.
    let other = output(&[
        "array",
        "-n",
        "14",
        "--shards",
        "8",
        "--for",
        "shell",
        "--dir",
        array.name(),
    ]);
    tells(&printed(&other.stderr), &["in 11 shards, not of n = 14 by"]);
}

#[test]
fn another_host_counts_again_by_another_kernel() {
    let array = Array::make(14, 5, "slurm");
    let counted = || {
        count(&array, "anna", 0..=2)?;
        count(&array, "bert", 3..=4)
    };
    if counted().is_none() {
        return;
    }
    let said = stdout(&["array", "--again", array.name(), "--shards", "4"]);
    tells(&said, &["shards more, 5-"]);
    let (ends, whole) = json_of(&["gather", array.name(), "--json"]);
    assert_eq!(
        (ends, &whole["result"]["total"]),
        (Some(4), &json!("365596"))
    );
    let second: Vec<u64> = serde_json::from_value(whole["not_begun"].clone()).unwrap();
    let (first, last) = (second[0], second[second.len() - 1]);
    let says = format!("(second counts: {first}-{last})");
    tells(&stdout(&["status", array.name()]), &[&says]);
    // Whoever counted all that is left the first time gives the shards back.
    let task = first.to_string();
    let by_bert = || on_host("bert", &["run", "--dir", array.name(), "--task", &task]).unwrap();
    let mut ended = by_bert();
    while code(&ended) == Some(0) {
        ended = by_bert();
    }
    assert_eq!(code(&ended), Some(6), "{ended:?}");
    tells(
        &printed(&ended.stderr),
        &["bert counted it first, so another host counts it again"],
    );
    count(&array, "anna", first..=last).unwrap();
    let (ends, whole) = json_of(&["gather", array.name(), "--json"]);
    assert_eq!(ends, Some(0), "{whole}");
    let counted = &whole["counted"];
    let tasks = &counted["tasks"];
    assert_eq!(
        (&counted["on_other_host"], &counted["twice"]),
        (tasks, tasks),
        "{counted}"
    );
    // What a host counted the second time is its work, too.
    let said = printed(&output(&["gather", array.name()]).stderr);
    tells(&said, &["anna: 17 tasks, ", "bert: 17 tasks, "]);
    // All but the census, which has one kernel.
    let by_other = counted["by_other_kernel"].as_u64().unwrap();
    assert_eq!(by_other + 1, tasks.as_u64().unwrap(), "{counted}");
    let said = stdout(&["array", "--again", array.name()]);
    tells(
        &said,
        &["no shards added: no part is counted by one host alone"],
    );
    let whole = array.path().join("whole");
    let file = array.path().join("n14.cert");
    let [whole, file] = [&whole, &file].map(|path| path.to_str().unwrap());
    stdout(&["certify", whole, "-o", file]);
    let said = stdout(&["check", file]);
    tells(&said, &[&format!("{tasks} twice ({tasks} on another host")]);
}

/// `resume` on the directory of a second count goes on by the same kernel.
#[test]
fn a_second_count_is_resumed_as_one() {
    let array = Array::make(12, 1, "slurm");
    if count(&array, "anna", 0..=0).is_none() {
        return;
    }
    stdout(&["array", "--again", array.name()]);
    let shard = array.shard(1);
    let shard = shard.to_str().unwrap();
    let run = [
        "run",
        "--dir",
        array.name(),
        "--task",
        "1",
        "--time-limit",
        "1ms",
    ];
    let stopped = output(&run);
    if code(&stopped) == Some(4) {
        stdout(&["resume", shard]);
    }
    let file = array.path().join("second.cert");
    let file = file.to_str().unwrap();
    stdout(&["certify", shard, "-o", file]);
    let text = std::fs::read_to_string(file).unwrap();
    let kernels = text.lines().filter_map(|line| {
        let line: Json = serde_json::from_str(line).unwrap();
        Some(line["backend"].as_str()?.to_owned())
    });
    let kernels: Vec<_> = kernels.collect();
    // The first count of this machine is by its widest kernel.
    let first = Isa::best().name();
    assert!(
        kernels.len() > 1 && !kernels.contains(&first.to_owned()),
        "{kernels:?}"
    );
}

#[test]
fn what_was_counted_after_second_counts_were_asked_for_is_named() {
    let array = Array::make(14, 4, "slurm");
    if count(&array, "anna", 0..=0).is_none() {
        return;
    }
    stdout(&["array", "--again", array.name(), "--shards", "2"]);
    count(&array, "anna", 1..=3).unwrap();
    count(&array, "bert", 4..=5).unwrap();
    let gathered = array.gather();
    assert_eq!(code(&gathered), Some(4), "{gathered:?}");
    tells(
        &printed(&gathered.stderr),
        &["--again", "adds shards for what one host alone has counted"],
    );
}

/// Two hosts have counted one part, so each of them counts the tasks of the other again.
#[test]
fn a_part_that_two_hosts_counted_is_counted_on_two_hosts() {
    let array = Array::make(16, 2, "slurm");
    let run = [
        "run",
        "--dir",
        array.name(),
        "--task",
        "0",
        "--isa",
        "portable",
    ];
    let Some(begun) = on_host("anna", &[&run[..], &["--time-limit", "100ms"]].concat()) else {
        return;
    };
    assert_eq!(code(&begun), Some(4), "{begun:?}");
    let done = array.status()["tasks_done"].as_u64().unwrap();
    count(&array, "bert", 0..=1).unwrap();
    let mut rounds = 0;
    let whole = loop {
        let (ends, whole) = json_of(&["gather", array.name(), "--json"]);
        let is_twice = whole["counted"]["on_other_host"] == whole["counted"]["tasks"];
        // Before the first round, nobody has asked for second counts.
        assert_eq!(
            ends,
            Some(if rounds == 0 || is_twice { 0 } else { 4 }),
            "{whole}"
        );
        if is_twice {
            break whole;
        }
        rounds += 1;
        assert!(rounds < 5, "{whole}");
        stdout(&["array", "--again", array.name()]);
        for host in ["anna", "bert"] {
            let task = || on_host(host, &["run", "--dir", array.name(), "--task", "2"]).unwrap();
            while code(&task()) == Some(0) && !array.status()["not_begun"].to_string().eq("[]") {}
        }
    };
    assert_eq!(whole["result"]["total"], "14772512");
    // Who counted first counts first again: one round would do if nobody had shared a part.
    assert!(done == 0 || rounds > 1, "{done} tasks, {rounds} rounds");
}
