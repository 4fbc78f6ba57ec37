//! The program on the GPUs of a driver that interprets the kernels (`tests/ptx_machine`), and fails as it is told. So the
//! whole program is tested except the GPU itself.

use std::collections::BTreeSet;

use crate::common::program::words;
use crate::common::ptx_machine::Machine;
use serde_json::Value;

/// The failures of the driver that leave no usable device.
pub const USELESS: [&str; 6] = [
    "no device",
    "none shown",
    "broken",
    "222",
    "no memory",
    "700",
];

impl Machine {
    /// The result of a run, which must be correct, and its stderr.
    fn count(&self, arguments: &[&str]) -> (Value, String) {
        let output = self.run(&[&["run", "--json"], arguments].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {said}");
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["checked"], "known");
        (json, said)
    }

    /// Bytes of shared memory for a thread, of all launches: each number once.
    fn shared_memory(&self) -> BTreeSet<u32> {
        self.calls("shared").into_iter().collect()
    }
}

const ON_GPU: [&str; 6] = ["--gpu", "cuda", "--workers", "0", "--engine", "chain"];

#[test]
fn the_embedded_kernels_count() {
    let machine = Machine::new("");
    let (json, _) = machine.count(&[&["-n", "13"][..], &ON_GPU].concat());
    assert_eq!(json["gpu"][0]["name"], "Fake GPU");
    let tasks = json["gpu"][0]["tasks"].as_u64().unwrap();
    assert!(tasks > 0, "{json}");
    assert_eq!(json["workers"], 1);
    // The one worker counts the census of the board: that is not said of the device.
    let (alone, _) = machine.count(&[&["-n", "13", "--no-unique"][..], &ON_GPU].concat());
    assert_eq!(alone["gpu"][0]["tasks"], tasks);
}

#[test]
fn a_kernel_of_which_no_block_fits_is_no_kernel() {
    let machine = Machine::new("no room");
    let output = machine.run(&[&["run", "-n", "12"][..], &ON_GPU].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(said.contains("no kernel for this device"), "{said}");
}

#[test]
fn without_a_device_the_workers_count() {
    for fake in USELESS {
        let machine = Machine::new(fake);
        // From 16 queens on, a run looks for a GPU without `--gpu`.
        let (json, _) = machine.count(&["-n", "16", "--workers", "1", "--engine", "chain"]);
        assert_eq!(json["nodes"].as_str().unwrap().len(), 9, "{fake}: {json}");
        let by_device = json["gpu"][0]["tasks"].as_u64().unwrap_or(0);
        assert_eq!(by_device, 0, "{fake}");
    }
    let machine = Machine::new("no device");
    std::fs::write(
        machine.folder.path().join("queenfold.toml"),
        "[trace]\nfilter = \"info\"\n",
    )
    .unwrap();
    let missing = "no GPU takes part: the CUDA driver shows no device";
    // To start a driver may take seconds, in which a small board is counted.
    let (_, said) = machine.count(&["-n", "8", "--workers", "1"]);
    assert!(
        !said.contains(missing) && machine.calls("init").is_empty(),
        "{said}"
    );
    let chain = ["--engine", "chain", "--no-unique"];
    let (_, said) = machine.count(&[&["-n", "16", "--workers", "1"][..], &chain].concat());
    assert_eq!(said.matches(missing).count(), 1, "{said}");
    assert_eq!(machine.calls("init").len(), 1);
}

#[test]
fn a_device_that_fails_hides_no_other() {
    let mut machine = Machine::new("first fails");
    machine.devices = 2;
    let (json, said) = machine.count(&[&["-n", "12"][..], &ON_GPU].concat());
    assert_eq!(json["gpu"].as_array().unwrap().len(), 1);
    assert_eq!(machine.calls("device"), [1]);
    let why = "cannot describe it: CUDA_ERROR_INVALID_DEVICE";
    assert!(said.contains(why), "{said}");
    for (command, code) in [
        ("selftest", 0),
        ("run -n 12 --gpu 0", 6),
        ("bench --gpu 0", 6),
    ] {
        let arguments: Vec<_> = command.split(' ').collect();
        let output = machine.run(&arguments);
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains("CUDA_ERROR_INVALID_DEVICE"), "{said}");
        assert_eq!(
            said.contains("1: Fake GPU"),
            command == "selftest",
            "{said}"
        );
    }
}

#[test]
fn a_device_with_little_shared_memory_counts_jobs_of_fewer_rows() {
    for (shared, rows) in [("228", 9), ("48", 5)] {
        let mut machine = Machine::new("");
        machine.shared_memory = shared;
        machine.count(&[&["-n", "13"][..], &ON_GPU].concat());
        // For each row a node of 16 bytes and a word, and one word more.
        assert_eq!(
            machine.shared_memory(),
            [20 * rows + 4].into(),
            "{shared} KiB"
        );
    }
}

