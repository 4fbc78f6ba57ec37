//! The names of squares, as in chess: `a1` is the square at the bottom left.

use super::{GivenError, Size, Square};

impl Square {
    /// The name of the square on a board of size `n`: the letter of its column, `a` at the left, and the
    /// number of its row, 1 at the bottom. The columns after `z` are `aa`, `ab` and so on.
    ///
    /// ```
    /// # use queenfold_engines::board as queenfold;
    /// use queenfold::{Size, Square};
    ///
    /// let n = Size::new(8)?;
    /// let square = Square::from_name(n, "c3")?;
    /// assert_eq!((square.column, square.row), (2, 5));
    /// assert_eq!(square.name(n), "c3");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn name(self, n: Size) -> String {
        let number = n.get() - u32::from(self.row);
        format!("{}{number}", column_name(self.column.into()))
    }

    /// The square with this [name](Self::name). Capital letters are allowed.
    ///
    /// # Errors
    /// The text names no square of the board of size `n`.
    pub fn from_name(n: Size, text: &str) -> Result<Self, GivenError> {
        let n = n.get();
        let lower = text.trim().to_ascii_lowercase();
        let digits = lower.trim_start_matches(|c: char| c.is_ascii_lowercase());
        let letters = &lower[..lower.len() - digits.len()];
        let column = (0..n).find(|&column| column_name(column) == letters);
        let number = digits.parse::<u32>().ok();
        let number =
            number.filter(|number| (1..=n).contains(number) && !digits.starts_with(['0', '+']));
        match (column, number) {
            (Some(column), Some(number)) => Ok(Self::new((n - number) as u8, column as u8)),
            _ => Err(GivenError(format!(
                "`{}` names no square of n = {n}: write a column from a to {} and a row from 1 to {n}, as in c3",
                text.trim(),
                column_name(n - 1)
            ))),
        }
    }
}

/// The squares with these names, separated by commas or blanks.
pub(super) fn squares_named(n: Size, names: &str) -> Result<Vec<Square>, GivenError> {
    let names = names.split([',', ' ']).filter(|name| !name.is_empty());
    names.map(|name| Square::from_name(n, name)).collect()
}

/// The letters of a column, counted from 0 at the left.
pub(super) fn column_name(column: u32) -> String {
    let letter = |place: u32| char::from(b'a' + (place % 26) as u8);
    match column {
        0..26 => letter(column).to_string(),
        _ => format!("{}{}", letter(column / 26 - 1), letter(column)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_square_has_a_name_of_its_own() {
        for n in [1, 8, 26, 27, 32].map(|n| Size::new(n).unwrap()) {
            let last = n.get() as u8 - 1;
            let squares = (0..=last).flat_map(|row| (0..=last).map(move |c| Square::new(row, c)));
            for square in squares {
                assert_eq!(Square::from_name(n, &square.name(n)), Ok(square));
            }
        }
        let n = Size::new(32).unwrap();
        assert_eq!(Square::new(31, 0).name(n), "a1");
        assert_eq!(Square::new(0, 31).name(n), "af32");
        assert_eq!(Square::from_name(n, " C3 "), Square::from_name(n, "c3"));
    }

    #[test]
    fn other_texts_name_no_square() {
        let n = Size::new(8).unwrap();
        for text in [
            "", "c", "3", "3c", "i1", "a0", "a9", "a01", "a+1", "aa1", "c3 d4", "é1",
        ] {
            let error = Square::from_name(n, text).unwrap_err().to_string();
            assert!(
                error.contains("from a to h and a row from 1 to 8"),
                "{error}"
            );
        }
    }
}
