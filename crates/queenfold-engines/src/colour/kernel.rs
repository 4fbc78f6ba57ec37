//! The inner loops of the colour engine, written once for all instruction sets. All of its `unsafe` code is
//! here.

#![expect(unsafe_code, reason = "kernels of the colour engine")]

use super::level::{BLOCK, Level};
use super::side::MAX_ROWS;
use super::sub_board::Target;
use crate::simd::{Simd, WordVector};

/// Inner loops, as methods of the token of an instruction set.
pub trait ColourKernel: Simd {
    /// Adds the placements with these diagonals as states, of which it sets the words after the first: for each
    /// target the squares that a placement leaves free. After the diagonals of the last placement, those of
    /// [`BLOCK`] more must follow, whatever they are.
    fn begin(self, [falling, rising]: [&[u32]; 2], targets: &[Target], level: &mut Level) {
        self.vectorize(
            #[inline(always)]
            move || {
                let (start, words) = level.add(falling.len() - BLOCK);
                // Whole blocks: what is written after the last placement, the next ones replace.
                let length = falling.len() / BLOCK * BLOCK;
                let (falling, rising) = (&falling[..length], &rising[..length]);
                // By number: an iterator over two lists need not be inlined.
                for (row, &target) in targets.iter().enumerate() {
                    let free = &mut words[1 + row][start..start + length];
                    for place in 0..length {
                        let attacked =
                            falling[place] >> target.falling | rising[place] >> target.rising;
                        free[place] = (target.open & !attacked) as u16;
                    }
                }
            },
        )
    }

    /// Takes the last `count` states from `from`, and places a queen on each free square of their first row.
    /// Of the new states, those are written to `to` of which each row that is left has a free square. The
    /// rows after the first are so far from it as `gaps` say. `to` must be empty.
    fn expand(self, from: &mut Level, count: usize, gaps: &[u32; MAX_ROWS], to: &mut Level) {
        macro_rules! by_words {
            ($($words:literal $less:literal $streams:literal,)+) => {
                match from.words() {
                    $($words => expand::<Self, $words, $less, $streams>(self, from, count, gaps, to),)+
                    words => unreachable!("{words} words"),
                }
            };
        }
        by_words! {
            2 1 2, 3 2 2, 4 3 2, 5 4 1, 6 5 1, 7 6 1, 8 7 1, 9 8 1, 10 9 1, 11 10 1, 12 11 1, 13 12 1,
            14 13 1, 15 14 1, 16 15 1, 17 16 1,
        }
    }
}

impl<S: Simd> ColourKernel for S {}

/// [`ColourKernel::expand`] for states of `N` words, one more than `M`, with so many streams.
fn expand<S: Simd, const N: usize, const M: usize, const STREAMS: usize>(
    simd: S,
    from: &mut Level,
    count: usize,
    gaps: &[u32; MAX_ROWS],
    to: &mut Level,
) {
    const { assert!(M + 1 == N && STREAMS <= 2) };
    let source = from.take::<N>(count);
    let target = to.start::<M>(count);
    // SAFETY: the source holds `count` states, and the target has room for all that can be made of them.
    let made = simd.vectorize(
        #[inline(always)]
        move || unsafe {
            expand_words::<S::Words16, N, M, STREAMS>(simd, source, count, gaps, target)
        },
    );
    to.finish(made);
}

/// The number of states made.
///
/// # Safety
/// `count` states and a vector more may be read at `source`. At `target` the new states and a vector more
/// may be written.
#[inline(always)]
unsafe fn expand_words<V, const N: usize, const M: usize, const STREAMS: usize>(
    simd: V::Simd,
    source: [*const u16; N],
    count: usize,
    gaps: &[u32; MAX_ROWS],
    target: [*mut u16; M],
) -> usize
where
    V: WordVector<Word = u16>,
{
    let mut shifts = [V::shift(simd, 1); N];
    for word in 2..N {
        shifts[word] = V::shift(simd, gaps[word - 2]);
    }
    let mut streams = [Stream([V::splat(simd, 0); N]); STREAMS];
    let mut parents = Parents {
        simd,
        words: source,
        left: count,
    };
    let mut children = Children {
        words: target,
        made: 0,
    };
    // SAFETY: no more states are taken than are left; the caller vouches for the room.
    unsafe {
        // The indices are constants, so that each stream stays in its own registers.
        while parents.left >= STREAMS * V::LANES {
            streams[0].refill(&mut parents);
            if STREAMS > 1 {
                streams[1].refill(&mut parents);
            }
            streams[0].place(&shifts, &mut children);
            if STREAMS > 1 {
                streams[1].place(&shifts, &mut children);
            }
        }
        for stream in &mut streams {
            loop {
                if parents.left > 0 {
                    stream.refill_few(&mut parents);
                } else if V::count(stream.0[1].is_nonzero()) == 0 {
                    break;
                }
                stream.place(&shifts, &mut children);
            }
        }
    }
    children.made
}

/// The states to expand, taken from the last one on.
struct Parents<V: WordVector, const N: usize> {
    simd: V::Simd,
    words: [*const u16; N],
    left: usize,
}

/// The states made.
struct Children<const M: usize> {
    words: [*mut u16; M],
    made: usize,
}

/// The words of one state in each lane. A lane is spent when the first row has no free square left.
#[derive(Clone, Copy)]
struct Stream<V, const N: usize>([V; N]);

impl<V: WordVector<Word = u16>, const N: usize> Stream<V, N> {
    /// Puts a state into each spent lane.
    ///
    /// # Safety
    /// There is a state for every lane.
    #[inline(always)]
    unsafe fn refill(&mut self, parents: &mut Parents<V, N>) {
        let spent = self.0[1].is_zero();
        // SAFETY: the caller vouches for the states, and levels have slack for a vector.
        (self.0, parents.left) = unsafe { V::refill(self.0, spent, parents.words, parents.left) };
    }

    /// The same, until there is no state left.
    ///
    /// # Safety
    /// So many states as are left may be read.
    #[inline(always)]
    unsafe fn refill_few(&mut self, parents: &mut Parents<V, N>) {
        let spent = V::first(parents.simd, self.0[1].is_zero(), parents.left);
        // SAFETY: no more states are taken than are left, and levels have slack for a vector.
        (self.0, parents.left) = unsafe { V::refill(self.0, spent, parents.words, parents.left) };
    }

    /// Places a queen on the lowest free square of each lane.
    ///
    /// # Safety
    /// There is room for a vector of states.
    #[inline(always)]
    unsafe fn place<const M: usize>(&mut self, shifts: &[V::Shift; N], children: &mut Children<M>) {
        let free = self.0[1];
        let rest = free.without_lowest();
        let queen = free.and_not(rest);
        self.0[1] = rest;
        let mut alive = free;
        let mut next = [self.0[0].or(queen); M];
        for word in 2..N {
            let shift = shifts[word];
            let attacked = queen.or(queen.shl(shift)).or(queen.shr(shift));
            next[word - 1] = self.0[word].and_not(attacked);
            alive = alive.min(next[word - 1]);
        }
        let mut to = children.words;
        for place in &mut to {
            // SAFETY: the caller vouches for the room.
            *place = unsafe { place.add(children.made) };
        }
        // SAFETY: as above.
        children.made += unsafe { V::append(next, alive.is_nonzero(), to) };
    }
}
