use super::{SLACK, Vector};

/// Quarter boards: some rows of a half board, filled.
///
/// The lists go on for at least [`SLACK`] after the boards that count.
#[derive(Clone, Copy, Debug)]
pub struct Boards<'a> {
    /// The diagonals of each board that meet the edge between the quarters.
    pub lines: &'a [u64],
    /// The part of the key that each board contributes.
    pub keys: &'a [u64],
    /// The number of boards.
    pub count: usize,
}

#[inline(always)]
pub(super) fn cross<V: Vector>(v: V, outer: Boards<'_>, inner: Boards<'_>, to: &mut Vec<u64>) {
    let count = inner.count;
    assert!(inner.lines.len() >= count + SLACK && inner.keys.len() >= count + SLACK);
    to.reserve(outer.count * count + V::WIDE_LANES);
    let mut length = to.len();
    let start = to.as_mut_ptr();
    let outer = outer.lines[..outer.count].iter().zip(outer.keys);
    // The inner boards stay in registers, the outer ones are read again for each vector of them.
    for at in (0..count).step_by(V::WIDE_LANES) {
        let there = u32::MAX >> (32 - (count - at).min(V::WIDE_LANES) as u32);
        // SAFETY: the lists go on for a vector after their last board.
        let (inner_lines, inner_keys) = unsafe {
            (
                v.load_wide(inner.lines.as_ptr().add(at)),
                v.load_wide(inner.keys.as_ptr().add(at)),
            )
        };
        for (&lines, &key) in outer.clone() {
            let disjoint = v.disjoint_wide(v.splat_wide(lines), inner_lines) & there;
            let keys = v.or_wide(v.splat_wide(key), inner_keys);
            // SAFETY: there is room for each pair and for a vector more.
            unsafe { v.compress_wide(keys, disjoint, start.add(length)) };
            length += disjoint.count_ones() as usize;
        }
    }
    // SAFETY: all up to `length` has been written, within the space reserved.
    unsafe { to.set_len(length) };
}

/// Adds the boards that have one more queen than those given: those that it does not attack.
#[inline(always)]
pub(super) fn extend<V: Vector>(
    v: V,
    boards: Boards<'_>,
    line: u64,
    key: u64,
    [to_lines, to_keys]: [&mut Vec<u64>; 2],
) {
    let count = boards.count;
    assert!(boards.lines.len() >= count + SLACK && boards.keys.len() >= count + SLACK);
    to_lines.reserve(count + V::WIDE_LANES);
    to_keys.reserve(count + V::WIDE_LANES);
    let (line, key) = (v.splat_wide(line), v.splat_wide(key));
    let mut length = to_lines.len();
    assert_eq!(length, to_keys.len());
    for at in (0..count).step_by(V::WIDE_LANES) {
        let there = u32::MAX >> (32 - (count - at).min(V::WIDE_LANES) as u32);
        // SAFETY: the lists go on for a vector after their last board; there is room for each
        // board and for a vector more.
        unsafe {
            let lines = v.load_wide(boards.lines.as_ptr().add(at));
            let keys = v.load_wide(boards.keys.as_ptr().add(at));
            let free = v.disjoint_wide(line, lines) & there;
            let (lines, keys) = (v.or_wide(line, lines), v.or_wide(key, keys));
            v.compress_wide(lines, free, to_lines.as_mut_ptr().add(length));
            v.compress_wide(keys, free, to_keys.as_mut_ptr().add(length));
            length += free.count_ones() as usize;
        }
    }
    // SAFETY: all up to `length` has been written, within the space reserved.
    unsafe {
        to_lines.set_len(length);
        to_keys.set_len(length);
    }
}
