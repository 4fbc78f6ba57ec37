use std::ops::Range;

use super::crossing::{Context, Crossing, PairsOfRuns, SetBoards, Wanted};
use super::kernel::{Buckets, JoinKernel, KeyBatch};
use super::key_layout::KeyLayout;
use super::memory_budget::MemoryBudget;
use super::pairs::Countable;
use super::row_sets::RowSets;
use super::shared_columns::{SharedColumns, shared_by_default};
use super::without_middle::ListsWithoutMiddle;
use super::word_order::{Bounds, WordOrder};
use super::{Half, Partition};
use crate::board::Size;
use crate::engine::{GivenUp, TaskWatch};

/// Makes the lists of keys of both halves of a partition, in parts where the memory does not allow
/// whole lists.
///
/// Keeps the boards of quadrants that neighbouring column sets share.
/// Halves are numbered 0 (top) and 1 (bottom).
pub struct ListMaker<K> {
    n: Size,
    kernel: K,
    memory: MemoryBudget,
    /// In how many columns the column sets that share a layout may differ.
    shared: u32,
    group: Option<SharedColumns>,
    /// The ranks of the words of the columns of the partition prepared last.
    bounds: Bounds,
    layout: KeyLayout,
    /// Bytes at which one list of this layout is full.
    list_bytes: u64,
    rows: RowSets,
    order: WordOrder,
    crossings: [Crossing; 2],
    kept: [ListsWithoutMiddle; 2],
    /// Whether lists may hold their ties: see [`WithTies`].
    pub(super) weighs_ties: bool,
}

/// The boards of quadrants that a list is made from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Boards {
    /// Those that the column sets of a group share.
    Shared,
    /// Those of this half, or slice of a half, alone.
    Own,
}

/// Up to this size the boards of all left quadrants are kept, as they all fit the second-level cache.
const KEEPS_LEFT: u32 = 17;

/// From this size on lists may hold their ties: see [`WithTies`]. On smaller boards ties are so few that
/// it does not pay to ask.
const MANY_TIES: u32 = 22;

/// The most runs whose half boards the CPU crosses and compares with ties although it leaves the others to somebody else.
const FEW_RUNS: usize = 4;

/// Where the keys of the open half come from.
#[derive(Clone, Copy)]
enum Keys {
    /// From crossing the boards of its quadrants.
    Crossed,
    /// From a list without a middle queen.
    Kept {
        /// The bits of the diagonals through the middle queen.
        attacked: u64,
    },
}

/// What is left to list of a half board.
pub struct Parts {
    /// The half, or slices of it by the queens of its first rows. The last one comes next.
    halves: Vec<Half>,
    boards: Boards,
    /// How far the last one has been listed, in the units of [`keys`](ListMaker::keys).
    begin: usize,
}

impl<K: JoinKernel> ListMaker<K> {
    /// Makes lists within `memory`.
    pub fn new(n: Size, kernel: K, memory: MemoryBudget) -> Self {
        let rows = RowSets::new(n.get() / 2);
        Self {
            n,
            kernel,
            memory,
            shared: shared_by_default(n),
            group: None,
            bounds: Bounds::default(),
            layout: KeyLayout::default(),
            list_bytes: 0,
            order: WordOrder::new(n, &rows),
            rows,
            crossings: Default::default(),
            kept: Default::default(),
            weighs_ties: n.get() >= MANY_TIES,
        }
    }

    /// The ranks of the words of the columns of the partition prepared last.
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// The layout of the keys of the partition prepared last.
    pub fn layout(&self) -> &KeyLayout {
        &self.layout
    }

    /// Must be called before the lists of `partition` are made. Makes the layout of its group, unless
    /// the last partition was of the same group.
    pub fn prepare(&mut self, partition: &Partition) {
        let set = &partition.set;
        self.bounds = if partition.oriented {
            self.order.bounds(self.n, set)
        } else {
            Bounds::ALL
        };
        if let Some(group) = &self.group
            && group.contains(self.n, self.shared, partition)
        {
            return;
        }
        let group = SharedColumns::of(self.n, self.shared, partition);
        self.layout = group.layout(self.n, set);
        self.list_bytes = self.memory.list(self.layout.sorted());
        self.crossings.iter_mut().for_each(Crossing::clear);
        self.kept.iter_mut().for_each(ListsWithoutMiddle::clear);
        self.group = Some(group);
    }

