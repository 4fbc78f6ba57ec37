//! A given board as a picture of `.`, `Q` and `#`.

use super::{GivenBoard, GivenError, Size, Square};

impl GivenBoard {
    /// The board of a picture: a line for each row, the top row first; `.` is an empty square, `Q` or `q` a given
    /// queen, `#` a hole. Blanks and empty lines are left out, and so is a byte order mark.
    ///
    /// ```
    /// # use queenfold_engines::board as queenfold;
    /// use queenfold::GivenBoard;
    ///
    /// let board = GivenBoard::from_picture(". . . .\n. . . Q\n# . . .\n. . . .\n")?;
    /// assert_eq!(board.to_string(), "queens d3 and holes a2");
    /// # Ok::<(), queenfold::GivenError>(())
    /// ```
    ///
    /// # Errors
    /// The text is no such picture, or [cannot be given](GivenBoard::new).
    pub fn from_picture(text: &str) -> Result<Self, GivenError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let drawn = (1..)
            .zip(text.lines())
            .filter(|(_, text)| !text.trim().is_empty());
        let mut rows: Vec<(usize, Vec<char>)> = Vec::new();
        for (line, text) in drawn {
            let signs = (1..)
                .zip(text.chars())
                .filter(|(_, sign)| !sign.is_whitespace());
            let squares = signs.map(|(column, sign)| match sign {
                '.' | 'Q' | '#' => Ok(sign),
                'q' => Ok('Q'),
                other => {
                    let found = other.escape_debug().to_string();
                    Err(GivenError(format!(
                        "line {line}, column {column}: `{found}` is neither `.` (empty) nor `Q` (a queen) nor `#` (a hole){}",
                        hint(&found)
                    )))
                }
            });
            rows.push((line, squares.collect::<Result<_, _>>()?));
        }
        let lines = rows.len();
        let n = rows.first().map_or(0, |(_, squares)| squares.len());
        if let Some((line, _)) = rows.get(n)
            && n > 1
            && rows[..n].iter().all(|(_, squares)| squares.len() == n)
        {
            return Err(several(n, *line));
        }
        let n = u32::try_from(lines).ok().and_then(|n| Size::new(n).ok());
        let n = n.ok_or_else(|| {
            let most = Size::MAX;
            GivenError(format!(
                "a picture has 1 to {most} lines, one for each row, not {lines}"
            ))
        })?;
        let (mut queens, mut holes) = (Vec::new(), Vec::new());
        for (row, (line, squares)) in (0..).zip(&rows) {
            let line = *line;
            if squares.len() != lines {
                let squares = squares.len();
                return Err(GivenError(format!(
                    "line {line} has {squares} squares: as many are needed as there are lines, {lines}"
                )));
            }
            for (column, square) in (0..).zip(squares) {
                match square {
                    'Q' => queens.push(Square::new(row, column)),
                    '#' => holes.push(Square::new(row, column)),
                    _ => {}
                }
            }
        }
        Self::new(n, queens, holes)
    }
}

/// More lines follow after those of a board.
fn several(n: usize, line: usize) -> GivenError {
    GivenError(format!(
        "several boards, or a line too many: the first {n} lines are a board of n = {n}, and line {line} follows; give \
         one board in a file"
    ))
}

/// What to do about a sign that other programs use, each in its own meaning.
fn hint(found: &str) -> String {
    match found {
        "*" | "_" | "0" | "1" | "-" | "+" | "x" | "X" | "o" | "O" => format!(
            ". Other programs draw boards with it: replace it by what it means there, as with `tr '{found}' Q` for a \
             queen and `tr '{found}' .` for an empty square"
        ),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_read() {
        let text = "#...\n...Q\n\n....\n..#.\n";
        let board = GivenBoard::from_picture(text).unwrap();
        assert_eq!(board.to_string(), "queens d3 and holes a4,c1");
    }

    /// A sign of another program must not become an empty square.
    #[test]
    fn no_queen_is_lost() {
        let board = GivenBoard::from_picture("....\n...q\n....\n....\n").unwrap();
        assert_eq!(board.to_string(), "queens d3");
        for text in ["..\n1.\n", "..\n1.\nab\n", "..\n1.\na b\n", "2 .\n1 .\n"] {
            assert!(GivenBoard::from_picture(text).is_err(), "{text}");
        }
    }

    #[test]
    fn only_one_board_is_in_a_picture() {
        for (text, n, line) in [
            ("..\nQ.\n\n..\nQ.\n", 2, 4),
            ("...\n..Q\n...\n\n....\n", 3, 5),
        ] {
            let refused = GivenBoard::from_picture(text);
            assert_eq!(refused, Err(several(n, line)), "{text}");
        }
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
                 boards with it: replace it by what it means there, as with `tr '*' Q` for a queen and `tr '*' .` for an \
                 empty square",
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
