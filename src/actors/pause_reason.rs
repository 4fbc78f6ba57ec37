use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a run is paused. There may be several reasons at once; it goes on when there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PauseReason {
    /// Somebody asked for it.
    Asked,
    /// It may run at other hours only.
    Hours,
    /// A processor or device is too hot.
    Heat,
}

impl PauseReason {
    /// Several reasons for people: `asked for, too hot`.
    pub fn list<'a>(reasons: impl IntoIterator<Item = &'a Self>) -> String {
        let words = reasons.into_iter().map(ToString::to_string);
        words.collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for PauseReason {
    /// For people: `paused (too hot)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Asked => "asked for",
            Self::Hours => "outside its hours",
            Self::Heat => "too hot",
        })
    }
}
