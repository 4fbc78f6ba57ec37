//! The kernels' blocks on the host, in C++: warps of one lane as host threads, and warps of 32 lanes as fibers.
//!
//! By hand:
//!
//! ```text
//! g++ -std=c++17 -O2 -g -fsanitize=thread -pthread tests/devices/blocks/join.cpp -o join && ./join
//! g++ -std=c++17 -O2 -U_FORTIFY_SOURCE tests/devices/blocks/lanes.cpp -o lanes && ./lanes
//! ```
//!
//! With ThreadSanitizer, a barrier that is missing between warps, or a job that does not wait for another, is a race of host threads. With fibers, the code for
//! warps of 32 lanes runs that a GPU runs; lanes that do not meet where others wait, and some barriers that are
//! missing, show. What two lanes do at the same moment does not.

use std::path::Path;
use std::process::Command;

use crate::skip::skipped;

/// What a program said, and whether it succeeded; skips the test, and returns `None`, if it cannot be compiled with
/// these options here, for a reason that names one of `missing`.
fn output(source: &str, options: &[&str], missing: &[&str]) -> Option<(bool, String)> {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/devices/blocks")
        .join(source);
    let program = folder.path().join("program");
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
    let compiled = Command::new(&compiler)
        .args(["-std=c++17", "-O2"])
        .args(options)
        .args([source.as_path(), Path::new("-o"), &program])
        .output();
    let compiled = match compiled {
        Ok(output) => output,
        Err(error) => {
            skipped(&format!("no compiler {}: {error}", compiler.display()));
            return None;
        }
    };
    let said = String::from_utf8_lossy(&compiled.stderr);
    if !compiled.status.success() {
        assert!(missing.iter().any(|what| said.contains(what)), "{said}");
        skipped(&format!("{} does not do that: {said}", compiler.display()));
        return None;
    }
    let output = Command::new(&program).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    Some((output.status.success(), said))
}

#[test]
fn blocks_of_threads_make_lists_and_count_pairs_without_races() {
    let options = ["-g", "-fsanitize=thread", "-pthread"];
    let Some((succeeded, said)) = output("join.cpp", &options, &["tsan", "sanitize"]) else {
        return;
    };
    // Its memory is where some kernels place programs.
    if said.contains("unexpected memory mapping") {
        return skipped(&format!("ThreadSanitizer does not run here: {said}"));
    }
    assert!(succeeded, "{said}");
}

#[test]
fn warps_of_32_lanes_make_lists_and_count_pairs_and_their_helpers_agree_with_arrays() {
    // The jumps between fibers look wrong to a library that checks them.
    let options = ["-U_FORTIFY_SOURCE", "-Wno-unknown-pragmas"];
    if let Some((succeeded, said)) = output("lanes.cpp", &options, &["ucontext"]) {
        assert!(succeeded, "{said}");
    }
}
