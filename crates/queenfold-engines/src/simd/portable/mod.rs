//! Plain Rust: small arrays, which the compiler turns into vectors where it can.

mod token;
mod words;

use super::{Isa, Simd};
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
}
