//! What stands for an instruction set where none is needed.

/// The token of plain Rust, which runs on every machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Portable;
