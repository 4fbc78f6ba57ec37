use std::fmt;
use std::path::PathBuf;

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Built in.
    Default,
    /// A configuration file.
    File(PathBuf),
    /// An environment variable of this name.
    Environment(String),
    /// A flag of the command line.
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => write!(f, "file {}", path.display()),
            Self::Environment(name) => write!(f, "environment variable {name}"),
            Self::Flag(name) => write!(f, "flag {name}"),
        }
    }
}

/// A setting that is refused. The message is one line that names the place, the key, what was
/// given and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{}: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        reason: String,
    },
    /// The file is no TOML.
    #[error("{}, line {line}: {reason}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// There is no such key.
    #[error("{origin}: unknown key `{key}`; the nearest key is `{nearest}`")]
    UnknownKey {
        /// Where it stands.
        origin: Origin,
        /// The key path, or the variable name, as given.
        key: String,
        /// The valid one most like it.
        nearest: String,
    },
    /// The value is not allowed for the key.
    #[error("{origin}: {key} = {given} is refused: {expected}")]
    Refused {
        /// Where it stands.
        origin: Origin,
        /// The key path.
        key: String,
        /// The value, as given.
        given: String,
        /// What is allowed.
        expected: String,
    },
}
