use super::generate::{self, Generator, Quarter};
use super::kernel::{Buckets, FLAT, Kernel};
use super::key_layout::KeyLayout;
use super::leaf_audit::LeafAudit;
use super::pairs::{Countable, Lists, Pairs};
use super::without_middle::ListsWithoutMiddle;
use super::{ColumnSet, Half, Partition, Side};
use crate::board::Size;
use crate::engine::{Counter, CounterSettings, Mismatch, Tally, Task};
use crate::simd::Isa;

/// Counts join tasks with one instruction set.
pub struct JoinCounter<K> {
    n: Size,
    kernel: K,
    /// Bytes that may be held.
    memory: u64,
    /// How many of the first columns may differ between column sets that share quarter boards.
    shared: u32,
    frame: SharedColumns,
    layout: KeyLayout,
    /// Bytes of keys that one list of this layout may have.
    list_room: u64,
    generators: [Generator; 2],
    /// Room to make the quarter boards of either half in.
    spare: Quarter,
    /// Of the top and of the bottom half.
    bare: [ListsWithoutMiddle; 2],
    pairs: Pairs<K>,
    /// The lists of both halves; the layout says which are used.
    narrow: Lists<u32>,
    wide: Lists<u64>,
}

/// Column sets that share quarter boards: those that differ in the first columns only.
#[derive(Default)]
struct SharedColumns {
    /// The columns in which they may differ.
    low: u32,
    /// The other columns of either half, and the column of the middle queen.
    high: Option<([u32; 2], Option<u32>)>,
    /// How many of the low columns either half takes.
    taken: [u32; 2],
    /// Whether the middle queen takes one of the low columns: halves are *bare*, they know nothing of
    /// her.
    bare: bool,
    /// Both halves, each granted all low columns.
    halves: Option<[Half; 2]>,
}

