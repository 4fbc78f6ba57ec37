//! From tallies to a checked result: total, classes, unique count.

mod json;

use std::fmt;

use serde::{Serialize, Serializer};

use crate::board::{GivenBoard, Inconsistent, Known, Orbits, Size, known, known_symmetric};
use crate::engine::{Plan, Tally};

/// The result for one board size, checked against everything that is known about it. As JSON, its counts are decimal
/// strings ([REFERENCE](https://github.com/queenfold/queenfold/blob/main/docs/REFERENCE.md#json)).
///
/// ```
/// use queenfold::{Outcome, Size, Tally};
///
/// let mut tally = Tally::default();
/// tally.completions.add(8, 11);
/// tally.completions.add(4, 1);
/// let outcome = Outcome::new(Size::new(8)?, &tally, None)?;
/// assert_eq!((outcome.total, outcome.is_known), (92, true));
///
/// // A wrong count is no outcome.
/// tally.completions.add(1, 1);
/// assert!(Outcome::new(Size::new(8)?, &tally, None).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The board.
    pub n: Size,
    /// What is given on it: then solutions are its completions.
    pub given: GivenBoard,
    /// Solutions.
    pub total: u128,
    /// What the census adds; `None` if it was not run.
    pub symmetric: Option<Symmetric>,
    /// Whether the counts of this board are known, and equal these.
    pub is_known: bool,
}

/// The counts that need the census.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symmetric {
    /// Orbits by size under the symmetries that fix the given board, and with them the unique count.
    pub orbits: Orbits,
    /// Solutions fixed by the half turn.
    pub r180: u128,
    /// Solutions fixed by the quarter turn.
    pub r90: u128,
}

/// How a result was checked, beside the identities between its counts. It is shown as one word.
///
/// ```
/// use queenfold::Checked;
///
/// assert_eq!(Checked::new(true, 0, 64).to_string(), "known");
/// assert_eq!(Checked::new(false, 64, 64).to_string(), "twice");
/// assert_eq!(Checked::new(false, 7, 7000).to_string(), "sampled 1/1000");
/// assert_eq!(Checked::new(false, 0, 64).to_string(), "once");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checked {
    /// It equals the known counts.
    Known,
    /// Every task was counted twice, with the same result.
    Twice,
    /// Every task was counted twice, of some of which only gathered directories say so.
    Claimed,
    /// At least one in so many tasks was counted twice.
    Sampled(u64),
    /// No task was counted twice.
    Once,
}

impl Checked {
    /// Of a result that equals known counts or not, `twice` of whose tasks were counted twice.
    pub const fn new(is_known: bool, twice: u64, tasks: u64) -> Self {
        match twice {
            _ if is_known => Self::Known,
            0 => Self::Once,
            _ if twice >= tasks => Self::Twice,
            _ => Self::Sampled(tasks.div_ceil(twice)),
        }
    }
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known => f.write_str("known"),
            Self::Twice => f.write_str("twice"),
            Self::Claimed => f.write_str("claimed"),
            Self::Sampled(of) => write!(f, "sampled 1/{of}"),
            Self::Once => f.write_str("once"),
        }
    }
}

impl Serialize for Checked {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The counts are wrong: they must not be shown as a result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Contradiction {
    /// An identity between the counts fails.
    #[error(transparent)]
    Inconsistent(#[from] Inconsistent),
    /// A count differs from the table of known counts.
    #[error("n = {n}: counted {what} {counted}, but {known} is known")]
    NotTheKnown {
        /// The board.
        n: Size,
        /// Which count.
        what: &'static str,
        /// What was counted.
        counted: u128,
        /// What the table says.
        known: u128,
    },
}

impl Outcome {
    /// The result that follows from the tally of an engine that counts all solutions of a board and, if it
    /// was run, the tally of the census. Nothing is known of a board on which something is given.
    ///
    /// # Errors
    /// A count differs from the known one, or the counts contradict each other.
    pub fn new(
        board: impl Into<GivenBoard>,
        all: &Tally,
        census: Option<&Tally>,
    ) -> Result<Self, Contradiction> {
        let given = board.into();
        let n = given.size();
        let known = known_of(&given);
        let total = all.completions.solutions();
        if let Some(known) = known {
            must_equal(n, "total", total, known.total)?;
        }
        if let Some(census) = census {
            check_census(given, census)?;
        }
        let symmetric = census
            .map(|&Tally { r180, r90, .. }| {
                let orbits = Orbits::from_counts(n, given.symmetries(), total, r180, r90)?;
                Ok::<_, Contradiction>(Symmetric { orbits, r180, r90 })
            })
            .transpose()?;
        if let (Some(known), Some(symmetric)) = (known, symmetric) {
            must_equal(n, "unique", symmetric.orbits.unique(), known.unique)?;
        }
        Ok(Self {
            n,
            given,
            total,
            symmetric,
            is_known: known.is_some(),
        })
    }

