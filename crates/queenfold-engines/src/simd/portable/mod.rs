//! Plain Rust: small arrays, which the compiler turns into vectors where it can.

mod rows;
mod token;
mod words;

use super::{Isa, ROW, Simd};
pub use token::Portable;

impl Simd for Portable {
    type Words16 = words::Words<u16>;
    type Words32 = words::Words<u32>;

    const ISA: Isa = Isa::Portable;

    fn new() -> Option<Self> {
        Some(Self)
    }

    #[inline(always)]
    fn vectorize<R>(self, work: impl FnOnce() -> R) -> R {
        work()
    }

    #[inline(always)]
    fn increment(self, row: &mut [u16; ROW], lanes: u16) {
        rows::increment(self, row, lanes);
    }

    #[inline(always)]
    fn add_pairs(self, sums: &mut [u32; ROW / 2], row: &[u16; ROW], lanes: u16) {
        rows::add_pairs(self, sums, row, lanes);
    }
}
