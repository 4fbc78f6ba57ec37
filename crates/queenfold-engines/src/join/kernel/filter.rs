use std::ops::{BitOr, Range};

use super::{KeyBatch, SAMPLE, SLACK};
use crate::simd::{Separated, Simd, each};

/// What [`Filter::partition`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// The number of keys without any of the bits.
    pub without: usize,
    /// The number of the other keys.
    pub with: usize,
    /// The bits that any of the keys without them has.
    pub without_union: u32,
    /// The bits that any of the others has.
    pub with_union: u32,
}

/// Loops that filter lists of keys, or look at all their keys.
pub trait Filter: Simd {
    /// Copies the keys without any of `bits` to the front of `to`, which must be [`SLACK`] longer
    /// than `from`. Returns their number and the union of their bits.
    fn lacking(self, from: &[u32], bits: u32, to: &mut [u32]) -> (usize, u32) {
        self.vectorize(
            #[inline(always)]
            move || {
                assert!(to.len() >= from.len() + SLACK);
                // SAFETY: `to` has room for the keys and the slack, as asserted.
                unsafe { copy_lacking(self, from, bits, to.as_mut_ptr()) }
            },
        )
    }

    /// Moves the keys without any of `bits` to the front of `list`, and copies the others to the
    /// front of `to`, which must be [`SLACK`] longer than `list`.
    fn partition(self, list: &mut [u32], bits: u32, to: &mut [u32]) -> Split {
        self.vectorize(
            #[inline(always)]
            move || {
                assert!(to.len() >= list.len() + SLACK);
                let mask = self.splat(bits);
                let mut without_union = self.splat(0);
                let mut with_union = self.splat(0);
                let mut without = 0;
                let mut with = 0;
                let whole = list.len() - list.len() % Self::LANES;
                let all = u32::MAX >> (32 - Self::LANES);
                for at in (0..whole).step_by(Self::LANES) {
                    // SAFETY: a whole vector is left to read. What is overwritten lies before its
                    // end, so it has been read.
                    unsafe {
                        let keys = self.load(list.as_ptr().add(at));
                        let Separated {
                            lanes,
                            without: keys_without,
                            with: keys_with,
                        } = self.separate(keys, mask);
                        self.compress(keys, lanes, list.as_mut_ptr().add(without));
                        self.compress(keys, lanes ^ all, to.as_mut_ptr().add(with));
                        without_union = self.or(without_union, keys_without);
                        with_union = self.or(with_union, keys_with);
                        let kept = lanes.count_ones() as usize;
                        without += kept;
                        with += Self::LANES - kept;
                    }
                }
                let rest = list.len() - whole;
                if rest > 0 {
                    let all = (1 << rest) - 1;
                    // SAFETY: `rest` keys are left to read. No more are written to `list`, and the
                    // slack holds the vector that is written to `to`.
                    unsafe {
                        let keys = self.load_first(list.as_ptr().add(whole), rest);
                        let separated = self.separate(keys, mask);
                        let lanes = separated.lanes & all;
                        self.compress_exactly(keys, lanes, list.as_mut_ptr().add(without));
                        self.compress(keys, lanes ^ all, to.as_mut_ptr().add(with));
                        // Lanes that were not read are 0.
                        without_union = self.or(without_union, separated.without);
                        with_union = self.or(with_union, separated.with);
                        let kept = lanes.count_ones() as usize;
                        without += kept;
                        with += rest - kept;
                    }
                }
                Split {
                    without,
                    with,
                    without_union: self.union_of_lanes(without_union),
                    with_union: self.union_of_lanes(with_union),
                }
            },
        )
    }

    /// As [`partition`](Self::partition), for wide keys. Returns the number of keys without any of
    /// `bits` and the number of the others.
    fn partition_wide(self, list: &mut [u64], bits: u64, to: &mut [u64]) -> [usize; 2] {
        self.vectorize(
            #[inline(always)]
            move || {
                assert!(to.len() >= list.len() + SLACK);
                let mask = self.splat_wide(bits);
                let all = u32::MAX >> (32 - Self::WIDE_LANES);
                let (mut without, mut with) = (0, 0);
                let whole = list.len() - list.len() % Self::WIDE_LANES;
                for at in (0..whole).step_by(Self::WIDE_LANES) {
                    // SAFETY: a whole vector is left to read. What is overwritten lies before its
                    // end, so it has been read.
                    unsafe {
                        let keys = self.load_wide(list.as_ptr().add(at));
                        let lanes = self.disjoint_wide(keys, mask, all);
                        self.compress_wide(keys, lanes, list.as_mut_ptr().add(without));
                        self.compress_wide(keys, lanes ^ all, to.as_mut_ptr().add(with));
                        let kept = lanes.count_ones() as usize;
                        without += kept;
                        with += Self::WIDE_LANES - kept;
                    }
                }
                for at in whole..list.len() {
                    let key = list[at];
                    if key & bits == 0 {
                        list[without] = key;
                        without += 1;
                    } else {
                        to[with] = key;
                        with += 1;
                    }
                }
                [without, with]
            },
        )
    }

    /// Appends the keys of `range` without any of `bits` to `to`, without their high parts unless
    /// `high` asks for them. Keys without high parts are as if these were 0; then `high` must be false.
    fn spare(self, from: &KeyBatch, range: Range<usize>, bits: u64, high: bool, to: &mut KeyBatch) {
        self.vectorize(
            #[inline(always)]
            move || match (from.high.is_empty(), high) {
                (false, true) => spare::<Self, true, true>(self, from, range, bits, to),
                (false, false) => spare::<Self, true, false>(self, from, range, bits, to),
                (true, _) => spare::<Self, false, false>(self, from, range, bits, to),
            },
        )
    }

