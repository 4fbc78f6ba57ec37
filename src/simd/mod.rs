//! Instruction sets: which there are, which this machine has.

mod isa;

pub use isa::{Isa, UnknownIsa};