#[test]
fn auto_takes_the_colour_engine_with_devices_too() {
    let gpu = words!("--gpu cuda --no-unique --workers 1 -n");
    for (n, engine) in [("12", "chain"), ("17", "colour")] {
        let (json, _) = Machine::new("idle").count(&[&gpu[..], &[n]].concat());
        assert_eq!(json["engine"], engine, "n = {n}");
        assert_eq!(json["gpu"].as_array().unwrap().len(), 1, "n = {n}");
    }
    // Without being asked for, devices are not opened where the workers take no time.
    let machine = Machine::new("");
    machine.count(&["-n", "17", "--workers", "1", "--no-unique"]);
    assert!(machine.calls("launch").is_empty());
}

#[test]
fn blocks_are_as_large_as_lets_most_threads_run() {
    // Room for three blocks of 160 threads of the colour kernel, where it is for five of 64, four of 96 and three of 128;
    // for two of 96 or one of more; for one of 64; for one of 32.
    for (shared, threads) in [("100", 160), ("48", 96), ("20", 64), ("16", 32)] {
        let mut machine = Machine::new("idle");
        machine.shared_memory = shared;
        machine.run(&words!("run -n 12 --engine colour --gpu cuda --workers 0"));
        let launches = machine.calls("launch");
        assert_eq!(launches[0], threads, "{shared} KiB");
    }
}

/// The canary is copied for every few multiprocessors, and each slot has room for a launch.
#[test]
fn a_small_board_takes_little_memory_of_a_large_device() {
    for engine in ["chain", "colour"] {
        let mut machine = Machine::new("idle");
        machine.multiprocessors = "132";
        machine.run(&words!(
            "run -n 8 --gpu cuda --workers 0 --engine {}",
            engine
        ));
        for memory in ["allocated", "pinned"] {
            let mebibytes = machine.calls(memory).iter().sum::<u32>() >> 10;
            println!("{engine}: {mebibytes} MiB {memory}");
            assert!(
                (1..=80).contains(&mebibytes),
                "{engine}: {mebibytes} MiB {memory}"
            );
        }
    }
}

