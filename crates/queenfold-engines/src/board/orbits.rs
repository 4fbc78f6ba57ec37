//! Unique solutions from the total and the symmetric solutions (Burnside's lemma), by size of orbit.

use serde::{Deserialize, Serialize};

use super::decimal;
use std::iter::Sum;

use super::{Size, Symmetry, SymmetryGroup};

/// The number of orbits of each size. An orbit is a class of solutions that are images of one
/// another under the symmetries of the board.
///
/// On a free board an orbit has 8 solutions, or 4 if the half turn fixes each of them, or 2 if the
/// quarter turn does. Only the single queen of the 1×1 board is an orbit of 1. On a board that fewer
/// symmetries fix, the largest orbits have as many solutions as there are such symmetries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Orbits {
    /// Orbits of one solution: 1 for n = 1, else 0 on a free board.
    #[serde(with = "decimal")]
    pub c1: u128,
    /// Orbits of two solutions, on a free board those fixed by the quarter turn.
    #[serde(with = "decimal")]
    pub c2: u128,
    /// Orbits of four solutions, on a free board those fixed by the half turn but not by the quarter turn.
    #[serde(with = "decimal")]
    pub c4: u128,
    /// Orbits of eight solutions, without symmetry.
    #[serde(with = "decimal")]
    pub c8: u128,
}

/// Counts that cannot belong to the same board, because an identity between them fails.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the counts of n = {n} contradict each other: total {total}, fixed by the half turn {r180}, \
     by the quarter turn {r90}; expected {expected}"
)]
pub struct Inconsistent {
    n: Size,
    total: u128,
    r180: u128,
    r90: u128,
    expected: String,
}

impl Orbits {
    /// The orbits under `group`, the symmetries that fix the board, that follow from the number of solutions
    /// and from how many of them a half turn and a quarter turn fix. For n ≥ 2, where no solution equals its
    /// own reflection, and a group of g symmetries that contains both turns:
    ///
    /// ```text
    /// r90 = g/4 · quarter     r180 − r90 = g/2 · half     total − r180 = g · whole
    /// ```
    ///
    /// where `whole` orbits have g solutions, and `half` and `quarter` ones a half and a quarter of that. A
    /// turn that does not fix the board makes no orbit smaller.
    ///
    /// # Errors
    /// The three numbers give a class count that is negative or not whole.
    pub fn from_counts(
        n: Size,
        group: SymmetryGroup,
        total: u128,
        r180: u128,
        r90: u128,
    ) -> Result<Self, Inconsistent> {
        let wrong = |expected: String| Inconsistent {
            n,
            total,
            r180,
            r90,
            expected,
        };
        let mut orbits = Self::default();
        if n.get() == 1 {
            if (r180, r90) != (total, total) || total > 1 {
                return Err(wrong("three times 1 or three times 0".to_owned()));
            }
            orbits.c1 = total;
            return Ok(orbits);
        }
        let fixed = |turn, count| if group.contains(turn) { count } else { 0 };
        let half = fixed(Symmetry::HalfTurn, r180);
        let quarter = fixed(Symmetry::QuarterTurn, r90);
        if r180 > total || r90 > r180 {
            return Err(wrong("each to be at most the one before".to_owned()));
        }
        // A reflection takes a solution that a turn fixes to another one.
        let mut reflections = Symmetry::ALL[4..].iter();
        if reflections.any(|&reflection| group.contains(reflection)) && (r180 | r90) % 2 == 1 {
            return Err(wrong("half turn and quarter turn to be even".to_owned()));
        }
        let order = u128::from(group.order());
        for (what, count, size) in [
            ("quarter turn", quarter, order / 4),
            ("half turn − quarter turn", half - quarter, order / 2),
            ("total − half turn", total - half, order),
        ] {
            if count == 0 {
                continue;
            }
            if count % size != 0 {
                return Err(wrong(format!("{what} to be a multiple of {size}")));
            }
            orbits.add(size as u8, count / size);
        }
        Ok(orbits)
    }

    /// Adds so many orbits of `size` solutions: 1, 2, 4 or 8.
    #[inline]
    pub fn add(&mut self, size: u8, orbits: u128) {
        let of_size = match size {
            1 => &mut self.c1,
            2 => &mut self.c2,
            4 => &mut self.c4,
            _ => &mut self.c8,
        };
        *of_size += orbits;
    }

    /// The number of fundamental solutions: orbits of every size.
    pub const fn unique(&self) -> u128 {
        self.c1 + self.c2 + self.c4 + self.c8
    }

    /// The number of solutions in all orbits.
    pub const fn total(&self) -> u128 {
        self.c1 + 2 * self.c2 + 4 * self.c4 + 8 * self.c8
    }
}

impl Sum for Orbits {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, orbits| Self {
            c1: sum.c1 + orbits.c1,
            c2: sum.c2 + orbits.c2,
            c4: sum.c4 + orbits.c4,
            c8: sum.c8 + orbits.c8,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_that_contradict_each_other_are_refused() {
        let n = Size::new(8).unwrap();
        let all = SymmetryGroup::ALL;
        assert!(Orbits::from_counts(n, all, 92, 4, 0).is_ok());
        for (total, r180, r90) in [(93, 4, 0), (92, 5, 0), (92, 4, 1), (2, 4, 0), (92, 4, 8)] {
            let error = Orbits::from_counts(n, all, total, r180, r90)
                .unwrap_err()
                .to_string();
            assert!(error.contains("n = 8"), "{error}");
        }
        assert!(Orbits::from_counts(Size::new(1).unwrap(), all, 1, 0, 0).is_err());
    }

    #[test]
    fn total_is_recovered() {
        let n = Size::new(12).unwrap();
        let orbits = Orbits::from_counts(n, SymmetryGroup::ALL, 14200, 80, 8).unwrap();
        assert_eq!((orbits.total(), orbits.unique()), (14200, 1787));
    }

    #[test]
    fn fewer_symmetries_make_smaller_orbits() {
        let n = Size::new(8).unwrap();
        let of = |symmetries: &[Symmetry], total, r180, r90| {
            let group = SymmetryGroup::of(|symmetry| symmetries.contains(&symmetry));
            let orbits = Orbits::from_counts(n, group, total, r180, r90).ok()?;
            assert_eq!(orbits.total(), total);
            Some([orbits.c1, orbits.c2, orbits.c4, orbits.c8])
        };
        use Symmetry::{HalfTurn, Identity, QuarterTurn, ThreeQuarterTurn, Transpose};
        assert_eq!(of(&[Identity], 7, 3, 1), Some([7, 0, 0, 0]));
        assert_eq!(of(&[Identity, HalfTurn], 7, 3, 1), Some([3, 2, 0, 0]));
        assert_eq!(of(&[Identity, HalfTurn], 7, 2, 0), None);
        assert_eq!(of(&[Identity, Transpose], 8, 4, 2), Some([0, 4, 0, 0]));
        assert_eq!(of(&[Identity, Transpose], 8, 3, 2), None);
        assert_eq!(of(&[Identity, Transpose], 8, 4, 1), None);
        let turns = [Identity, QuarterTurn, HalfTurn, ThreeQuarterTurn];
        assert_eq!(of(&turns, 11, 7, 3), Some([3, 2, 1, 0]));
        assert_eq!(of(&turns, 11, 6, 3), None);
    }
}
