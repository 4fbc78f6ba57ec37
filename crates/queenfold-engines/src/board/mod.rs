//! The board: its size, its squares, its eight symmetries, queens and holes that are given, how a
//! solution is drawn, and the published counts.
//!
//! Nothing in this room knows how solutions are found.

mod bits;
pub mod decimal;
mod drawing;
mod given;
mod given_squares;
mod images;
mod known;
mod orbits;
mod picture;
mod size;
mod square;
mod square_name;
mod squares;
mod symmetry;
mod symmetry_group;

pub use bits::bits;
pub use drawing::Drawing;
pub use given::{GivenBoard, GivenError};
pub use given_squares::GivenSquares;
pub use images::Images;
pub use known::{KNOWN, Known, known, known_symmetric};
pub use orbits::{Inconsistent, Orbits};
pub use size::{Size, SizeError};
pub use square::Square;
pub use squares::Squares;
pub use symmetry::Symmetry;
pub use symmetry_group::SymmetryGroup;
