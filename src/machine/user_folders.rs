//! The folders in which programs keep files for their user.

use std::env;
use std::path::PathBuf;

/// `queenfold` in the folder that the environment variable `variable` names, or else in `usual` of the
/// home folder (XDG Base Directory Specification). Relative names are ignored, as it demands. `None` if
/// the user has neither.
pub fn user_folder(variable: &str, usual: &str) -> Option<PathBuf> {
    let absolute = |name| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    absolute(variable)
        .or_else(|| Some(absolute("HOME")?.join(usual)))
        .map(|folder| folder.join("queenfold"))
}
