//! What is known of a board, as every command with `--json` prints it.

use serde::Serialize;

use crate::board::GivenSquares;
use crate::outcome::Outcome;

/// The counts of a board. They are decimal strings, so that no reader rounds them; what was not counted is `null`.
#[derive(Debug, Serialize)]
pub struct OutcomeJson {
    n: u32,
    /// What is given on the board; left out if nothing is.
    #[serde(skip_serializing_if = "Option::is_none")]
    given: Option<GivenSquares>,
    total: String,
    unique: Option<String>,
    classes: Option<Classes>,
    r180: Option<String>,
    r90: Option<String>,
}

/// Orbits by size.
#[derive(Debug, Serialize)]
struct Classes {
    c1: String,
    c2: String,
    c4: String,
    c8: String,
}

impl OutcomeJson {
    /// The counts of `outcome`.
    pub fn new(outcome: &Outcome) -> Self {
        let symmetric = outcome.symmetric;
        Self {
            n: outcome.n.get(),
            given: GivenSquares::of(&outcome.given),
            total: outcome.total.to_string(),
            unique: outcome.unique().map(|unique| unique.to_string()),
            classes: symmetric.map(|symmetric| Classes {
                c1: symmetric.orbits.c1.to_string(),
                c2: symmetric.orbits.c2.to_string(),
                c4: symmetric.orbits.c4.to_string(),
                c8: symmetric.orbits.c8.to_string(),
            }),
            r180: symmetric.map(|symmetric| symmetric.r180.to_string()),
            r90: symmetric.map(|symmetric| symmetric.r90.to_string()),
        }
    }
}
