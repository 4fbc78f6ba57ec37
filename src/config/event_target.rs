use std::path::PathBuf;

use super::Value;

/// Where the events of runs are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventTarget {
    /// Standard output, between the results.
    Stdout,
    /// At the end of this file.
    File(PathBuf),
}

impl Value for EventTarget {
    fn read(text: &str) -> Option<Self> {
        match text {
            "" => None,
            "-" => Some(Self::Stdout),
            path => Some(Self::File(path.into())),
        }
    }

    fn write(&self) -> String {
        match self {
            Self::Stdout => "-".to_owned(),
            Self::File(path) => path.display().to_string(),
        }
    }

    fn allowed() -> String {
        "the path of a file, or `-` for standard output".into()
    }
}
