//! The notes of skipped tests: a file for each `cargo test`, which all its test programs append to.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Adds a note: this test of this program did not check all it is for.
#[allow(dead_code, reason = "the summary only reads")]
pub fn add(program: &str, test: &str, reason: &str) {
    let file = file(Path::new(env!("CARGO_TARGET_TMPDIR")));
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(file)
        .unwrap();
    // One write for each line: test programs and threads must not mix theirs.
    let line = format!("{program}\t{test}\t{reason}\n");
    file.write_all(line.as_bytes()).unwrap();
}

/// The file with the notes of this `cargo test`: test programs of one command have the same parent.
pub fn file(folder: &Path) -> PathBuf {
    #[cfg(unix)]
    let parent = std::os::unix::process::parent_id();
    #[cfg(not(unix))]
    let parent = 0;
    folder.join("skipped").join(parent.to_string())
}
