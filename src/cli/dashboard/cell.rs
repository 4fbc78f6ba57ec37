//! A cell of a map.

/// What a cell of a map tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell {
    /// Nothing of it is done.
    Empty,
    /// This share of it is done here, between 0 and 1.
    Partly(f64),
    /// All of it is done.
    Full,
    /// Some of it was there before.
    SomeBefore,
    /// All of it was there before.
    Before,
    /// Somebody works on it.
    Active,
    /// Something was wrong with it.
    Wrong,
}
