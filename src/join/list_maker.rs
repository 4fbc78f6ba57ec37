use super::generate::KeyGenerator;
use super::kernel::{Buckets, FLAT, JoinKernel};
use super::key_layout::KeyLayout;
use super::memory_budget::MemoryBudget;
use super::pairs::{Countable, Lists};
use super::quarter::{QuarterBoards, QuarterFrame};
use super::shared_columns::{SharedColumns, shared_by_default};
use super::without_middle::ListsWithoutMiddle;
use super::{ColumnSet, Half, Partition};
use crate::board::Size;

/// Makes the lists of keys of both halves of a partition, in parts where the memory does not allow
/// whole lists.
///
/// Keeps the quarter boards that neighbouring column sets share, and lists without a middle queen.
/// Halves are numbered 0 (top) and 1 (bottom).
pub struct ListMaker<K> {
    n: Size,
    kernel: K,
    memory: MemoryBudget,
    /// How many of the first columns may differ between column sets that share quarter boards.
    shared: u32,
    group: Option<SharedColumns>,
    layout: KeyLayout,
    /// Bytes at which one list of this layout is full.
    list_bytes: u64,
    generators: [KeyGenerator; 2],
    /// Room to make the quarter boards of either half in.
    scratch: QuarterBoards,
    kept: [ListsWithoutMiddle; 2],
}

/// The quarter boards that a list is made from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Boards {
    /// Those that the column sets of a group share.
    Shared,
    /// Those of this half, or slice of a half, alone.
    Own,
}

/// What is left to list of a half board.
pub struct Parts {
    /// The half, or slices of it by the queens of its first rows. The last one comes next.
    halves: Vec<Half>,
    boards: Boards,
    /// How many choices of outer columns of the last one have been listed.
    begin: usize,
}

impl<K: JoinKernel> ListMaker<K> {
    /// Makes lists within `memory`.
    pub fn new(n: Size, kernel: K, memory: MemoryBudget) -> Self {
        Self {
            n,
            kernel,
            memory,
            shared: shared_by_default(n),
            group: None,
            layout: KeyLayout::default(),
            list_bytes: 0,
            generators: Default::default(),
            scratch: QuarterBoards::default(),
            kept: Default::default(),
        }
    }

    /// The layout of the keys of the partition prepared last.
    pub fn layout(&self) -> &KeyLayout {
        &self.layout
    }

    /// Must be called before the lists of `partition` are made. Makes the quarter boards and the
    /// layout of its group, unless the last partition was of the same group.
    pub fn prepare(&mut self, partition: &Partition) {
        let set = &partition.set;
        if let Some(group) = &self.group
            && group.contains(self.n, self.shared, set)
        {
            return;
        }
        let group = SharedColumns::of(self.n, self.shared, partition);
        let shares = group.columns() != 0;
        self.layout = group.layout(self.n, set);
        self.list_bytes = self.memory.list(self.layout.sorted());
        self.generators.iter_mut().for_each(KeyGenerator::clear);
        self.kept.iter_mut().for_each(ListsWithoutMiddle::clear);
        self.group = Some(group);
        let halves = [&partition.top, &partition.bottom];
        let mut sides = halves.into_iter().enumerate();
        if shares && !sides.all(|(side, half)| self.fill(side, half, Boards::Shared)) {
            // Shared quarter boards do not fit the memory: share fewer columns. Where middle queens
            // come in turn, all of their columns must be shared. Otherwise sets whose middle queen
            // stands in another column would come in between, and end the group each time.
            let fewer = self.shared / 2;
            let serves = fewer >= ColumnSet::middles_in_turn(self.n);
            self.shared = if serves { fewer } else { 0 };
            self.group = None;
            self.generators = Default::default();
            self.prepare(partition);
        }
    }

    /// Makes the quarter boards of one half, unless they are there already. Returns whether they
    /// fit the memory.
    fn fill(&mut self, side: usize, half: &Half, boards: Boards) -> bool {
        let (half, shared, taken) = match &self.group {
            Some(group) if boards == Boards::Shared => {
                (group.half(side), group.columns(), group.taken(side))
            }
            _ => (half, 0, 0),
        };
        let frame = QuarterFrame {
            half,
            layout: &self.layout,
            shared,
            taken,
        };
        let most = self
            .memory
            .quarter_boards(self.generators[1 - side].bytes());
        let generator = &mut self.generators[side];
        generator.holds(half) || generator.fill(self.kernel, &frame, &mut self.scratch, most)
    }

