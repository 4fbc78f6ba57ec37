//! What tests share.

use std::path::{Path, PathBuf};

pub mod cases;
pub mod completions;
pub mod faults;
pub mod faulty_device;
pub mod help;
#[cfg(all(unix, not(target_env = "musl")))]
pub mod program;
#[cfg(target_os = "linux")]
pub mod ptx_machine;
pub mod random_board;
pub mod run_spec;
pub mod skip;
#[cfg(all(unix, not(target_env = "musl")))]
pub mod terminal;
pub mod test_device;
#[cfg(all(unix, not(target_env = "musl")))]
pub mod tmux;

/// The folder of the repository. Tests start in that of the program's crate.
pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The text of a file of the repository.
pub fn text_of(path: &str) -> String {
    let file = Path::new(ROOT).join(path);
    std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The examples of all crates.
pub fn examples() -> Vec<PathBuf> {
    let folders = ["examples", "crates/queenfold-ledger/examples"];
    let folders = folders.map(|folder| std::fs::read_dir(Path::new(ROOT).join(folder)));
    let files = folders
        .into_iter()
        .flat_map(|files| files.expect("examples"));
    files.map(|file| file.expect("a file").path()).collect()
}

/// The path of an example. Cargo builds all of them with the tests, or `cargo build --examples` does.
pub fn example(name: &str) -> PathBuf {
    // The folder of examples is next to the folder of this test program.
    let mut path = std::env::current_exe().expect("the path of this test");
    path.pop();
    path.pop();
    path.extend(["examples", name]);
    path.with_extension(std::env::consts::EXE_EXTENSION)
}
