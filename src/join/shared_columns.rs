use super::key_layout::KeyLayout;
use super::{ColumnSet, Half, Partition, Side};
use crate::board::Size;

/// Column sets that share their quarter boards: they differ in the first columns of the board only.
///
/// The quarter boards of such a group are made once, for half boards that may use all of the shared
/// columns.
pub struct SharedColumns {
    group: Group,
    /// How many of the shared columns the top half and the bottom half of each set take.
    taken: [u32; 2],
    /// Both halves, each allowed to use all shared columns.
    halves: [Half; 2],
}

/// What the column sets of one group have in common.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Group {
    /// The columns in which they may differ; 0 if nothing is shared.
    shared: u32,
    /// The other columns of the top half and of the bottom half.
    others: [u32; 2],
    /// The column of the middle queen, unless quarter boards are made without her.
    middle: Option<u32>,
    /// Whether the middle queen stands in a shared column, so that quarter boards are made as if
    /// there were none.
    without_middle: bool,
}

/// How many of the first columns sets may differ in and still share quarter boards.
///
/// Sharing more columns makes quarter boards larger, and they are made less often. Up to n = 18
/// those of all columns fit the memory of a worker. From n = 19 to 25 the number is the fastest one
/// that leaves the worker its memory, measured for n = 19, 20 and 22 (docs/PERFORMANCE.md, Join,
/// "What was tried", rows "share the first …"). From n = 26 on nothing is shared, as generation is
/// then 2 % of the time; from n = 30 on plans slice sets by fixed queens, which shared quarter
/// boards cannot express.
pub const fn shared_by_default(n: Size) -> u32 {
    match n.get() {
        0..=18 => n.get(),
        19 => 10,
        20..=21 => 8,
        23 => 4,
        22 | 24..=25 => 2,
        _ => 0,
    }
}

impl Group {
    /// The group of `set` if sets share the first `shared` columns.
    fn of(n: Size, shared: u32, set: &ColumnSet) -> Self {
        let first = (1u64 << shared) - 1;
        let without_middle = ColumnSet::middles_in_turn(n) > 1
            && set.middle.is_some_and(|column| first >> column & 1 == 1);
        let (shared, middle) = if without_middle {
            (first as u32 & n.full_mask(), None)
        } else {
            (first as u32 & (set.top | set.bottom), set.middle)
        };
        Self {
            shared,
            others: [set.top & !shared, set.bottom & !shared],
            middle,
            without_middle,
        }
    }
}

impl SharedColumns {
    /// The group of `partition` if sets share the first `shared` columns. If those are none, the
    /// group consists of this partition alone.
    pub fn of(n: Size, shared: u32, partition: &Partition) -> Self {
        let set = &partition.set;
        let group = Group::of(n, shared, set);
        let halves = if group.shared == 0 {
            [partition.top.clone(), partition.bottom.clone()]
        } else {
            let all = ColumnSet {
                top: set.top | group.shared,
                bottom: set.bottom | group.shared,
                middle: group.middle,
                ..*set
            };
            [Side::Top, Side::Bottom].map(|side| Half::new(n, &all, side))
        };
        Self {
            group,
            taken: [set.top, set.bottom].map(|columns| (columns & group.shared).count_ones()),
            halves,
        }
    }

    /// Whether `set` belongs to this group, as one that shares the first `shared` columns. Never if
    /// nothing is shared.
    pub fn contains(&self, n: Size, shared: u32, set: &ColumnSet) -> bool {
        self.group.shared != 0 && self.group == Group::of(n, shared, set)
    }

    /// The shared columns; 0 if there are none.
    pub fn columns(&self) -> u32 {
        self.group.shared
    }

    /// How many of the shared columns a half (0 top, 1 bottom) takes.
    pub fn taken(&self, side: usize) -> u32 {
        self.taken[side]
    }

    /// A half (0 top, 1 bottom) that may use all shared columns.
    pub fn half(&self, side: usize) -> &Half {
        &self.halves[side]
    }

    /// Whether the half boards know nothing of the middle queen.
    pub fn without_middle(&self) -> bool {
        self.group.without_middle
    }

    /// The layout of the keys of all half boards of this group, which `set` belongs to.
    pub fn layout(&self, n: Size, set: &ColumnSet) -> KeyLayout {
        let shared = self.group.shared;
        let weights = [0, 1].map(|side| -> Vec<f64> {
            let columns = [set.top, set.bottom][side];
            let share = f64::from(self.taken[side]) / f64::from(shared.count_ones().max(1));
            (0..n.get())
                .map(
                    |column| match (shared >> column & 1, columns >> column & 1) {
                        (1, _) => share,
                        (_, bit) => f64::from(bit),
                    },
                )
                .collect()
        });
        // Bits that the middle queen attacks are needed to leave keys out, even where the other
        // half cannot have them.
        let kept = if self.group.without_middle {
            let middles = 0..ColumnSet::middles(n) as u32;
            middles.fold(0, |kept, column| kept | Half::middle_key(n, column))
        } else {
            0
        };
        let [top, bottom] = &self.halves;
        KeyLayout::new(n, [top, bottom], [&weights[0], &weights[1]], kept)
    }
}