    /// Opens one half, or a slice of it: makes the boards of its quadrants, unless they are there
    /// already. Returns whether the boards fit the memory.
    fn open(&mut self, side: usize, half: &Half, boards: Boards, wanted: Wanted) -> bool {
        let frame = match &self.group {
            Some(group) if boards == Boards::Shared => group.half(side),
            _ => half,
        };
        let room = self.memory.quadrants(self.crossings[1 - side].bytes());
        let context = Context {
            layout: &self.layout,
            rows: &self.rows,
            order: &self.order,
        };
        self.crossings[side].open(self.kernel, context, frame, wanted, room)
    }

    /// Everything that is to be listed of one half of the partition prepared last.
    pub fn parts(&self, half: &Half) -> Parts {
        Parts {
            halves: vec![half.clone()],
            boards: Boards::Shared,
            begin: 0,
        }
    }

    /// Opens the next half, or slice of it, of `parts`, which it slices if the memory asks for that.
    /// Returns where its keys come from; `None` if nothing is left.
    fn open_next(&mut self, side: usize, parts: &mut Parts) -> Option<Keys> {
        while let Some(half) = parts.halves.last() {
            if let Some(keys) = self.open_kept(side, half, parts.boards) {
                return Some(keys);
            }
            if parts.boards == Boards::Shared && self.without_middle() {
                assert_eq!(
                    parts.begin, 0,
                    "the list without a middle queen was opened before"
                );
                parts.boards = Boards::Own;
            }
            if self.open(side, half, parts.boards, self.wanted(half)) {
                return Some(Keys::Crossed);
            }
            parts.slice();
        }
        None
    }

    fn without_middle(&self) -> bool {
        self.group
            .as_ref()
            .is_some_and(SharedColumns::without_middle)
    }

    /// Opens the list of `half` without a middle queen, if there is to be one and the memory allows
    /// it.
    fn open_kept(&mut self, side: usize, half: &Half, boards: Boards) -> Option<Keys> {
        let middle = half
            .middle()
            .filter(|_| boards == Boards::Shared && self.without_middle())?;
        let columns = half.columns();
        if !self.kept[side].open(columns) {
            let wanted = self.wanted_without_middle(columns);
            if !self.open(side, half, Boards::Shared, wanted) {
                return None;
            }
            // The top half stays the same for all columns of the middle queen.
            let most = [0, self.memory.kept_keys()][side];
            let crossing = &mut self.crossings[side];
            self.kept[side].make(self.kernel, &self.layout, crossing, columns, most);
        }
        Some(Keys::Kept {
            attacked: self.attacked(half, middle),
        })
    }

    /// The bits of keys of a half with which the middle queen leaves them out.
    fn attacked(&self, half: &Half, middle: u32) -> u64 {
        self.layout
            .place(half.side(), Half::middle_key(self.n, middle))
    }

    /// The boards that a list is crossed from.
    fn wanted(&self, half: &Half) -> Wanted {
        Wanted {
            columns: half.columns(),
            most_rank: self.bounds.larger,
            keeps_left: self.bounds == Bounds::ALL || self.n.get() <= KEEPS_LEFT,
        }
    }

    /// Those that a list without a middle queen is crossed from.
    fn wanted_without_middle(&self, columns: u32) -> Wanted {
        Wanted {
            columns,
            most_rank: match self.bounds {
                Bounds::ALL => u32::MAX,
                _ => self.order.largest_with_middle(self.n, columns),
            },
            keeps_left: true,
        }
    }

