//! The methods that have a device kernel: their kernels, executed as they are, and a device that fails.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::common::faulty_device::{Fault, Faulty};
use queenfold::engine::Launch;
use queenfold_cli::ladder::{StopReason, Style, TableRow, method, run_method_on};

use super::methods::{assert_known, request};

#[cfg(target_os = "linux")]
mod embedded {
    use super::*;
    use crate::common::program::said;
    use crate::common::ptx_machine::Machine;
    use queenfold::device::cuda::{CudaSettings, open};

    #[test]
    fn the_kernels_count_right() {
        let machine = Machine::new("");
        let child = "ladder::devices::embedded::in_the_child";
        let (code, out, err) = said(&machine.child(child).output().unwrap());
        assert_eq!(code, 0, "{out}{err}");
        assert_eq!(machine.defects(), [""; 0]);
    }

    #[test]
    #[ignore = "the other test starts it, with the library"]
    fn in_the_child() {
        let mut device = open(&CudaSettings::default()).unwrap();
        for name in ["bit-board", "node-layer"] {
            let method = method(name).unwrap();
            for n in 4..=8 {
                let (request, never) = (request(n, Style::Gpu), AtomicBool::new(false));
                let row =
                    run_method_on(Some(device.as_mut()), method, &request, None, &never, None);
                assert_known(&row.unwrap());
            }
        }
    }
}

/// The outcome of ten queens on a device with this fault at this launch, counted from 0.
fn with(fault: Fault, at: u64) -> Result<TableRow, StopReason> {
    let trouble = Arc::new(move |number, _: &Launch| (number == at).then_some(fault));
    let mut device = Faulty::new(trouble);
    // Who waits for a device that hangs waits as long as this. Ten queens take a moment, but a long
    // one on a busy machine.
    let hangs = fault == Fault::Hangs && at < u64::MAX;
    let limit = Some(Duration::from_secs(if hangs { 2 } else { 120 }));
    let method = method("node-layer").unwrap();
    let (request, never) = (request(10, Style::Gpu), AtomicBool::new(false));
    run_method_on(Some(&mut device), method, &request, limit, &never, None)
}

/// Launch 0 is the self-test.
#[test]
fn a_launch_that_fails_gives_no_number() {
    for (fault, says) in [
        (Fault::JobMissing, "jobs of"),
        (Fault::OutOfMemory, "out of device memory"),
        (Fault::NoKernel, "no kernel"),
        (Fault::Lost, "the device failed"),
    ] {
        let Err(StopReason::Failed(why)) = with(fault, 1) else {
            panic!("{fault:?}");
        };
        assert!(why.contains(says), "{fault:?}: {why}");
    }
    assert_eq!(with(Fault::Hangs, 1), Err(StopReason::TimeLimit));
}

#[test]
fn a_device_that_fails_its_self_test_is_not_used() {
    for (fault, says) in [
        (Fault::JobMissing, "jobs of"),
        (Fault::OutOfMemory, "out of device memory"),
        (Fault::Lost, "the device failed"),
        (Fault::WrongSum, "solutions of 8 queens, not 92"),
    ] {
        let Err(StopReason::NoDevice(why)) = with(fault, 0) else {
            panic!("{fault:?}");
        };
        assert!(
            why.starts_with("test device: ") && why.contains(says),
            "{why}"
        );
    }
}

#[test]
fn a_device_that_does_not_fail_gives_a_row() {
    assert_known(&with(Fault::Hangs, u64::MAX).unwrap());
}
