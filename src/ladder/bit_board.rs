#![doc = include_str!("text/bit-board.md")]

use super::bitmap::{Rules, Search, Taken, lowest_bit};
use super::classes::Classes;
use super::spread::spread;
use super::symmetry::{Case, Start};
use super::{About, Ask, Count, Images, Method, Settings, Stopped, Style, Watch};
use crate::board::Size;

/// The symmetry search cut in two, the lower part for a device with many threads.
pub struct BitBoard;

impl Method for BitBoard {
    fn about(&self) -> &'static About {
        &About {
            name: "bit-board",
            idea: "symmetry search cut at a row, nodes in batches, one per GPU thread",
            text: include_str!("text/bit-board.md"),
            styles: &[Style::Gpu, Style::Emulated],
            unique: true,
            reach: 12,
            lines: None,
            steps: false,
        }
    }

    fn count(&self, ask: &Ask, watch: &mut Watch<'_>) -> Result<Count, Stopped> {
        let mut classes = Vec::new();
        for start in Start::all(ask.n) {
            classes.push(match start {
                Start::OneQueen => start.count(ask.n, Style::Iterative, watch)?,
                Start::Corner(corner) => count(ask, &corner.first_queens(), corner, watch)?,
                Start::Side(side) => count(ask, &side.first_queens(), side, watch)?,
            });
        }
        Ok(Count::classes(
            classes.into_iter().sum::<Classes>().orbits(),
        ))
    }
}

/// The row at which the search is cut, between the first row the host searches and the last row
/// of the board.
fn mark(n: Size, settings: &Settings, first_row: usize) -> usize {
    // The original's rule: at most ten rows are left to the device.
    let originals = if n.get() > 12 { n.get() - 10 } else { 3 };
    let last_row = n.get() as usize - 1;
    (settings.mark.unwrap_or(originals) as usize).clamp(first_row, last_row)
}

/// The host's part: searches down to the mark and hands over what it finds there.
fn count(
    ask: &Ask,
    first_queens: &[u32],
    case: impl Case,
    watch: &mut Watch<'_>,
) -> Result<Classes, Stopped> {
    let mark = mark(ask.n, &ask.settings, first_queens.len());
    let host = Host {
        case,
        device: Device {
            n: ask.n,
            mark,
            block: ask.settings.block as usize,
        },
        batch: Vec::with_capacity(ask.settings.steps as usize),
        steps: ask.settings.steps as usize,
        classes: Vec::new(),
    };
    let mut search = Search::down_to(mark, ask.n, host, watch);
    let taken = search.place_first(first_queens)?;
    search.run(Style::Iterative, first_queens.len(), taken)?;
    // The last batch is seldom full.
    search.rules.launch(search.watch)?;
    Ok(search.rules.classes.into_iter().sum())
}

/// What a thread of the device gets: the state at the mark, and the queens above, which decide the
/// class of a solution.
#[derive(Clone, Copy, Debug)]
struct Node {
    taken: Taken,
    board: [u32; Size::MAX as usize],
}

struct Host<C> {
    case: C,
    device: Device,
    batch: Vec<Node>,
    steps: usize,
    classes: Vec<Classes>,
}

impl<C: Case> Host<C> {
    fn launch(&mut self, watch: &mut Watch<'_>) -> Result<(), Stopped> {
        if !self.batch.is_empty() {
            self.classes
                .push(self.device.launch(self.case, &self.batch, watch)?);
            self.batch.clear();
        }
        Ok(())
    }
}

impl<C: Case> Rules for Host<C> {
    fn allowed(&self, row: usize, taken: Taken, free: u32) -> u32 {
        self.case.allowed(row, taken, free)
    }

    fn filled(
        &mut self,
        board: &[u32],
        taken: Taken,
        watch: &mut Watch<'_>,
    ) -> Result<(), Stopped> {
        let mut node = Node {
            taken,
            board: [0; Size::MAX as usize],
        };
        node.board[..board.len()].copy_from_slice(board);
        self.batch.push(node);
        if self.batch.len() == self.steps {
            self.launch(watch)?;
        }
        Ok(())
    }
}

/// The emulated device: blocks of threads, the threads of a block one after the other, the blocks
/// on the cores of the host.
#[derive(Clone, Copy)]
struct Device {
    n: Size,
    mark: usize,
    block: usize,
}

impl Device {
    /// Runs one thread for each node; the sum of what the blocks give.
    fn launch(
        self,
        case: impl Case,
        nodes: &[Node],
        watch: &mut Watch<'_>,
    ) -> Result<Classes, Stopped> {
        let blocks: Vec<_> = nodes.chunks(self.block).collect();
        let sums = spread(&blocks, watch, |threads, watch| {
            let mut sum = Classes::default();
            for &node in *threads {
                self.thread(case, node, &mut sum, watch)?;
            }
            Ok(sum)
        })?;
        Ok(sums.into_iter().sum())
    }

    /// What a thread of the device does with its node: the search of the last rows with stacks of
    /// its own, because a device has no use for recursion.
    fn thread(
        self,
        case: impl Case,
        node: Node,
        sum: &mut Classes,
        watch: &mut Watch<'_>,
    ) -> Result<(), Stopped> {
        let n = self.n.get() as usize;
        let full = self.n.full_mask();
        let mut board = node.board;
        let mut taken = [node.taken; Size::MAX as usize];
        let mut free = [0; Size::MAX as usize];
        let mut row = self.mark;
        free[row] = case.allowed(row, node.taken, node.taken.free(full));
        loop {
            let bit = lowest_bit(free[row]);
            if bit == 0 {
                if row == self.mark {
                    return Ok(());
                }
                row -= 1;
                continue;
            }
            free[row] ^= bit;
            board[row] = bit;
            watch.count()?;
            if row + 1 == n {
                if let Some(size) = case.orbit_size(&board[..n]) {
                    sum.add(size);
                    watch.solution(&board[..n], Images::Orbit(size))?;
                }
            } else {
                taken[row + 1] = taken[row].after(bit);
                row += 1;
                free[row] = case.allowed(row, taken[row], taken[row].free(full));
            }
        }
    }
}
