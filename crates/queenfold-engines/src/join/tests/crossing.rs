//! Crossing gives the keys that a plain search gives, each with the rank of its word.

use crate::board::Size;
use crate::join::crossing::{Context, Crossing, Wanted};
use crate::join::kernel::{JoinKernel, KeyBatch};
use crate::join::key_layout::KeyLayout;
use crate::join::naive::{self, Filled};
use crate::join::row_sets::RowSets;
use crate::join::shared_columns::{SharedColumns, shared_by_default};
use crate::join::word_order::WordOrder;
use crate::join::{ColumnSet, Half, Partition, Side};
use crate::simd::stamp_tests;

use super::{NAIVE, size};

const SIDES: [Side; 2] = [Side::Top, Side::Bottom];

/// Half boards of one size, of groups of column sets that share their first columns.
struct Halves {
    n: Size,
    shared: u32,
    rows: RowSets,
    order: WordOrder,
    group: Option<SharedColumns>,
    layout: KeyLayout,
    crossings: [Crossing; 2],
}

impl Halves {
    fn new(n: Size, shared: u32) -> Self {
        Self {
            n,
            shared,
            rows: RowSets::new(ColumnSet::half(n)),
            order: naive::order(n),
            group: None,
            layout: KeyLayout::default(),
            crossings: Default::default(),
        }
    }

    /// Must be called before the halves of `partition` are opened. Boards of the group stay.
    fn prepare(&mut self, partition: &Partition) {
        let set = &partition.set;
        let is_of = |group: &SharedColumns| group.contains(self.n, self.shared, partition);
        if !self.group.as_ref().is_some_and(is_of) {
            let group = SharedColumns::of(self.n, self.shared, partition);
            self.layout = group.layout(self.n, set);
            self.crossings.iter_mut().for_each(Crossing::clear);
            self.group = Some(group);
        }
    }

    /// The half that the keys of `set` are made for: it may lack the middle queen.
    fn half(&self, side: usize, set: &ColumnSet) -> Half {
        let middle = self.group.as_ref().unwrap().half(side).middle();
        let set = ColumnSet { middle, ..*set };
        Half::new(self.n, &set, SIDES[side], None)
    }

    fn open<K: JoinKernel>(
        &mut self,
        kernel: K,
        side: usize,
        columns: u32,
        most: Option<u32>,
        room: u64,
    ) -> bool {
        let context = Context {
            layout: &self.layout,
            rows: &self.rows,
            order: &self.order,
        };
        let frame = self.group.as_ref().unwrap().half(side);
        let wanted = Wanted {
            columns,
            most_rank: most.unwrap_or(u32::MAX),
            keeps_left: most.is_none(),
        };
        self.crossings[side].open(kernel, context, frame, wanted, room)
    }
}

/// Every set, with the boards of the quadrants shared as the program shares them, and not shared;
/// without a limit to the ranks of the words, and with the limits that occur.
fn every_set(kernel: impl JoinKernel) {
    for n in (1..=NAIVE).map(size) {
        for shared in [0, shared_by_default(n)] {
            let mut halves = Halves::new(n, shared);
            for rank in 0..Partition::ranks(n) {
                if let Some(partition) = Partition::of_rank(n, rank) {
                    halves.prepare(&partition);
                    for side in [0, 1] {
                        every_key(kernel, &mut halves, side, &partition.set);
                    }
                }
            }
        }
    }
}

fn every_key(kernel: impl JoinKernel, halves: &mut Halves, side: usize, set: &ColumnSet) {
    let half = halves.half(side, set);
    let bounds = halves.order.bounds(halves.n, set);
    let mut expected = naive::fillings(&halves.order, &half);
    for filled in &mut expected {
        filled.key = halves.layout.place(half.side(), filled.key);
    }
    expected.sort_unstable();
    for most in [None, Some(bounds.larger), Some(bounds.smaller)] {
        assert!(halves.open(kernel, side, half.columns(), most, u64::MAX));
        let crossing = &halves.crossings[side];
        let (mut batch, mut ranks) = (KeyBatch::default(), Vec::new());
        crossing.add_all_keys(kernel, &halves.layout, &mut batch, &mut ranks);
        let found = in_runs(&batch, &ranks);
        let there = |filled: &&Filled| most.is_none_or(|most| filled.rank <= most);
        let expected: Vec<_> = expected.iter().filter(there).copied().collect();
        assert_eq!(
            found, expected,
            "n = {}, {set:?}, side {side}, {most:?}",
            halves.n
        );
        let below = ranks.iter().filter(|rank| **rank < bounds.larger).count();
        assert_eq!(crossing.runs_of(bounds.larger).start, below);
    }
}

