//! Engines by name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A way to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// Carry chain: queens are placed on the border, one placement per symmetry class, and the rest
    /// of the board is searched.
    Chain,
    /// Colour join: placements of queens on white and on black squares that take all rows and columns together.
    Colour,
    /// The symmetric solutions alone: those fixed by a half turn, and by a quarter turn.
    Census,
    /// An engine that a program which uses this library brings along, to count all solutions.
    Own,
}

impl Engine {
    /// The engines of this library.
    pub const ALL: [Self; 3] = [Self::Chain, Self::Colour, Self::Census];

    /// Whether it counts all solutions, not only the symmetric ones.
    pub const fn counts_all(self) -> bool {
        !matches!(self, Self::Census)
    }

    /// The name used on the command line, in the configuration and in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chain => "chain",
            Self::Colour => "colour",
            Self::Census => "census",
            Self::Own => "own",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A text that names no engine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an engine")]
pub struct EngineError(String);

impl FromStr for Engine {
    type Err = EngineError;

    fn from_str(name: &str) -> Result<Self, EngineError> {
        let mut engines = Self::ALL.into_iter().chain([Self::Own]);
        engines
            .find(|engine| engine.name() == name)
            .ok_or_else(|| EngineError(name.to_owned()))
    }
}
