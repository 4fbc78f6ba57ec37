//! Paths and commands as settings: settings have their values as text, and names of files need not be UTF-8 on Unix.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::{Form, Parser};

/// A file.
pub(super) fn file() -> Parser<PathBuf> {
    let is_file = |text: &str| !text.is_empty() && text != "-" && !has_tilde(text.as_ref());
    let read = move |text: &str| is_file(text).then(|| os_string(text).into());
    Parser::new(Form::Text, "the path of a file", read, |path: &PathBuf| {
        path_text(path)
    })
    .hinting(|text| match text {
        // Elsewhere it means standard output, which belongs to the counts here.
        "-" => Some("only results go to standard output".to_owned()),
        _ => tilde(text),
    })
}

/// A file, or `-` for the standard stream of the program: its output where something is written, its input where something
/// is read.
pub(super) fn file_or_stream() -> Parser<PathBuf> {
    let allowed = "the path of a file, or `-` for the standard stream";
    let is_either = |text: &str| !text.is_empty() && !has_tilde(text.as_ref());
    let read = move |text: &str| is_either(text).then(|| os_string(text).into());
    Parser::new(Form::Text, allowed, read, |path: &PathBuf| path_text(path)).hinting(tilde)
}

/// A command for a shell.
pub(super) fn command() -> Parser<OsString> {
    let is_command = |text: &str| !text.trim().is_empty() && !text.contains('\0');
    let read = move |text: &str| is_command(text).then(|| os_string(text));
    Parser::new(
        Form::Text,
        "a command for the shell",
        read,
        |command: &OsString| path_text(command),
    )
}

/// Whether it is the standard stream instead of a file.
pub fn is_stream(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Whether a path begins with the `~` of a home, which only a shell replaces.
pub fn has_tilde(path: &OsStr) -> bool {
    path.as_encoded_bytes().starts_with(b"~")
}

/// What would be right where a path [has one](has_tilde).
pub const TILDE: &str = "no shell has replaced the `~`: write $HOME, or the whole path";

fn tilde(text: &str) -> Option<String> {
    has_tilde(text.as_ref()).then(|| TILDE.to_owned())
}

/// A byte that is not part of UTF-8 is written as this character plus its value. These are the last characters of the
/// private use planes, which no name of a file is known to have.
#[cfg(unix)]
const BYTES: u32 = 0x10_FF00;

/// The path as text, from which settings make it again.
#[cfg(unix)]
pub fn path_text(path: impl AsRef<OsStr>) -> String {
    let mut text = String::new();
    for chunk in path.as_ref().as_encoded_bytes().utf8_chunks() {
        text += chunk.valid();
        let bytes = chunk.invalid().iter();
        text.extend(bytes.filter_map(|byte| char::from_u32(BYTES + u32::from(*byte))));
    }
    text
}

/// What [`path_text`] made a text of, or a person wrote.
#[cfg(unix)]
fn os_string(text: &str) -> OsString {
    let mut bytes = Vec::new();
    for c in text.chars() {
        match u32::from(c).checked_sub(BYTES).map(u8::try_from) {
            Some(Ok(byte)) => bytes.push(byte),
            _ => bytes.extend(c.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    std::os::unix::ffi::OsStringExt::from_vec(bytes)
}

/// The path as text. Names on other systems are Unicode.
#[cfg(not(unix))]
pub fn path_text(path: impl AsRef<OsStr>) -> String {
    path.as_ref().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn os_string(text: &str) -> OsString {
    text.into()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn a_path_is_read_as_it_was_written() {
        for name in [
            &b"a/b.txt"[..],
            b"\xff",
            b"x\xc3\xa4\xc3",
            "ä€😀".as_bytes(),
        ] {
            let path = OsStr::from_bytes(name);
            assert_eq!(os_string(&path_text(path)), path);
        }
        assert_eq!(path_text("a/ä.txt"), "a/ä.txt");
    }
}
