//! Instruction sets: which there are, which this machine has, and vectors for each.
//!
//! An algorithm is a [`Program`], written once over [`Vector`]; [`Isa::run`] is the one place where
//! it is given the vectors of an instruction set.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod isa;
mod portable;
mod vector;

pub use isa::{Isa, UnknownIsa};
pub use vector::{Vector, Word};

/// An algorithm over vectors of either lane width.
///
/// Everything it calls in its hot loops has to be `#[inline(always)]`, so that it is compiled for
/// the instruction set it is run with.
pub trait Program {
    /// What it returns.
    type Output;

    /// Runs it.
    ///
    /// # Safety
    /// The machine has the instruction set of the vectors.
    unsafe fn run<V16: Vector<Word = u16>, V32: Vector<Word = u32>>(self) -> Self::Output;
}

impl Isa {
    /// Runs `program` with the vectors of this instruction set.
    ///
    /// # Panics
    /// The machine does not have it.
    pub fn run<P: Program>(self, program: P) -> P::Output {
        assert!(self.is_available(), "this machine has no {self}");
        match self {
            Self::Portable => portable::run(program),
            // SAFETY: available, as asserted.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => unsafe { avx2::run(program) },
            // SAFETY: available, as asserted.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => unsafe { avx512::run(program) },
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 | Self::Avx512 => portable::run(program),
        }
    }
}

/// Positions of the set bits, the lowest first.
#[inline(always)]
fn set_bits(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let position = mask.trailing_zeros() as usize;
        let more = mask != 0;
        mask &= mask.wrapping_sub(1);
        more.then_some(position)
    })
}

/// The lowest `limit` set bits.
#[inline(always)]
fn first_bits(mask: u32, limit: usize) -> u32 {
    set_bits(mask)
        .take(limit)
        .fold(0, |first, position| first | 1 << position)
}
