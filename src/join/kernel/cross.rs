use super::Vector;

/// Quarter boards: some rows of a half board, filled.
#[derive(Clone, Copy, Debug)]
pub struct Boards<'a> {
    /// The diagonals of each board that meet the edge between the quarters.
    pub lines: &'a [u64],
    /// The part of the key that each board contributes.
    pub keys: &'a [u64],
}

#[inline(always)]
pub(super) fn cross<V: Vector>(v: V, outer: Boards<'_>, inner: Boards<'_>, to: &mut Vec<u64>) {
    let count = inner.lines.len();
    assert_eq!(outer.lines.len(), outer.keys.len());
    assert_eq!(count, inner.keys.len());
    to.reserve(outer.lines.len() * count + V::WIDE_LANES);
    let whole = count - count % V::WIDE_LANES;
    let mut length = to.len();
    for (&lines, &key) in outer.lines.iter().zip(outer.keys) {
        let (lines_of_all, key_of_all) = (v.splat_wide(lines), v.splat_wide(key));
        for at in (0..whole).step_by(V::WIDE_LANES) {
            // SAFETY: a whole vector is left in the lists, and in the space reserved above one
            // for each pair and a vector more.
            unsafe {
                let disjoint =
                    v.disjoint_wide(lines_of_all, v.load_wide(inner.lines.as_ptr().add(at)));
                let keys = v.or_wide(key_of_all, v.load_wide(inner.keys.as_ptr().add(at)));
                v.compress_wide(keys, disjoint, to.as_mut_ptr().add(length));
                length += disjoint.count_ones() as usize;
            }
        }
        for (&other_lines, &other_key) in inner.lines[whole..].iter().zip(&inner.keys[whole..]) {
            // SAFETY: space for each pair has been reserved above.
            unsafe { to.as_mut_ptr().add(length).write(key | other_key) };
            length += usize::from(lines & other_lines == 0);
        }
    }
    // SAFETY: all up to `length` has been written, within the space reserved.
    unsafe { to.set_len(length) };
}
