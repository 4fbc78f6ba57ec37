//! The scripts without a scheduler: a plain shell runs them with the variables that a scheduler sets.

use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use super::array::Array;
use crate::common::program::{
    first_object, isolated, output, printed, queenfold, stdout, tells, words,
};
use crate::common::skip::skipped;

/// A task of an array, as the scheduler starts it.
fn task(array: &Array, script: &str, index: u64) -> Command {
    let mut command = isolated("bash");
    let index = index.to_string();
    command.arg(array.script(script)).current_dir(array.path());
    match script {
        script if script.starts_with("slurm") => command.env("SLURM_ARRAY_TASK_ID", index),
        script if script.starts_with("hyperqueue") => command.env("HQ_TASK_ID", index),
        _ => command.arg(index),
    };
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

const SCRIPTS: [(&str, &str); 3] = [
    ("slurm", "slurm.sh"),
    ("hyperqueue", "hyperqueue.sh"),
    ("shell", "shell.sh"),
];

/// Runs a task, which must succeed.
fn done(array: &Array, script: &str, index: u64) {
    let output = task(array, script, index).output().unwrap();
    assert_eq!(code(&output), 0, "{output:?}");
}

#[test]
fn each_task_counts_its_shard_and_gather_adds_them_up() {
    for (scheduler, script) in SCRIPTS {
        let array = Array::make(14, 5, scheduler);
        for index in [0, 1, 3, 4] {
            done(&array, script, index);
        }
        assert_eq!(array.missing(), "2");
        done(&array, script, 2);
        array.assert_total("365596");
        // A finished shard ends at once, and nothing changes.
        done(&array, script, 2);
        array.assert_total("365596");
        assert_eq!(array.status()["hosts"][0]["sessions"], 5);
    }
}

#[test]
fn an_array_counts_a_given_board() {
    for (scheduler, script) in SCRIPTS {
        let array = Array::given(12, 2, scheduler, &["--queens", "b4", "--holes", "a1,c9"]);
        for index in [0, 1] {
            done(&array, script, index);
        }
        let own = ["run", "-n", "12", "--queens", "b4", "--holes", "a1,c9"];
        let own: Json = serde_json::from_str(&stdout(&[&own[..], &["--json"]].concat())).unwrap();
        let found = stdout(&["gather", array.name()]);
        let total = own["total"].as_str().unwrap();
        assert!(found.contains(&format!("12:  {total} ")), "{found}");
        tells(
            &found,
            &["given queens b4 and holes c9,a1; symmetries none"],
        );
        let status = array.status();
        assert_eq!(status["given"], own["given"]);
        // A run of the free board is no shard of it.
        let shard = array.shard(1);
        std::fs::remove_dir_all(&shard).unwrap();
        let free = ["run", "-n", "12", "--engine", "chain", "--shard", "1/2"];
        stdout(&[&free[..], &["--dir", shard.to_str().unwrap()]].concat());
        let refused = printed(&array.gather().stderr);
        tells(
            &refused,
            &[
                "holds shard 1/2 of n = 12 by chain and census, and should hold shard 0/2 of the array of n = 12 with queens b4",
            ],
        );
    }
}

#[test]
fn settings_do_not_change_what_an_array_counts() {
    for (scheduler, script) in SCRIPTS {
        let array = Array::make(12, 2, scheduler);
        let settings = "[run]\nengine = \"colour\"\nunique = false\n\
                        [output]\ntui = true\n";
        std::fs::write(array.path().join("queenfold.toml"), settings).unwrap();
        for index in [0, 1] {
            let mut command = task(&array, script, index);
            command.env("QUEENFOLD_RUN_NICE", "3");
            let output = command.output().unwrap();
            assert_eq!(code(&output), 0, "{output:?}");
            // The second attempt resumes.
            let again = command.output().unwrap();
            assert_eq!(code(&again), 0, "{again:?}");
        }
        array.assert_total("14200");
    }
}

#[test]
fn a_moved_array_counts_nothing_into_its_old_place() {
    for (scheduler, script) in SCRIPTS {
        let array = Array::make(12, 2, scheduler);
        done(&array, script, 0);
        let old = PathBuf::from(array.real_name());
        let array = array.moved();
        let output = task(&array, script, 1).output().unwrap();
        let said = printed(&output.stderr);
        assert_eq!(code(&output), 2, "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.contains("give its queenfold array command again"));
        assert!(!old.exists());
        // So do the commands that otherwise say how to submit it again. Slurm would not even start the script: it
        // cannot open the log, and says so nowhere but in its own.
        let mend = format!(
            "{name}/{script} is of {}: give its `queenfold array` command again, with --replace --dir {name}\n",
            old.display(),
            name = array.name()
        );
        let status = stdout(&["status", array.name()]);
        let gather = printed(&array.gather().stderr);
        assert!(status.contains(&format!("moved       {mend}")), "{status}");
        assert!(gather.contains(&mend), "{gather}");
        assert!(
            !status.contains("go on") && !gather.contains("count them"),
            "{status}{gather}"
        );
        array.make_again(12, 2, scheduler, &[]);
        assert_eq!(array.missing(), "1");
        done(&array, script, 1);
        array.assert_total("14200");
    }
}

#[test]
fn the_log_of_a_shard_names_the_others_and_how_the_array_is_added_up() {
    let array = Array::make(14, 7, "slurm");
    let output = task(&array, "slurm.sh", 3).output().unwrap();
    let said = printed(&output.stderr);
    let name = array.real_name();
    let complete =
        format!("shard 3 of {name} is complete; `queenfold gather {name}` adds up the shards");
    assert!(said.contains(&complete), "{said}");
}

/// Starts a shard of a long array, by the slowest kernel, and waits until it has recorded a task.
fn begun(array: &Array, script: &str) -> Child {
    let mut command = task(array, script, 0);
    command.env("QUEENFOLD_RUN_ISA", "portable");
    // A process group of its own, as under a scheduler.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let child = command.spawn().unwrap();
    let since = Instant::now();
    while array.status()["tasks_done"] == 0 {
        assert!(since.elapsed() < Duration::from_secs(120), "no progress");
        std::thread::sleep(Duration::from_millis(50));
    }
    child
}

fn kill(signal: &str, pid: &str) {
    let sent = Command::new("kill").args([signal, "--", pid]).status();
    assert!(sent.unwrap().success());
}

#[test]
fn a_signal_to_the_shell_ends_a_task_resumably_and_only_the_time_limit_puts_it_back() {
    let array = Array::make(18, 2, "slurm");
    let path = array.stubs(&[("scontrol", "")]);
    for (signal, requeued) in [("-TERM", false), ("-USR1", true)] {
        let mut command = task(&array, "slurm.sh", 0);
        command
            .env("PATH", &path)
            .env("QUEENFOLD_RUN_ISA", "portable")
            .envs([("SLURM_ARRAY_JOB_ID", "17")]);
        let child = command.spawn().unwrap();
        let before = array.status()["tasks_done"].as_u64().unwrap();
        let since = Instant::now();
        while array.status()["tasks_done"].as_u64().unwrap() <= before {
            assert!(since.elapsed() < Duration::from_secs(120), "no progress");
            std::thread::sleep(Duration::from_millis(50));
        }
        kill(signal, &child.id().to_string());
        let output = child.wait_with_output().unwrap();
        assert_eq!(code(&output), 4, "{signal}: {output:?}");
        let calls: &[&str] = if requeued {
            &["scontrol requeue 17_0"]
        } else {
            &[]
        };
        assert_eq!(array.calls(), calls, "{signal}");
    }
    let status = stdout(&["status", array.name()]);
    tells(&status, &["\nstopped     0: asked to stop: "]);
}

#[test]
fn a_task_that_is_killed_is_continued_and_a_running_one_is_left_alone() {
    for (scheduler, script) in SCRIPTS {
        // A board that takes ten seconds while it is looked at.
        let array = Array::make(17, 2, scheduler);
        let child = begun(&array, script);
        assert_eq!(array.status()["running"].to_string(), "[0]");
        let said = printed(&array.gather().stderr);
        assert!(said.contains("1 shard running: 0\n"), "{said}");
        assert!(said.contains("count the others alone"), "{said}");
        assert_eq!(array.missing(), "1");
        // A second task of the same shard disturbs nothing: it counts the next one.
        done(&array, script, 0);
        assert_eq!(array.status()["finished"].to_string(), "[1]");
        kill("-KILL", &format!("-{}", child.id()));
        child.wait_with_output().unwrap();
        assert_eq!(array.missing(), "0");
        let why = &array.status()["stopped_why"];
        assert_eq!(why[0]["why"], "killed", "{why}");
        assert_eq!(why[0]["shards"].to_string(), "[0]", "{why}");
        // Whatever its number: only one is left.
        done(&array, script, 1);
        array.assert_total("95815104");
    }
}

#[test]
fn a_shard_must_be_one() {
    let array = Array::make(12, 2, "shell");
    for args in [&[][..], &["x"], &["-1"]] {
        let mut command = isolated("bash");
        let output = command.arg(array.script("shell.sh")).args(args).output();
        let output = output.unwrap();
        let said = printed(&output.stderr);
        assert_eq!(code(&output), 2, "{said}");
        assert!(said.starts_with("give the number of a shard: "), "{said}");
    }
}

#[test]
fn a_script_keeps_the_options_of_its_scheduler() {
    let array = Array::make(12, 2, "slurm");
    let options = [
        "--",
        "-p",
        "short",
        "--mail-user=anna@example.org",
        "--comment=a b",
    ];
    array.make_again(12, 2, "slurm", &options);
    let script = std::fs::read_to_string(array.script("slurm.sh")).unwrap();
    for line in [
        "-p short",
        "--mail-user=anna@example.org",
        "--comment='a b'",
    ] {
        assert!(script.contains(&format!("\n#SBATCH {line}\n")), "{script}");
    }
    for (scheduler, options, why) in [
        ("slurm", &["short"][..], "begins with a hyphen"),
        (
            "slurm",
            &["--array=1-3"],
            "--shards says which shards there are",
        ),
        ("slurm", &["--job-name=a"], "finds the array by its name"),
        ("slurm", &["-p", "a\nb"], "one line of text"),
        ("shell", &["--partition=short"], "knows no scheduler"),
    ] {
        let usual = words!("array -n 12 --shards 2 --dir {} --for", array.name());
        let output = output(&[&usual[..], &[scheduler, "--"], options].concat());
        let said = printed(&output.stderr);
        assert_eq!(code(&output), 2, "{said}");
        assert!(said.contains(why) && said.lines().count() == 1, "{said}");
    }
}

#[test]
fn a_task_that_asks_for_gpus_does_not_count_without_one() {
    let alone = output(&["run", "-n", "12", "--engine", "chain", "--gpu", "cuda"]);
    for (scheduler, script) in SCRIPTS {
        let array = Array::given(12, 2, scheduler, &["--gpus", "1"]);
        let gpus = script.replace(".sh", "-gpu.sh");
        let path = array.stubs(&[("scontrol", "echo MaxArraySize = 9"), ("sbatch", "")]);
        let mut command = task(&array, &gpus, 1);
        let on_node = [("SLURMD_NODENAME", "node7"), ("REFUSED_BY", "node3")];
        let output = command.env("PATH", path).envs(on_node).output().unwrap();
        // 6 where there is no driver.
        assert_eq!(code(&output), code(&alone), "{output:?}");
        if code(&output) == 6 {
            assert!(!array.shard(1).exists());
            let again = array.calls().concat();
            match scheduler {
                "slurm" => tells(&again, &["--exclude=node3,node7 --array=1-1 "]),
                _ => assert_eq!(again, ""),
            }
            // Hosts without GPUs count the same shards.
            array.make_again(12, 2, scheduler, &[]);
            done(&array, script, 1);
            done(&array, script, 1);
            array.assert_total("14200");
        }
    }
}

#[test]
fn two_submissions_share_an_array() {
    for (scheduler, script) in SCRIPTS {
        let array = Array::given(14, 6, scheduler, &["--gpus", "1"]);
        array.make_again(14, 6, scheduler, &[]);
        // There are no GPUs here.
        let gpus = script.replace(".sh", "-gpu.sh");
        let text = std::fs::read_to_string(array.script(&gpus)).unwrap();
        tells(&text, &["--gpu cuda"]);
        std::fs::write(array.script(&gpus), text.replace("--gpu cuda", "--gpu off")).unwrap();
        // Whatever their numbers.
        let both = [(script, 0), (&gpus, 0), (script, 3), (&gpus, 3)];
        let tasks = both.repeat(2).into_iter();
        let tasks = tasks.map(|(script, index)| task(&array, script, index).spawn().unwrap());
        for task in tasks.collect::<Vec<_>>() {
            let output = task.wait_with_output().unwrap();
            assert_eq!(code(&output), 0, "{output:?}");
        }
        array.assert_total("365596");
        // Nobody counted what another one did.
        assert_eq!(array.status()["hosts"][0]["sessions"], 6);
    }
}

#[test]
fn cpus_begin_with_shards_of_an_hour_and_gpus_with_all() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("array");
    let dir = dir.to_str().unwrap();
    let submit = |more: &[&str]| {
        let usual = words!("array -n 25 --shards 8 --for slurm --dir {}", dir);
        let said = stdout(&[&usual[..], more].concat());
        let (_, submit) = said.split_once("submit it  ").unwrap();
        submit.lines().next().unwrap().to_owned()
    };
    assert_eq!(submit(&["--gpus", "1"]), format!("{dir}/slurm-gpu.sh"));
    // On a core, the first one takes hours, the last one minutes.
    let short = submit(&[]);
    let short = short.strip_prefix(&format!("{dir}/slurm.sh ")).unwrap();
    assert!(short.ends_with('7') && !short.starts_with('0'), "{short}");
}

#[test]
fn a_shard_that_takes_longer_than_an_attempt_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let array = |tasks, dir: &str| {
        let dir = folder.path().join(dir);
        let dir = dir.to_str().unwrap();
        let words = words!("array -n 24 --for slurm --time 1m --shards");
        let output = output(&[&words[..], &[tasks, "--dir", dir]].concat());
        assert_eq!(code(&output), 0, "{output:?}");
        (printed(&output.stdout), printed(&output.stderr))
    };
    let (out, err) = array("4", "few");
    assert!(out.contains("\nfirst shards about "), "{out}");
    assert!(err.contains("more --shards make them shorter"), "{err}");
    let (_, err) = array("16127", "many");
    assert_eq!(err, "");
}

