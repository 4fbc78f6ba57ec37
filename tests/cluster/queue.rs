//! Scripts submit themselves, and `status` says what the queue says. The programs of the schedulers are stand-ins here.

use std::process::Output;

use serde_json::{Value as Json, json};

use super::array::Array;
use crate::common::program::{isolated, printed, queenfold, tells};

/// Starts a script outside of a scheduler, with these words.
fn submit(array: &Array, script: &str, path: &str, words: &[&str]) -> Output {
    let mut command = isolated(array.script(script));
    command.args(words).env("PATH", path).output().unwrap()
}

/// The name of its jobs, as a script has it.
fn job_name(array: &Array, script: &str) -> String {
    let script = std::fs::read_to_string(array.script(script)).unwrap();
    let name = script.split_once("name=").unwrap().1;
    name.split_whitespace().next().unwrap().to_owned()
}

#[test]
fn a_script_submits_all_or_a_list_in_parts_that_the_cluster_takes() {
    let array = Array::make(14, 16, "slurm");
    let name = job_name(&array, "slurm.sh");
    let path = array.real_name();
    let part = |tasks: &str, first: u64, log: &str| {
        format!(
            "sbatch --array={tasks} --job-name={name}+{first} --output={path}/logs/%A-{log}a.log {path}/slurm.sh{}",
            format_args!(" {first}")
        )
    };
    for (most, words, parts) in [
        (16, &[][..], &[part("0-15", 0, "%2")][..]),
        (15, &[], &[part("0-9", 0, "0%1"), part("0-5", 10, "1%1")]),
        (1001, &["3,7-12"], &[part("3-3,7-12", 0, "%2")]),
        (
            11,
            &["3,07-12"],
            &[part("3-3,7-9", 0, "0%1"), part("0-2", 10, "1%1")],
        ),
        (11, &["12"], &[part("2-2", 10, "1%1")]),
    ] {
        let config = format!("echo 'MaxArraySize            = {most}'");
        let stubs = array.stubs(&[("scontrol", &config), ("sbatch", "")]);
        let output = submit(&array, "slurm.sh", &stubs, words);
        assert!(output.status.success(), "{output:?}");
        assert_eq!(array.calls()[1..], *parts, "{most} {words:?}");
    }
    for (list, why) in [
        ("x", "give shards as"),
        ("3,", "give shards as"),
        ("3,16", "16: there are the shards 0 to 15"),
        ("5-4", "5-4: "),
    ] {
        let stubs = array.stubs(&[("scontrol", "echo 'MaxArraySize = 4'")]);
        let output = submit(&array, "slurm.sh", &stubs, &[list]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        tells(&printed(&output.stderr), &[why]);
        assert!(!array.calls().iter().any(|call| call.starts_with("sbatch")));
    }
    // A cluster that does not answer.
    let stubs = array.stubs(&[("scontrol", "exit 1")]);
    assert!(!submit(&array, "slurm.sh", &stubs, &[]).status.success());
    assert_eq!(array.calls(), ["scontrol show config"]);

    array.make_again(14, 16, "hyperqueue", &[]);
    let stubs = array.stubs(&[("hq", "")]);
    for (words, list) in [(&[][..], "0-15"), (&["3,7-12"], "3,7-12")] {
        let output = submit(&array, "hyperqueue.sh", &stubs, words);
        assert!(output.status.success(), "{output:?}");
        assert_eq!(
            array.calls(),
            [format!(
                "hq submit --stdin --directives=stdin --array={list} --env=SUBMITTED_SHARDS={list} bash"
            )]
        );
    }
}

/// `status` of the array, as text and for programs.
fn status(array: &Array, path: &str) -> (String, Json) {
    let [text, json] = [&[][..], &["--json"]].map(|more| {
        let mut command = queenfold(&[&["status", array.name()], more].concat());
        let output = command.env("PATH", path).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        printed(&output.stdout)
    });
    (text, serde_json::from_str(&json).unwrap())
}

#[test]
fn status_says_which_array_tasks_wait_and_which_are_in_no_queue() {
    let array = Array::make(14, 10, "slurm");
    array.count(0);
    let name = job_name(&array, "slurm.sh");
    let queue = format!(
        "printf '%s\\n' 'PD 2 {name}' 'R 3 {name}' 'R 0 {name}' 'PD 1 {name}+3' 'PD 9 {name}x' 'PD N/A {name}' 'PD 8 other'"
    );
    let gathered = |path: &str| {
        let mut gather = queenfold(&["gather", array.name()]);
        printed(&gather.env("PATH", path).output().unwrap().stderr)
    };
    let path = array.stubs(&[("squeue", &queue)]);
    tells(
        &gathered(&path),
        &["count the others alone with `", "/slurm.sh 1,5-9`\n"],
    );
    let (text, json) = status(&array, &path);
    for line in [
        "finished    1 of 10 shards: 0\n",
        "running     1 of 10 shards: 3\n",
        "not begun   8 of 10 shards: 1-2,4-9\n",
        "waiting     2 of 10 shards: 2,4\n",
        "in no queue 6 of 10 shards: 1,5-9\n",
        &format!("go on       `{}/slurm.sh 1,5-9`", array.name()),
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
    assert_eq!(json["waiting"], json!([2, 4]));
    assert_eq!(json["in_no_queue"], json!([1, 5, 6, 7, 8, 9]));
    // All wait: nothing is to be done.
    let queue = format!("seq 0 9 | sed 's/.*/PD & {name}/'");
    let path = array.stubs(&[("squeue", &queue)]);
    tells(
        &gathered(&path),
        &["wait for the running and the queued shards"],
    );
    let (text, json) = status(&array, &path);
    assert!(!text.contains("go on") && !text.contains("in no"), "{text}");
    assert_eq!(json["in_no_queue"], json!([]));
    // No answer, or not from each scheduler that may have them.
    array.make_again(14, 10, "hyperqueue", &[]);
    for failing in ["squeue", "hq"] {
        let stubs = [("squeue", "true"), ("hq", "echo '[]'"), (failing, "exit 1")];
        let (text, json) = status(&array, &array.stubs(&stubs));
        assert!(
            text.contains("1-9`, unless they wait in the queue\n"),
            "{text}"
        );
        assert!(
            !text.contains("in no queue") && json["waiting"].is_null(),
            "{text}"
        );
    }
    // HyperQueue has an answer for each job and state.
    let hq = format!(
        r#"case "$2 $3" in
        list*) echo '[{{"id":7,"name":"{name}"}},{{"id":8,"name":"other"}}]' ;;
        "task-ids 7") case $4 in *waiting) echo '{{"7":[1,2]}}' ;; *) echo '{{"7":[3]}}' ;; esac ;;
        *) exit 1 ;; esac"#
    );
    let stubs = array.stubs(&[("squeue", "true"), ("hq", &hq)]);
    let json = status(&array, &stubs).1;
    assert_eq!(json["waiting"], json!([1, 2]));
    assert_eq!(json["running"], json!([3]));
    assert_eq!(json["in_no_queue"], json!([4, 5, 6, 7, 8, 9]));
}
