//! A setting that is the path of a file, or `-` for standard input or output.

use std::path::PathBuf;

use super::Value;
use super::path_text::{TILDE, has_tilde, path_of, path_text};

/// A file, or the standard stream of the program: its output where something is written, its input where
/// something is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileOrStream {
    /// The standard stream.
    Stream,
    /// This file.
    File(PathBuf),
}

impl Value for FileOrStream {
    fn read(text: &str) -> Option<Self> {
        match text {
            "" => None,
            "-" => Some(Self::Stream),
            path if has_tilde(path.as_ref()) => None,
            path => Some(Self::File(path_of(path))),
        }
    }

    fn write(&self) -> String {
        match self {
            Self::Stream => "-".to_owned(),
            Self::File(path) => path_text(path),
        }
    }

    fn allowed() -> String {
        "the path of a file, or `-` for the standard stream".into()
    }

    fn hint(text: &str) -> Option<String> {
        has_tilde(text.as_ref()).then(|| TILDE.into())
    }
}
