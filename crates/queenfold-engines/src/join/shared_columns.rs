use std::sync::Arc;

use super::key_layout::KeyLayout;
use super::{ColumnSet, Half, Partition, Side};
use crate::board::{Size, Squares};

/// Column sets that share the layout of their keys, and so the boards of their quadrants: they differ
/// in a few columns left of the middle of the board only.
///
/// The boards are made for half boards that may use all of the shared columns.
pub struct SharedColumns {
    group: Group,
    /// How many of the shared columns the top half and the bottom half of each set take.
    taken: [u32; 2],
    /// Both halves, each allowed to use all shared columns.
    halves: [Half; 2],
}

/// What the column sets of one group have in common.
#[derive(Clone, PartialEq, Eq)]
struct Group {
    /// The columns in which they may differ; 0 if nothing is shared.
    shared: u32,
    /// The other columns of the top half and of the bottom half.
    others: [u32; 2],
    /// The column of the middle queen, unless boards are made without her.
    middle: Option<u32>,
    /// Whether the middle queen stands in a shared column, so that boards are made as if there were
    /// none.
    without_middle: bool,
    /// The squares on which queens may stand if something is given on the board.
    open: Option<Arc<Squares>>,
}

/// In how many of the columns that [vary fastest](ColumnSet::fastest) sets may differ and still share
/// a layout.
///
/// Sharing more columns makes fewer boards, but the layout suits each set less. The numbers are the
/// fastest ones that were measured for n = 16 to 18 and 20 to 22 (docs/PERFORMANCE.md, Join, "What
/// was tried", rows "share …"). From n = 26 on nothing is shared, as generation is then 2 % of the
/// time; from n = 30 on plans slice sets by fixed queens, which shared boards cannot express.
pub const fn shared_by_default(n: Size) -> u32 {
    match n.get() {
        0..=16 => n.get(),
        17 => 12,
        18 | 21 => 8,
        19 => 10,
        20 => 6,
        22..=23 => 4,
        24..=25 => 2,
        _ => 0,
    }
}

impl Group {
    /// The group of `partition` if sets share `shared` columns.
    fn of(n: Size, shared: u32, partition: &Partition) -> Self {
        let set = &partition.set;
        let first = u64::from(ColumnSet::fastest(n, shared));
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
            open: partition.open.clone(),
        }
    }
}

impl SharedColumns {
    /// The group of `partition` if sets share `shared` columns. If those are none, the
    /// group consists of this partition alone.
    pub fn of(n: Size, shared: u32, partition: &Partition) -> Self {
        let set = &partition.set;
        let group = Group::of(n, shared, partition);
        let halves = if group.shared == 0 {
            [partition.top.clone(), partition.bottom.clone()]
        } else {
            let all = ColumnSet {
                top: set.top | group.shared,
                bottom: set.bottom | group.shared,
                middle: group.middle,
                ..*set
            };
            [Side::Top, Side::Bottom].map(|side| Half::new(n, &all, side, group.open.as_deref()))
        };
        Self {
            taken: [set.top, set.bottom].map(|columns| (columns & group.shared).count_ones()),
            group,
            halves,
        }
    }

    /// Whether `partition` belongs to this group, as one that shares `shared` columns. Never if
    /// nothing is shared.
    pub fn contains(&self, n: Size, shared: u32, partition: &Partition) -> bool {
        self.group.shared != 0 && self.group == Group::of(n, shared, partition)
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
