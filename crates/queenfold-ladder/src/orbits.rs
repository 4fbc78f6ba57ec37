//! The method `orbits`: finds every solution and classifies it by its eight images.
//!
#![doc = include_str!("text/orbits.md")]

use std::cmp::Ordering;

use super::by_columns::{Rules, search};
use super::flags::Lines;
use super::{Count, Method, MethodRequest, Queen, StopSearch, Watch};
use queenfold_engines::board::Orbits;

/// Finds every solution and classifies it by its eight images.
pub const METHOD: Method = Method {
    name: "orbits",
    step: 5,
    text: include_str!("text/orbits.md"),
    count,
    ..Method::USUAL
};

fn count(request: &MethodRequest, watch: &mut Watch<'_>) -> Result<Count, StopSearch> {
    let mut sorter = Sorter {
        lines: Lines::new(request.n),
        classes: Orbits::default(),
    };
    let total = search(request, &mut sorter, watch)?;
    Ok(Count {
        total: total.into(),
        ..Count::classes(sorter.classes)
    })
}

/// The search by flags, with every solution sorted into its class.
struct Sorter {
    lines: Lines,
    classes: Orbits,
}

impl Rules for Sorter {
    fn is_free(&self, board: &[u8], row: usize, column: usize) -> bool {
        self.lines.is_free(board, row, column)
    }

    fn set(&mut self, row: usize, column: usize, taken: bool) {
        self.lines.set(row, column, taken);
    }

    fn filled(&mut self, board: &[u8], watch: &mut Watch<'_>) -> Result<u64, StopSearch> {
        if let Some(size) = orbit_size_if_smallest(board, quarter_turn, mirror_image) {
            self.classes.add(size, 1);
        }
        self.lines.filled(board, watch)
    }
}

/// The board turned clockwise: the first row becomes the last column.
fn quarter_turn(board: &[u8]) -> Vec<u8> {
    let last = board.len() - 1;
    let mut image = vec![0; board.len()];
    for (row, &column) in board.iter().enumerate() {
        image[usize::from(column)] = (last - row) as u8;
    }
    image
}

/// Left and right exchanged.
fn mirror_image(board: &[u8]) -> Vec<u8> {
    let last = board.len() as u8 - 1;
    board.iter().map(|column| last - column).collect()
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
