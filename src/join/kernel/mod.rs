//! The inner loops of the join, written once for all instruction sets over
//! [`KeyVectors`](crate::simd::KeyVectors).
//!
//! Each file adds its loops as methods to every token of an instruction set. A method is a call of
//! [`Simd::vectorize`], so it is compiled once for each instruction set.
//!
//! This folder holds all of the `unsafe` code of the join.

mod buckets;
mod cross;
mod filter;
mod leaf;
#[cfg(test)]
mod tests;

use crate::simd::Simd;

pub use crate::simd::SAMPLE;
pub use buckets::{Buckets, FLAT, Packed, Rest, Sort};
pub use cross::{Boards, Cross, Place};
pub use filter::Filter;
pub use leaf::{LEAF, Leaf, Tables};

/// All inner loops of the join, as methods of the token of an instruction set.
pub trait JoinKernel: Cross + Filter + Leaf + Sort {}

impl<S: Simd> JoinKernel for S {}

/// How many keys longer than its input an output of [`Filter::lacking`] and [`Filter::partition`]
/// must be: at least as many as any vector has.
pub const SLACK: usize = 32;
