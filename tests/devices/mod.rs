//! Devices: the kernels, the emulated device, and the CUDA driver, which a small C library replaces.

#[cfg(all(feature = "cuda", target_os = "linux"))]
mod bad_driver;
mod bench;
mod colour;
#[cfg(all(feature = "cuda", target_os = "linux"))]
mod counting_driver;
mod emulated;
#[cfg(all(feature = "cuda", target_os = "linux"))]
mod failing_driver;
mod failures;
#[cfg(all(feature = "cuda", target_os = "linux"))]
mod fake_cuda;
#[cfg(feature = "cuda")]
mod kernel_source;
#[cfg(feature = "cuda")]
mod kernels;
#[cfg(all(feature = "cuda", target_os = "linux"))]
mod ptx_machine;
#[cfg(all(feature = "cuda", target_os = "linux"))]
mod real_ptx;
mod runs;
mod sick;
#[cfg(all(feature = "cuda", target_os = "linux"))]
mod slots;

#[cfg(not(feature = "cuda"))]
#[test]
fn cuda_is_skipped() {
    crate::common::skip::skipped("tests of CUDA need --features cuda");
}
