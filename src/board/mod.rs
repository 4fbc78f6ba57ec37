//! The board: its size, its squares, its eight symmetries, how a solution is drawn, and the
//! published counts.
//!
//! Nothing in this room knows how solutions are found.

mod bits;
mod drawing;
mod known;
mod orbits;
mod size;
mod square;
mod symmetry;

pub use bits::bits;
pub use drawing::Drawing;
pub use known::{KNOWN, Known, known};
pub use orbits::{Inconsistent, Orbits};
pub use size::{Size, SizeError};
pub use square::Square;
pub use symmetry::Symmetry;
