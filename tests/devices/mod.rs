//! Devices: the kernels, what owners and runs do with a device, and the CUDA driver, which a library replaces.

#[cfg(target_os = "linux")]
mod bad_driver;
mod bench;
#[cfg(target_os = "linux")]
mod counting_driver;
mod eight;
#[cfg(target_os = "linux")]
mod failing_driver;
mod failures;
mod kernel_source;
mod kernels;
mod owner;
#[cfg(target_os = "linux")]
mod real_ptx;
mod runs;
mod sick;
#[cfg(target_os = "linux")]
mod slots;
#[cfg(all(unix, not(target_env = "musl")))]
mod spot;
