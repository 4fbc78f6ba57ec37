//! Paths and commands as settings, which have their values as text.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::{Form, Parser};

/// A file.
pub(super) fn file() -> Parser<PathBuf> {
    let is_file = |text: &str| !text.is_empty() && text != "-" && !has_tilde(text.as_ref());
    path("the path of a file", is_file).hinting(|text| match text {
        // Elsewhere it means standard output, which belongs to the counts here.
        "-" => Some("only results go to standard output".to_owned()),
        _ => tilde(text),
    })
}

/// A file, or `-` for standard output.
pub(super) fn file_or_stream() -> Parser<PathBuf> {
    let is_either = |text: &str| !text.is_empty() && !has_tilde(text.as_ref());
    path("the path of a file, or `-` for standard output", is_either).hinting(tilde)
}

fn path(allowed: &str, is_allowed: fn(&str) -> bool) -> Parser<PathBuf> {
    let read = move |text: &str| is_allowed(text).then(|| text.into());
    Parser::new(Form::Text, allowed, read, |path: &PathBuf| {
        path.display().to_string()
    })
}

/// A command for a shell.
pub(super) fn command() -> Parser<String> {
    let is_command = |text: &str| !text.trim().is_empty() && !text.contains('\0');
    let read = move |text: &str| is_command(text).then(|| text.to_owned());
    Parser::new(Form::Text, "a command for the shell", read, String::clone)
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