    /// Opens the boards that the whole lists of both halves of the partition prepared last are crossed from.
    /// Returns whether they fit the memory.
    pub fn open_boards(&mut self, halves: [&Half; 2]) -> bool {
        halves.into_iter().enumerate().all(|(side, half)| {
            let wanted = if self.without_middle() {
                self.wanted_without_middle(half.columns())
            } else {
                self.wanted(half)
            };
            self.open(side, half, Boards::Shared, wanted)
        })
    }

    /// The boards that were opened, and the pairs of half boards that whoever crosses them is to count. Pairs with ties that
    /// are not among them are left to [`each_key_for_ties`](Self::each_key_for_ties).
    pub fn boards(&self, halves: [&Half; 2], with_ties: WithTies) -> SetBoards<'_> {
        let ranks = |side: usize| self.crossings[side].runs_of(self.bounds.larger);
        let whole = |side: usize| {
            let ranks = ranks(side);
            0..if with_ties.of_half(side) {
                ranks.end
            } else {
                ranks.start
            }
        };
        let mut pairs = vec![PairsOfRuns {
            runs: [0, 1].map(whole),
            times: self.bounds.below() as i64,
        }];
        for side in 0..2 {
            let ties = ranks(1 - side);
            let stretches = self.stretches(side, Keys::Crossed, with_ties);
            for (stretch, times) in stretches.filter(|(stretch, _)| self.is_left(stretch)) {
                if times != 0 && !ties.is_empty() {
                    let mut runs = [ties.clone(), ties.clone()];
                    runs[side] = stretch;
                    pairs.push(PairsOfRuns { runs, times });
                }
            }
        }
        let halves = [0, 1].map(|side: usize| {
            let half = halves[side];
            let middle = half.middle().filter(|_| self.without_middle());
            let attacked = middle.map_or(0, |middle| self.attacked(half, middle));
            self.crossings[side].boards(attacked)
        });
        SetBoards { halves, pairs }
    }

    /// Whether the pairs of ties and the half boards of these runs are left to whoever crosses the boards. Those of a few
    /// runs take the CPU less time than a group takes a device. Where lists without a middle queen are kept, stretches are
    /// no runs.
    fn is_left(&self, stretch: &Range<usize>) -> bool {
        stretch.len() > FEW_RUNS && !self.without_middle()
    }

    /// How far the keys go whose words have ranks below `rank`, and how far those up to it, in the
    /// units of [`keys`](Self::keys).
    fn around(&self, side: usize, keys: Keys, rank: u32) -> Range<usize> {
        match keys {
            Keys::Crossed => self.crossings[side].runs_of(rank),
            Keys::Kept { .. } => self.kept[side].keys_of(rank),
        }
    }

    /// The first keys of `range`, and how much of it they are.
    fn keys(&mut self, side: usize, keys: Keys, range: Range<usize>) -> (&KeyBatch, usize) {
        match keys {
            Keys::Crossed => self.crossings[side].keys(self.kernel, &self.layout, range),
            Keys::Kept { attacked } => {
                // The high parts may hold nothing but bits that the middle queen attacks.
                let high = self.layout.sorted() > 0 || self.layout.rest() > u32::BITS;
                self.kept[side].keys(self.kernel, range, attacked, high)
            }
        }
    }

    /// Calls `found` with the keys of all half boards of one half whose words of rows have the
    /// larger rank of the words of the columns: its *ties*. Returns whether the list of the other half
    /// should hold its ties: see [`WithTies`].
    ///
    /// # Errors
    /// The task is to be given up.
    pub fn each_tie(
        &mut self,
        side: usize,
        half: &Half,
        watch: &TaskWatch,
        mut found: impl FnMut(&KeyBatch),
    ) -> Result<bool, GivenUp> {
        let Bounds { larger, smaller } = self.bounds;
        if self.bounds == Bounds::ALL {
            return Ok(false);
        }
        let mut parts = self.parts(half);
        let [mut below, mut between] = [0; 2];
        while let Some(keys) = self.open_next(side, &mut parts) {
            let Range {
                start: mut begin,
                end,
            } = self.around(side, keys, larger);
            if self.weighs_ties {
                let of_smaller = self.around(side, keys, smaller);
                below += of_smaller.start;
                between += begin.saturating_sub(of_smaller.end);
            }
            while begin < end {
                watch.check()?;
                let (keys, done) = self.keys(side, keys, begin..end);
                found(keys);
                begin += done;
            }
            parts.halves.pop();
        }
        Ok(below > between)
    }

    /// Makes the next list of `parts`, which is the only one where the memory allows, of half boards
    /// whose words have ranks below the larger of `bounds`, or up to it if the list is to hold its
    /// ties; of all half boards, if words do not matter. Calls `found` with the keys, and with how often
    /// pairs of them with ties of the other half are still to be counted: see [`WithTies`]. Returns
    /// whether there was anything left to list.
    ///
    /// # Errors
    /// The task is to be given up.
    pub fn next_list<T: Countable>(
        &mut self,
        side: usize,
        parts: &mut Parts,
        to: &mut Buckets<T>,
        with_ties: WithTies,
        watch: &TaskWatch,
        mut found: impl FnMut(&KeyBatch, i64),
    ) -> Result<bool, GivenUp> {
        let Some(source) = self.open_next(side, parts) else {
            return Ok(false);
        };
        // At least 1024 keys: shorter lists would cost more time than they save memory. At most
        // 2^30: buckets hold the places of keys in 32 bits.
        let most = (self.list_bytes / size_of::<T>() as u64).clamp(1 << 10, 1 << 30) as usize;
        let kernel = self.kernel;
        to.clear(self.layout.sorted());
        for (stretch, weight) in self.stretches(side, source, with_ties) {
            while parts.begin < stretch.end {
                watch.check()?;
                let (keys, done) = self.keys(side, source, parts.begin..stretch.end);
                parts.begin += done;
                kernel.scatter(keys, to);
                found(keys, weight);
                if to.len() > most {
                    return Ok(true);
                }
            }
        }
        parts.begin = 0;
        parts.halves.pop();
        Ok(true)
    }

    /// Calls `found` with those keys of a list whose pairs with ties of the other half are still to be counted, and
    /// with how often: see [`WithTies`]. The list must fit the memory in one piece, and its boards are left to somebody
    /// else: see [`boards`](Self::boards).
    ///
    /// # Errors
    /// The task is to be given up.
    pub fn each_key_for_ties(
        &mut self,
        side: usize,
        half: &Half,
        with_ties: WithTies,
        watch: &TaskWatch,
        mut found: impl FnMut(&KeyBatch, i64),
    ) -> Result<(), GivenUp> {
        let Some(source) = self.open_next(side, &mut self.parts(half)) else {
            return Ok(());
        };
        for (mut stretch, weight) in self.stretches(side, source, with_ties) {
            if weight == 0 || self.is_left(&stretch) {
                continue;
            }
            while !stretch.is_empty() {
                watch.check()?;
                let (keys, done) = self.keys(side, source, stretch.clone());
                found(keys, weight);
                stretch.start += done;
            }
        }
        Ok(())
    }

    /// The stretches of a list whose pairs with ties of the other half are to be counted equally often, one after the
    /// other, and how often, in the units of [`keys`](Self::keys).
    fn stretches(
        &self,
        side: usize,
        source: Keys,
        with_ties: WithTies,
    ) -> impl Iterator<Item = (Range<usize>, i64)> + use<K> {
        let Bounds { larger, smaller } = self.bounds;
        let of_smaller = self.around(side, source, smaller);
        let of_larger = self.around(side, source, larger);
        let [below, with_smaller, between] = if larger == smaller {
            [of_larger.start; 3]
        } else {
            [of_smaller.start, of_smaller.end, of_larger.start]
        };
        let with_own = if with_ties.of_half(side) {
            of_larger.end
        } else {
            between
        };
        // How often these pairs are to be counted: see `Bounds::weight`.
        let counted_twice = if with_ties.of_half(1 - side) { 2 } else { 0 };
        [
            (0..below, 2 - counted_twice),
            (below..with_smaller, 1 - counted_twice),
            (with_smaller..between, -counted_twice),
            // Pairs of two ties are not counted here.
            (between..with_own, 0),
        ]
        .into_iter()
    }
}

