//! A real Slurm runs an array whose tasks are killed, whose time ends, whose node is drained, and whose nodes fail.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::array::{Array, N, TOTAL};
use super::slurm_cluster::Slurm;
use crate::common::program::{PROGRAM, printed, stdout, tells, text, wait_until, words};

fn tasks_done(array: &Array) -> u64 {
    array.status()["tasks_done"].as_u64().unwrap()
}

#[test]
fn a_task_is_killed_another_is_out_of_time_and_the_node_is_drained() {
    let Some(slurm) = Slurm::start(1) else { return };
    let array = Array::make(N, 3, "slurm");
    let job = slurm.submit(&array, &[]);
    array.wait_for(0);
    array.wait_for(1);
    array.kill(0);
    // What Slurm does before the time is over.
    let second = format!("{job}_1");
    slurm.tell("scancel", &["--batch", "--signal=USR1", &second]);
    slurm.node("DRAIN");
    // A task that Slurm puts back is completing (CG) before it waits (PD).
    slurm.wait("the node is drained", &array, |queue| {
        !queue.contains("R ") && !queue.contains("CG ")
    });
    let queue = slurm.queue();
    assert!(queue.contains("PD 1") && !queue.contains("PD 0"), "{queue}");
    let drained = array.status();
    assert_eq!(drained["running"].to_string(), "[]", "{drained}");
    assert!(
        drained["stopped"].to_string().starts_with("[0,1"),
        "{drained}"
    );
    slurm.node("RESUME");
    slurm.wait("the array ends", &array, str::is_empty);
    assert_eq!(array.missing(), "0", "{}", array.logs());
    slurm.submit(&array, &["--array=0"]);
    slurm.wait("the missing shard is counted", &array, str::is_empty);
    array.assert_total(TOTAL);
    // Two of three shards were begun twice.
    let sessions = |array: &Array| array.status()["hosts"][0]["sessions"].clone();
    assert_eq!(sessions(&array), 5, "{}", array.logs());
    // Once more: every shard ends at once.
    slurm.submit(&array, &[]);
    slurm.wait("nothing is left to do", &array, str::is_empty);
    assert_eq!(sessions(&array), 5, "{}", array.logs());
    array.assert_total(TOTAL);
}

/// Slurm counts the time of a task in minutes, so this takes some.
#[test]
#[ignore = "long: two minutes"]
fn tasks_whose_time_is_over_go_on_in_their_next_attempt() {
    let Some(slurm) = Slurm::start(1) else { return };
    // 50 s of a core with the portable kernel: longer than the minute less its margin.
    let array = Array::make(18, 1, "slurm");
    array.make_again(18, 1, "slurm", &["--time", "1m"]);
    slurm.submit(&array, &[]);
    array.wait_for(0);
    slurm.wait("the task is put back", &array, |queue| {
        queue.contains("PD 0")
    });
    let done = tasks_done(&array);
    assert!(done > 0 && done < 1025, "{done}");
    slurm.wait("the task ends", &array, str::is_empty);
    array.assert_total("666090624");
    let sessions = array.status()["hosts"][0]["sessions"].as_u64().unwrap();
    assert!(sessions > 1, "{}", array.logs());
}

/// The same signature as a run on one machine.
#[test]
#[ignore = "long: a minute"]
fn a_disturbed_array_gives_the_log_of_a_run_on_one_machine() {
    let Some(slurm) = Slurm::start(1) else { return };
    let array = Array::make(18, 6, "slurm");
    slurm.submit(&array, &[]);
    let mut killed = 0;
    for index in 0..6 {
        array.wait_for(index);
        if array.status()["running"]
            .to_string()
            .contains(&index.to_string())
        {
            array.kill(index);
            killed += 1;
        }
    }
    assert!(killed > 3, "{killed}");
    slurm.wait("the array ends", &array, str::is_empty);
    let missing = array.missing();
    slurm.submit(&array, &[&format!("--array={missing}")]);
    slurm.wait("the missing shards are counted", &array, str::is_empty);
    array.assert_total("666090624");
    let folder = tempfile::tempdir().unwrap();
    let alone = folder.path().join("alone");
    let alone = alone.to_str().unwrap();
    stdout(&["run", "-n", "18", "--engine", "chain", "--dir", alone]);
    let signature = |dir: &str| {
        let record = stdout(&["report", dir, "--json"]);
        serde_json::from_str::<serde_json::Value>(&record).unwrap()["signature"].clone()
    };
    let whole = array.path().join("whole");
    assert_eq!(signature(whole.to_str().unwrap()), signature(alone));
}