/// What the program finds in a job, with these variables.
fn found(variables: &[(&str, &str)]) -> serde_json::Value {
    let mut command = queenfold(&["selftest", "--json"]);
    for (name, value) in variables {
        command.env(name, value);
    }
    first_object(&printed(&command.output().unwrap().stdout))
}

#[test]
fn a_job_uses_the_cores_and_the_memory_that_it_was_granted() {
    let slurm = found(&[
        ("SLURM_JOB_ID", "17"),
        ("SLURM_CPUS_PER_TASK", "1"),
        ("SLURM_MEM_PER_NODE", "64"),
    ]);
    assert_eq!(slurm["cores"], 1, "{slurm}");
    assert_eq!(slurm["memory_limit"], "67108864", "{slurm}");
    let hyperqueue = found(&[("HQ_TASK_ID", "0"), ("HQ_CPUS", "0")]);
    assert_eq!(hyperqueue["cores"], 1, "{hyperqueue}");
    // No more than there is.
    let greedy = found(&[("HQ_TASK_ID", "0"), ("HQ_CPUS", &["0"; 5000].join(","))]);
    assert_eq!(greedy["cores"], found(&[])["cores"], "{greedy}");
}

#[test]
fn the_scripts_are_clean() {
    for (scheduler, script) in SCRIPTS {
        for more in [
            &[][..],
            &["--time", "2h", "--", "--comment=a"],
            &["--put", "scp {} head:"],
        ] {
            let is_refused = match scheduler {
                "shell" => more.contains(&"--"),
                "slurm" => more.contains(&"--put"),
                _ => false,
            };
            if is_refused {
                continue;
            }
            let array = Array::given(16, 7, scheduler, more);
            let file = array.script(script);
            let parsed = Command::new("bash").arg("-n").arg(&file).output().unwrap();
            assert!(parsed.status.success(), "{parsed:?}");
            match Command::new("shellcheck").arg(&file).output() {
                Ok(checked) => {
                    assert!(checked.status.success(), "{}", printed(&checked.stdout));
                }
                Err(_) => skipped("no shellcheck"),
            }
        }
    }
}
