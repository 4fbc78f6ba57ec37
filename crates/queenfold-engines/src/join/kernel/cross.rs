use super::{Boards, KeyBatch, Run, SLACK};
use crate::simd::{Simd, each};

/// The number of keys after which a crossing stops, so that they stay in the first-level cache:
/// 2048 keys are 16 KiB.
pub const BATCH: usize = 2048;

/// The loop that makes half boards from the boards of two quadrants.
pub trait Cross: Simd {
    /// Appends to `to` the keys of all pairs of a left and a right board that do not attack each
    /// other. Takes one pair of runs after the other, until it has added [`BATCH`] keys or more.
    /// Returns the number of pairs of runs done.
    ///
    /// With `high` false, the high parts of all keys must be 0; they are then neither read nor
    /// written.
    fn cross(
        self,
        runs: &[[Run; 2]],
        boards: [Boards<'_>; 2],
        high: bool,
        to: &mut KeyBatch,
    ) -> usize {
        self.vectorize(
            #[inline(always)]
            move || {
                if high {
                    cross::<Self, true>(self, runs, boards, to)
                } else {
                    cross::<Self, false>(self, runs, boards, to)
                }
            },
        )
    }
}

impl<S: Simd> Cross for S {}

/// The number of vectors of boards that are held in registers at a time: three registers each.
const HELD: usize = 4;

#[inline(always)]
fn cross<S: Simd, const HIGH: bool>(
    simd: S,
    runs: &[[Run; 2]],
    boards: [Boards<'_>; 2],
    to: &mut KeyBatch,
) -> usize {
    let ends = each(boards, |boards| boards.end());
    // Whole vectors are read even of runs without boards.
    assert!(boards.iter().all(|boards| boards.lines.len() >= SLACK));
    let mut length = to.low.len();
    let enough = length + BATCH;
    let mut room = 0;
    let mut done = 0;
    while done < runs.len() && length < enough {
        let pair = &runs[done];
        assert!(pair[0].within(ends[0]) && pair[1].within(ends[1]));
        let counts = each(*pair, Run::len);
        done += 1;
        let most = length + counts[0] * counts[1] + S::LANES;
        if most > room {
            // SAFETY: all keys up to `length` have been written, within the capacity.
            room = unsafe { to.make_room::<HIGH>(length, most) };
        }
        if counts[0].max(counts[1]) <= S::LANES {
            let sides = [boards[0].at(pair[0]), boards[1].at(pair[1])];
            let end = each([to.low.as_mut_ptr(), to.high.as_mut_ptr()], |to| {
                to.wrapping_add(length)
            });
            // SAFETY: the lists have a vector more after their last board. There is room for each pair
            // and a vector more.
            length += unsafe { meet_at_once::<S, HIGH>(simd, sides, counts, end) };
            to.ends.push(length as u32);
            continue;
        }
        let vectors = each(counts, |count| count.div_ceil(S::LANES));
        // The boards of one side lie in vectors, and each vector meets every board of the other
        // side. Take the side that needs fewer steps that way.
        let many = usize::from(vectors[1] * counts[0] <= vectors[0] * counts[1]);
        let few = 1 - many;
        // SAFETY: the lists have a vector more after their last board. There is room for each pair
        // and a vector more.
        unsafe {
            let mut sides = Sides {
                few: boards[few].at(pair[few]),
                count: counts[few],
                many: boards[many].at(pair[many]),
            };
            let mut left = counts[many];
            while left > 0 {
                let now = left.min(HELD * S::LANES);
                let to = each([to.low.as_mut_ptr(), to.high.as_mut_ptr()], |to| {
                    to.wrapping_add(length)
                });
                length += match now.div_ceil(S::LANES) {
                    1 => sides.meet::<S, HIGH, 1>(simd, now, to),
                    2 => sides.meet::<S, HIGH, 2>(simd, now, to),
                    3 => sides.meet::<S, HIGH, 3>(simd, now, to),
                    _ => sides.meet::<S, HIGH, HELD>(simd, now, to),
                };
                sides.many = each(sides.many, |many| many.wrapping_add(now));
                left -= now;
            }
        }
        to.ends.push(length as u32);
    }
    // SAFETY: all keys up to `length` have been written, within the capacity.
    unsafe { to.make_room::<HIGH>(length, 0) };
    done
}

/// The boards of one side, and the first of the other boards that they meet: lines, low and high
/// parts of keys.
struct Sides {
    few: [*const u32; 3],
    count: usize,
    many: [*const u32; 3],
}

impl Sides {
    /// Writes the keys of the pairs with the first `others` of the other boards, which fill
    /// `VECTORS` vectors, to `to`. Returns their number.
    ///
    /// # Safety
    /// The boards may be read, the others in whole vectors; as many keys as there are pairs, and a
    /// vector more, may be written to each part of `to`.
    #[inline(always)]
    unsafe fn meet<S: Simd, const HIGH: bool, const VECTORS: usize>(
        &self,
        simd: S,
        others: usize,
        [to_low, to_high]: [*mut u32; 2],
    ) -> usize {
        let [lines, low, high] = each(
            self.many,
            #[inline(always)]
            |from| {
                let mut held = [simd.splat(0); VECTORS];
                for (index, held) in held.iter_mut().enumerate() {
                    // SAFETY: the caller vouches for the memory.
                    *held = unsafe { simd.load(from.add(index * S::LANES)) };
                }
                held
            },
        );
        let all = u32::MAX >> (32 - S::LANES);
        let last = all >> (VECTORS * S::LANES - others);
        let mut length = 0;
        for board in 0..self.count {
            // SAFETY: the caller vouches for the memory.
            let [line, own_low, own_high] = each(
                self.few,
                #[inline(always)]
                |from| unsafe { simd.splat(*from.add(board)) },
            );
            for index in 0..VECTORS {
                let there = if index + 1 < VECTORS { all } else { last };
                let disjoint = simd.disjoint(line, lines[index]) & there;
                // SAFETY: the caller vouches for the memory.
                unsafe {
                    simd.compress(simd.or(own_low, low[index]), disjoint, to_low.add(length));
                    if HIGH {
                        simd.compress(
                            simd.or(own_high, high[index]),
                            disjoint,
                            to_high.add(length),
                        );
                    }
                }
                length += disjoint.count_ones() as usize;
            }
        }
        length
    }
}

/// The most boards of a side that [`meet_at_once`] takes: those of one vector.
const MOST: usize = 16;

/// Pairs of `i` and `j` in order, for `j` from 0 to below each number: pair p is (p / number, p %
/// number).
struct PairPlaces {
    quotients: [[u8; MOST * MOST]; MOST],
    remainders: [[u8; MOST * MOST]; MOST],
}

static PLACES: PairPlaces = {
    let mut places = PairPlaces {
        quotients: [[0; MOST * MOST]; MOST],
        remainders: [[0; MOST * MOST]; MOST],
    };
    let mut below = 0;
    while below < MOST {
        let mut pair = 0;
        while pair < MOST * MOST {
            places.quotients[below][pair] = (pair / (below + 1) % MOST) as u8;
            places.remainders[below][pair] = (pair % (below + 1)) as u8;
            pair += 1;
        }
        below += 1;
    }
    places
};

/// Writes the keys of the pairs of boards of two sides, each of which fits one vector, to `to`: each
/// lane is a pair. Returns their number.
///
/// # Safety
/// There is at most a vector of boards of each side, and a whole vector of each may be read. As many keys
/// as there are pairs, and a vector more, may be written to each part of `to`.
#[inline(always)]
unsafe fn meet_at_once<S: Simd, const HIGH: bool>(
    simd: S,
    sides: [[*const u32; 3]; 2],
    counts: [usize; 2],
    [to_low, to_high]: [*mut u32; 2],
) -> usize {
    const { assert!(MOST.is_multiple_of(S::LANES)) };
    let pairs = counts[0] * counts[1];
    let all = u32::MAX >> (32 - S::LANES);
    let below = counts[1].wrapping_sub(1) % MOST;
    let quotients = PLACES.quotients[below].as_ptr();
    let remainders = PLACES.remainders[below].as_ptr();
    // SAFETY: the caller vouches for the memory.
    let [left, right] = each(
        sides,
        #[inline(always)]
        |[lines, low, high]| unsafe { [simd.load(lines), simd.load(low), simd.load(high)] },
    );
    let mut length = 0;
    let mut at = 0;
    while at < pairs {
        // SAFETY: there are at most MOST² pairs, and as many places.
        let one = unsafe { simd.load_bytes(quotients.add(at)) };
        // SAFETY: as above.
        let other = unsafe { simd.load_bytes(remainders.add(at)) };
        let there = all >> S::LANES.saturating_sub(pairs - at);
        let disjoint = simd.disjoint(simd.take(left[0], one), simd.take(right[0], other)) & there;
        // SAFETY: the caller vouches for the memory.
        unsafe {
            let low = simd.or(simd.take(left[1], one), simd.take(right[1], other));
            simd.compress(low, disjoint, to_low.add(length));
            if HIGH {
                let high = simd.or(simd.take(left[2], one), simd.take(right[2], other));
                simd.compress(high, disjoint, to_high.add(length));
            }
        }
        length += disjoint.count_ones() as usize;
        at += S::LANES;
    }
    length
}