    /// The bits that any key has.
    fn union<T: Copy + Default + BitOr<Output = T>>(self, keys: &[T]) -> T {
        self.vectorize(
            #[inline(always)]
            move || keys.iter().fold(T::default(), |union, &key| union | key),
        )
    }

    /// Replaces `to` by the bits of `keys` that are in `bits`, at most 32, moved together.
    fn pack(self, keys: &[u64], bits: u64, to: &mut Vec<u32>) {
        self.vectorize(
            #[inline(always)]
            move || {
                let choice = self.choice(bits);
                to.clear();
                to.reserve(keys.len());
                let start = to.as_mut_ptr();
                for (index, &key) in keys.iter().enumerate() {
                    // SAFETY: there is room for each key.
                    unsafe { start.add(index).write(self.pack_bits(key, choice)) };
                }
                // SAFETY: all have been written.
                unsafe { to.set_len(keys.len()) };
            },
        )
    }

    /// The bit of `used` with the largest product of its frequencies in the two samples.
    fn best_bit(self, items: &[u32; SAMPLE], patterns: &[u32; SAMPLE], used: u32) -> u32 {
        self.vectorize(
            #[inline(always)]
            move || {
                let [a, b] = [self.frequencies(items), self.frequencies(patterns)];
                let mut best = (0, 0);
                let mut rest = used;
                while rest != 0 {
                    let bit = rest.trailing_zeros();
                    rest &= rest - 1;
                    // Plus 1, because a used bit that no sampled key has is better than no bit.
                    let score = (a[bit as usize] + 1) * (b[bit as usize] + 1);
                    if score > best.0 {
                        best = (score, bit);
                    }
                }
                1 << best.1
            },
        )
    }
}

impl<S: Simd> Filter for S {}

/// As [`Filter::spare`]. `THERE`: the keys have high parts. `HIGH`: so have those that are appended.
#[inline(always)]
fn spare<S: Simd, const THERE: bool, const HIGH: bool>(
    simd: S,
    from: &KeyBatch,
    range: Range<usize>,
    bits: u64,
    to: &mut KeyBatch,
) {
    let low = &from.low[range.clone()];
    let high = if THERE { &from.high[range] } else { low };
    for part in to.parts(HIGH) {
        part.reserve(low.len() + SLACK);
    }
    let [low_bits, high_bits] = [simd.splat(bits as u32), simd.splat((bits >> 32) as u32)];
    let mut length = to.low.len();
    assert!(!HIGH || length == to.high.len());
    for at in (0..low.len()).step_by(S::LANES) {
        let left = low.len() - at;
        // SAFETY: a whole vector is left to read, or so many keys; there is room for all keys and
        // the slack.
        unsafe {
            let [low, high] = each(
                [low, high],
                #[inline(always)]
                |part: &[u32]| {
                    let from = part.as_ptr().add(at);
                    if left < S::LANES {
                        simd.load_first(from, left)
                    } else {
                        simd.load(from)
                    }
                },
            );
            let there = u32::MAX >> (32 - left.min(S::LANES));
            let mut free = simd.disjoint(low, low_bits) & there;
            if THERE {
                free &= simd.disjoint(high, high_bits);
            }
            simd.compress(low, free, to.low.as_mut_ptr().add(length));
            if HIGH {
                simd.compress(high, free, to.high.as_mut_ptr().add(length));
            }
            length += free.count_ones() as usize;
        }
    }
    for part in to.parts(HIGH) {
        // SAFETY: so many keys have been written.
        unsafe { part.set_len(length) };
    }
}

/// As [`Filter::lacking`], for memory that may be uninitialised.
///
/// # Safety
/// As many keys as there are in `from`, and [`SLACK`] more, may be written at `to`.
#[inline(always)]
pub(super) unsafe fn copy_lacking<S: Simd>(
    simd: S,
    from: &[u32],
    bits: u32,
    to: *mut u32,
) -> (usize, u32) {
    let mask = simd.splat(bits);
    let mut union = simd.splat(0);
    let mut kept = 0;
    let whole = from.len() - from.len() % S::LANES;
    for at in (0..whole).step_by(S::LANES) {
        // SAFETY: a whole vector is left to read, and to write as `kept` ≤ `at`.
        unsafe {
            let keys = simd.load(from.as_ptr().add(at));
            let Separated { lanes, without, .. } = simd.separate(keys, mask);
            simd.compress(keys, lanes, to.add(kept));
            union = simd.or(union, without);
            kept += lanes.count_ones() as usize;
        }
    }
    let rest = from.len() - whole;
    if rest > 0 {
        // SAFETY: `rest` keys are left to read, and the slack holds the vector that is written.
        unsafe {
            let keys = simd.load_first(from.as_ptr().add(whole), rest);
            let Separated { lanes, without, .. } = simd.separate(keys, mask);
            let lanes = lanes & ((1 << rest) - 1);
            simd.compress(keys, lanes, to.add(kept));
            // Lanes that were not read are 0.
            union = simd.or(union, without);
            kept += lanes.count_ones() as usize;
        }
    }
    (kept, simd.union_of_lanes(union))
}