    /// Fundamental solutions; `None` if the census was not run.
    pub fn unique(&self) -> Option<u128> {
        self.symmetric.map(|symmetric| symmetric.orbits.unique())
    }
}

/// Compares the symmetric solutions in the tally of a census with the known ones.
///
/// # Errors
/// A count differs from the known one.
pub fn check_census(board: impl Into<GivenBoard>, census: &Tally) -> Result<(), Contradiction> {
    let given = board.into();
    let n = given.size();
    if !given.is_free() {
        return Ok(());
    }
    let [r180, r90] = known_symmetric(n);
    must_equal(n, "half-turn solutions", census.r180, r180)?;
    must_equal(n, "quarter-turn solutions", census.r90, r90)
}

/// Whether what a plan counts is known. Nothing is known of a board on which something is given.
pub fn is_known(plan: &dyn Plan) -> bool {
    let given = plan.given();
    match plan.engine().counts_all() {
        true => known_of(&given).is_some(),
        false => given.is_free(),
    }
}

fn known_of(given: &GivenBoard) -> Option<&'static Known> {
    known(given.size()).filter(|_| given.is_free())
}

fn must_equal(
    n: Size,
    what: &'static str,
    counted: u128,
    known: u128,
) -> Result<(), Contradiction> {
    if counted == known {
        Ok(())
    } else {
        Err(Contradiction::NotTheKnown {
            n,
            what,
            counted,
            known,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(total: u128) -> Tally {
        let mut tally = Tally::default();
        tally.completions.add(4, 1);
        tally.completions.add(8, (total - 4) / 8);
        tally
    }

    fn census(r180: u128, r90: u128) -> Tally {
        Tally {
            r180,
            r90,
            ..Tally::default()
        }
    }

    #[test]
    fn eight_queens() {
        let n = Size::new(8).unwrap();
        let outcome = Outcome::new(n, &counted(92), Some(&census(4, 0))).unwrap();
        assert_eq!((outcome.total, outcome.unique()), (92, Some(12)));
        assert!(outcome.is_known);
        assert_eq!(Outcome::new(n, &counted(92), None).unwrap().unique(), None);
    }

    #[test]
    fn a_count_that_differs_from_the_known_one_is_no_result() {
        let n = Size::new(8).unwrap();
        for (total, r180, r90) in [(100, 4, 0), (92, 12, 0), (92, 4, 4)] {
            let error = Outcome::new(n, &counted(total), Some(&census(r180, r90))).unwrap_err();
            assert!(
                matches!(error, Contradiction::NotTheKnown { .. }),
                "{error}"
            );
        }
    }

    #[test]
    fn identities_are_checked_where_nothing_is_known() {
        let n = Size::new(28).unwrap();
        let [r180, r90] = known_symmetric(n);
        let mut all = Tally::default();
        all.completions.add(8, r180 / 8 + 2);
        let outcome = Outcome::new(n, &all, Some(&census(r180, r90))).unwrap();
        assert!(!outcome.is_known);
        let error = Outcome::new(n, &counted(92), Some(&census(r180, r90))).unwrap_err();
        assert!(matches!(error, Contradiction::Inconsistent(_)), "{error}");
        // What turns fix is known of every board.
        let error = Outcome::new(n, &all, Some(&census(r180, 0))).unwrap_err();
        assert!(
            matches!(error, Contradiction::NotTheKnown { .. }),
            "{error}"
        );
    }
}
