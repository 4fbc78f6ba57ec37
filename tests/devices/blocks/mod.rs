//! The pairs kernel in blocks of several host threads, under ThreadSanitizer: a barrier that is missing between
//! warps is a race of host threads. By hand:
//!
//! ```text
//! g++ -std=c++17 -O2 -g -fsanitize=thread -pthread tests/devices/blocks/pairs.cpp -o pairs && ./pairs
//! ```
//!
//! Races between the lanes of a warp do not show, because a host thread is a warp of one lane.

use std::path::Path;
use std::process::Command;

use crate::skip::skipped;

#[test]
fn blocks_of_threads_count_pairs_without_races() {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/devices/blocks/pairs.cpp");
    let program = folder.path().join("pairs");
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
    let compiled = Command::new(&compiler)
        .args(["-std=c++17", "-O2", "-g", "-fsanitize=thread", "-pthread"])
        .args([source.as_path(), Path::new("-o"), &program])
        .output();
    let compiled = match compiled {
        Ok(output) => output,
        Err(error) => return skipped(&format!("no compiler {}: {error}", compiler.display())),
    };
    let said = String::from_utf8_lossy(&compiled.stderr);
    if !compiled.status.success() {
        assert!(said.contains("tsan") || said.contains("sanitize"), "{said}");
        return skipped(&format!("the compiler has no ThreadSanitizer: {said}"));
    }
    let output = Command::new(&program).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    // Its memory is where some kernels place programs.
    if said.contains("unexpected memory mapping") {
        return skipped(&format!("ThreadSanitizer does not run here: {said}"));
    }
    assert!(output.status.success(), "{said}");
}
