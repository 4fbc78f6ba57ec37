//! A setting that is a command for the shell.

use std::ffi::OsString;

use super::Value;
use super::path_text::{path_of, path_text};

/// A command for a shell. What it names need not be UTF-8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine(pub OsString);

impl Value for CommandLine {
    fn read(text: &str) -> Option<Self> {
        let is_command = !text.trim().is_empty() && !text.contains('\0');
        is_command.then(|| Self(path_of(text).into()))
    }

    fn write(&self) -> String {
        path_text(&self.0)
    }

    fn allowed() -> String {
        "a command for the shell".into()
    }
}
