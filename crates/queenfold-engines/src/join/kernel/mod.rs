//! The inner loops of the join, written once for all instruction sets over
//! [`KeyVectors`](crate::simd::KeyVectors).
//!
//! Each file adds its loops as methods to every token of an instruction set. A method is a call of
//! [`Simd::vectorize`], so it is compiled once for each instruction set.
//!
//! This folder holds all of the `unsafe` code of the join.

#![expect(unsafe_code, reason = "kernels of the join")]

mod boards;
mod buckets;
mod cross;
mod filter;
mod grow;
mod leaf;
#[cfg(test)]
mod tests;
mod tie_leaf;

use crate::simd::Simd;

pub use crate::simd::SAMPLE;
pub use boards::{Boards, Entry, KeyBatch, QuadrantBoards, Run};
pub use buckets::{Buckets, FLAT, Rest, Sort};
pub use cross::Cross;
pub use filter::Filter;
pub use grow::{Grow, NewColumn, Queen};
pub use leaf::{LEAF, Leaf, Tables};
pub use tie_leaf::{FEW, TieLeaf, TieTables};

/// All inner loops of the join, as methods of the token of an instruction set.
pub trait JoinKernel: Cross + Filter + Grow + Leaf + Sort + TieLeaf {}

impl<S: Simd> JoinKernel for S {}

/// How many keys longer than its input an output of [`Filter::lacking`] and [`Filter::partition`]
/// must be: at least as many as any vector has.
pub const SLACK: usize = 32;

/// Appends `item(0)` to `item(count - 1)`. `Vec::extend` may be compiled without the instruction set.
#[inline(always)]
fn extend<T>(to: &mut Vec<T>, count: usize, item: impl Fn(usize) -> T) {
    to.reserve(count);
    for (index, to) in to.spare_capacity_mut()[..count].iter_mut().enumerate() {
        to.write(item(index));
    }
    // SAFETY: so many have just been written.
    unsafe { to.set_len(to.len() + count) };
}
