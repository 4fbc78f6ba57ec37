//! The method `bitmap-orbits`: the bitmap search, with every solution classified by its images in bit form.
//!
#![doc = include_str!("text/bitmap-orbits.md")]

use super::bitmap::{Rules, Search, Taken};
use super::orbits::orbit_size_if_smallest;
use super::{Count, Images, Method, MethodRequest, StopSearch, Watch};
use queenfold_engines::board::{Orbits, Size};

/// The bitmap search, with every solution classified by its eight images in bit form.
pub const METHOD: Method = Method {
    name: "bitmap-orbits",
    step: 5,
    text: include_str!("text/bitmap-orbits.md"),
    count,
    ..Method::USUAL
};

fn count(request: &MethodRequest, watch: &mut Watch<'_>) -> Result<Count, StopSearch> {
    let sorter = Sorter {
        n: request.n,
        total: 0,
        classes: Orbits::default(),
    };
    let mut search = Search::new(request.n, sorter, watch);
    search.run(request.style, 0, Taken::default())?;
    Ok(Count {
        total: search.rules.total.into(),
        ..Count::classes(search.rules.classes)
    })
}

/// Sorts every solution into its class.
struct Sorter {
    n: Size,
    total: u64,
    classes: Orbits,
}

impl Rules for Sorter {
    fn filled(&mut self, board: &[u32], watch: &mut Watch<'_>) -> Result<(), StopSearch> {
        self.total += 1;
        if let Some(size) = orbit_size(self.n, board) {
            self.classes.add(size, 1);
        }
        watch.solution(board, Images::Itself)
    }
}

/// The size of the solution's orbit if it is the smallest of its images, compared by the bits of their rows.
pub(super) fn orbit_size(n: Size, board: &[u32]) -> Option<u8> {
    orbit_size_if_smallest(board, quarter_turn, |board| mirror_image(n, board))
}

/// The board turned by a quarter: the position of a row's bit is the row in the image, and the row
/// is the bit that is set there, counted from the highest.
pub(super) fn quarter_turn(board: &[u32]) -> Vec<u32> {
    let top_bit = 1 << (board.len() - 1);
    let mut image = vec![0; board.len()];
    for (row, bit) in board.iter().enumerate() {
        image[bit.trailing_zeros() as usize] = top_bit >> row;
    }
    image
}

/// Left and right exchanged: the bits of each row in reverse.
fn mirror_image(n: Size, board: &[u32]) -> Vec<u32> {
    board
        .iter()
        .map(|bit| bit.reverse_bits() >> (Size::MAX - n.get()))
        .collect()
}