/// Whether the lists of the top half and of the bottom half hold their ties.
///
/// A pair of a tie and another half board counts by the word of that one: twice if it ranks below the
/// smaller rank of the words of the columns, once if it has it, else not. Such pairs can be counted
/// apart. Or the list holds its ties; then all these pairs count twice, and those that should not are
/// counted apart and subtracted. The fewer half boards decide.
#[derive(Clone, Copy, Debug, Default)]
pub struct WithTies(pub [bool; 2]);

impl WithTies {
    /// Whether the list of this half does.
    fn of_half(self, side: usize) -> bool {
        self.0[side]
    }

    /// How often a pair of two ties is still to be counted if it should count so often.
    pub fn rest_of_two(self, weight: i64) -> i64 {
        let counted = if self.0 == [true; 2] { 2 } else { 0 };
        weight - counted
    }
}

impl Parts {
    /// Whether everything is listed.
    pub fn is_empty(&self) -> bool {
        self.halves.is_empty()
    }

    /// Slices the next half, whose boards of quadrants do not fit the memory.
    #[expect(
        clippy::expect_used,
        reason = "only a half that is there can be too large"
    )]
    fn slice(&mut self) {
        let half = self.halves.pop().expect("one is left");
        assert!(
            half.fixed_rows() < half.rows(),
            "there is memory for one half board"
        );
        self.halves.extend(half.slices());
        self.boards = Boards::Own;
    }
}

