//! What the program does when the CUDA driver is missing, old or failing.
//!
//! The library path of a process is fixed at its start. So each case runs in a process of its own: this
//! test binary, started again with `in_the_child`.

use std::process::{Command, Output};
use std::time::Duration;

use super::counting_driver::USELESS;
use crate::common::program::{first_object, printed, tells};
use crate::common::ptx_machine::Machine;
use queenfold::board::Size;
use queenfold::chain::ChainPlan;
use queenfold::device::cuda::{CudaSettings, devices, open};
use queenfold::device::{DeviceTrouble, Owner, OwnerSettings};
use queenfold::engine::Plan;

const CHILD: &str = "devices::failing_driver::in_the_child";

/// What the child prints about a driver that fails in the way that `fake` names.
fn child(fake: &'static str) -> String {
    let machine = Machine::new(fake);
    told(machine.child(CHILD).env("SLOW", "1"))
}

/// The same with another library, or without one.
fn told(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}");
    text
}

#[test]
#[ignore = "the other tests start it, each with its own driver library"]
fn in_the_child() {
    let found = devices();
    println!("found {} {}", found.devices.len(), found.missing);
    let opened = open(&CudaSettings::default()).map_err(DeviceTrouble::from);
    let plan = ChainPlan::new(Size::new(12).unwrap());
    let settings = OwnerSettings {
        least_patience: Duration::from_millis(100),
        ..OwnerSettings::default()
    };
    match opened.and_then(|cuda| Owner::new(cuda, plan.launcher().unwrap(), settings)) {
        Ok(_) => println!("opened"),
        Err(trouble) => println!("refused: {}", trouble.into_words()),
    }
}

#[test]
fn without_a_driver_there_is_no_device_and_the_reason_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let machine = Machine::new("");
    let said = told(machine.child(CHILD).env("LD_LIBRARY_PATH", folder.path()));
    // A machine with a real driver finds that one.
    if said.contains("found 0") {
        assert!(said.contains("no CUDA driver: libcuda not found"), "{said}");
        assert!(said.contains("refused: no CUDA driver"), "{said}");
    }
}

#[test]
fn a_driver_that_fails_is_named_and_its_device_is_not_used() {
    for (fake, found, refused) in [
        ("no device", "0 the CUDA driver shows no device", ""),
        ("none shown", "0 the CUDA driver shows no device", ""),
        ("broken", "0 the CUDA driver does not start", ""),
        ("222", "1", "Fake GPU: no kernel"),
        ("222", "1", "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"),
        ("218", "1", "CUDA_ERROR_INVALID_PTX"),
        ("209", "1", "CUDA_ERROR_NO_BINARY_FOR_GPU"),
        ("no memory", "1", "Fake GPU: out of device memory"),
        (
            "700",
            "1",
            "Fake GPU: the device failed: CUDA_ERROR_ILLEGAL_ADDRESS",
        ),
        (
            "719",
            "1",
            "Fake GPU: the device failed: CUDA_ERROR_LAUNCH_FAILED",
        ),
        ("idle", "1", "Fake GPU: the device counted 0 jobs of"),
    ] {
        tells(
            &child(fake),
            &[&format!("found {found}"), "refused: ", refused],
        );
    }
}

#[test]
fn a_driver_that_cannot_read_the_kernels_is_too_old() {
    let machine = Machine::new("");
    let said = told(machine.child(CHILD).env("SIM_DRIVER", "12010"));
    let why = "the CUDA driver is too old: CUDA 12.2 is the least, and it is of CUDA 12.1";
    tells(
        &said,
        &[&format!("found 0 {why}"), &format!("refused: {why}")],
    );
}

/// Runs the program with a driver that fails in the way that `fake` names.
fn program(fake: &'static str, arguments: &[&str]) -> Output {
    Machine::new(fake).run(arguments)
}

#[test]
fn the_self_test_shows_what_there_is_and_never_fails() {
    let output = program("", &["selftest", "--json"]);
    assert!(output.status.success());
    let json = first_object(&printed(&output.stdout));
    let gpu = &json["gpus"][0];
    assert_eq!(gpu["name"], "Fake GPU");
    assert_eq!(
        (&gpu["registers"], &gpu["warps_per_multiprocessor"]),
        (&68.into(), &32.into())
    );
    assert_eq!(gpu["memory"], "17179869184");
    let text = |fake| {
        let output = program(fake, &["selftest"]);
        String::from_utf8(output.stdout).unwrap()
    };
    let fits = text("");
    tells(
        &fits,
        &["0: Fake GPU, compute capability 9.0, 16.0 GiB, CUDA 12.2, "],
    );
    let failing = text("222");
    tells(&failing, &[", not usable: ", "UNSUPPORTED_PTX_VERSION"]);
    assert!(!failing.contains("unknown registers"), "{failing}");
    for fake in USELESS {
        for arguments in [&["selftest"][..], &["selftest", "--json"]] {
            let output = program(fake, arguments);
            assert!(output.status.success(), "{fake}");
        }
    }
}

#[test]
fn the_ladder_prints_no_row_of_a_gpu_that_fails() {
    for (fake, says) in [
        ("idle", "the device counted 0 jobs of"),
        ("222", "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"),
        ("no memory", "out of device memory"),
        ("700", "CUDA_ERROR_ILLEGAL_ADDRESS"),
    ] {
        for method in ["bit-board", "node-layer"] {
            let arguments = ["ladder", "--method", method, "--style", "gpu", "-n", "9"];
            let output = program(fake, &arguments);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(6), "{fake}: {said}");
            let begins = format!("error: {method}, gpu: Fake GPU: ");
            assert!(said.starts_with(&begins) && said.contains(says), "{said}");
            assert_eq!(said.lines().count(), 1, "{said}");
            assert!(output.stdout.is_empty(), "{fake}");
        }
    }
}

#[test]
fn a_launch_of_the_ladder_has_a_thread_for_each_node() {
    let block = ["--style", "gpu", "-n", "8"];
    let arguments = [&["ladder", "--method", "node-layer"], &block[..]].concat();
    let machine = Machine::new("idle");
    let output = machine.run(&arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    let nodes = said.trim().rsplit(' ').next().unwrap();
    let nodes: u32 = nodes.parse().expect("counted 0 jobs of K");
    assert!(nodes > 96, "{said}");
    assert_eq!(machine.calls("blocks"), [nodes.div_ceil(96)]);
    assert_eq!(machine.calls("launch"), [96]);
}

#[test]
fn bench_without_a_device_ends_with_6_and_says_what_was_looked_for() {
    let output = program("no device", &["bench", "--gpu", "--json"]);
    assert_eq!(output.status.code(), Some(6));
    let said = String::from_utf8_lossy(&output.stderr);
    tells(
        &said,
        &["no CUDA device 0: the CUDA driver shows no device"],
    );
    assert!(output.stdout.is_empty());
}
