//! The method `bound1`: searches half the first row, and asks whether the first queen is in a corner.
//!
#![doc = include_str!("text/bound1.md")]

use super::bitmap::{Rules, Search};
use super::bitmap_orbits::orbit_size;
use super::{Count, Images, Method, MethodRequest, StopSearch, Watch};
use queenfold_engines::board::{Orbits, Size};

/// Searches half the first row and distinguishes whether the first queen is in a corner.
pub const METHOD: Method = Method {
    name: "bound1",
    step: 6,
    text: include_str!("text/bound1.md"),
    count,
    ..Method::USUAL
};

fn count(request: &MethodRequest, watch: &mut Watch<'_>) -> Result<Count, StopSearch> {
    // The single queen is in all four corners at once.
    if request.n.get() == 1 {
        watch.place(&[1_u32], 0)?;
        watch.solution(&[1_u32], Images::Orbit(1))?;
        return Ok(Count::classes(Orbits {
            c1: 1,
            ..Orbits::default()
        }));
    }
    let leaf = Leaf {
        n: request.n,
        classes: Orbits::default(),
    };
    let mut search = Search::new(request.n, leaf, watch);
    // The smallest image has its first queen in the lower half of the columns, and never in the
    // centre: then all four sides would need a queen in the centre.
    for bound1 in 0..request.n.get() / 2 {
        let taken = search.place_first(&[1 << bound1])?;
        search.run(request.style, 1, taken)?;
    }
    Ok(Count::classes(search.rules.classes))
}

/// Classifies solutions.
struct Leaf {
    n: Size,
    classes: Orbits,
}

impl Rules for Leaf {
    fn filled(&mut self, board: &[u32], watch: &mut Watch<'_>) -> Result<(), StopSearch> {
        let size = if board[0] == 1 {
            is_smaller_than_its_reflection(board).then_some(8)
        } else {
            orbit_size(self.n, board)
        };
        if let Some(size) = size {
            self.classes.add(size, 1);
            watch.solution(board, Images::Orbit(size))?;
        }
        Ok(())
    }
}

/// The corner rule. A queen in the corner of row 0 and column 0 keeps the other corners empty. So
/// only one other image has a queen there too: the reflection in the diagonal through it. The
/// smaller of the two is the one whose queen in row 1 has the lower column. They differ, and no
/// turn of either equals it, so the orbit has eight solutions.
fn is_smaller_than_its_reflection(board: &[u32]) -> bool {
    let column_in_row_1 = board[1].trailing_zeros() as usize;
    let row_in_column_1 = board.iter().position(|&bit| bit == 1 << 1);
    row_in_column_1.is_some_and(|row| column_in_row_1 < row)
}
