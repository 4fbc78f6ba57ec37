//! A real Slurm runs an array whose tasks are killed, whose time ends, and whose node is drained.

use super::array::{Array, N, TOTAL};
use super::slurm_cluster::Slurm;
use crate::common::program::{stdout, words};

fn tasks_done(array: &Array) -> u64 {
    array.status()["tasks_done"].as_u64().unwrap()
}

#[test]
fn a_task_is_killed_another_is_out_of_time_and_the_node_is_drained() {
    let Some(slurm) = Slurm::start() else { return };
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
#[ignore = "takes two minutes"]
fn tasks_whose_time_is_over_go_on_in_their_next_attempt() {
    let Some(slurm) = Slurm::start() else { return };
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
#[ignore = "takes a minute"]
fn a_disturbed_array_gives_the_log_of_a_run_on_one_machine() {
    let Some(slurm) = Slurm::start() else { return };
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
    let Some(slurm) = Slurm::start() else { return };
    let array = Array::make(12, 2, "slurm");
    array.make_again(
        12,
        2,
        "slurm",
        &["--time", "90m", "--memory", "512M", "--cpus", "2"],
    );
    let job = slurm.submit(&array, &["--hold"]);
    let job = slurm.tell("scontrol", &["show", "job", &job]);
    for fact in
        words!("TimeLimit=01:30:00 Requeue=1 MinMemoryNode=512M CPUs/Task=2 ArrayTaskId=0-1")
    {
        assert!(job.contains(fact), "{fact}: {job}");
    }
    assert!(job.contains("-%1a.log"), "{job}");
}
