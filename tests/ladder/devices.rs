//! The methods that have a device kernel, on a GPU if there is one, and on the emulated device, which
//! is told to fail.

use std::sync::atomic::AtomicBool;
use std::{sync::Arc, time::Duration};

use crate::common::faulty_device::{Fault, Faulty};
use queenfold::device::EmulatedSettings;
use queenfold::engine::Launch;
use queenfold::ladder::{Method, TableRow, run_method_on};
use queenfold::ladder::{StopReason, Style, method, run_method};

use super::methods::{assert_known, request};

#[test]
fn the_gpu_style_counts_right_or_says_that_there_is_no_device() {
    for name in ["bit-board", "node-layer"] {
        let method = method(name).unwrap();
        let request = request(8, Style::Gpu);
        match run_method(method, &request, None, &AtomicBool::new(false), None) {
            Ok(row) => assert_known(&row, method.about().unique),
            Err(StopReason::NoDevice(why)) => assert!(why.contains("GPU"), "{why}"),
            Err(stopped) => panic!("{stopped:?}"),
        }
    }
}

mod emulated {
    use super::*;

    /// The number of launches of the self-test, which is the same for every board.
    fn launches_of_the_self_test(method: &dyn Method) -> u64 {
        match method.about().name {
            // One for each position of the first queens.
            "bit-board" => 5 + 3,
            _ => 1,
        }
    }

    /// The outcome of ten queens on a device with this fault at this launch, counted from 0.
    fn with(fault: Fault, at: u64, method: &dyn Method) -> Result<TableRow, StopReason> {
        let trouble = Arc::new(move |number, _: &Launch| (number == at).then_some(fault));
        let mut device = Faulty::new(EmulatedSettings::default(), trouble);
        // Who waits for a device that hangs waits as long as this. Ten queens take a moment, but a long
        // one on a busy machine.
        let hangs = fault == Fault::Hangs && at < u64::MAX;
        let limit = Some(Duration::from_secs(if hangs { 2 } else { 120 }));
        let never = AtomicBool::new(false);
        run_method_on(
            &mut device,
            method,
            &request(10, Style::Emulated),
            limit,
            &never,
        )
    }

    #[test]
    fn a_launch_that_fails_gives_no_number() {
        for name in ["bit-board", "node-layer"] {
            let method = method(name).unwrap();
            let first = launches_of_the_self_test(method);
            for (fault, says) in [
                (Fault::JobMissing, "jobs of"),
                (Fault::OutOfMemory, "out of device memory"),
                (Fault::NoKernel, "no kernel"),
                (Fault::Lost, "the device failed"),
            ] {
                let Err(StopReason::Failed(why)) = with(fault, first, method) else {
                    panic!("{name}, {fault:?}");
                };
                assert!(why.contains(says), "{name}, {fault:?}: {why}");
            }
            let hangs = with(Fault::Hangs, first, method);
            assert_eq!(hangs, Err(StopReason::TimeLimit), "{name}");
        }
    }

    #[test]
    fn a_device_that_fails_its_self_test_is_not_used() {
        for name in ["bit-board", "node-layer"] {
            let method = method(name).unwrap();
            for fault in [Fault::JobMissing, Fault::OutOfMemory, Fault::Lost] {
                let Err(StopReason::NoDevice(why)) = with(fault, 0, method) else {
                    panic!("{name}, {fault:?}");
                };
                assert!(why.starts_with("emulated: "), "{why}");
            }
            let wrong = with(Fault::WrongSum, 0, method);
            let Err(StopReason::NoDevice(why)) = wrong else {
                panic!("{wrong:?}");
            };
            assert!(why.contains("solutions of 8 queens, not 92"), "{why}");
        }
    }

    #[test]
    fn a_device_that_does_not_fail_gives_a_row() {
        for name in ["bit-board", "node-layer"] {
            let method = method(name).unwrap();
            let row = with(Fault::Hangs, u64::MAX, method).unwrap();
            assert_known(&row, method.about().unique);
        }
    }
}
