//! The folders in which programs keep files for their user.

use std::env;
use std::path::PathBuf;

/// `queenfold` in the folder that the environment variable `variable` names, or else in `usual` of the
/// home folder (XDG Base Directory Specification). Relative names are ignored, as it demands. `None` if
/// the user has neither. On Windows `usual` lies in the folder for local data of programs.
pub fn user_folder(variable: &str, usual: &str) -> Option<PathBuf> {
    let absolute = |name| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let home = if cfg!(windows) {
        "LOCALAPPDATA"
    } else {
        "HOME"
    };
    absolute(variable)
        .or_else(|| Some(absolute(home)?.join(usual)))
        .map(|folder| folder.join("queenfold"))
}
