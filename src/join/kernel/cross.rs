use super::SLACK;
use crate::simd::Simd;

/// Quarter boards: some rows of a half board, filled with queens.
///
/// Both lists must have at least [`SLACK`] more entries after the last board, because whole vectors
/// are read.
#[derive(Clone, Copy, Debug)]
pub struct Boards<'a> {
    /// For each board, its diagonals at the edge between the two quarters.
    pub lines: &'a [u64],
    /// For each board, its part of the key.
    pub keys: &'a [u64],
    /// The number of cache lines of each list to prefetch before the boards of a place are crossed.
    /// That helps where the lists do not fit the second-level cache.
    pub ahead: usize,
}

/// A run of boards in a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The index of the first.
    pub at: u32,
    /// Their number.
    pub count: u32,
}

impl Boards<'_> {
    /// The end of the boards after which a whole vector may still be read.
    #[inline(always)]
    fn end(&self) -> u64 {
        let length = self.lines.len().min(self.keys.len());
        length.saturating_sub(SLACK) as u64
    }
}

impl Place {
    /// The index after the last board.
    #[inline(always)]
    fn end(self) -> u64 {
        u64::from(self.at) + u64::from(self.count)
    }
}

/// The number of keys after which a crossing stops, so that they stay in the first-level cache:
/// 2048 keys are 16 KiB.
pub const BATCH: usize = 2048;

/// Loops that make boards from pairs of smaller ones.
pub trait Cross: Simd {
    /// Appends to `to` the keys of all pairs of an outer and an inner board that do not attack each
    /// other. Takes one pair of places after the other, until `to` has [`BATCH`] keys or more.
    /// Returns the number of pairs of places done.
    fn cross(self, places: &[[Place; 2]], boards: [Boards<'_>; 2], to: &mut Vec<u64>) -> usize {
        self.vectorize(
            #[inline(always)]
            move || {
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
                                self.prefetch(lines[side].wrapping_add(at));
                                self.prefetch(keys[side].wrapping_add(at));
                            }
                        }
                    }
                    let pair = &places[done];
                    assert!(pair[0].end() <= ends[0] && pair[1].end() <= ends[1]);
                    let counts = [pair[0].count as usize, pair[1].count as usize];
                    let vectors = [
                        counts[0].div_ceil(Self::WIDE_LANES),
                        counts[1].div_ceil(Self::WIDE_LANES),
                    ];
                    // The boards of one side lie in vectors, and each vector meets every board of
                    // the other side. Take the side that needs fewer steps that way.
                    let many = usize::from(vectors[1] * counts[0] <= vectors[0] * counts[1]);
                    let few = 1 - many;
                    let room = counts[0] * counts[1] + Self::WIDE_LANES;
                    if to.capacity() - length < room {
                        // SAFETY: all keys up to `length` have been written, within the capacity.
                        unsafe { to.set_len(length) };
                        to.reserve(room);
                    }
                    // SAFETY: the lists have a vector more after their last board. There is room
                    // for each pair and a vector more.
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
                            let now = left.min(HELD * Self::WIDE_LANES);
                            let to = to.as_mut_ptr().add(length);
                            length += match now.div_ceil(Self::WIDE_LANES) {
                                1 => sides.meet::<Self, 1>(self, now, to),
                                2 => sides.meet::<Self, 2>(self, now, to),
                                3 => sides.meet::<Self, 3>(self, now, to),
                                4 => sides.meet::<Self, 4>(self, now, to),
                                5 => sides.meet::<Self, 5>(self, now, to),
                                _ => sides.meet::<Self, HELD>(self, now, to),
                            };
                            sides.other_lines = sides.other_lines.add(now);
                            sides.other_keys = sides.other_keys.add(now);
                            left -= now;
                        }
                    }
                    done += 1;
                }
                // SAFETY: all keys up to `length` have been written, within the capacity.
                unsafe { to.set_len(length) };
                done
            },
        )
    }

    /// Adds a queen with these `line` and `key` to each board at `place` that the queen does not
    /// attack. Appends the lines and the keys of the larger boards to `to`.
    fn extend(
        self,
        boards: Boards<'_>,
        place: Place,
        line: u64,
        key: u64,
        [to_lines, to_keys]: [&mut Vec<u64>; 2],
    ) {
        self.vectorize(
            #[inline(always)]
            move || {
                let count = place.count as usize;
                assert!(place.end() <= boards.end());
                let from = place.at as usize;
                let room = count + Self::WIDE_LANES;
                for to in [&mut *to_lines, &mut *to_keys] {
                    if to.capacity() - to.len() < room {
                        // Not twice as much as before: most of the memory lies here.
                        to.reserve_exact(room + to.len() / 8);
                    }
                }
                let (line, key) = (self.splat_wide(line), self.splat_wide(key));
                let mut length = to_lines.len();
                assert_eq!(length, to_keys.len());
                for at in (0..count).step_by(Self::WIDE_LANES) {
                    let there = u32::MAX >> (32 - (count - at).min(Self::WIDE_LANES) as u32);
                    // SAFETY: the lists go on for a vector after their last board; there is room
                    // for each board and for a vector more.
                    unsafe {
                        let lines = self.load_wide(boards.lines.as_ptr().add(from + at));
                        let keys = self.load_wide(boards.keys.as_ptr().add(from + at));
                        let free = self.disjoint_wide(line, lines, there);
                        let (lines, keys) = (self.or_wide(line, lines), self.or_wide(key, keys));
                        self.compress_wide(lines, free, to_lines.as_mut_ptr().add(length));
                        self.compress_wide(keys, free, to_keys.as_mut_ptr().add(length));
                        length += free.count_ones() as usize;
                    }
                }
                // SAFETY: all keys up to `length` have been written, within the capacity.
                unsafe {
                    to_lines.set_len(length);
                    to_keys.set_len(length);
                }
            },
        )
    }
}

impl<S: Simd> Cross for S {}

/// The number of vectors of boards that are held in registers at a time.
const HELD: usize = 6;

/// The boards of one side, and the first of the other boards that they meet.
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
    unsafe fn meet<S: Simd, const VECTORS: usize>(
        &self,
        simd: S,
        others: usize,
        to: *mut u64,
    ) -> usize {
        let mut other_lines = [simd.splat_wide(0); VECTORS];
        let mut other_keys = other_lines;
        for index in 0..VECTORS {
            let at = index * S::WIDE_LANES;
            // SAFETY: the caller vouches for the memory.
            unsafe {
                other_lines[index] = simd.load_wide(self.other_lines.add(at));
                other_keys[index] = simd.load_wide(self.other_keys.add(at));
            }
        }
        let all = u32::MAX >> (32 - S::WIDE_LANES);
        let last = all >> (VECTORS * S::WIDE_LANES - others);
        let mut length = 0;
        for board in 0..self.count {
            // SAFETY: the caller vouches for the memory.
            let (line, key) = unsafe { (*self.lines.add(board), *self.keys.add(board)) };
            let (line, key) = (simd.splat_wide(line), simd.splat_wide(key));
            for index in 0..VECTORS {
                let there = if index + 1 < VECTORS { all } else { last };
                let disjoint = simd.disjoint_wide(line, other_lines[index], there);
                let keys = simd.or_wide(key, other_keys[index]);
                // SAFETY: the caller vouches for the memory.
                unsafe { simd.compress_wide(keys, disjoint, to.add(length)) };
                length += disjoint.count_ones() as usize;
            }
        }
        length
    }
}
