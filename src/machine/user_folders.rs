//! The folders in which programs keep files for their user: those of the XDG Base Directory Specification, on
//! Windows those of Windows.

use std::env;
use std::path::PathBuf;

/// The folder for what the user tells programs. `None` if the user has none.
pub fn config_folder() -> Option<PathBuf> {
    folder("XDG_CONFIG_HOME", ".config", "APPDATA")
}

/// The folder for what programs found out and keep for the next time. `None` if the user has none.
pub fn state_folder() -> Option<PathBuf> {
    folder("XDG_STATE_HOME", ".local/state", "LOCALAPPDATA")
}

/// `queenfold` in the folder that the environment variable `variable` names, or else in `usual` of the home folder, on
/// Windows in the folder that `windows` names. Relative names are ignored, as the specification demands.
fn folder(variable: &str, usual: &str, windows: &str) -> Option<PathBuf> {
    let absolute = |name| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let otherwise = || match cfg!(windows) {
        true => absolute(windows),
        false => Some(absolute("HOME")?.join(usual)),
    };
    let folder = absolute(variable).or_else(otherwise)?;
    Some(folder.join("queenfold"))
}
