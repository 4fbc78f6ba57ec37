//! The method `bitmap`: three bit masks replace the flags, in a search that most later methods use.
//!
#![doc = include_str!("text/bitmap.md")]

use super::{Count, Images, Method, MethodRequest, StopSearch, Style, Watch};
use queenfold_engines::board::Size;

/// Three bit masks instead of the flags.
pub const METHOD: Method = Method {
    name: "bitmap",
    step: 4,
    text: include_str!("text/bitmap.md"),
    count,
    ..Method::USUAL
};

fn count(request: &MethodRequest, watch: &mut Watch<'_>) -> Result<Count, StopSearch> {
    let mut search = Search::new(request.n, SolutionCount::new(Images::Itself), watch);
    search.run(request.style, 0, Taken::default())?;
    Ok(Count::total(search.rules.found))
}

/// The squares of a row that the queens above attack, one bit for each column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Taken {
    /// Along diagonals that run to the next higher column with each row.
    pub left: u32,
    /// Along columns.
    pub down: u32,
    /// Along diagonals that run to the next lower column with each row.
    pub right: u32,
}

impl Taken {
    /// The free squares of the row.
    #[inline]
    pub fn free(self, full: u32) -> u32 {
        full & !(self.left | self.down | self.right)
    }

    /// What is taken of the next row when a queen stands on `bit` of this one.
    #[inline]
    pub fn after(self, bit: u32) -> Self {
        Self {
            left: (self.left | bit) << 1,
            down: self.down | bit,
            right: (self.right | bit) >> 1,
        }
    }

    /// The three masks in the order of the kernels.
    pub fn words(self) -> [u32; 3] {
        [self.left, self.down, self.right]
    }
}

/// The lowest bit of a mask: in two's complement −x keeps it and inverts everything above.
#[inline]
pub(super) fn lowest_bit(mask: u32) -> u32 {
    mask & mask.wrapping_neg()
}

/// The search, row by row. It needs only the masks. It keeps the board to show it, and for the
/// methods that examine whole solutions.
pub(super) struct Search<'w, 'a, R> {
    /// One bit in each row.
    pub board: [u32; Size::MAX as usize],
    /// What the method adds to the search.
    pub rules: R,
    /// The watch to which it reports.
    pub watch: &'w mut Watch<'a>,
    full: u32,
    end: usize,
}

/// What the later methods add to the search: the squares they exclude, and what they do with a
/// filled board.
pub(super) trait Rules {
    /// Which of the `free` squares of `row` are worth trying.
    #[inline]
    fn allowed(&self, _row: usize, _taken: Taken, free: u32) -> u32 {
        free
    }

    /// Called when all rows of the search are filled.
    fn filled(&mut self, board: &[u32], watch: &mut Watch<'_>) -> Result<(), StopSearch>;
}

impl<'w, 'a, R: Rules> Search<'w, 'a, R> {
    /// A search of all rows.
    pub fn new(n: Size, rules: R, watch: &'w mut Watch<'a>) -> Self {
        Self::down_to(n.get() as usize, n, rules, watch)
    }

    /// A search that fills the rows above row `end` only.
    pub fn down_to(end: usize, n: Size, rules: R, watch: &'w mut Watch<'a>) -> Self {
        Self {
            board: [0; Size::MAX as usize],
            rules,
            watch,
            full: n.full_mask(),
            end,
        }
    }

    /// Fills the rows from `row` on in every way; `taken` is what the queens above take of `row`.
    pub fn run(&mut self, style: Style, row: usize, taken: Taken) -> Result<(), StopSearch> {
        if row == self.end {
            return self.filled();
        }
        match style {
            Style::Iterative => self.iterative(row, taken),
            _ => self.recursive(
                row,
                taken.free(self.full),
                taken.left,
                taken.down,
                taken.right,
            ),
        }
    }

    /// Places queens in the first rows and returns what they take of the next row.
    pub fn place_first(&mut self, queens: &[u32]) -> Result<Taken, StopSearch> {
        let mut taken = Taken::default();
        for (row, &queen) in queens.iter().enumerate() {
            self.place(row, queen)?;
            taken = taken.after(queen);
        }
        Ok(taken)
    }

    /// The three masks are separate arguments, which keeps them in registers. `unattacked` are the
    /// squares of the row that they leave free, at least one.
    fn recursive(
        &mut self,
        row: usize,
        unattacked: u32,
        left: u32,
        down: u32,
        right: u32,
    ) -> Result<(), StopSearch> {
        let taken = Taken { left, down, right };
        let mut free = self.rules.allowed(row, taken, unattacked);
        let is_last = row + 1 == self.end;
        while free != 0 {
            let bit = lowest_bit(free);
            free ^= bit;
            self.place(row, bit)?;
            let next = taken.after(bit);
            if is_last {
                self.filled()?;
                continue;
            }
            // Do not call for a row without a free square.
            let unattacked = next.free(self.full);
            if unattacked != 0 {
                self.recursive(row + 1, unattacked, next.left, next.down, next.right)?;
            }
        }
        Ok(())
    }

    /// The same search as a loop. Two arrays replace the call stack: what is taken of each row, and
    /// its free squares that were not tried yet.
    fn iterative(&mut self, first_row: usize, start: Taken) -> Result<(), StopSearch> {
        let mut taken = [start; 1 + Size::MAX as usize];
        let mut free = [0; 1 + Size::MAX as usize];
        let mut row = first_row;
        loop {
            // The search has come down to a row. The one after the last has nothing to try.
            if row == self.end {
                self.filled()?;
            } else {
                free[row] = self.free(row, taken[row]);
            }
            // Return to the deepest row with a square to try.
            while free[row] == 0 {
                if row == first_row {
                    return Ok(());
                }
                row -= 1;
            }
            let bit = lowest_bit(free[row]);
            free[row] ^= bit;
            self.place(row, bit)?;
            taken[row + 1] = taken[row].after(bit);
            row += 1;
        }
    }

    /// The squares of a row to try.
    #[inline]
    fn free(&self, row: usize, taken: Taken) -> u32 {
        self.rules.allowed(row, taken, taken.free(self.full))
    }

    #[inline]
    fn place(&mut self, row: usize, bit: u32) -> Result<(), StopSearch> {
        self.board[row] = bit;
        self.watch.place(&self.board, row)
    }

    #[inline]
    fn filled(&mut self) -> Result<(), StopSearch> {
        self.rules.filled(&self.board[..self.end], self.watch)
    }
}

/// Counts solutions, and excludes no square.
pub(super) struct SolutionCount {
    /// Solutions found.
    pub found: u64,
    images: Images,
}

impl SolutionCount {
    /// Counts solutions, each of which stands for `images`.
    pub fn new(images: Images) -> Self {
        Self { found: 0, images }
    }
}

impl Rules for SolutionCount {
    #[inline]
    fn filled(&mut self, board: &[u32], watch: &mut Watch<'_>) -> Result<(), StopSearch> {
        self.found += 1;
        watch.solution(board, self.images)
    }
}
