use std::ops::BitOr;

use super::{SAMPLE, SLACK, Vector};

/// What [`Kernel::partition`](super::Kernel::partition) found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// The number of keys that lack all the bits.
    pub without: usize,
    /// The number of keys that have one of them.
    pub with: usize,
    /// The union of the keys that lack them.
    pub without_union: u32,
    /// The union of the keys that have one.
    pub with_union: u32,
}

#[inline(always)]
pub(super) fn lacking<V: Vector>(v: V, from: &[u32], bits: u32, to: &mut [u32]) -> (usize, u32) {
    assert!(to.len() >= from.len() + SLACK);
    // SAFETY: see above.
    unsafe { copy_lacking(v, from, bits, to.as_mut_ptr()) }
}

/// As [`lacking`], to where nothing need have been written before.
///
/// # Safety
/// As many keys as there are in `from`, and [`SLACK`] more, may be written at `to`.
#[inline(always)]
pub(super) unsafe fn copy_lacking<V: Vector>(
    v: V,
    from: &[u32],
    bits: u32,
    to: *mut u32,
) -> (usize, u32) {
    let mask = v.splat(bits);
    let mut union = v.splat(0);
    let mut kept = 0;
    let whole = from.len() - from.len() % V::LANES;
    for at in (0..whole).step_by(V::LANES) {
        // SAFETY: a whole vector is left to read, and to write as `kept` ≤ `at`.
        unsafe {
            let keys = v.load(from.as_ptr().add(at));
            let lanes = v.disjoint(keys, mask);
            v.compress(keys, lanes, to.add(kept));
            union = v.or(union, v.keep(keys, lanes));
            kept += lanes.count_ones() as usize;
        }
    }
    let rest = from.len() - whole;
    if rest > 0 {
        // SAFETY: `rest` keys are left to read; the slack holds the vector written.
        unsafe {
            let keys = v.load_first(from.as_ptr().add(whole), rest);
            let lanes = v.disjoint(keys, mask) & ((1 << rest) - 1);
            v.compress(keys, lanes, to.add(kept));
            union = v.or(union, v.keep(keys, lanes));
            kept += lanes.count_ones() as usize;
        }
    }
    (kept, v.union(union))
}

#[inline(always)]
pub(super) fn partition<V: Vector>(v: V, list: &mut [u32], bits: u32, to: &mut [u32]) -> Split {
    assert!(to.len() >= list.len() + SLACK);
    let mask = v.splat(bits);
    let mut without_union = v.splat(0);
    let mut with_union = v.splat(0);
    let mut without = 0;
    let mut with = 0;
    let whole = list.len() - list.len() % V::LANES;
    let all = u32::MAX >> (32 - V::LANES);
    for at in (0..whole).step_by(V::LANES) {
        // SAFETY: a whole vector is left to read; what is written over lies before its end, and
        // has been read.
        unsafe {
            let keys = v.load(list.as_ptr().add(at));
            let lanes = v.disjoint(keys, mask);
            v.compress(keys, lanes, list.as_mut_ptr().add(without));
            v.compress(keys, lanes ^ all, to.as_mut_ptr().add(with));
            without_union = v.or(without_union, v.keep(keys, lanes));
            with_union = v.or(with_union, v.keep(keys, lanes ^ all));
            let kept = lanes.count_ones() as usize;
            without += kept;
            with += V::LANES - kept;
        }
    }
    let rest = list.len() - whole;
    if rest > 0 {
        let all = (1 << rest) - 1;
        // SAFETY: `rest` keys are left to read; no more are written to `list`, and the slack holds
        // the vector written to `to`.
        unsafe {
            let keys = v.load_first(list.as_ptr().add(whole), rest);
            let lanes = v.disjoint(keys, mask) & all;
            v.compress_exactly(keys, lanes, list.as_mut_ptr().add(without));
            v.compress(keys, lanes ^ all, to.as_mut_ptr().add(with));
            without_union = v.or(without_union, v.keep(keys, lanes));
            with_union = v.or(with_union, v.keep(keys, lanes ^ all));
            let kept = lanes.count_ones() as usize;
            without += kept;
            with += rest - kept;
        }
    }
    Split {
        without,
        with,
        without_union: v.union(without_union),
        with_union: v.union(with_union),
    }
}

#[inline(always)]
pub(super) fn best_bit<V: Vector>(
    v: V,
    items: &[u32; SAMPLE],
    patterns: &[u32; SAMPLE],
    used: u32,
) -> u32 {
    let [a, b] = [v.frequencies(items), v.frequencies(patterns)];
    let mut best = (0, 0);
    let mut rest = used;
    while rest != 0 {
        let bit = rest.trailing_zeros();
        rest &= rest - 1;
        // A bit that the sample does not show is better than one that is not used at all.
        let score = (a[bit as usize] + 1) * (b[bit as usize] + 1);
        if score > best.0 {
            best = (score, bit);
        }
    }
    1 << best.1
}

#[inline(always)]
pub(super) fn union<T: Copy + Default + BitOr<Output = T>>(keys: &[T]) -> T {
    keys.iter().fold(T::default(), |union, &key| union | key)
}

#[inline(always)]
pub(super) fn partition_wide<V: Vector>(
    v: V,
    list: &mut [u64],
    bits: u64,
    to: &mut [u64],
) -> [usize; 2] {
    assert!(to.len() >= list.len() + SLACK);
    let mask = v.splat_wide(bits);
    let all = u32::MAX >> (32 - V::WIDE_LANES);
    let (mut without, mut with) = (0, 0);
    let whole = list.len() - list.len() % V::WIDE_LANES;
    for at in (0..whole).step_by(V::WIDE_LANES) {
        // SAFETY: a whole vector is left to read; what is written over lies before its end, and
        // has been read.
        unsafe {
            let keys = v.load_wide(list.as_ptr().add(at));
            let lanes = v.disjoint_wide(keys, mask, all);
            v.compress_wide(keys, lanes, list.as_mut_ptr().add(without));
            v.compress_wide(keys, lanes ^ all, to.as_mut_ptr().add(with));
            let kept = lanes.count_ones() as usize;
            without += kept;
            with += V::WIDE_LANES - kept;
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
}

#[inline(always)]
pub(super) fn pack<V: Vector>(v: V, keys: &[u64], bits: u64, to: &mut Vec<u32>) {
    let choice = v.choice(bits);
    to.clear();
    to.reserve(keys.len());
    let start = to.as_mut_ptr();
    for (index, &key) in keys.iter().enumerate() {
        // SAFETY: there is room for each key.
        unsafe { start.add(index).write(v.pack(key, choice)) };
    }
    // SAFETY: all have been written.
    unsafe { to.set_len(keys.len()) };
}
