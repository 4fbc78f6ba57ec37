//! What becomes of a CUDA driver that is missing, old or failing, with a driver library of a few
//! lines of C.
//!
//! A library's path is fixed when a process begins, so each case runs in a process of its own: this
//! very test, started again with `in_the_child`.
#![cfg(all(feature = "cuda", target_os = "linux"))]

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use queenfold::board::Size;
use queenfold::gpu::cuda::{Cuda, CudaSettings, devices};
use queenfold::gpu::{ChainBatcher, Device, OpenError, Opener, Owner, OwnerSettings};

/// Every function that is called, and failures as `FAKE` tells. Launches do nothing.
const DRIVER: &str = r#"
#include <stdlib.h>
#include <string.h>
typedef unsigned long long u64;
static int is(const char *what) { const char *fake = getenv("FAKE"); return fake && !strcmp(fake, what); }
static int launches;
int cuInit(unsigned f) { return is("no device") ? 100 : is("broken") ? 999 : 0; }
int cuDriverGetVersion(int *v) { *v = 13000; return 0; }
int cuGetErrorName(int e, const char **s) {
    *s = e == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : e == 218 ? "CUDA_ERROR_INVALID_PTX"
       : e == 222 ? "CUDA_ERROR_UNSUPPORTED_PTX_VERSION" : e == 209 ? "CUDA_ERROR_NO_BINARY_FOR_GPU"
       : e == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : e == 719 ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR_UNKNOWN";
    return 0;
}
int cuGetErrorString(int e, const char **s) { *s = "?"; return 0; }
int cuDeviceGet(int *d, int i) { *d = i; return 0; }
int cuDeviceGetCount(int *c) { *c = is("none shown") ? 0 : 1; return 0; }
int cuDeviceGetName(char *n, int l, int d) { strncpy(n, "Fake GPU", l); return 0; }
int cuDeviceGetAttribute(int *v, int a, int d) { *v = a == 75 ? 9 : a == 76 ? 0 : a == 16 ? 4 : 1; return 0; }
int cuDeviceTotalMem_v2(size_t *b, int d) { *b = (size_t)1 << 34; return 0; }
int cuDevicePrimaryCtxRetain(void **c, int d) { *c = &launches; return 0; }
int cuDevicePrimaryCtxRelease_v2(int d) { return 0; }
int cuCtxSetCurrent(void *c) { return 0; }
int cuCtxSetFlags(unsigned f) { return 0; }
int cuModuleLoadData(void **m, const void *i) {
    *m = &launches;
    return is("222") ? 222 : is("218") ? 218 : is("209") ? 209 : 0;
}
int cuModuleGetFunction(void **f, void *m, const char *n) { *f = &launches; return 0; }
int cuModuleUnload(void *m) { return 0; }
int cuFuncGetAttribute(int *v, int a, void *f) { *v = 32; return 0; }
int cuFuncSetAttribute(void *f, int a, int v) { return 0; }
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *b, void *f, int s, size_t d) { *b = 6; return 0; }
int cuMemAlloc_v2(u64 *p, size_t b) { *p = (u64)calloc(b, 1); return is("no memory") ? 2 : 0; }
int cuMemFree_v2(u64 p) { return 0; }
int cuMemHostAlloc(void **p, size_t b, unsigned f) { *p = calloc(b, 1); return 0; }
int cuMemFreeHost(void *p) { return 0; }
int cuMemsetD8Async(u64 p, unsigned char v, size_t b, void *s) { memset((void *)p, v, b); return 0; }
int cuMemcpyHtoDAsync_v2(u64 d, const void *p, size_t b, void *s) { memcpy((void *)d, p, b); return 0; }
int cuMemcpyDtoHAsync_v2(void *p, u64 d, size_t b, void *s) { memcpy(p, (void *)d, b); return 0; }
int cuStreamCreate(void **s, unsigned f) { *s = &launches; return 0; }
int cuStreamDestroy_v2(void *s) { return 0; }
int cuEventCreate(void **e, unsigned f) { *e = &launches; return 0; }
int cuEventRecord(void *e, void *s) { return 0; }
int cuEventQuery(void *e) { return is("700") ? 700 : is("719") ? 719 : is("hangs") ? 600 : 0; }
int cuEventElapsedTime_v2(float *t, void *a, void *b) { *t = 1; return 0; }
int cuEventDestroy_v2(void *e) { return 0; }
#ifndef OLD
int cuLaunchKernel(void *f, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned g,
                   unsigned m, void *s, void **p, void **x) { launches++; return 0; }
#endif
"#;

/// Builds the driver in `folder`.
fn build(folder: &Path, flags: &[&str]) {
    let source = folder.join("driver.c");
    std::fs::write(&source, DRIVER).unwrap();
    let built = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
        .args(["-shared", "-fPIC", "-w", "-o"])
        .arg(folder.join("libcuda.so.1"))
        .arg(&source)
        .args(flags)
        .status()
        .unwrap();
    assert!(built.success());
}

