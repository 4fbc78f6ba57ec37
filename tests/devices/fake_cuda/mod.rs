//! A few lines of C that replace the libraries of CUDA.

use std::path::Path;
use std::process::Command;

/// The failures of the driver that leave no usable device: values of its variable `FAKE`.
pub const USELESS: [&str; 6] = [
    "no device",
    "none shown",
    "broken",
    "222",
    "no memory",
    "700",
];

/// Builds the library `name` in `folder` from these sources.
pub fn build(folder: &Path, name: &str, sources: &[&str], flags: &[&str]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources = sources.iter().map(|source| match *source {
        // The kernels, as C++.
        "emulated.cpp" => root.join("kernels/emulated.cpp"),
        own => root.join("tests/devices/fake_cuda").join(own),
    });
    let built = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
        .args(["-shared", "-fPIC", "-w", "-O2", "-o"])
        .arg(folder.join(name))
        .args(sources)
        .args(flags)
        .status()
        .unwrap();
    assert!(built.success());
}
