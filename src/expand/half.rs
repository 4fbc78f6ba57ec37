use super::ending::Ending;
use super::level::{CAPACITY, Level};
use super::search::{Node, Row, Search};
use super::step::{Effort, Target, advance, among};
use crate::board::Size;
use crate::simd::{Isa, Vector, Word};

/// Lists half boards: every placement of queens on the first rows of a board that uses exactly a
/// given set of columns.
///
/// The join engine counts pairs of them: once with the columns `S` for the upper half, once with
/// the other columns for the lower half turned upside down, and with a ban on each row where a
/// queen of the middle row attacks it.
///
/// Memory is constant: half boards are handed on in pieces of a few thousand, still in cache.
pub struct HalfBoards {
    n: Size,
    search: Lanes,
}

/// Rows of at most 16 squares fit lanes of 16 bits.
enum Lanes {
    Narrow(Search<u16>, Windows<u16>),
    Wide(Search<u32>, Windows<u32>),
}

impl HalfBoards {
    /// A generator for boards of size `n` with the vectors of `isa`, which must be available.
    pub fn new(n: Size, isa: Isa) -> Self {
        let search = if n.get() <= u16::BITS {
            Lanes::Narrow(Search::new(isa), Windows::new(n))
        } else {
            Lanes::Wide(Search::new(isa), Windows::new(n))
        };
        Self { n, search }
    }

    /// Finds every placement of one queen in each of the first `bans.len()` rows, none attacking
    /// another, none on a square of `bans[row]`, that uses exactly the columns of the mask
    /// `columns`: as many as rows.
    ///
    /// `take` is called with pieces of two lists of equal length: of each placement the diagonals
    /// that move one column up (`left`, first) and down (`right`, second) with each row, as the
    /// squares they attack in the row after the last one, within the board. The order means
    /// nothing.
    ///
    /// # Panics
    /// There are not as many columns as rows.
    pub fn generate(&mut self, columns: u32, bans: &[u32], mut take: impl FnMut(&[u32], &[u32])) {
        assert_eq!(columns.count_ones() as usize, bans.len());
        assert_eq!(columns & !self.n.full_mask(), 0);
        match &mut self.search {
            Lanes::Narrow(search, windows) => generate(search, windows, columns, bans, &mut take),
            Lanes::Wide(search, windows) => generate(search, windows, columns, bans, &mut take),
        }
    }
}

fn generate<W: Word>(
    search: &mut Search<W>,
    windows: &mut Windows<W>,
    columns: u32,
    bans: &[u32],
    take: &mut impl FnMut(&[u32], &[u32]),
) {
    // A single row is too short for a search that closes the last one.
    if bans.len() < 2 {
        let queen = columns & !bans.first().unwrap_or(&0);
        if queen == columns {
            take(&[queen << 1 & windows.full], &[queen >> 1]);
        }
        return;
    }
    let rows = bans.iter().map(|ban| Row {
        gap: 1,
        allowed: columns & !ban,
    });
    search.set_rows(rows, 0);
    let mut ending = Hand { windows, take };
    search.push(0, Node::default(), &mut ending);
    search.finish(&mut ending);
}

/// A piece of the lists.
struct Windows<W> {
    left: Vec<W>,
    right: Vec<W>,
    wide: [Vec<u32>; 2],
    full: u32,
}

/// Space after a piece for a full vector.
const SLACK: usize = 64;

impl<W: Word> Windows<W> {
    fn new(n: Size) -> Self {
        Self {
            left: vec![W::default(); CAPACITY + SLACK],
            right: vec![W::default(); CAPACITY + SLACK],
            wide: [vec![0; CAPACITY], vec![0; CAPACITY]],
            full: n.full_mask(),
        }
    }
}

/// Hands half boards on.
struct Hand<'a, W, F> {
    windows: &'a mut Windows<W>,
    take: &'a mut F,
}