/// What the child says of a driver that fails in this way.
fn child(fake: &str, flags: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    if fake != "no library" {
        build(folder.path(), flags);
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "in_the_child", "--ignored", "--nocapture"])
        .env("LD_LIBRARY_PATH", folder.path())
        .env("FAKE", fake)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{fake}: {text}");
    text
}

#[test]
#[ignore = "is started by the other tests, with a driver library of theirs"]
fn in_the_child() {
    let found = devices();
    println!("found {} {}", found.devices.len(), found.missing);
    let open: Opener = Box::new(|| {
        let settings = CudaSettings {
            // No compiler: what is embedded must do.
            compiler: None,
            cache: None,
            ..CudaSettings::default()
        };
        Cuda::open(settings).map(|cuda| Box::new(cuda) as Box<dyn Device>)
    });
    let batcher = ChainBatcher::new(Size::new(12).unwrap()).unwrap();
    let settings = OwnerSettings {
        least_patience: Duration::from_millis(100),
        ..OwnerSettings::default()
    };
    match Owner::open(open, batcher, settings) {
        Ok(_) => println!("opened"),
        Err(OpenError(why)) => println!("refused: {why}"),
    }
}

#[test]
fn without_a_driver_there_is_no_device_and_the_reason_is_said() {
    let said = child("no library", &[]);
    // A machine with a driver of its own finds that one.
    if said.contains("found 0") {
        assert!(said.contains("no CUDA driver: libcuda not found"), "{said}");
        assert!(said.contains("refused: no CUDA driver"), "{said}");
    }
}

#[test]
fn a_driver_without_a_device_says_so() {
    for fake in ["no device", "none shown"] {
        let said = child(fake, &[]);
        assert!(
            said.contains("found 0 the CUDA driver shows no device"),
            "{said}"
        );
        assert!(said.contains("refused: "), "{said}");
    }
}

#[test]
fn a_driver_that_does_not_start_is_named() {
    let said = child("broken", &[]);
    assert!(
        said.contains("found 0 the CUDA driver does not start"),
        "{said}"
    );
}

#[test]
fn a_driver_that_lacks_a_function_is_too_old() {
    let said = child("old", &["-DOLD"]);
    assert!(
        said.contains("found 0 the CUDA driver is too old: it lacks the function cuLaunchKernel"),
        "{said}"
    );
    assert!(
        said.contains("refused: the CUDA driver is too old"),
        "{said}"
    );
}

#[test]
fn a_device_that_loads_no_kernel_is_not_used() {
    for (fake, name) in [
        ("222", "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"),
        ("218", "CUDA_ERROR_INVALID_PTX"),
        ("209", "CUDA_ERROR_NO_BINARY_FOR_GPU"),
    ] {
        let said = child(fake, &[]);
        assert!(said.contains("found 1"), "{said}");
        assert!(said.contains("refused: Fake GPU: no kernel"), "{said}");
        assert!(said.contains(&format!("embedded: {name}")), "{said}");
    }
}

#[test]
fn a_device_without_memory_is_not_used() {
    let said = child("no memory", &[]);
    assert!(
        said.contains("refused: Fake GPU: out of device memory"),
        "{said}"
    );
}

#[test]
fn a_device_whose_context_is_lost_is_not_used() {
    for (fake, name) in [("700", "ILLEGAL_ADDRESS"), ("719", "LAUNCH_FAILED")] {
        let said = child(fake, &[]);
        assert!(
            said.contains("refused: Fake GPU: the device failed: "),
            "{said}"
        );
        assert!(said.contains(name), "{said}");
    }
}

#[test]
fn a_launch_that_does_nothing_is_no_count() {
    let said = child("", &[]);
    assert!(
        said.contains("refused: Fake GPU: the device counted 0 jobs of"),
        "{said}"
    );
}

/// Runs the program with this driver.
fn program(fake: &str, arguments: &[&str]) -> std::process::Output {
    let folder = tempfile::tempdir().unwrap();
    build(folder.path(), &[]);
    Command::new(env!("CARGO_BIN_EXE_queenfold"))
        .args(arguments)
        .env("LD_LIBRARY_PATH", folder.path())
        .env("FAKE", fake)
        .output()
        .unwrap()
}

#[test]
fn devices_shows_what_there_is_and_never_fails() {
    let output = program("", &["devices", "--json"]);
    assert!(output.status.success());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let gpu = &json["gpus"][0];
    assert_eq!(gpu["name"], "Fake GPU");
    assert_eq!(
        (&gpu["registers"], &gpu["warps_per_multiprocessor"]),
        (&32.into(), &24.into())
    );
    for fake in [
        "no device",
        "none shown",
        "broken",
        "222",
        "no memory",
        "700",
    ] {
        for arguments in [&["devices"][..], &["devices", "--json"]] {
            let output = program(fake, arguments);
            assert!(output.status.success(), "{fake}");
        }
    }
}

#[test]
fn bench_without_a_device_ends_with_6_and_says_what_was_looked_for() {
    let output = program("no device", &["bench", "--gpu", "--json"]);
    assert_eq!(output.status.code(), Some(6));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("no CUDA device 0: the CUDA driver shows no device"),
        "{said}"
    );
    assert!(output.stdout.is_empty());
}
