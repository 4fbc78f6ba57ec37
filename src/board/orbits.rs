//! Unique solutions from the total and the symmetric solutions (Burnside's lemma), by size of orbit.

use super::Size;

/// The number of orbits of each size. An orbit is a class of solutions that are images of one
/// another under the symmetries of the board.
///
/// An orbit has 8 solutions, or 4 if the half turn fixes each of them, or 2 if the quarter turn
/// does. Only the single queen of the 1×1 board is an orbit of 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Orbits {
    /// Orbits of one solution: 1 for n = 1, else 0.
    pub c1: u128,
    /// Orbits of two solutions, fixed by the quarter turn.
    pub c2: u128,
    /// Orbits of four solutions, fixed by the half turn but not by the quarter turn.
    pub c4: u128,
    /// Orbits of eight solutions, without symmetry.
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
    expected: &'static str,
}

impl Orbits {
    /// The orbits that follow from the number of solutions and from how many of them a half turn
    /// and a quarter turn fix. For n ≥ 2, where no solution equals its own reflection:
    ///
    /// ```text
    /// r90 = 2·c2     r180 = 2·c2 + 4·c4     total = 2·c2 + 4·c4 + 8·c8
    /// ```
    ///
    /// # Errors
    /// The three numbers give a class count that is negative or not whole.
    pub fn from_counts(n: Size, total: u128, r180: u128, r90: u128) -> Result<Self, Inconsistent> {
        let wrong = |expected| Inconsistent {
            n,
            total,
            r180,
            r90,
            expected,
        };
        if n.get() == 1 {
            return if (total, r180, r90) == (1, 1, 1) {
                Ok(Self {
                    c1: 1,
                    c2: 0,
                    c4: 0,
                    c8: 0,
                })
            } else {
                Err(wrong("1, 1, 1"))
            };
        }
        let classes = |count: u128, less: u128, size: u128, expected| {
            count
                .checked_sub(less)
                .filter(|rest| rest % size == 0)
                .map(|rest| rest / size)
                .ok_or_else(|| wrong(expected))
        };
        Ok(Self {
            c1: 0,
            c2: classes(r90, 0, 2, "an even number fixed by the quarter turn")?,
            c4: classes(
                r180,
                r90,
                4,
                "half turn − quarter turn to be a multiple of 4",
            )?,
            c8: classes(total, r180, 8, "total − half turn to be a multiple of 8")?,
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_that_contradict_each_other_are_refused() {
        let n = Size::new(8).unwrap();
        assert!(Orbits::from_counts(n, 92, 4, 0).is_ok());
        for (total, r180, r90) in [(93, 4, 0), (92, 5, 0), (92, 4, 1), (2, 4, 0), (92, 4, 8)] {
            let error = Orbits::from_counts(n, total, r180, r90)
                .unwrap_err()
                .to_string();
            assert!(error.contains("n = 8"), "{error}");
        }
        assert!(Orbits::from_counts(Size::new(1).unwrap(), 0, 0, 0).is_err());
    }

    #[test]
    fn total_is_recovered() {
        let orbits = Orbits::from_counts(Size::new(12).unwrap(), 14200, 80, 8).unwrap();
        assert_eq!((orbits.total(), orbits.unique()), (14200, 1787));
    }
}
