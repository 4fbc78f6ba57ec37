use std::iter::Sum;

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