#[test]
fn a_device_that_was_asked_for_and_is_not_there_ends_with_6() {
    let mut machine = Machine::new("");
    machine.devices = 2;
    for (fake, device, why) in [
        ("no device", "0", "shows no device"),
        (
            "",
            "2",
            "no GPU 2: the CUDA driver shows 2, numbered from 0",
        ),
    ] {
        machine.fake = fake;
        let output = machine.run(&["run", "-n", "12", "--gpu", device]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(6), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn a_device_that_is_lost_on_the_way_loses_nothing() {
    let machine = Machine::new("700 later");
    // The worker takes longer for it than the device takes to be opened.
    let workers = words!("-n 17 --workers 1 --isa portable --engine chain");
    let (_, said) = machine.count(&[&workers[..], &["--gpu", "cuda"]].concat());
    assert!(said.contains("ILLEGAL_ADDRESS"), "{said}");
    let output = machine.run(&[&["run", "-n", "15"][..], &ON_GPU].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("no device is left"), "{said}");
    assert!(output.stdout.is_empty());
}

#[test]
fn each_device_of_a_list_takes_part_once() {
    let mut machine = Machine::new("");
    machine.devices = 3;
    let directory = machine.folder.path().join("run").display().to_string();
    let (json, _) = machine.count(
        &[
            &words!("-n 15 --no-unique --dir {}", &directory)[..],
            &ON_GPU,
            &["--gpu", "0,2"],
        ]
        .concat(),
    );
    let gpus = json["gpu"].as_array().unwrap();
    assert_eq!(gpus.len(), 2);
    let tasks: Vec<_> = gpus
        .iter()
        .map(|gpu| gpu["tasks"].as_u64().unwrap())
        .collect();
    assert!(tasks[0] > 0 && tasks[1] > 0, "{tasks:?}");
    assert_eq!(tasks.iter().sum::<u64>(), 32, "one queue, each task once");
    let mut opened = machine.calls("device");
    opened.sort_unstable();
    assert_eq!(opened, [0, 2], "each device is opened once, by one owner");

    let output = machine.run(&["status", &directory, "--json"]);
    let status: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        status["devices"],
        serde_json::json!(["Fake GPU", "Fake GPU"])
    );
    let workers: Vec<_> = status["workers"].as_array().unwrap().iter().collect();
    let names: Vec<_> = workers
        .iter()
        .map(|worker| worker["name"].as_str())
        .collect();
    assert_eq!(names, [Some("gpu-0"), Some("gpu-2")]);
    let told = machine.run(&["status", &directory]);
    let told = String::from_utf8_lossy(&told.stdout);
    assert!(told.contains("devices     Fake GPU, Fake GPU"), "{told}");
}

#[test]
fn boards_too_small_for_a_device_are_left_to_the_workers() {
    let machine = Machine::new("");
    let range = ["run", "-n", "1..=6", "--gpu", "cuda", "--json"];
    let output = machine.run(&[&range[..], &["--workers", "1"]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 6);
    assert_eq!(
        said.matches("no device takes part, because ").count(),
        4,
        "{said}"
    );
    let alone = machine.run(&[&range[..], &["--workers", "0"]].concat());
    assert_eq!(alone.status.code(), Some(6));
    let said = String::from_utf8_lossy(&alone.stderr);
    assert!(said.contains("devices count boards of 5 to "), "{said}");
}

#[test]
fn bench_measures_all_in_one_command() {
    let machine = Machine::new("");
    let output = machine.run(&["bench", "--gpu", "--json", "--for", "1ms"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["device"]["name"], "Fake GPU");
    let totals: Vec<_> = json["boards"].as_array().unwrap().iter().collect();
    let totals: Vec<_> = totals
        .iter()
        .map(|board| {
            (
                board["n"].as_u64().unwrap(),
                board["total"].as_str().unwrap(),
            )
        })
        .collect();
    // By the chain and by the colour engine.
    assert_eq!(totals, [(10, "724"); 2]);
    for board in json["boards"].as_array().unwrap() {
        assert!(board["kernel_seconds"].as_f64().unwrap() > 0.0);
        assert_eq!(board["registers"], 68);
    }
    let mixed = &json["mixed"];
    assert_eq!(mixed["n"], 10);
    for times in words!("device_seconds mixed_seconds mixed_skew_seconds cpu_seconds cpu_cut_off") {
        assert_eq!(mixed[times].as_array().unwrap().len(), 5, "{times}");
    }
    assert!(json["error"].is_null());

    let ladder = "ladder --method node-layer,bit-board -n 12 --style gpu --json";
    let output = machine.run(&words!(ladder));
    let rows = String::from_utf8_lossy(&output.stdout);
    assert_eq!(rows.matches(r#""total":"14200""#).count(), 2, "{rows}");

    let output = machine.run(&["bench", "--gpu", "--for", "1ms"]);
    let text = String::from_utf8_lossy(&output.stdout);
    let header = "  n  engine    kernel s      wall s    busy";
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[2], header, "{text}");
    assert_eq!(lines[3].len(), header.len());
    assert!(!text.contains(['{', '"']), "{text}");
}

#[test]
fn bench_on_a_device_that_fails_ends_with_one_line() {
    for fake in ["222", "no memory", "700", "700 later"] {
        let machine = Machine::new(fake);
        let output = machine.run(&["bench", "--gpu", "--json", "--for", "1ms"]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{fake}: {said}");
        let errors: Vec<_> = said
            .lines()
            .filter_map(|line| line.strip_prefix("error: "))
            .collect();
        assert_eq!(errors.len(), 1, "{fake}: {said}");
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["error"], errors[0], "{fake}");
        assert_eq!(json["boards"], serde_json::json!([]), "{fake}");
    }
}

#[test]
fn bench_that_is_stopped_prints_what_it_has_measured() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    let machine = Machine::new("");
    let mut bench = machine
        .command(&["bench", "--gpu", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(bench.stderr.take().unwrap()).lines();
    let measured = said.find(|line| line.as_ref().unwrap().starts_with("n = 10: "));
    assert!(measured.is_some());
    let killed = std::process::Command::new("kill")
        .args(["-TERM", &bench.id().to_string()])
        .status();
    assert!(killed.unwrap().success());
    // Reads on, so that the process does not block on a full pipe.
    said.for_each(drop);
    let output = bench.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["error"], "stopped by a signal");
    assert_eq!(json["boards"][0]["total"], "724");
    assert!(json["mixed"].is_null());
}

#[test]
fn a_device_that_does_not_count_a_board_is_refused_by_name() {
    let machine = Machine::new("");
    for workers in ["0", "1"] {
        for (engine, largest) in [("chain", 28), ("colour", 30)] {
            let why = format!("boards of 5 to {largest} queens, not of 31");
            let run = ["run", "-n", "31", "--engine", engine, "--json"];
            let named = ["--gpu", "cuda", "--workers", workers];
            let output = machine.run(&[&run[..], &named].concat());
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success() && said.contains(&why), "{said}");
            assert!(output.stdout.is_empty());
        }
    }
    assert!(machine.calls("launch").is_empty());
}
