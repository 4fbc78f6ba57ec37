//! Devices whose driver behaves badly: kernels that never end, errors that stick to the process, calls that
//! wait for launches, copies that arrive late.
//!
//! As in `failing_driver`, each case is a process of its own, whose library path leads to a few lines of C.

use std::io::Read;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::common::program::{tells, words};
use crate::common::ptx_machine::Machine;
use queenfold::actors::DeviceSpec;
use queenfold::actors::{Control, run};
use queenfold::board::{Size, known};
use queenfold::chain::ChainPlan;
use queenfold::device::cuda::{Cuda, CudaSettings, has_endless_kernel, open};
use queenfold::device::{Device, DeviceError, OwnerSettings};
use queenfold::engine::{Completed, Engine, Launch, LaunchBatch, Plan};

use crate::common::run_spec::run_spec;
use queenfold::simd::Isa;

/// The machine whose driver behaves so.
fn bad(fake: &'static str) -> Machine {
    let mut machine = Machine::new(fake);
    machine.slow = "1";
    machine
}

/// Runs the ignored test `name` of this file in a process of its own.
fn child(machine: &Machine, name: &str) -> String {
    let name = format!("devices::bad_driver::children::{name}");
    let output = within(&mut machine.child(&name), SOON);
    let said = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", machine.fake);
    said
}

fn program(machine: &Machine, arguments: &[&str]) -> Output {
    within(&mut machine.command(arguments), SOON)
}

