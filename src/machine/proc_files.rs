//! Reads files of `/proc` and `/sys`.

use std::fs;
use std::path::Path;

/// The text of a file; `None` if it cannot be read.
pub(super) fn read(path: impl AsRef<Path>) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// The value after `key :` in the text of a file in `/proc`.
#[cfg(target_os = "linux")]
pub(super) fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key && !value.trim().is_empty()).then(|| value.trim())
    })
}
