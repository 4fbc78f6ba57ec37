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
    /// How many cache lines of each list to ask for ahead of use.
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

impl<'a> Boards<'a> {
    /// The boards at `place`, and what follows them.
    #[inline(always)]
    fn from(self, place: Place) -> Self {
        let from = place.at as usize;
        let boards = Self {
            lines: &self.lines[from..],
            keys: &self.keys[from..],
            ..self
        };
        let room = place.count as usize + SLACK;
        assert!(boards.lines.len() >= room && boards.keys.len() >= room);
        boards
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
    let mut length = to.len();
    for (done, &[outer, inner]) in places.iter().enumerate() {
        if length >= BATCH {
            // SAFETY: see below.
            unsafe { to.set_len(length) };
            return done;
        }
        // Boards of the next places are far away as often as not: ask for them now.
        if let Some(next) = places.get(done + 1) {
            for (place, boards) in next.iter().zip(boards) {
                for list in [boards.lines, boards.keys] {
                    let first = list.as_ptr().wrapping_add(place.at as usize);
                    for line in 0..boards.ahead {
                        v.prefetch(first.wrapping_add(8 * line));
                    }
                }
            }
        }
        // One side lies in vectors, each of which meets every board of the other side: whichever
        // way takes fewer steps.
        let vectors = |place: Place| (place.count as usize).div_ceil(V::WIDE_LANES);
        let across = vectors(inner) * outer.count as usize;
        let [(few, some), (many, others)] = if across <= vectors(outer) * inner.count as usize {
            [(outer, boards[0]), (inner, boards[1])]
        } else {
            [(inner, boards[1]), (outer, boards[0])]
        };
        let (some, mut others) = (some.from(few), others.from(many));
        let (few, mut many) = (few.count as usize, many.count as usize);
        let room = few * many + V::WIDE_LANES;
        if to.capacity() - length < room {
            // SAFETY: see below.
            unsafe { to.set_len(length) };
            to.reserve(room);
        }
        while many > 0 {
            let now = many.min(HELD * V::WIDE_LANES);
            // SAFETY: there is room for each pair and for a vector more.
            unsafe {
                let start = to.as_mut_ptr().add(length);
                length += match now.div_ceil(V::WIDE_LANES) {
                    1 => sweep::<V, 1>(v, some, few, others, now, start),
                    2 => sweep::<V, 2>(v, some, few, others, now, start),
                    3 => sweep::<V, 3>(v, some, few, others, now, start),
                    4 => sweep::<V, 4>(v, some, few, others, now, start),
                    5 => sweep::<V, 5>(v, some, few, others, now, start),
                    _ => sweep::<V, HELD>(v, some, few, others, now, start),
                };
            }
            others = Boards {
                lines: &others.lines[now..],
                keys: &others.keys[now..],
                ..others
            };
            many -= now;
        }
    }
    // SAFETY: all up to `length` has been written, within the space reserved.
    unsafe { to.set_len(length) };
    places.len()
}

/// Vectors of boards held in registers at a time.
const HELD: usize = 6;

/// Writes the keys of the pairs of the first `few` boards of `some` and the first `many`, which fill
/// `VECTORS` vectors, of `others` to `to`. Returns their number.
///
/// # Safety
/// `few` × `many` keys and a vector more may be written at `to`.
#[inline(always)]
unsafe fn sweep<V: Vector, const VECTORS: usize>(
    v: V,
    some: Boards<'_>,
    few: usize,
    others: Boards<'_>,
    many: usize,
    to: *mut u64,
) -> usize {
    let mut lines = [v.splat_wide(0); VECTORS];
    let mut keys = lines;
    for index in 0..VECTORS {
        let at = index * V::WIDE_LANES;
        // SAFETY: the lists go on for a vector after their last board.
        unsafe {
            lines[index] = v.load_wide(others.lines.as_ptr().add(at));
            keys[index] = v.load_wide(others.keys.as_ptr().add(at));
        }
    }
    let all = u32::MAX >> (32 - V::WIDE_LANES);
    let last = all >> (VECTORS * V::WIDE_LANES - many);
    let mut length = 0;
    for (&line, &key) in some.lines[..few].iter().zip(some.keys) {
        let (line, key) = (v.splat_wide(line), v.splat_wide(key));
        for index in 0..VECTORS {
            let there = if index + 1 < VECTORS { all } else { last };
            let disjoint = v.disjoint_wide(line, lines[index], there);
            // SAFETY: the caller vouches for the memory.
            unsafe { v.compress_wide(v.or_wide(key, keys[index]), disjoint, to.add(length)) };
            length += disjoint.count_ones() as usize;
        }
    }
    length
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
    let boards = boards.from(place);
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
