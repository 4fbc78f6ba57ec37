//! Processes that see nothing of the user's own settings.

use std::ffi::OsStr;
use std::process::Command;

/// A program, for example a shell that starts `queenfold`, that finds neither settings nor a calibration of the user, nor
/// environment variables that would configure `queenfold`: they must not decide what tests see.
pub fn isolated(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("QUEENFOLD_") {
            command.env_remove(name);
        }
    }
    for folder in ["XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
        command.env(folder, env!("CARGO_TARGET_TMPDIR"));
    }
    command
}
