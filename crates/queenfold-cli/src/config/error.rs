//! Why a setting is refused, and where a setting came from.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::telemetry::printable;

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SettingOrigin {
    /// Built in.
    Default,
    /// What an earlier session of the run was told.
    Kept,
    /// A configuration file.
    File(PathBuf),
    /// An environment variable of this name.
    Environment(String),
    /// A flag of the command line.
    Flag(&'static str),
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Kept => f.write_str("an earlier session"),
            Self::File(path) => write!(f, "file {}", printable(&path.to_string_lossy())),
            Self::Environment(name) => write!(f, "environment variable {}", printable(name)),
            Self::Flag(name) => write!(f, "flag {name}"),
        }
    }
}

/// Why settings are refused: one line that names the place, the key, what was given and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub(super) String);

impl ConfigError {
    /// The file at `path` is refused.
    pub(super) fn of_file(path: &Path, why: impl fmt::Display) -> Self {
        let path = path.to_string_lossy();
        Self(format!(
            "{}: {}",
            printable(&path),
            printable(&why.to_string())
        ))
    }
}