#[cfg(test)]
mod tests {
    use cpu_time::ThreadTime;

    use super::*;
    use crate::engine::Plan;
    use crate::join::{JoinBoard, JoinPlan};
    use crate::simd::{Algorithm, Isa, Simd};

    /// What the lists of some sets take, and what the boards of quadrants that they are crossed from take.
    struct Measured(u32);

    impl Algorithm for Measured {
        type Output = String;

        fn run<S: Simd>(self, simd: S) -> String {
            let n = Size::new(self.0).unwrap();
            let plan = JoinPlan::new(n);
            let board = JoinBoard::from(plan.given());
            let mut maker = ListMaker::new(n, simd, MemoryBudget::new(1 << 30));
            let mut list = Buckets::<u32>::default();
            let (mut sets, mut boards, mut keys) = (0_u32, 0, 0);
            let (mut making, mut crossing) = (0.0, 0.0);
            let watch = TaskWatch::default();
            let seconds = |since: ThreadTime| since.elapsed().as_secs_f64();
            let starts = [plan.ranks() / 3, plan.ranks() / 2 + 1];
            let ranks = starts.into_iter().flat_map(|start| start..start + 12);
            for partition in ranks.filter_map(|rank| board.partition(rank)) {
                maker.prepare(&partition);
                sets += 1;
                for (side, half) in [&partition.top, &partition.bottom].into_iter().enumerate() {
                    let begun = ThreadTime::now();
                    maker.open_next(side, &mut maker.parts(half));
                    making += seconds(begun);
                    let begun = ThreadTime::now();
                    let mut parts = maker.parts(half);
                    let ties = WithTies::default();
                    while maker
                        .next_list(side, &mut parts, &mut list, ties, &watch, |_, _| ())
                        .unwrap()
                    {
                        keys += list.len();
                    }
                    crossing += seconds(begun);
                    boards += maker.crossings[side].open_boards();
                }
            }
            let each = |sum: f64| sum / f64::from(sets);
            format!(
                "n = {n}, a set: {:.0} boards of quadrants in {:.2} ms, {:.0} keys in {:.2} ms",
                each(boards as f64),
                1e3 * each(making),
                each(keys as f64),
                1e3 * each(crossing)
            )
        }
    }

    #[test]
    #[ignore = "measures: cargo test --release --lib join::list_maker -- --ignored --nocapture"]
    fn what_boards_of_quadrants_take_beside_lists() {
        for n in [18, 20, 21, 22, 23, 24, 25, 26] {
            println!("{}", Isa::best().run(Measured(n)));
        }
    }
}
