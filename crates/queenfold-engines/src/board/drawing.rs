//! A board as text, with its queens.

use std::fmt;

/// Draws a placement: one line for each row, `Q` for a queen, `.` for an empty square, separated by
/// spaces.
///
/// The slice has the column of the queen of each row, or `None` for a row without a queen, so that
/// partial placements can be drawn too.
///
/// ```
/// use queenfold_engines::board::Drawing;
/// let drawing = Drawing(&[Some(1), Some(3), None, Some(2)]);
/// assert_eq!(drawing.to_string(), ". Q . .\n. . . Q\n. . . .\n. . Q .\n");
/// ```
pub struct Drawing<'a>(pub &'a [Option<u8>]);

impl fmt::Display for Drawing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for &queen in self.0 {
            for column in 0..self.0.len() {
                let square = if queen.map(usize::from) == Some(column) {
                    "Q"
                } else {
                    "."
                };
                let gap = if column == 0 { "" } else { " " };
                write!(f, "{gap}{square}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
