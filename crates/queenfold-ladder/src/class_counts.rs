//! How many orbits of each size there are, and how large the orbit of a solution is.

use std::cmp::Ordering;
use std::iter::Sum;

use super::Queen;
use queenfold_engines::board::Orbits;

/// A running count of orbits by size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ClassCounts {
    sizes: [u64; 4],
}

impl ClassCounts {
    /// Adds an orbit of `size` solutions: 1, 2, 4 or 8.
    #[inline]
    pub fn add(&mut self, size: u8) {
        self.sizes[(size.trailing_zeros() & 3) as usize] += 1;
    }

    /// The counts as orbits.
    pub fn orbits(self) -> Orbits {
        let [c1, c2, c4, c8] = self.sizes.map(u128::from);
        Orbits { c1, c2, c4, c8 }
    }

    /// The only solution of the 1×1 board, which is an orbit of one.
    pub fn of_one_queen() -> Self {
        Self {
            sizes: [1, 0, 0, 0],
        }
    }
}

impl Sum for ClassCounts {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, classes| Self {
            sizes: std::array::from_fn(|size| sum.sizes[size] + classes.sizes[size]),
        })
    }
}

/// The size of a solution's orbit if it is the smallest of its eight images, compared row by row from the top; `None` if
/// another image is smaller and so represents the orbit.
pub(super) fn orbit_size_if_smallest<Q: Queen + Ord>(
    board: &[Q],
    quarter_turn: impl Fn(&[Q]) -> Vec<Q>,
    mirror_image: impl Fn(&[Q]) -> Vec<Q>,
) -> Option<u8> {
    let mut turned = board.to_vec();
    let mut equal = 0;
    for _ in 0..4 {
        turned = quarter_turn(&turned);
        for image in [&turned, &mirror_image(&turned)] {
            match image.as_slice().cmp(board) {
                Ordering::Less => return None,
                Ordering::Equal => equal += 1,
                Ordering::Greater => {}
            }
        }
    }
    // Each of the images occurs equally often among the eight.
    Some(8 / equal)
}
