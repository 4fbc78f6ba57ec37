//! Instruction sets: which ones there are, which of them this machine has, and their vectors.
//!
//! * [`Isa`]: an instruction set by name, and the one place where code is chosen by it.
//! * [`Simd`]: the proof that this machine has an instruction set, as a type of its own for each.
//! * [`WordVector`]: vectors of 16-bit or 32-bit words.
//!
//! An algorithm is written once, over these traits. It starts as an [`Algorithm`]: [`Isa::run`]
//! gives it the token of an instruction set. Its hot loops run inside [`Simd::vectorize`], which
//! compiles them for that instruction set.
//!
//! # Safety
//!
//! There is one rule. A value of a type that implements [`Simd`] (a *token*) proves that the
//! machine has the instruction set, because only [`Simd::new`] makes one, after asking the machine.
//! Vectors of words can be made only with a token, so a vector is a proof too. Operations are
//! therefore safe, except those that read or write memory through a pointer.
//!
//! # How to add an instruction set
//!
//! 1. Make a folder next to `avx2/`, with four files. `token.rs` declares the
//!    token. `words.rs` implements [`WordVector`] for two types, `Words16` and `Words32`. `rows.rs` has
//!    what is done to rows of 16 words. `mod.rs`
//!    implements [`Simd`] for the token with the macro `token!`, from the features that the compiler and the
//!    machine must know.
//! 2. Add the folder to the list below: a `mod` line, and an entry in `instruction_sets`. The entry
//!    makes the variant of [`Isa`], its name on the command line, the dispatch, and a copy of
//!    every test that is written for all instruction sets.
//!
//! Nothing else has to change for correct results. The compiler then asks for the measured speed of
//! the new instruction set in `engine/costs.rs`, by which `auto` chooses an engine.

#![expect(unsafe_code, reason = "vectors of each instruction set")]

#[macro_use]
mod token;

// The list of instruction sets: the modules, and the entries.
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;
pub(crate) mod portable;

/// Calls the macro at the path `$macro` with `{ $first… }` and the list of instruction sets, from
/// narrow to wide.
///
/// An entry has a doc comment, the condition under which the folder is compiled, the name of the
/// folder (which is also the name that users type) and the name of the token.
macro_rules! instruction_sets {
    ($macro:path, $($first:tt)*) => {
        $macro! {
            { $($first)* }

            /// Plain Rust; runs everywhere.
            #[cfg(all())]
            portable Portable;

            /// AArch64 with NEON, which nearly all of them have.
            #[cfg(target_arch = "aarch64")]
            neon Neon;

            /// x86-64 with AVX2, BMI1, BMI2 and POPCNT.
            #[cfg(target_arch = "x86_64")]
            avx2 Avx2;

            /// x86-64 with the AVX2 set and AVX-512 F, BW, DQ, VL, VBMI, VBMI2, BITALG, VPOPCNTDQ
            /// and GFNI.
            #[cfg(target_arch = "x86_64")]
            avx512 Avx512;
        }
    };
}

mod arrays;
mod dispatch;
mod isa;
#[cfg(test)]
mod stamp_tests;

pub(crate) use arrays::{array, each};
pub use isa::{Isa, UnknownIsa};
pub use portable::Portable;
pub(crate) use token::ROW;
pub use token::{Algorithm, Simd, Word, WordVector};
#[cfg(test)]
pub(crate) use {instruction_sets, stamp_tests::stamp_tests};