#[test]
fn slurm_takes_every_directive_of_the_script() {
    let Some(slurm) = Slurm::start(1) else { return };
    let array = Array::make(12, 2, "slurm");
    array.make_again(12, 2, "slurm", &words!("--time 90m --cpus 2 -- --mem=512M"));
    let job = slurm.submit(&array, &["--hold"]);
    let job = slurm.tell("scontrol", &["show", "job", &job]);
    for fact in
        words!("TimeLimit=01:30:00 Requeue=1 MinMemoryNode=512M CPUs/Task=2 ArrayTaskId=0-1")
    {
        assert!(job.contains(fact), "{fact}: {job}");
    }
    assert!(job.contains("-%1a.log"), "{job}");
}

/// Slurm signals every process of the job, and the script passes the signal on.
#[test]
fn a_cancelled_array_ends_resumably() {
    let Some(slurm) = Slurm::start(1) else { return };
    let array = Array::make(19, 2, "slurm");
    let job = slurm.submit(&array, &[]);
    array.wait_for(0);
    array.wait_for(1);
    slurm.wait("tasks are recorded", &array, |_| tasks_done(&array) > 0);
    let before = tasks_done(&array);
    slurm.tell("scancel", &[&job]);
    slurm.wait("the array is cancelled", &array, str::is_empty);
    for index in 0..2 {
        let task = slurm.tell("scontrol", &["show", "job", &format!("{job}_{index}")]);
        assert!(task.contains("ExitCode=4:0"), "{task}{}", array.logs());
    }
    let status = array.status();
    assert_eq!(status["stopped_why"][0]["why"], "asked", "{status}");
    assert_eq!(
        status["stopped_why"][0]["shards"],
        json!([0, 1]),
        "{status}"
    );
    assert!(
        before > 0 && tasks_done(&array) > before,
        "{}",
        array.logs()
    );
}

#[test]
fn an_array_is_submitted_in_parts_and_the_queue_tells_what_waits() {
    let Some(slurm) = Slurm::start(1) else { return };
    let array = Array::make(14, 13, "slurm");
    let script = array.script("slurm.sh");
    let script = script.to_str().unwrap();
    slurm.node("DRAIN");
    // The cluster takes arrays of eleven.
    let submit = |list: &[&str]| -> Vec<String> {
        let said = slurm.tell(script, list);
        let jobs = said.lines().map(|line| line.rsplit(' ').next().unwrap());
        jobs.map(str::to_owned).collect()
    };
    let jobs = submit(&[]);
    assert_eq!(jobs.len(), 2, "{jobs:?}");
    let status = || -> Json {
        let status = slurm.tell(PROGRAM, &["status", array.name(), "--json"]);
        serde_json::from_str(&status).unwrap()
    };
    let all: Vec<_> = (0..13).collect();
    assert_eq!(status()["waiting"], json!(all));
    assert_eq!(status()["in_no_queue"], json!([]));
    slurm.tell("scancel", &[&format!("{}_1", jobs[1])]);
    assert_eq!(status()["in_no_queue"], json!([11]));
    slurm.node("RESUME");
    slurm.wait("the array ends", &array, str::is_empty);
    assert_eq!(array.missing(), "11", "{}", array.logs());
    assert_eq!(status()["waiting"], json!([]));
    // Once more, and nothing of a log is lost: each is named by its submission and its shard.
    let again = submit(&["11-12"]);
    slurm.wait("the missing shard is counted", &array, str::is_empty);
    array.assert_total("365596");
    let logs = std::fs::read_dir(array.path().join("logs")).unwrap();
    let mut logs: Vec<_> = logs
        .map(|log| log.unwrap().file_name().into_string().unwrap())
        .collect();
    logs.sort_unstable();
    let named = |job: &String, shard: u32| format!("{job}-{shard:02}.log");
    let mut expected: Vec<_> = (0..10).map(|shard| named(&jobs[0], shard)).collect();
    expected.extend([10, 12].map(|shard| named(&jobs[1], shard)));
    expected.extend([11, 12].map(|shard| named(&again[0], shard)));
    expected.sort_unstable();
    assert_eq!(logs, expected);
}