    fn without_middle(&self) -> bool {
        self.group
            .as_ref()
            .is_some_and(SharedColumns::without_middle)
    }

    /// Makes the quarter boards of one half of the partition prepared last, so that they get their
    /// memory before those of the other half.
    pub fn make_quarter_boards(&mut self, side: usize, half: &Half) {
        self.fill(side, half, self.boards());
    }

    /// The quarter boards that lists with a middle queen are made from.
    fn boards(&self) -> Boards {
        if self.without_middle() {
            Boards::Own
        } else {
            Boards::Shared
        }
    }

    /// Everything that is to be listed of one half of the partition prepared last.
    pub fn parts(&self, half: &Half) -> Parts {
        Parts {
            halves: vec![half.clone()],
            boards: self.boards(),
            begin: 0,
        }
    }

    /// Makes the next list of `parts`, which is the only one where the memory allows. Returns
    /// whether there was anything left to list.
    pub fn next_list<T: Countable>(
        &mut self,
        side: usize,
        parts: &mut Parts,
        to: &mut Buckets<T>,
    ) -> bool {
        while let Some(half) = parts.halves.last() {
            if self.fill(side, half, parts.boards) {
                let rest = self.list(side, half, parts.boards, parts.begin, to);
                parts.begin = rest.unwrap_or(0);
                if rest.is_none() {
                    parts.halves.pop();
                }
                return true;
            }
            parts.slice();
        }
        false
    }

    /// Makes the lists of both halves from lists without a middle queen: the keys that she does not
    /// attack. Returns whether the partition allows that, and the memory.
    pub fn both_from_kept(&mut self, partition: &Partition, lists: &mut Lists<u32>) -> bool {
        let Some(middle) = partition.set.middle.filter(|_| self.without_middle()) else {
            return false;
        };
        let sorted = self.layout.sorted();
        if sorted + self.layout.one_sided() > FLAT {
            return false;
        }
        let attacked = Half::middle_key(self.n, middle);
        // The top half stays the same for all columns of the middle queen.
        let most = [0, self.memory.kept_keys()];
        let halves = [&partition.top, &partition.bottom];
        let mut kept = std::mem::take(&mut self.kept);
        let lists = [&mut lists.top, &mut lists.bottom];
        let fits = lists.into_iter().enumerate().all(|(side, to)| {
            let half = halves[side];
            let make = |list: &mut _| {
                self.fill(side, half, Boards::Shared)
                    && self.list(side, half, Boards::Shared, 0, list).is_none()
            };
            let Some(list) = kept[side].list(half.columns(), most[side], make) else {
                return false;
            };
            to.clear(sorted);
            let attacked = self.layout.place(half.side(), attacked);
            self.kernel.spare(list, attacked, to);
            true
        });
        self.kept = kept;
        fits
    }

    /// Makes the list of one half, or of a slice of it, whose quarter boards have been made. Skips
    /// the first `begin` choices of outer columns, which have been listed. If the memory does not
    /// allow all the rest, returns how many choices to skip after this list.
    fn list<T: Countable>(
        &mut self,
        side: usize,
        half: &Half,
        boards: Boards,
        begin: usize,
        to: &mut Buckets<T>,
    ) -> Option<usize> {
        // At least 1024 keys: shorter lists would cost more time than they save memory. At most
        // 2^30: buckets hold the places of keys in 32 bits.
        let most = (self.list_bytes / size_of::<T>() as u64).clamp(1 << 10, 1 << 30) as usize;
        let kernel = self.kernel;
        let one_sided = if boards == Boards::Shared && self.without_middle() {
            self.layout.one_sided()
        } else {
            0
        };
        to.clear(self.layout.sorted() + one_sided);
        self.generators[side].keys(kernel, half.columns(), begin, |keys| {
            kernel.scatter(keys, to);
            to.len() <= most
        })
    }
}

impl Parts {
    /// Whether everything is listed.
    pub fn is_empty(&self) -> bool {
        self.halves.is_empty()
    }

    /// Slices the next half, whose quarter boards do not fit the memory.
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
