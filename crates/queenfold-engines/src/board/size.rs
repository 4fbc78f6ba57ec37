//! The sizes of boards: 1 to 32.

use std::fmt;
use std::num::NonZeroU8;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The number of rows (and columns, and queens) of a board: 1 to 32.
///
/// The range is checked here, once: code that takes a `Size` can rely on it.
///
/// ```
/// # use queenfold_engines::board as queenfold;
/// use queenfold::Size;
///
/// assert_eq!(Size::new(20)?.get(), 20);
/// assert_eq!("20".parse::<Size>()?, Size::new(20)?);
/// let error = Size::new(33).unwrap_err();
/// assert_eq!(error.to_string(), "board size `33` is not a whole number from 1 to 32");
/// # Ok::<(), queenfold::SizeError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct Size(NonZeroU8);

/// The error for a board size outside `1..=32`, or for text that is not a number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("board size `{given}` is not a whole number from 1 to {max}", max = Size::MAX)]
pub struct SizeError {
    given: String,
}

impl Size {
    /// The largest board: a row of squares is one 32-bit word.
    pub const MAX: u32 = 32;

    /// The board of `n` × `n` squares, where `n` is written in the source. In a constant, the compiler
    /// refuses what is no size.
    pub(crate) const fn constant(n: u8) -> Self {
        assert!(n as u32 <= Self::MAX, "too many rows");
        match NonZeroU8::new(n) {
            Some(n) => Self(n),
            None => panic!("no rows"),
        }
    }

    /// The board of `n` × `n` squares.
    ///
    /// # Errors
    /// `n` is not in `1..=32`.
    pub fn new(n: u32) -> Result<Self, SizeError> {
        u8::try_from(n)
            .ok()
            .filter(|&n| u32::from(n) <= Self::MAX)
            .and_then(NonZeroU8::new)
            .map(Self)
            .ok_or_else(|| SizeError {
                given: n.to_string(),
            })
    }

    /// The number of rows, 1 to 32.
    pub const fn get(self) -> u32 {
        self.0.get() as u32
    }

    /// One bit for each column of a row: the lowest `n` bits.
    pub const fn full_mask(self) -> u32 {
        u32::MAX >> (Self::MAX - self.get())
    }

    /// Every size from the smallest board to the largest.
    pub fn all() -> impl Iterator<Item = Self> {
        (1..=Self::MAX).filter_map(|n| Self::new(n).ok())
    }
}

impl TryFrom<u32> for Size {
    type Error = SizeError;

    fn try_from(n: u32) -> Result<Self, SizeError> {
        Self::new(n)
    }
}

impl From<Size> for u32 {
    fn from(n: Size) -> u32 {
        n.get()
    }
}

impl FromStr for Size {
    type Err = SizeError;

    fn from_str(text: &str) -> Result<Self, SizeError> {
        let refused = || SizeError {
            given: text.to_owned(),
        };
        let n: u32 = text.parse().map_err(|_| refused())?;
        Self::new(n).map_err(|_| refused())
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Size({})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_1_to_32_are_sizes() {
        for n in [0, 33, 64, 256, 257, u32::MAX] {
            assert!(Size::new(n).is_err(), "{n}");
        }
        assert_eq!(
            Size::all().map(Size::get).collect::<Vec<_>>(),
            (1..=32).collect::<Vec<_>>()
        );
    }

    #[test]
    fn text_that_is_no_size_is_named_in_the_error() {
        for text in ["", "abc", "-1", "0", "33", "8.0", "99999999999"] {
            let error = text.parse::<Size>().unwrap_err().to_string();
            assert!(
                error.contains(&format!("`{text}`")) && error.contains("1 to 32"),
                "{error}"
            );
        }
        assert_eq!("8".parse::<Size>().unwrap().get(), 8);
    }

    #[test]
    fn the_full_mask_has_one_bit_a_column() {
        for n in Size::all() {
            assert_eq!(n.full_mask().count_ones(), n.get());
            assert_eq!(n.full_mask().trailing_ones(), n.get());
        }
    }
}
