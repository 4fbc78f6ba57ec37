//! Windows.

pub mod continued;
pub mod memory;
pub mod signals;
pub mod stdio;
pub mod terminal;
