//! Processes that see nothing of the user's own settings.

use std::ffi::OsStr;
use std::process::Command;

/// A program, for example a shell that starts `queenfold`, that finds neither settings of the user nor
/// environment variables that would configure `queenfold`: they must not decide what tests see.
pub fn isolated(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("QUEENFOLD_") {
            command.env_remove(name);
        }
    }
    command.env("XDG_CONFIG_HOME", env!("CARGO_TARGET_TMPDIR"));
    command
}