impl<W: Word, F: FnMut(&[u32], &[u32])> Ending<W> for Hand<'_, W, F> {
    const CLOSED_ROWS: usize = 1;

    #[inline(always)]
    unsafe fn finish<V: Vector<Word = W>>(
        &mut self,
        source: &mut Level<W>,
        rows: &[Row],
        flush: bool,
    ) -> Effort {
        let [row, last] = rows else {
            unreachable!("two rows are left")
        };
        let mut effort = Effort::default();
        loop {
            // SAFETY: the caller vouches for the instruction set.
            let target = unsafe {
                LastRow::<V> {
                    gap: V::shift(1),
                    allowed: V::splat(last.allowed),
                    full: V::splat(self.windows.full),
                    left: self.windows.left.as_mut_ptr(),
                    right: self.windows.right.as_mut_ptr(),
                    len: 0,
                }
            };
            // SAFETY: as above.
            let (target, spent) = unsafe { advance(source, row.allowed, target, flush) };
            effort += spent;
            let is_full = target.room() < V::STREAMS * V::LANES;
            let len = target.len;
            if len > 0 {
                self.hand_on(len);
            }
            if !is_full {
                return effort;
            }
        }
    }
}

impl<W: Word, F: FnMut(&[u32], &[u32])> Hand<'_, W, F> {
    fn hand_on(&mut self, len: usize) {
        let Windows {
            left, right, wide, ..
        } = &mut *self.windows;
        for (wide, narrow) in wide.iter_mut().zip([left, right]) {
            for (wide, narrow) in wide.iter_mut().zip(&narrow[..len]) {
                *wide = narrow.widen();
            }
        }
        (self.take)(&wide[0][..len], &wide[1][..len]);
    }
}

/// Places the queen of the last row, for which one column is left.
struct LastRow<V: Vector> {
    gap: V::Shift,
    allowed: V,
    full: V,
    left: *mut V::Word,
    right: *mut V::Word,
    /// At most [`CAPACITY`].
    len: usize,
}

impl<V: Vector> Target<V> for LastRow<V> {
    #[inline(always)]
    fn room(&self) -> usize {
        CAPACITY - self.len
    }

    #[inline(always)]
    unsafe fn take(&mut self, columns: V, left: V, right: V, mask: Option<V::Mask>) {
        let left = left.shl(self.gap);
        let right = right.shr(self.gap);
        let queen = self.allowed.and_not(columns.or(left).or(right));
        let is_placed = among::<V>(queen.is_nonzero(), mask);
        let left = left.or(queen).shl(self.gap).and(self.full);
        let right = right.or(queen).shr(self.gap).and(self.full);
        // SAFETY: the caller vouches for the room, and both lists have slack for a vector.
        unsafe {
            let to = [self.left.add(self.len), self.right.add(self.len)];
            self.len += V::append([left, right], is_placed, to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All half boards, one queen at a time.
    fn naive(n: Size, columns: u32, bans: &[u32]) -> Vec<(u32, u32)> {
        fn go(full: u32, columns: u32, bans: &[u32], at: (u32, u32), out: &mut Vec<(u32, u32)>) {
            let Some((ban, bans)) = bans.split_first() else {
                out.push(at);
                return;
            };
            for column in 0..32 {
                let bit = 1 << column;
                if columns & bit & !(ban | at.0 | at.1) != 0 {
                    let next = ((at.0 | bit) << 1 & full, (at.1 | bit) >> 1);
                    go(full, columns ^ bit, bans, next, out);
                }
            }
        }
        let mut out = Vec::new();
        go(n.full_mask(), columns, bans, (0, 0), &mut out);
        out.sort_unstable();
        out
    }

    fn listed(generator: &mut HalfBoards, columns: u32, bans: &[u32]) -> Vec<(u32, u32)> {
        let mut out = Vec::new();
        generator.generate(columns, bans, |left, right| {
            out.extend(left.iter().copied().zip(right.iter().copied()));
        });
        out.sort_unstable();
        out
    }

    #[test]
    fn every_half_board_is_listed_once_by_every_instruction_set() {
        let mut state = 1u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.rotate_right(8)
        };
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            for (n, rows) in [(3, 1), (4, 2), (8, 4), (16, 8), (17, 8), (20, 10), (32, 7)] {
                let n = Size::new(n).unwrap();
                let mut generator = HalfBoards::new(n, isa);
                for _ in 0..4 {
                    let mut columns = random() & n.full_mask();
                    while columns.count_ones() > rows {
                        columns &= columns - 1;
                    }
                    while columns.count_ones() < rows {
                        columns |= 1 << (random() % n.get());
                    }
                    let bans: Vec<u32> =
                        (0..rows).map(|_| random() & random() & random()).collect();
                    for bans in [bans, vec![0; rows as usize]] {
                        let found = listed(&mut generator, columns, &bans);
                        assert_eq!(found, naive(n, columns, &bans), "{isa} n = {n}");
                    }
                }
            }
        }
    }
}
