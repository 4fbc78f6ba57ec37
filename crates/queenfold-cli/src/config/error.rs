//! Where the value of a setting comes from.

use std::fmt;
use std::path::PathBuf;

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
