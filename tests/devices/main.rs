//! Devices: the kernels, the emulated device, and the CUDA driver, which a small C library replaces.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails"
)]

#[cfg(all(feature = "cuda", feature = "cli", target_os = "linux"))]
mod bad_driver;
#[cfg(feature = "emulated-gpu")]
mod bench;
#[cfg(feature = "emulated-gpu")]
mod colour;
#[cfg(all(feature = "cuda", feature = "cli", target_os = "linux"))]
mod counting_driver;
#[cfg(feature = "emulated-gpu")]
mod emulated;
#[cfg(feature = "emulated-gpu")]
#[path = "../common/emulated_device.rs"]
mod emulated_device;
#[cfg(all(feature = "cuda", feature = "cli", target_os = "linux"))]
mod failing_driver;
#[cfg(feature = "emulated-gpu")]
mod failures;
#[cfg(all(feature = "cuda", feature = "cli", target_os = "linux"))]
mod fake_cuda;
#[cfg(feature = "emulated-gpu")]
#[path = "../common/faulty_device.rs"]
mod faulty_device;
#[cfg(feature = "emulated-gpu")]
#[cfg(all(feature = "cuda", feature = "cli", target_os = "linux"))]
#[path = "../common/isolated.rs"]
mod isolated;
#[cfg(feature = "cuda")]
mod kernel_source;
#[cfg(feature = "cuda")]
mod kernels;
#[cfg(feature = "emulated-gpu")]
mod lanes;
#[cfg(all(feature = "cuda", feature = "cli", target_os = "linux"))]
mod ptx_machine;
#[cfg(feature = "emulated-gpu")]
#[path = "../common/random_board.rs"]
mod random_board;
#[cfg(all(feature = "cuda", feature = "cli", target_os = "linux"))]
mod real_ptx;
#[cfg(any(
    feature = "emulated-gpu",
    all(feature = "cuda", feature = "cli", target_os = "linux")
))]
#[path = "../common/run_spec.rs"]
mod run_spec;
#[cfg(feature = "emulated-gpu")]
mod runs;
#[cfg(feature = "fault-injection")]
mod sick;
#[path = "../common/skip.rs"]
mod skip;
#[cfg(all(feature = "cuda", feature = "cli", target_os = "linux"))]
mod slots;

#[cfg(not(feature = "emulated-gpu"))]
#[test]
fn the_emulated_device_is_skipped() {
    skip::skipped("tests on the emulated device need --features emulated-gpu");
}

#[cfg(not(feature = "cuda"))]
#[test]
fn cuda_is_skipped() {
    skip::skipped("tests of CUDA need --features cuda");
}

#[cfg(all(feature = "cuda", not(feature = "cli")))]
#[test]
fn commands_with_a_driver_are_skipped() {
    skip::skipped("commands with a driver need --features cli");
}
