//! Paths as text: settings have their values as text, and names of files need not be UTF-8 on Unix.

use std::ffi::OsStr;
use std::path::PathBuf;

/// Whether a path begins with the `~` of a home, which only a shell replaces.
pub fn has_tilde(path: &OsStr) -> bool {
    path.as_encoded_bytes().starts_with(b"~")
}

/// What would be right where a path [has one](has_tilde).
pub const TILDE: &str = "no shell has replaced the `~`: write $HOME, or the whole path";

/// A byte that is not part of UTF-8 is written as this character plus its value. These are the last characters of the
/// private use planes, which no name of a file is known to have.
#[cfg(unix)]
const BYTES: u32 = 0x10_FF00;

/// The path as text, from which settings make it again.
#[cfg(unix)]
pub fn path_text(path: impl AsRef<OsStr>) -> String {
    use std::os::unix::ffi::OsStrExt;

    let chunks = path.as_ref().as_bytes().utf8_chunks();
    let mut text = String::new();
    for chunk in chunks {
        text += chunk.valid();
        let bytes = chunk.invalid().iter();
        text.extend(bytes.filter_map(|byte| char::from_u32(BYTES + u32::from(*byte))));
    }
    text
}

/// The path of a text that [`path_text`] made, or that a person wrote.
#[cfg(unix)]
pub(super) fn path_of(text: &str) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;

    let mut bytes = Vec::new();
    for c in text.chars() {
        match u32::from(c).checked_sub(BYTES).map(u8::try_from) {
            Some(Ok(byte)) => bytes.push(byte),
            _ => bytes.extend(c.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    std::ffi::OsString::from_vec(bytes).into()
}

/// The path as text. Names on other systems are Unicode.
#[cfg(not(unix))]
pub fn path_text(path: impl AsRef<OsStr>) -> String {
    path.as_ref().to_string_lossy().into_owned()
}

/// The path of a text.
#[cfg(not(unix))]
pub(super) fn path_of(text: &str) -> PathBuf {
    text.into()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    use super::*;

    #[test]
    fn a_path_is_read_as_it_was_written() {
        for name in [
            &b"a/b.txt"[..],
            b"\xff",
            b"x\xc3\xa4\xc3",
            "ä€😀".as_bytes(),
        ] {
            let path = Path::new(OsStr::from_bytes(name));
            assert_eq!(path_of(&path_text(path)), path);
        }
        assert_eq!(path_text("a/ä.txt"), "a/ä.txt");
    }
}
