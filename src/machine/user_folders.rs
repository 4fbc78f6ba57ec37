//! The folder in which programs keep files for their user: that of the XDG Base Directory Specification, on Windows that of
//! Windows.

use std::env;
use std::path::PathBuf;

/// The folder for what the user tells programs. `None` if the user has none. Relative names are ignored, as the
/// specification demands.
pub fn config_folder() -> Option<PathBuf> {
    let absolute = |name| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let usual = || match cfg!(windows) {
        true => absolute("APPDATA"),
        false => Some(absolute("HOME")?.join(".config")),
    };
    let folder = absolute("XDG_CONFIG_HOME").or_else(usual)?;
    Some(folder.join("queenfold"))
}
