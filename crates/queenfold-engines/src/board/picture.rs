//! A given board as a picture of `.`, `Q` and `#`.

use std::fmt;

use super::square_name::column_name;
use super::{GivenBoard, GivenError, Size, Square};

/// Why a text is no picture of a given board.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PictureError {
    /// It has no line, or too many.
    #[error("a picture has 1 to {most} lines, one for each row, not {lines}")]
    Lines {
        /// Its lines.
        lines: usize,
        /// The size of the largest board.
        most: u32,
    },
    /// A line is too short or too long.
    #[error("line {line} has {squares} squares: as many are needed as there are lines, {lines}")]
    Squares {
        /// The number of the line, from 1.
        line: usize,
        /// Its squares.
        squares: usize,
        /// The lines of the picture.
        lines: usize,
    },
    /// A character stands for nothing.
    #[error(
        "line {line}, column {column}: `{found}` is neither `.` (empty) nor `Q` (a queen) nor `#` (a hole){}",
        hint(found)
    )]
    Character {
        /// The number of the line, from 1.
        line: usize,
        /// The number of the character in its line, from 1.
        column: usize,
        /// The character, escaped.
        found: String,
    },
    /// What it shows cannot be given.
    #[error(transparent)]
    Given(#[from] GivenError),
}

impl GivenBoard {
    /// The board of a picture: a line for each row, the top row first; `.` is an empty square, `Q` a given
    /// queen, `#` a hole. Blanks and empty lines are left out, and so is a byte order mark.
    ///
    /// ```
    /// use queenfold_engines::board::GivenBoard;
    ///
    /// let board = GivenBoard::from_picture(". . . .\n. . . Q\n# . . .\n. . . .\n")?;
    /// assert_eq!(board.to_string(), "queens d3 and holes a2");
    /// # Ok::<(), queenfold_engines::board::PictureError>(())
    /// ```
    ///
    /// # Errors
    /// The text is no such picture, or [cannot be given](GivenBoard::new).
    pub fn from_picture(text: &str) -> Result<Self, PictureError> {
        let Shown { n, queens, holes } = read_picture(text, Size::MAX)?;
        let lines = n as usize;
        let n = Size::new(n).map_err(|_| PictureError::Lines {
            lines,
            most: Size::MAX,
        })?;
        Ok(Self::new(n, queens, holes)?)
    }

    /// Draws the board, with the numbers of its rows and the letters of its columns.
    pub fn picture(&self) -> impl fmt::Display + '_ {
        Picture(self)
    }
}

/// What a picture shows.
pub(crate) struct Shown {
    pub(crate) n: u32,
    pub(crate) queens: Vec<Square>,
    pub(crate) holes: Vec<Square>,
}

/// Reads the picture of a board of up to `most` rows.
pub(crate) fn read_picture(text: &str, most: u32) -> Result<Shown, PictureError> {
    let mut rows: Vec<(usize, Vec<char>)> = Vec::new();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (line, text) in (1..).zip(text.lines()) {
        let signs = (1..)
            .zip(text.chars())
            .filter(|(_, sign)| !sign.is_whitespace());
        let squares = signs.map(|(column, sign)| match sign {
            '.' | 'Q' | '#' => Ok(sign),
            other => Err(PictureError::Character {
                line,
                column,
                found: other.escape_debug().to_string(),
            }),
        });
        let squares = squares.collect::<Result<Vec<_>, _>>()?;
        if !squares.is_empty() {
            rows.push((line, squares));
        }
    }
    let lines = rows.len();
    if !(1..=most as usize).contains(&lines) {
        return Err(PictureError::Lines { lines, most });
    }
    let (mut queens, mut holes) = (Vec::new(), Vec::new());
    for (row, (line, squares)) in (0..).zip(&rows) {
        let line = *line;
        if squares.len() != lines {
            return Err(PictureError::Squares {
                line,
                squares: squares.len(),
                lines,
            });
        }
        for (column, square) in (0..).zip(squares) {
            match square {
                'Q' => queens.push(Square::new(row, column)),
                '#' => holes.push(Square::new(row, column)),
                _ => {}
            }
        }
    }
    Ok(Shown {
        n: lines as u32,
        queens,
        holes,
    })
}

/// What to do about a sign that other programs use, each in its own meaning.
fn hint(found: &str) -> String {
    match found {
        "*" | "_" | "0" | "1" | "-" | "+" | "x" | "X" | "q" | "o" | "O" => format!(
            ". Other programs draw boards with it: replace it by what it means, as with `tr '{found}' .` for an empty \
             square"
        ),
        _ => String::new(),
    }
}

struct Picture<'a>(&'a GivenBoard);

impl fmt::Display for Picture<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.0.size().get();
        for row in 0..n {
            write!(f, "{:>2}", n - row)?;
            for column in 0..n {
                let square = Square::new(row as u8, column as u8);
                let sign = match square {
                    _ if self.0.queens().contains(square) => 'Q',
                    _ if self.0.holes().contains(square) => '#',
                    _ => '.',
                };
                write!(f, " {sign}")?;
            }
            writeln!(f)?;
        }
        // Beyond z the second letter says which column it is.
        let letters: Vec<_> = (0..n).filter_map(|c| column_name(c).pop()).collect();
        write!(f, "  ")?;
        letters
            .into_iter()
            .try_for_each(|letter| write!(f, " {letter}"))?;
        writeln!(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_read_and_drawn() {
        let text = "#...\n...Q\n\n....\n..#.\n";
        let board = GivenBoard::from_picture(text).unwrap();
        assert_eq!(board.to_string(), "queens d3 and holes a4,c1");
        let drawn = " 4 # . . .\n 3 . . . Q\n 2 . . . .\n 1 . . # .\n   a b c d\n";
        assert_eq!(board.picture().to_string(), drawn);
    }

    #[test]
    fn a_byte_order_mark_is_skipped() {
        let board = GivenBoard::from_picture("\u{feff}Q..\n...\n...\n").unwrap();
        assert_eq!(board.to_string(), "queens a3");
    }

    #[test]
    fn what_is_no_picture_is_refused_with_its_place() {
        for (text, error) in [
            ("", "a picture has 1 to 32 lines, one for each row, not 0"),
            (
                "..\n.\n",
                "line 2 has 1 squares: as many are needed as there are lines, 2",
            ),
            (
                ".?.\n..\n",
                "line 1, column 2: `?` is neither `.` (empty) nor `Q` (a queen) nor `#` (a hole)",
            ),
            (
                "*.\n..\n",
                "line 1, column 1: `*` is neither `.` (empty) nor `Q` (a queen) nor `#` (a hole). Other programs draw \
                 boards with it: replace it by what it means, as with `tr '*' .` for an empty square",
            ),
            (
                "Q.\n.Q\n",
                "the given queens on a2 and b1 attack each other",
            ),
        ] {
            let refused = GivenBoard::from_picture(text).unwrap_err();
            assert_eq!(refused.to_string(), error);
        }
    }
}
