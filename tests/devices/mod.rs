//! Devices: the kernels, the emulated device, and the CUDA driver, which a small C library replaces.

#[cfg(target_os = "linux")]
mod bad_driver;
mod bench;
mod colour;
#[cfg(target_os = "linux")]
mod counting_driver;
mod emulated;
#[cfg(target_os = "linux")]
mod failing_driver;
mod failures;
#[cfg(target_os = "linux")]
mod fake_cuda;
mod kernel_source;
mod kernels;
#[cfg(target_os = "linux")]
mod ptx_machine;
#[cfg(target_os = "linux")]
mod real_ptx;
mod runs;
mod sick;
#[cfg(target_os = "linux")]
mod slots;
