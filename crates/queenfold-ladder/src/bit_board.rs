//! The method `bit-board`: the symmetry search cut in two, with the lower part for a device of many threads.
//!
#![doc = include_str!("text/bit-board.md")]

use super::bitmap::{Rules, Search, Taken};
use super::device::Launches;
use super::programs::BIT_BOARD;
use super::symmetry::{Case, Start};
use super::{Count, Method, MethodRequest, StopSearch, Style, Watch};
use queenfold_engines::board::{Orbits, Size};
use queenfold_engines::engine::Device;

/// The symmetry search cut in two; a device with many threads searches the lower part.
pub const METHOD: Method = Method {
    name: "bit-board",
    step: 7,
    text: include_str!("text/bit-board.md"),
    styles: &[Style::Gpu],
    is_parallel: true,
    count_on,
    ..Method::USUAL
};

fn count_on(
    device: &mut dyn Device,
    request: &MethodRequest,
    watch: &mut Watch<'_>,
) -> Result<Count, StopSearch> {
    let mut launches = Launches::new(device, BIT_BOARD);
    let mut on_host = Orbits::default();
    for start in Start::all(request.n) {
        match start {
            Start::OneQueen => on_host = start.count(request.n, Style::Iterative, watch)?,
            Start::Corner(corner) => upper_rows(request, corner, 1, &mut launches, watch)?,
            Start::Side(side) => upper_rows(request, side, 0, &mut launches, watch)?,
        }
    }
    let [nodes, c2, c4, c8] = launches.finish(watch)?;
    watch.add_nodes(nodes);
    Ok(Count::classes(Orbits {
        c1: on_host.c1,
        c2: c2.into(),
        c4: c4.into(),
        c8: c8.into(),
    }))
}

/// The row at which the search is cut: at or below the first row that the host searches, and at
/// most the last row of the board.
fn mark(n: Size, first_row: usize) -> usize {
    let n = n.get() as usize;
    // The original's rule: from n = 13 on it leaves ten rows to the device.
    let originals = if n > 12 { n - 10 } else { 3 };
    originals.clamp(first_row, n - 1)
}

/// Nodes in a batch, as the original has them.
const BATCH: u32 = 24_576;

/// Sums of a launch: nodes, and orbits of 2, 4 and 8 solutions.
const SUMS: usize = 4;

/// The host's part: searches down to the mark and passes on the nodes it finds there. `corner` is 1 if the first queen is in
/// the corner.
fn upper_rows(
    request: &MethodRequest,
    case: impl Case,
    corner: u32,
    launches: &mut Launches<'_, SUMS>,
    watch: &mut Watch<'_>,
) -> Result<(), StopSearch> {
    let first_queens = case.first_queens();
    let mark = mark(request.n, first_queens.len());
    let host = Host {
        case,
        launches,
        start: [request.n.get(), mark as u32, corner, case.bound1()],
        batch: Vec::new(),
        nodes: 0,
    };
    let mut search = Search::down_to(mark, request.n, host, watch);
    let taken = search.place_first(&first_queens)?;
    search.run(Style::Iterative, first_queens.len(), taken)?;
    // The last batch is rarely full.
    search.rules.launch(search.watch)
}

struct Host<'l, 'd, C> {
    case: C,
    launches: &'l mut Launches<'d, SUMS>,
    /// The `BitBoardStart` of the kernel.
    start: [u32; 4],
    /// Nodes in the kernel's format: what is taken of the row at the mark, then the queens above,
    /// which decide the class of a solution.
    batch: Vec<u32>,
    nodes: u32,
}

impl<C: Case> Host<'_, '_, C> {
    fn launch(&mut self, watch: &mut Watch<'_>) -> Result<(), StopSearch> {
        if self.nodes == 0 {
            return Ok(());
        }
        self.nodes = 0;
        let batch = std::mem::take(&mut self.batch);
        self.launches.submit(batch, self.start.to_vec(), watch)
    }
}

impl<C: Case> Rules for Host<'_, '_, C> {
    fn allowed(&self, row: usize, taken: Taken, free: u32) -> u32 {
        self.case.allowed(row, taken, free)
    }

    fn filled(&mut self, board: &[u32], watch: &mut Watch<'_>) -> Result<(), StopSearch> {
        let queens = board.iter();
        let taken = queens.fold(Taken::default(), |taken, &bit| taken.after(bit));
        self.batch.extend(taken.words());
        self.batch.extend(board);
        self.nodes += 1;
        if self.nodes == BATCH {
            self.launch(watch)?;
        }
        Ok(())
    }
}