/// The keys with the ranks of their runs, sorted. The runs must be in the order of their ranks.
fn in_runs(batch: &KeyBatch, ranks: &[u32]) -> Vec<Filled> {
    assert!(ranks.is_sorted());
    assert_eq!(batch.ends.len(), ranks.len());
    let mut keys = batch.iter();
    let mut found = Vec::new();
    for (&end, &rank) in batch.ends.iter().zip(ranks) {
        let count = end as usize - found.len();
        found.extend(keys.by_ref().take(count).map(|key| Filled { rank, key }));
    }
    assert_eq!(keys.len(), 0);
    found.sort_unstable();
    found
}

/// A number of keys, and a sum over them that hardly any other keys have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    count: u64,
    hash: u64,
}

impl Sum {
    fn add(&mut self, key: u64) {
        let mixed = (key ^ key >> 31).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.count += 1;
        self.hash = self
            .hash
            .wrapping_add((mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9));
    }
}

/// A few sets of each size up to 24, by count and sum of the keys between the ranks that matter.
fn sampled_sets(kernel: impl JoinKernel) {
    for n in (13..=24).map(size) {
        let (sets, sides) = match n.get() {
            0..=18 => (4, 2),
            19..=20 => (2, 2),
            _ => (1, 1),
        };
        for shared in [0, shared_by_default(n)] {
            let mut halves = Halves::new(n, shared);
            let ranks = Partition::ranks(n);
            for rank in (1..=sets).map(|part| ranks / (sets + 1) * part) {
                let partition = (rank..)
                    .find_map(|rank| Partition::of_rank(n, rank))
                    .unwrap();
                halves.prepare(&partition);
                for side in 0..sides {
                    sampled_half(kernel, &mut halves, side, &partition.set);
                }
            }
        }
    }
}

fn sampled_half(kernel: impl JoinKernel, halves: &mut Halves, side: usize, set: &ColumnSet) {
    let half = halves.half(side, set);
    let bounds = halves.order.bounds(halves.n, set);
    let mut cuts = vec![
        bounds.smaller,
        bounds.smaller + 1,
        bounds.larger,
        bounds.larger + 1,
    ];
    cuts.sort_unstable();
    cuts.push(u32::MAX);
    let mut expected = vec![Sum::default(); cuts.len()];
    naive::each_filling(&halves.order, &half, &mut |filled| {
        let piece = cuts.partition_point(|cut| *cut <= filled.rank);
        expected[piece].add(halves.layout.place(half.side(), filled.key));
    });
    for most in [None, Some(bounds.larger)] {
        assert!(halves.open(kernel, side, half.columns(), most, u64::MAX));
        let crossing = &mut halves.crossings[side];
        let mut begin = 0;
        for (piece, &cut) in cuts.iter().enumerate() {
            let end = crossing.runs_of(cut).start;
            let mut found = Sum::default();
            while begin < end {
                let (keys, done) = crossing.keys(kernel, &halves.layout, begin..end);
                keys.iter().for_each(|key| found.add(key));
                begin += done;
            }
            let expected = match most {
                Some(_) if cut == u32::MAX => Sum::default(),
                _ => expected[piece],
            };
            assert_eq!(
                found, expected,
                "n = {}, {set:?}, side {side}, {most:?}",
                halves.n
            );
        }
    }
}

/// Boards that take more than their room are refused; with room, they are made again.
fn refusal(kernel: impl JoinKernel) {
    let n = size(24);
    let rank = Partition::ranks(n) / 2;
    let partition = (rank..)
        .find_map(|rank| Partition::of_rank(n, rank))
        .unwrap();
    let mut halves = Halves::new(n, 0);
    halves.prepare(&partition);
    let columns = partition.top.columns();
    for room in [0, 1 << 20] {
        assert!(!halves.open(kernel, 0, columns, None, room), "{room} bytes");
        assert_eq!(halves.crossings[0].bytes(), 0, "{room} bytes");
    }
    sampled_half(kernel, &mut halves, 0, &partition.set);
    assert!(halves.crossings[0].bytes() > 1 << 20);
}

stamp_tests! {
    crossing_gives_the_keys_and_ranks_of_every_set_up_to_12: every_set,
    #[cfg_attr(miri, ignore = "millions of keys")]
    crossing_gives_the_keys_of_sampled_sets_up_to_24: sampled_sets,
    #[cfg_attr(miri, ignore = "millions of keys")]
    boards_without_room_are_refused_and_made_with_room: refusal,
}