/// Evaluates an expression with the kernel of an instruction set, or of the next narrower one that
/// this machine has.
macro_rules! with_kernel {
    ($isa:expr, |$kernel:ident| $make:expr) => {{
        use $crate::join::kernel;
        #[cfg(target_arch = "x86_64")]
        {
            let avx512 = kernel::Avx512::new().filter(|_| $isa >= Isa::Avx512);
            let avx2 = kernel::Avx2::new().filter(|_| $isa >= Isa::Avx2);
            match (avx512, avx2) {
                (Some($kernel), _) => $make,
                (None, Some($kernel)) => $make,
                (None, None) => {
                    let $kernel = kernel::Portable;
                    $make
                }
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = $isa;
            let $kernel = kernel::Portable;
            $make
        }
    }};
}
pub(super) use with_kernel;

/// A counter for the instruction set that `settings` ask for.
pub fn counter(n: Size, settings: &CounterSettings) -> Box<dyn Counter> {
    let (isa, memory): (Isa, u64) = (settings.isa, settings.memory);
    with_kernel!(isa, |kernel| Box::new(JoinCounter::new(n, kernel, memory)))
}

/// How many of the first columns a frame grants whole to both halves: quarter boards are shared by
/// the sets that differ in those columns only. None where plans slice sets, as what is shared knows of
/// no fixed queen.
const fn shared_columns(n: Size) -> u32 {
    match n.get() {
        0..=18 => n.get(),
        19 => 10,
        20..=21 => 8,
        23 => 4,
        22 | 24..=25 => 2,
        _ => 0,
    }
}

impl<K: Kernel> JoinCounter<K> {
    /// A counter that may hold so many bytes.
    pub fn new(n: Size, kernel: K, memory: u64) -> Self {
        Self::audited(n, kernel, memory, LeafAudit::new(LeafAudit::ONE_IN))
    }

    /// A counter that counts its leaves again as `audit` says.
    pub fn audited(n: Size, kernel: K, memory: u64, audit: LeafAudit) -> Self {
        Self {
            n,
            kernel,
            memory,
            shared: shared_columns(n),
            frame: SharedColumns::default(),
            layout: KeyLayout::default(),
            list_room: 0,
            generators: Default::default(),
            spare: Quarter::default(),
            bare: Default::default(),
            pairs: Pairs::new(kernel, audit),
            narrow: Lists::default(),
            wide: Lists::default(),
        }
    }

    /// The audit of the leaves.
    #[cfg(test)]
    pub fn audit(&mut self) -> &mut LeafAudit {
        self.pairs.audit()
    }

    /// Chooses a frame and a layout for `partition`, if those at hand do not serve.
    fn prepare(&mut self, partition: &Partition) {
        let set = &partition.set;
        let first = (1u64 << self.shared) - 1;
        let bare = ColumnSet::middles_in_turn(self.n) > 1
            && set.middle.is_some_and(|column| first >> column & 1 == 1);
        let (low, middle) = if bare {
            (first as u32 & self.n.full_mask(), None)
        } else {
            (first as u32 & (set.top | set.bottom), set.middle)
        };
        let high = Some(([set.top & !low, set.bottom & !low], middle));
        if low != 0 && self.frame.low == low && self.frame.high == high {
            return;
        }
        let halves = if low == 0 {
            [partition.top.clone(), partition.bottom.clone()]
        } else {
            let wide = ColumnSet {
                top: set.top | low,
                bottom: set.bottom | low,
                middle,
                ..*set
            };
            [Side::Top, Side::Bottom].map(|side| Half::new(self.n, &wide, side))
        };
        let taken = [set.top, set.bottom].map(|columns| (columns & low).count_ones());
        let weights = [0, 1].map(|side| -> Vec<f64> {
            let columns = [set.top, set.bottom][side];
            let share = f64::from(taken[side]) / f64::from(low.count_ones().max(1));
            (0..self.n.get())
                .map(|column| match (low >> column & 1, columns >> column & 1) {
                    (1, _) => share,
                    (_, bit) => f64::from(bit),
                })
                .collect()
        });
        let kept = if bare {
            let middles = 0..ColumnSet::middles(self.n) as u32;
            middles.fold(0, |kept, column| kept | Half::middle_key(self.n, column))
        } else {
            0
        };
        let weights = [&weights[0][..], &weights[1]];
        self.layout = KeyLayout::new(self.n, [&halves[0], &halves[1]], weights, kept);
        self.list_room = list_room(self.memory, self.layout.sorted());
        self.generators.iter_mut().for_each(Generator::clear);
        self.bare.iter_mut().for_each(ListsWithoutMiddle::clear);
        self.frame = SharedColumns {
            low,
            high,
            taken,
            bare,
            halves: Some(halves),
        };
        if low != 0
            && !(self.fill(0, &partition.top, true) && self.fill(1, &partition.bottom, true))
        {
            // Too much is shared for this little memory. Where middle queens come in turn, sets whose
            // middle queen stands in no shared column would break in upon those that share.
            let fewer = self.shared / 2;
            let serves = fewer >= ColumnSet::middles_in_turn(self.n);
            self.shared = if serves { fewer } else { 0 };
            self.frame = SharedColumns::default();
            self.generators = Default::default();
            self.prepare(partition);
        }
    }

    /// Makes the quarter boards of one half (0 top, 1 bottom), unless they are at hand: those that
    /// column sets share for a `whole` one, else those of this half or slice. Returns whether they fit
    /// the memory.
    fn fill(&mut self, side: usize, half: &Half, whole: bool) -> bool {
        let (half, low, taken) = match &self.frame.halves {
            Some(halves) if whole => (&halves[side], self.frame.low, self.frame.taken[side]),
            _ => (half, 0, 0),
        };
        let frame = generate::QuarterFrame {
            half,
            layout: &self.layout,
            low,
            taken,
        };
        // Those of both halves take two thirds of the memory, lists the rest.
        let most = (self.memory / 3 * 2).saturating_sub(self.generators[1 - side].bytes());
        let generator = &mut self.generators[side];
        generator.holds(half) || generator.fill(self.kernel, &frame, &mut self.spare, most)
    }

    /// The number of bits that lists are sorted by.
    pub fn sorted(&self) -> u32 {
        self.layout.sorted()
    }

    /// Makes the lists of both halves, whole.
    pub fn both_lists(&mut self, partition: &Partition, lists: &mut Lists<u32>) {
        self.prepare(partition);
        if !self.bare_lists(partition, lists) {
            let whole = !self.frame.bare;
            let halves = [&partition.top, &partition.bottom];
            for (side, to) in [&mut lists.top, &mut lists.bottom].into_iter().enumerate() {
                let mut parts = Parts::new(halves[side], whole);
                self.next_list(side, &mut parts, to);
                assert!(parts.halves.is_empty(), "there is memory for whole lists");
            }
        }
    }

    /// The number of disjoint pairs of those lists.
    pub fn disjoint_pairs<T: Countable>(&mut self, lists: &mut Lists<T>) -> u64 {
        self.pairs.count(lists, self.layout.sorted())
    }

    /// The number of pairs of a top half and a bottom half that fit together: each list of the bottom
    /// half against each list of the top half.
    fn completions<T: Countable>(
        &mut self,
        lists: fn(&mut Self) -> &mut Lists<T>,
        partition: &Partition,
        nodes: &mut u64,
    ) -> u64 {
        let mut own = std::mem::take(lists(self));
        let mut found = 0;
        let whole = !self.frame.bare;
        // First, as it stays for all lists of the bottom half.
        self.fill(0, &partition.top, whole);
        let mut bottoms = Parts::new(&partition.bottom, whole);
        while self.next_list(1, &mut bottoms, &mut own.bottom) {
            *nodes += own.bottom.len() as u64;
            let mut tops = Parts::new(&partition.top, whole);
            while self.next_list(0, &mut tops, &mut own.top) {
                *nodes += own.top.len() as u64;
                found += self.disjoint_pairs(&mut own);
            }
        }
        *lists(self) = own;
        found
    }

    /// Makes the next list of one half (0 top, 1 bottom), the only one where the memory allows.
    /// Returns whether there was one left to make.
    fn next_list<T: Countable>(
        &mut self,
        side: usize,
        parts: &mut Parts,
        to: &mut Buckets<T>,
    ) -> bool {
        while let Some(half) = parts.halves.last() {
            if self.fill(side, half, parts.whole) {
                let rest = self.list(side, half, parts.whole, parts.begin, to);
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

    /// Makes the lists of both halves from bare ones: the keys that the middle queen does not attack.
    /// Returns whether that can be done within the memory.
    fn bare_lists(&mut self, partition: &Partition, lists: &mut Lists<u32>) -> bool {
        let Some(middle) = partition.set.middle.filter(|_| self.frame.bare) else {
            return false;
        };
        let sorted = self.layout.sorted();
        if sorted + self.layout.alone() > FLAT {
            return false;
        }
        let attacked = Half::middle_key(self.n, middle);
        // The top half stays the same for all columns of the middle queen.
        let most = [0, self.most_bare_keys()];
        let halves = [&partition.top, &partition.bottom];
        let mut bare = std::mem::take(&mut self.bare);
        let lists = [&mut lists.top, &mut lists.bottom];
        let fits = lists.into_iter().enumerate().all(|(side, to)| {
            let half = halves[side];
            let make = |list: &mut _| {
                self.fill(side, half, true) && self.list(side, half, true, 0, list).is_none()
            };
            let Some(list) = bare[side].list(half.columns(), most[side], make) else {
                return false;
            };
            to.clear(sorted);
            let attacked = self.layout.place(half.side(), attacked);
            self.kernel.spare(list, attacked, to);
            true
        });
        self.bare = bare;
        fits
    }

    /// The number of pairs of a top half and a bottom half that fit together, by
    /// [`bare_lists`](Self::bare_lists) where they are to be had.
    fn bare_completions(&mut self, partition: &Partition, nodes: &mut u64) -> Option<u64> {
        let mut own = std::mem::take(&mut self.narrow);
        let found = self.bare_lists(partition, &mut own).then(|| {
            *nodes += (own.top.len() + own.bottom.len()) as u64;
            self.disjoint_pairs(&mut own)
        });
        self.narrow = own;
        found
    }

    /// Makes the list of one half (0 top, 1 bottom), or of a slice of it, whose quarter boards are at
    /// hand: a `whole` one as the frame has it, bare or not. Skips the first `begin` choices of
    /// columns, which have been listed. If the memory does not allow all the rest, returns how many
    /// choices to skip after this list.
    fn list<T: Countable>(
        &mut self,
        side: usize,
        half: &Half,
        whole: bool,
        begin: usize,
        to: &mut Buckets<T>,
    ) -> Option<usize> {
        let most = (self.list_room / size_of::<T>() as u64).clamp(1 << 10, 1 << 30) as usize;
        let kernel = self.kernel;
        let alone = if whole && self.frame.bare {
            self.layout.alone()
        } else {
            0
        };
        to.clear(self.layout.sorted() + alone);
        self.generators[side].keys(kernel, half.columns(), begin, |keys| {
            kernel.scatter(keys, to);
            to.len() <= most
        })
    }

    /// The number of keys of bare lists that may be kept: few enough to be found in a cache again.
    fn most_bare_keys(&self) -> usize {
        (self.memory / 8 / size_of::<u32>() as u64).min(1 << 19) as usize
    }
}

/// How many bytes of keys a list may have, so that it and all copies made of it take an eighth of the
/// memory.
fn list_room(memory: u64, sorted: u32) -> u64 {
    // Vectors that grow take up to twice their keys, chunks a little more than them.
    let listed = if sorted <= FLAT { 2.0 } else { 1.2 };
    // What is left of a list where it is gathered, once for itself and three times for the copies
    // that splitting makes: every other bit halves it, the rest leave four fifths.
    let gathered = 4.0 * 0.4f64.powf(f64::from(sorted) / 2.0);
    ((memory / 8) as f64 / (listed + gathered)) as u64
}

/// What is left to list of a half board.
struct Parts {
    /// The half, or slices of it by the queens of its first rows. The last one comes next.
    halves: Vec<Half>,
    /// Whether that is the half as the frame has it.
    whole: bool,
    /// How many choices of columns of the last one have been listed.
    begin: usize,
}

impl Parts {
    fn new(half: &Half, whole: bool) -> Self {
        Self {
            halves: vec![half.clone()],
            whole,
            begin: 0,
        }
    }

    /// Slices the next one, whose quarter boards do not fit the memory.
    fn slice(&mut self) {
        let half = self.halves.pop().expect("one is left");
        assert!(
            half.fixed_rows() < half.rows(),
            "there is memory for one half board"
        );
        self.halves.extend(half.slices());
        self.whole = false;
    }
}

impl<K: Kernel> Counter for JoinCounter<K> {
    fn backend(&self) -> &'static str {
        self.kernel.name()
    }

    fn count(&mut self, task: &Task) -> Result<Tally, Mismatch> {
        let mut tally = Tally::default();
        self.pairs.audit().seed(task.ranks.start);
        for rank in task.ranks.clone() {
            let Some(partition) = Partition::of_rank(self.n, rank) else {
                continue;
            };
            tally.partitions += 1;
            self.prepare(&partition);
            let nodes = &mut tally.nodes;
            let found = if let Some(found) = self.bare_completions(&partition, nodes) {
                found
            } else if self.layout.rest() <= 32 {
                self.completions(|this| &mut this.narrow, &partition, nodes)
            } else {
                self.completions(|this| &mut this.wide, &partition, nodes)
            };
            if let Some(contradiction) = self.pairs.audit().take() {
                return Err(contradiction);
            }
            tally.completions.add(partition.set.weight, found.into());
        }
        Ok(tally)
    }
}