/// Runs a command that must end within `limit`.
fn within(command: &mut Command, limit: Duration) -> Output {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    fn all(mut from: impl Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
        std::thread::spawn(move || {
            let mut all = Vec::new();
            from.read_to_end(&mut all).unwrap();
            all
        })
    }
    let stdout = all(child.stdout.take().unwrap());
    let stderr = all(child.stderr.take().unwrap());
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begin.elapsed() > limit {
            child.kill().unwrap();
            child.wait().unwrap();
            let said = String::from_utf8_lossy(&stderr.join().unwrap()).into_owned();
            panic!("not done after {limit:?}: {said}");
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    Output {
        status,
        stdout: stdout.join().unwrap(),
        stderr: stderr.join().unwrap(),
    }
}

/// The processes that the tests start.
mod children {
    use super::*;

    fn settings() -> CudaSettings {
        CudaSettings {
            grace: Duration::from_millis(300),
            ..CudaSettings::default()
        }
    }

    fn device() -> DeviceSpec {
        DeviceSpec {
            index: 0,
            name: "Fake GPU".to_owned(),
            open: Arc::new(|| open(&settings())),
            settings: OwnerSettings {
                least_patience: Duration::from_millis(500),
                // Several launches even on small boards.
                first_cost: 0.01,
                batch_time: Duration::from_millis(50),
                ..OwnerSettings::default()
            },
        }
    }

    /// Counts 16 queens on one worker and the device, and prints how many tasks each counted.
    fn count() {
        let n = Size::new(16).unwrap();
        let plan: Arc<dyn Plan> = Arc::new(ChainPlan::new(n));
        // The slowest, so that the device takes part.
        let spec = run_spec(vec![plan], 1, Isa::Portable);
        let report = run(&spec, &[device()], &Control::new()).unwrap();
        assert_eq!(
            report.tallies[&Engine::Chain].completions.solutions(),
            known(n).unwrap().total
        );
        let tasks: Vec<_> = report.workers.iter().map(|worker| worker.tasks).collect();
        println!("counted {tasks:?}");
    }

    /// The first `count` tasks of 12 queens as a launch.
    fn launch(count: u64) -> Box<dyn LaunchBatch> {
        let plan = ChainPlan::new(Size::new(12).unwrap());
        let tasks: Vec<_> = (0..count).map(|index| plan.task(index)).collect();
        plan.launcher().unwrap().batch(&tasks, 0).unwrap()
    }

    fn submit(device: &mut Cuda, launch: &Launch) -> Completed {
        device.submit(launch).unwrap();
        device.poll(Duration::from_secs(10)).unwrap().unwrap()
    }

    #[test]
    #[ignore = "another test starts it with its own driver library"]
    fn a_kernel_that_never_ends() {
        count();
        assert!(has_endless_kernel());
        // The end of the test program would wait for the kernel.
        signal_hook::low_level::exit(0);
    }

    #[test]
    #[ignore = "another test starts it with its own driver library"]
    fn an_error_that_sticks() {
        count();
        assert!(!has_endless_kernel());
        assert!(Cuda::open(settings()).is_err(), "the error sticks");
    }

    #[test]
    #[ignore = "another test starts it with its own driver library"]
    fn a_copy_that_arrives_late() {
        let mut device = Cuda::open(CudaSettings {
            streams: 1,
            slots_per_stream: 1,
            ..settings()
        })
        .unwrap();
        let batch = launch(1);
        let sent = batch.launch().unwrap();
        for _ in 0..3 {
            device.submit(sent).unwrap();
            device.cancel();
            device.poll(Duration::from_secs(10)).unwrap().unwrap();
            let completed = submit(&mut device, sent);
            assert_eq!(completed.jobs_done, sent.job_count());
        }
    }

    #[test]
    #[ignore = "another test starts it with its own driver library"]
    fn memory_that_grows() {
        let mut device = Cuda::open(settings()).unwrap();
        let small = launch(1);
        let small = small.launch().unwrap();
        // Beyond what a slot has from the start.
        let jobs = small.jobs().repeat((20 << 20) / (4 * small.jobs().len()));
        let large = Launch::new(small.program(), jobs, small.tables().to_vec()).unwrap();
        device.submit(small).unwrap();
        assert_eq!(device.submit(&large), Err(DeviceError::Busy));
        device.submit(small).unwrap();
        for _ in 0..2 {
            device.poll(Duration::from_secs(10)).unwrap().unwrap();
        }
        for _ in 0..2 {
            device.submit(&large).unwrap();
        }
        for _ in 0..2 {
            device.poll(Duration::from_secs(60)).unwrap().unwrap();
        }
    }

    #[test]
    #[ignore = "another test starts it with its own driver library"]
    fn times_after_weeks() {
        let mut device = Cuda::open(settings()).unwrap();
        let batch = launch(1);
        let sent = batch.launch().unwrap();
        let kernel = Duration::from_micros(sent.job_count().into());
        let mut before: Option<Completed> = None;
        for launch in 0..1000 {
            let completed = submit(&mut device, sent);
            let span = completed.spans.kernel;
            let off = (span.end - span.start).abs_diff(kernel);
            assert!(off < Duration::from_micros(2), "launch {launch}: {off:?}");
            if let Some(before) = before {
                let apart = span.start - before.spans.kernel.start;
                let off = apart.abs_diff(Duration::from_secs(3600) + kernel);
                assert!(off < Duration::from_millis(1), "launch {launch}: {off:?}");
            }
            before = Some(completed);
        }
    }
}

const SOON: Duration = Duration::from_secs(60);

#[test]
fn a_kernel_that_never_ends_costs_the_run_its_device_and_nothing_else() {
    let case = bad("endless");
    let said = child(&case, "a_kernel_that_never_ends");
    assert!(said.contains("counted ["), "{said}");
    assert_eq!(case.calls("device").len(), 1, "it is not opened again");
}

#[test]
#[ignore = "half a minute: the program waits 20 s for a launch"]
fn the_program_ends_in_time_beside_a_kernel_that_never_ends() {
    let case = bad("endless");
    let output = program(
        &case,
        &words!("run -n 16 --engine chain --gpu cuda --workers 1 --isa portable --json"),
    );
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    tells(&said, &["gpu-0", "does not end"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["checked"], "known");
    assert_eq!(json["gpu"][0]["tasks"], 0);
}

#[test]
fn after_an_error_that_sticks_the_workers_count_on() {
    let case = bad("sticky");
    let said = child(&case, "an_error_that_sticks");
    assert!(said.contains("counted ["), "{said}");
    assert_eq!(case.calls("init").len(), 1, "it is not opened again");
}

#[test]
fn a_run_that_loses_the_devices_that_did_most_of_it_ends_in_order_and_is_resumed() {
    for (devices, launch) in [(1, 5), (8, 14)] {
        let mut case = bad("sticky");
        (case.devices, case.launch) = (devices, launch);
        loses_all(&case);
    }
}

/// Every device fails with the first one.
fn loses_all(case: &Machine) {
    let output = program(
        case,
        &words!("run -n 15 --engine chain --gpu cuda --workers 0 --dir run"),
    );
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(7), "{said}");
    let why = "(lost devices did most of the work)";
    tells(
        &said,
        &["stopped by the loss of gpu-", why, "queenfold resume run"],
    );
    // The driver fails once.
    let output = program(case, &["resume", "run", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["checked"], "known");
}

#[test]
fn a_copy_that_arrives_late_ends_no_other_launch() {
    child(&bad("late"), "a_copy_that_arrives_late");
}

#[test]
fn memory_grows_only_while_no_launch_is_under_way() {
    let case = bad("idle");
    child(&case, "memory_that_grows");
    assert_eq!(case.calls("stall"), [0; 0]);
    assert_eq!(case.defects(), [""; 0]);
}

#[test]
fn times_are_exact_after_weeks() {
    child(&bad("hours"), "times_after_weeks");
}
