//! Files of settings that somebody else may have written: the one in the working directory, which may have come with
//! the folder, from a stranger, and the user's own.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use crate::telemetry::printable;
use queenfold_ledger::system::files;

/// The file that is read from the working directory if it is there.
pub const LOCAL_FILE: &str = "./queenfold.toml";

/// The keys that run a command or write to a file. A folder that is entered must do neither.
const WITH_EFFECTS: [&str; 4] = [
    "trace.file",
    "trace.events",
    "trace.metrics",
    "trace.on_event",
];

/// What else would do for such a key.
const ELSEWHERE: &str = "what runs a command or writes to a file is taken from a flag, the environment, --config, or the \
                         user's own file only; `--config ./queenfold.toml` says that this file is wanted";

/// The largest file that is read, in bytes: a configuration is small, and reading a device
/// file might never end.
const MAX_FILE: u64 = 1 << 20;

/// Why the local file must not set `key`; `None` if it may.
pub(super) fn refusal(key: &str, value: &toml::Value) -> Option<&'static str> {
    // The default does nothing, and a file that `config` printed has it.
    let has_effect = WITH_EFFECTS.contains(&key) && value.as_str() != Some("none");
    has_effect.then_some(ELSEWHERE)
}

/// The text of the user's own file at `path`, or the one of the folder; `None` if there is none.
///
/// # Errors
/// It cannot be read, or somebody other than the user, and root if that `may_be_root`, may have written it.
pub(super) fn read_own(path: &Path, may_be_root: bool) -> Result<Option<String>, String> {
    // Not `exists`: a dangling link or a file without permission must be reported, not ignored.
    let looked = path.symlink_metadata();
    if looked.is_err_and(|error| error.kind() == ErrorKind::NotFound) {
        return Ok(None);
    }
    let unreadable = |error: io::Error| refused(path, &error);
    let file = files::open_regular(path).map_err(unreadable)?;
    let found = file.metadata().map_err(unreadable)?;
    match files::why_not_own(&found, may_be_root) {
        Some(why) => {
            let path = printable(&path.to_string_lossy());
            let wanted = format!("`--config {path}` says that it is wanted");
            Err(format!("{path} is not read, because {why}; {wanted}"))
        }
        None => text_of(file).map(Some).map_err(unreadable),
    }
}

/// Why the file at `path` is refused.
pub(super) fn refused(path: &Path, why: &io::Error) -> String {
    printable(&format!("{}: {why}", path.to_string_lossy()))
}

/// The text of a file.
///
/// # Errors
/// It cannot be read, is larger than 1 MiB or is no text.
pub(super) fn text_of(file: File) -> io::Result<String> {
    let mut text = String::new();
    // One byte more than allowed shows that the file is too long.
    let read = file.take(MAX_FILE + 1).read_to_string(&mut text);
    read.map_err(|error| match error.kind() {
        ErrorKind::InvalidData => io::Error::other("this is not UTF-8 text"),
        _ => error,
    })?;
    if text.len() as u64 > MAX_FILE {
        return Err(io::Error::other("a configuration has at most 1 MiB"));
    }
    Ok(text)
}
