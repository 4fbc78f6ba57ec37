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
    /// How many cache lines of each list to ask for before the boards of a place are crossed: lists
    /// that do not stay in the second-level cache are far away as often as not.
    pub ahead: usize,
}

/// Where some of the boards of a list are: as many as `count` from `at` on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The first.
    pub at: u32,
    /// Their number.
    pub count: u32,
}

impl Boards<'_> {
    /// The end of the boards that may be read with what follows them.
    #[inline(always)]
    fn end(&self) -> u64 {
        let length = self.lines.len().min(self.keys.len());
        length.saturating_sub(SLACK) as u64
    }
}

impl Place {
    /// The end of the boards.
    #[inline(always)]
    fn end(self) -> u64 {
        u64::from(self.at) + u64::from(self.count)
    }
}

/// Keys made at a time: they stay in the first-level cache.
pub const BATCH: usize = 2048;

#[inline(always)]
pub(super) fn cross<V: Vector>(
    v: V,
    places: &[[Place; 2]],
    boards: [Boards<'_>; 2],
    to: &mut Vec<u64>,
) -> usize {
    let ends = boards.map(|boards| boards.end());
    let lines = boards.map(|boards| boards.lines.as_ptr());
    let keys = boards.map(|boards| boards.keys.as_ptr());
    let mut length = to.len();
    let mut done = 0;
    while done < places.len() && length < BATCH {
        if let Some(next) = places.get(done + 1) {
            for side in [0, 1] {
                let at = next[side].at as usize;
                for cache_line in 0..boards[side].ahead {
                    let at = at + 8 * cache_line;
                    v.prefetch(lines[side].wrapping_add(at));
                    v.prefetch(keys[side].wrapping_add(at));
                }
            }
        }
        let pair = &places[done];
        assert!(pair[0].end() <= ends[0] && pair[1].end() <= ends[1]);
        let counts = [pair[0].count as usize, pair[1].count as usize];
        let vectors = [
            counts[0].div_ceil(V::WIDE_LANES),
            counts[1].div_ceil(V::WIDE_LANES),
        ];
        // One side lies in vectors, each of which meets every board of the other side: whichever
        // way takes fewer steps.
        let many = usize::from(vectors[1] * counts[0] <= vectors[0] * counts[1]);
        let few = 1 - many;
        let room = counts[0] * counts[1] + V::WIDE_LANES;
        if to.capacity() - length < room {
            // SAFETY: see below.
            unsafe { to.set_len(length) };
            to.reserve(room);
        }
        // SAFETY: the lists go on for a vector after their last board; there is room for each pair
        // and for a vector more.
        unsafe {
            let (few_at, many_at) = (pair[few].at as usize, pair[many].at as usize);
            let mut sides = Sides {
                lines: lines[few].add(few_at),
                keys: keys[few].add(few_at),
                count: counts[few],
                other_lines: lines[many].add(many_at),
                other_keys: keys[many].add(many_at),
            };
            let mut left = counts[many];
            while left > 0 {
                let now = left.min(HELD * V::WIDE_LANES);
                let to = to.as_mut_ptr().add(length);
                length += match now.div_ceil(V::WIDE_LANES) {
                    1 => sides.meet::<V, 1>(v, now, to),
                    2 => sides.meet::<V, 2>(v, now, to),
                    3 => sides.meet::<V, 3>(v, now, to),
                    4 => sides.meet::<V, 4>(v, now, to),
                    5 => sides.meet::<V, 5>(v, now, to),
                    _ => sides.meet::<V, HELD>(v, now, to),
                };
                sides.other_lines = sides.other_lines.add(now);
                sides.other_keys = sides.other_keys.add(now);
                left -= now;
            }
        }
        done += 1;
    }
    // SAFETY: all up to `length` has been written, within the space reserved.
    unsafe { to.set_len(length) };
    done
}

/// Vectors of boards held in registers at a time.
const HELD: usize = 6;

/// Boards that meet others, and where the others begin.
struct Sides {
    lines: *const u64,
    keys: *const u64,
    count: usize,
    other_lines: *const u64,
    other_keys: *const u64,
}

impl Sides {
    /// Writes the keys of the pairs with the first `others` of the other boards, which fill
    /// `VECTORS` vectors, to `to`. Returns their number.
    ///
    /// # Safety
    /// The boards may be read, the others in whole vectors; as many keys as there are pairs, and a
    /// vector more, may be written at `to`.
    #[inline(always)]
    unsafe fn meet<V: Vector, const VECTORS: usize>(
        &self,
        v: V,
        others: usize,
        to: *mut u64,
    ) -> usize {
        let mut other_lines = [v.splat_wide(0); VECTORS];
        let mut other_keys = other_lines;
        for index in 0..VECTORS {
            let at = index * V::WIDE_LANES;
            // SAFETY: the caller vouches for the memory.
            unsafe {
                other_lines[index] = v.load_wide(self.other_lines.add(at));
                other_keys[index] = v.load_wide(self.other_keys.add(at));
            }
        }
        let all = u32::MAX >> (32 - V::WIDE_LANES);
        let last = all >> (VECTORS * V::WIDE_LANES - others);
        let mut length = 0;
        for board in 0..self.count {
            // SAFETY: the caller vouches for the memory.
            let (line, key) = unsafe { (*self.lines.add(board), *self.keys.add(board)) };
            let (line, key) = (v.splat_wide(line), v.splat_wide(key));
            for index in 0..VECTORS {
                let there = if index + 1 < VECTORS { all } else { last };
                let disjoint = v.disjoint_wide(line, other_lines[index], there);
                let keys = v.or_wide(key, other_keys[index]);
                // SAFETY: the caller vouches for the memory.
                unsafe { v.compress_wide(keys, disjoint, to.add(length)) };
                length += disjoint.count_ones() as usize;
            }
        }
        length
    }
}

/// Adds the boards that have one more queen than those given: those that it does not attack.
#[inline(always)]
pub(super) fn extend<V: Vector>(
    v: V,
    boards: Boards<'_>,
    place: Place,
    line: u64,
    key: u64,
    [to_lines, to_keys]: [&mut Vec<u64>; 2],
) {
    let count = place.count as usize;
    assert!(place.end() <= boards.end());
    let from = place.at as usize;
    let room = count + V::WIDE_LANES;
    for to in [&mut *to_lines, &mut *to_keys] {
        if to.capacity() - to.len() < room {
            // Not twice as much as before: most of the memory lies here.
            to.reserve_exact(room + to.len() / 8);
        }
    }
    let (line, key) = (v.splat_wide(line), v.splat_wide(key));
    let mut length = to_lines.len();
    assert_eq!(length, to_keys.len());
    for at in (0..count).step_by(V::WIDE_LANES) {
        let there = u32::MAX >> (32 - (count - at).min(V::WIDE_LANES) as u32);
        // SAFETY: the lists go on for a vector after their last board; there is room for each
        // board and for a vector more.
        unsafe {
            let lines = v.load_wide(boards.lines.as_ptr().add(from + at));
            let keys = v.load_wide(boards.keys.as_ptr().add(from + at));
            let free = v.disjoint_wide(line, lines, there);
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