/// What is missing is submitted until nothing is, with what is added by `again` for what only now one host alone has counted.
/// Returns what is printed.
fn counted(slurm: &Slurm, array: &Array, again: &[&str]) -> String {
    let script = array.script("slurm.sh");
    for _ in 0..9 {
        slurm.wait("the array ends", array, str::is_empty);
        let gathered = array.gather();
        let said = printed(&gathered.stderr);
        if gathered.status.success() {
            return printed(&gathered.stdout);
        }
        assert_eq!(gathered.status.code(), Some(4), "{said}");
        match said.split_once("slurm.sh ") {
            Some((_, list)) => slurm.tell(text(&script), &[list.split('`').next().unwrap()]),
            None => stdout(again),
        };
    }
    panic!("this has no end: {}", array.logs())
}

/// Stops what `signal` reaches half of the time, until `work` is done.
fn at_half_speed(signal: impl Fn(&str) + Send, work: impl FnOnce()) {
    const HALF: Duration = Duration::from_millis(200);
    thread::scope(|scope| {
        let (done, is_done) = channel::<()>();
        scope.spawn(move || {
            while is_done.recv_timeout(HALF) == Err(RecvTimeoutError::Timeout) {
                signal("-STOP");
                thread::sleep(HALF);
                signal("-CONT");
            }
        });
        let _done = done;
        work();
    });
}

/// Counts a board twice on nodes that share a directory. All but two fail on the way and never come back, and the last one is
/// slow.
fn nodes_count_twice(n: u32, total: &str, nodes: usize, shards: u64) {
    let Some(slurm) = Slurm::start(nodes) else {
        return;
    };
    let array = Array::make(n, shards, "slurm");
    let more = (shards - 2).to_string();
    let script = array.script("slurm.sh");
    let script = text(&script);
    let finished = |shards: usize| {
        wait_until(|| array.status()["finished"].as_array().unwrap().len() >= shards);
    };
    let slow = |signal: &str| slurm.signal(nodes, signal);
    at_half_speed(slow, || {
        slurm.tell(script, &[]);
        for node in 1..=nodes - 2 {
            finished(2 * node);
            slurm.signal(node, "-KILL");
        }
        finished(2 * nodes - 2);
        slurm.tell("scancel", &["--user=root"]);
        slurm.wait("the array is cancelled", &array, str::is_empty);
        stdout(&["array", "--rest", array.name(), "--shards", &more]);
        tells(&counted(&slurm, &array, &[]), &[total]);
        let again = ["array", "--again", array.name(), "--shards", &more];
        stdout(&again);
        tells(&counted(&slurm, &array, &again), &[total]);
    });
    let [whole, file] = ["whole", "n.cert"].map(|name| array.path().join(name));
    stdout(&["certify", text(&whole), "-o", text(&file)]);
    let said = stdout(&["check", text(&file)]);
    let tasks = said.split_whitespace().nth(1).unwrap();
    tells(
        &said,
        &[total, &format!("{tasks} twice ({tasks} on another host")],
    );
    let hosts = array.status()["hosts"].as_array().unwrap().len();
    assert_eq!(hosts, nodes, "{}", array.logs());
}

#[test]
fn nodes_count_a_small_board_twice() {
    nodes_count_twice(N, TOTAL, 3, 8);
}

#[test]
#[ignore = "long: six minutes on two busy cores"]
fn nodes_count_twenty_queens_twice() {
    nodes_count_twice(20, "39029188884", 4, 16);
}
