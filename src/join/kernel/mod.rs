//! The inner loops of the join, written once over [`Vector`] and instantiated for each instruction
//! set. Nothing outside this folder is unsafe.

mod buckets;
mod cross;
mod filter;
mod leaf;
mod portable;
#[cfg(target_arch = "x86_64")]
mod spread;
#[cfg(test)]
mod tests;
mod vector;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub use avx512::Avx512;
pub use buckets::{Buckets, FLAT, Packed, Rest};
pub use cross::{Boards, Place};
pub use filter::Split;
pub use leaf::{LEAF, Tables};
pub use portable::Portable;
use vector::Vector;

/// 512 truth values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Row(pub [u64; 8]);

/// How many keys beyond its result an output of [`Kernel::lacking`] and [`Kernel::partition`] must
/// have room for.
pub const SLACK: usize = 32;

/// Keys of each side looked at to choose a bit.
pub const SAMPLE: usize = 64;

/// The inner loops for one instruction set.
pub trait Kernel: Copy + Send + 'static {
    /// The name of the instruction set.
    fn name(self) -> &'static str;

    /// Appends to `to` the keys of all pairs of an outer and an inner board that do not attack each
    /// other, for one pair of places after the other, until there are [`BATCH`] keys or more. Returns
    /// the number of pairs of places done.
    fn cross(self, places: &[[Place; 2]], boards: [Boards<'_>; 2], to: &mut Vec<u64>) -> usize;

    /// Appends to `to`, lines and keys, the boards that have one more queen than those at `place`,
    /// whose `line` and `key` it has: those boards that it does not attack.
    fn extend(self, boards: Boards<'_>, place: Place, line: u64, key: u64, to: [&mut Vec<u64>; 2]);

    /// Adds keys to the buckets of their top bits.
    fn scatter<T: Rest>(self, keys: &[u64], buckets: &mut Buckets<T>);

    /// Appends the keys with the bits of `own` on top, and any of those of `free`, to `to`.
    fn gather<T: Rest>(self, from: &Buckets<T>, own: u32, free: u32, to: &mut Vec<T>);

    /// Adds the keys of `from` that lack all of `bits` to `to`. `from` is sorted by the bits that `to`
    /// is sorted by, and maybe by some more, which are lost.
    fn spare(self, from: &Packed, bits: u64, to: &mut Buckets<u32>);

    /// Copies the keys without any of `bits` to the front of `to`, which must be [`SLACK`] longer
    /// than `from`. Returns their number and the union of their bits.
    fn lacking(self, from: &[u32], bits: u32, to: &mut [u32]) -> (usize, u32);

    /// Moves the keys that lack all of `bits` to the front of `list`, and copies the others to the
    /// front of `with`, which must be [`SLACK`] longer than `list`.
    fn partition(self, list: &mut [u32], bits: u32, with: &mut [u32]) -> Split;

    /// The bits of all keys together.
    fn union(self, keys: &[u32]) -> u32;

    /// As [`union`](Self::union), for wide keys.
    fn union_wide(self, keys: &[u64]) -> u64;

    /// As [`partition`](Self::partition), for wide keys: the number of those that lack the bits and
    /// of those that have one.
    fn partition_wide(self, list: &mut [u64], bits: u64, with: &mut [u64]) -> [usize; 2];

    /// Narrows keys to those of `bits`, at most 32, moved together: `to` holds them alone then.
    fn pack(self, keys: &[u64], bits: u64, to: &mut Vec<u32>);

    /// The bit of `used` with the largest product of its frequencies in the two samples.
    fn best_bit(self, items: &[u32; SAMPLE], patterns: &[u32; SAMPLE], used: u32) -> u32;

    /// The number of disjoint pairs of an item and a pattern, by comparing all.
    fn compare(self, items: &[u32], patterns: &[u32]) -> u64;

    /// The number of disjoint pairs of an item and a pattern, of which there are at most [`LEAF`],
    /// by tables. All bits that occur both in items and in patterns must be in `used`.
    fn leaf(self, items: &[u32], patterns: &[u32], used: u32, tables: &mut Tables) -> u64;
}

/// Implements [`Kernel`] for a [`Vector`]: functions compiled with its instruction set, into which
/// the algorithms are inlined.
macro_rules! entry_points {
    ($vector:ident, $name:literal $(, $features:literal)?) => {
        const _: () = {
            use super::{
                Boards, Buckets, Kernel, Packed, Place, Rest, SAMPLE, Split, Tables, buckets, cross,
                filter, leaf,
            };

            $(#[target_feature(enable = $features)])?
            unsafe fn cross(
                v: $vector,
                places: &[[Place; 2]],
                boards: [Boards<'_>; 2],
                to: &mut Vec<u64>,
            ) -> usize {
                cross::cross(v, places, boards, to)
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn extend(
                v: $vector,
                boards: Boards<'_>,
                place: Place,
                line: u64,
                key: u64,
                to: [&mut Vec<u64>; 2],
            ) {
                cross::extend(v, boards, place, line, key, to);
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn spare(v: $vector, from: &Packed, bits: u64, to: &mut Buckets<u32>) {
                buckets::spare(v, from, bits, to)
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn lacking(v: $vector, from: &[u32], bits: u32, to: &mut [u32]) -> (usize, u32) {
                filter::lacking(v, from, bits, to)
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn partition(
                v: $vector,
                list: &mut [u32],
                bits: u32,
                with: &mut [u32],
            ) -> Split {
                filter::partition(v, list, bits, with)
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn union(keys: &[u32]) -> u32 {
                filter::union(keys)
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn union_wide(keys: &[u64]) -> u64 {
                filter::union(keys)
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn partition_wide(
                v: $vector,
                list: &mut [u64],
                bits: u64,
                with: &mut [u64],
            ) -> [usize; 2] {
                filter::partition_wide(v, list, bits, with)
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn pack(v: $vector, keys: &[u64], bits: u64, to: &mut Vec<u32>) {
                filter::pack(v, keys, bits, to);
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn best_bit(
                v: $vector,
                items: &[u32; SAMPLE],
                patterns: &[u32; SAMPLE],
                used: u32,
            ) -> u32 {
                filter::best_bit(v, items, patterns, used)
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn scatter<T: Rest>(v: $vector, keys: &[u64], to: &mut Buckets<T>) {
                buckets::scatter(v, keys, to);
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn gather<T: Rest>(
                v: $vector,
                from: &Buckets<T>,
                own: u32,
                free: u32,
                to: &mut Vec<T>,
            ) {
                buckets::gather(v, from, own, free, to);
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn compare(v: $vector, items: &[u32], patterns: &[u32]) -> u64 {
                leaf::compare(v, items, patterns)
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn leaf(
                v: $vector,
                items: &[u32],
                patterns: &[u32],
                used: u32,
                tables: &mut Tables,
            ) -> u64 {
                leaf::leaf(v, items, patterns, used, tables)
            }

            // In each of these, `self` proves that the instruction set is there.
            impl Kernel for $vector {
                fn name(self) -> &'static str {
                    $name
                }

                fn cross(
                    self,
                    places: &[[Place; 2]],
                    boards: [Boards<'_>; 2],
                    to: &mut Vec<u64>,
                ) -> usize {
                    // SAFETY: see above.
                    unsafe { cross(self, places, boards, to) }
                }

                fn extend(
                    self,
                    boards: Boards<'_>,
                    place: Place,
                    line: u64,
                    key: u64,
                    to: [&mut Vec<u64>; 2],
                ) {
                    // SAFETY: see above.
                    unsafe { extend(self, boards, place, line, key, to) }
                }

                fn spare(self, from: &Packed, bits: u64, to: &mut Buckets<u32>) {
                    // SAFETY: see above.
                    unsafe { spare(self, from, bits, to) }
                }

                fn lacking(self, from: &[u32], bits: u32, to: &mut [u32]) -> (usize, u32) {
                    // SAFETY: see above.
                    unsafe { lacking(self, from, bits, to) }
                }

                fn partition(self, list: &mut [u32], bits: u32, with: &mut [u32]) -> Split {
                    // SAFETY: see above.
                    unsafe { partition(self, list, bits, with) }
                }

                fn union(self, keys: &[u32]) -> u32 {
                    // SAFETY: see above.
                    unsafe { union(keys) }
                }

                fn union_wide(self, keys: &[u64]) -> u64 {
                    // SAFETY: see above.
                    unsafe { union_wide(keys) }
                }

                fn partition_wide(
                    self,
                    list: &mut [u64],
                    bits: u64,
                    with: &mut [u64],
                ) -> [usize; 2] {
                    // SAFETY: see above.
                    unsafe { partition_wide(self, list, bits, with) }
                }

                fn pack(self, keys: &[u64], bits: u64, to: &mut Vec<u32>) {
                    // SAFETY: see above.
                    unsafe { pack(self, keys, bits, to) }
                }

                fn best_bit(
                    self,
                    items: &[u32; SAMPLE],
                    patterns: &[u32; SAMPLE],
                    used: u32,
                ) -> u32 {
                    // SAFETY: see above.
                    unsafe { best_bit(self, items, patterns, used) }
                }

                fn scatter<T: Rest>(self, keys: &[u64], buckets: &mut Buckets<T>) {
                    // SAFETY: see above.
                    unsafe { scatter(self, keys, buckets) }
                }

                fn gather<T: Rest>(
                    self,
                    from: &Buckets<T>,
                    own: u32,
                    free: u32,
                    to: &mut Vec<T>,
                ) {
                    // SAFETY: see above.
                    unsafe { gather(self, from, own, free, to) }
                }

                fn compare(self, items: &[u32], patterns: &[u32]) -> u64 {
                    // SAFETY: see above.
                    unsafe { compare(self, items, patterns) }
                }

                fn leaf(
                    self,
                    items: &[u32],
                    patterns: &[u32],
                    used: u32,
                    tables: &mut Tables,
                ) -> u64 {
                    // SAFETY: see above.
                    unsafe { leaf(self, items, patterns, used, tables) }
                }
            }
        };
    };
}
use entry_points;
