//! A real HyperQueue, server and worker, runs an array whose tasks are killed and whose time ends.
//!
//! The package on PyPI has no program `hq`: tasks are submitted through its Python interface, which reads no
//! directives. So these tests show that the script does what the server and the worker expect, not that `hq
//! submit` reads its first lines.

use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::array::{Array, N, TOTAL};
use crate::isolated::isolated;
use crate::program::text;
use crate::skip::skipped;

/// The Python that has the package: that of `HYPERQUEUE_PYTHON`, or the usual one.
fn python() -> Option<String> {
    let python = std::env::var("HYPERQUEUE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has_it = isolated(&python)
        .args(["-c", "import hyperqueue.cluster"])
        .output()
        .is_ok_and(|output| output.status.success());
    if !has_it {
        skipped(
            "no HyperQueue: `pip install hyperqueue`, and name that Python in HYPERQUEUE_PYTHON",
        );
    }
    has_it.then_some(python)
}

/// Submits tasks of an array.
fn submit(python: &str, array: &Array, indices: &str) -> Child {
    let server = array.path().join("server");
    let driver = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cluster/submit_tasks.py");
    isolated(python)
        .arg(driver)
        .args([server, array.script("hyperqueue.sh")])
        .arg(indices)
        .env("QUEENFOLD_RUN_ISA", "portable")
        // What it leaves in the folder for temporary files goes with the array.
        .env("TMPDIR", array.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits until all tasks have ended. Returns those that failed.
fn failed(child: Child) -> String {
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let out = text(&output.stdout);
    out.lines().last().unwrap_or_default().to_owned()
}

fn lock_of(array: &Array, index: u64) -> PathBuf {
    array.shard(index).join("lock")
}

#[test]
fn a_task_is_killed_and_submitted_again() {
    let Some(python) = python() else { return };
    let array = Array::make(N, 4, "hyperqueue");
    let running = submit(&python, &array, "0,1,2,3");
    let since = Instant::now();
    while array.status()["running"].as_array().unwrap().is_empty() {
        assert!(since.elapsed() < Duration::from_secs(120), "nothing runs");
        std::thread::sleep(Duration::from_millis(20));
    }
    let index = array.status()["running"][0].as_u64().unwrap();
    let lock = std::fs::read_to_string(lock_of(&array, index)).unwrap();
    let pid = lock.split(' ').nth(1).unwrap();
    let sent = std::process::Command::new("kill")
        .args(["-KILL", pid])
        .status();
    assert!(sent.unwrap().success(), "{lock}");
    assert_eq!(failed(running), index.to_string());
    let missing = array.missing();
    assert_eq!(missing, index.to_string());
    assert_eq!(failed(submit(&python, &array, &missing)), "");
    array.assert_total(TOTAL);
    assert_eq!(array.status()["hosts"][0]["sessions"], 5);
}

/// The program ends by itself before the worker would end it.
#[test]
#[ignore = "takes two minutes"]
fn tasks_whose_time_is_over_end_resumably() {
    let Some(python) = python() else { return };
    // 50 s of a core with the portable kernel, or more: longer than the minute less its margin.
    let array = Array::make(18, 1, "hyperqueue");
    array.make_again(18, 1, "hyperqueue", &["--time", "1m"]);
    assert_eq!(failed(submit(&python, &array, "0")), "0");
    let done = array.status()["tasks_done"].as_u64().unwrap();
    assert!(done > 0 && done < 1025, "{done}");
    while !failed(submit(&python, &array, "0")).is_empty() {}
    array.assert_total("666090624");
}
