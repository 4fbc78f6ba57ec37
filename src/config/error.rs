//! Why a setting is refused, and where a setting came from.

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

/// A setting that is refused. The message is one line that names the place, the key, what was
/// given and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{}: {}", printable(&path.to_string_lossy()), printable(reason))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        reason: String,
    },
    /// The file of the working directory is one that somebody else wrote, or can write.
    #[error("{} is not read, because {}; `--config {}` says that it is wanted", printable(&path.to_string_lossy()), why, printable(&path.to_string_lossy()))]
    NotOwn {
        /// The file.
        path: PathBuf,
        /// Why, in words.
        why: String,
    },
    /// The file is not TOML.
    #[error("{}, line {line}: {}", printable(&path.to_string_lossy()), printable(reason))]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// The key does not exist.
    #[error("{origin}{}: unknown key `{}`{}", on_line(*line), printable(key), hint(nearest.as_deref()))]
    UnknownKey {
        /// The source that names it.
        origin: SettingOrigin,
        /// Its line, from 1, if the source is a file.
        line: Option<usize>,
        /// The key path, or the variable name, as given.
        key: String,
        /// The valid one that may have been meant.
        nearest: Option<String>,
    },
    /// The value is not allowed for the key.
    #[error("{origin}{}: {key} = {} is refused: {expected}", on_line(*line), printable(given))]
    Refused {
        /// The source that names it.
        origin: SettingOrigin,
        /// Its line, from 1, if the source is a file.
        line: Option<usize>,
        /// The key path.
        key: String,
        /// The value, as given.
        given: String,
        /// What is allowed.
        expected: String,
    },
}

impl ConfigError {
    /// The error with the line of the file that it is about.
    pub(super) fn on_line(mut self, at: Option<usize>) -> Self {
        if let Self::UnknownKey { line, .. } | Self::Refused { line, .. } = &mut self {
            *line = at;
        }
        self
    }
}

fn on_line(line: Option<usize>) -> String {
    line.map_or_else(String::new, |line| format!(", line {line}"))
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |key| format!("; the nearest key is `{key}`"))
}
