//! Devices: the kernels, the emulated device, and the CUDA driver, which a small C library replaces.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails"
)]

#[cfg(all(feature = "cuda", feature = "cli", target_os = "linux"))]
mod bad_driver;
mod bench;
mod colour;
#[cfg(all(feature = "cuda", feature = "cli", target_os = "linux"))]
mod counting_driver;
mod emulated;
#[path = "../common/emulated_device.rs"]
mod emulated_device;
#[cfg(all(feature = "cuda", feature = "cli", target_os = "linux"))]
mod failing_driver;
mod failures;
#[cfg(all(feature = "cuda", feature = "cli", target_os = "linux"))]
mod fake_cuda;
#[path = "../common/faulty_device.rs"]
mod faulty_device;
#[cfg(all(feature = "cuda", feature = "cli", target_os = "linux"))]
#[path = "../common/isolated.rs"]
mod isolated;
#[cfg(feature = "cuda")]
mod kernel_source;
#[cfg(feature = "cuda")]
mod kernels;
mod lanes;
#[cfg(all(feature = "cuda", feature = "cli", target_os = "linux"))]
mod ptx_machine;
#[path = "../common/random_board.rs"]
mod random_board;
#[cfg(all(feature = "cuda", feature = "cli", target_os = "linux"))]
mod real_ptx;
#[path = "../common/run_spec.rs"]
mod run_spec;
mod runs;
#[cfg(feature = "fault-injection")]
mod sick;
#[path = "../common/skip.rs"]
mod skip;
#[cfg(all(feature = "cuda", feature = "cli", target_os = "linux"))]
mod slots;

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
