//! The board: its size, its squares, its eight symmetries, how solutions look, and the numbers
//! that are known about it.
//!
//! Nothing in this room knows how solutions are searched for.

mod known;
mod orbits;
mod print;
mod size;
mod square;
mod symmetry;

pub use known::{KNOWN, Known, known};
pub use orbits::{Inconsistent, Orbits};
pub use print::Drawing;
pub use size::{Size, SizeError};
pub use square::Square;
pub use symmetry::Symmetry;
