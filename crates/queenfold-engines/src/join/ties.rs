use std::cmp::Reverse;

use super::kernel::{FEW, JoinKernel, KeyBatch, LEAF, TieTables};
use super::leaf_audit::LeafAudit;

/// The half boards of one side whose word of rows has the larger rank of the words of the columns,
/// to be compared with all those of the other side whose word has a smaller one.
///
/// They are few, so they are patterns at once. Neither list is split. If the patterns fill several
/// leaves, they are sorted by their most frequent bits. Then most leaves have bits that all their
/// patterns share, and an item with any of these bits is not looked up there.
#[derive(Default)]
pub struct Ties {
    patterns: KeyBatch,
    /// The leaves of up to [`LEAF`] patterns each.
    leaves: Vec<Leaf>,
    /// How many of the leaves are in use: none if the patterns are few.
    used: usize,
    /// The bits of the high parts that count.
    common_high: u32,
    /// The items without the bits that all patterns of a leaf share.
    spared: KeyBatch,
}

/// Up to [`LEAF`] patterns.
struct Leaf {
    tables: TieTables,
    /// Bits that all the patterns have. The tables do not look at them.
    shared: u64,
}

impl Ties {
    /// Forgets all patterns.
    pub fn clear(&mut self) {
        self.patterns.clear();
        self.used = 0;
    }

    /// Adds patterns.
    pub fn add(&mut self, keys: &KeyBatch) {
        self.patterns.low.extend_from_slice(&keys.low);
        self.patterns.high.extend_from_slice(&keys.high);
    }

    /// The patterns.
    pub fn patterns(&self) -> &KeyBatch {
        &self.patterns
    }

    /// Makes the tables, after the last pattern has been added. Of the high parts of keys, only the
    /// bits of `common_high` count.
    pub fn make<K: JoinKernel>(&mut self, kernel: K, common_high: u32) {
        self.common_high = common_high;
        if self.patterns.low.len() > LEAF {
            self.sort();
        }
        self.make_leaves(kernel);
    }

    /// Sorts the patterns by their bits, the most frequent ones first: see [`KeyLayout`].
    ///
    /// [`KeyLayout`]: super::key_layout::KeyLayout
    fn sort(&mut self) {
        if self.patterns.high.is_empty() {
            return;
        }
        let mut sorted: Vec<u64> = self.patterns.iter().collect();
        sorted.sort_unstable_by_key(|&key| {
            let [low, high] = [key as u32, (key >> 32) as u32 & self.common_high];
            Reverse(u64::from(high) << 32 | u64::from(low.reverse_bits()))
        });
        for (index, key) in sorted.into_iter().enumerate() {
            self.patterns.low[index] = key as u32;
            self.patterns.high[index] = (key >> 32) as u32;
        }
    }

    fn make_leaves<K: JoinKernel>(&mut self, kernel: K) {
        let KeyBatch { low, high, .. } = &self.patterns;
        if low.len() <= FEW {
            return;
        }
        self.used = low.len().div_ceil(LEAF);
        self.leaves
            .resize_with(self.used.max(self.leaves.len()), || Leaf {
                tables: TieTables::new(),
                shared: 0,
            });
        let zeros = [0; LEAF];
        for (index, leaf) in self.leaves[..self.used].iter_mut().enumerate() {
            let range = index * LEAF..low.len().min((index + 1) * LEAF);
            let low = &low[range.clone()];
            let high = high.get(range).unwrap_or(&zeros[..low.len()]);
            let union = |keys: &[u32]| keys.iter().fold(0, |union, key| union | key);
            let common = |keys: &[u32]| keys.iter().fold(u32::MAX, |common, key| common & key);
            // Patterns without high parts are not filtered: they are those of small boards, which
            // hardly ever fill more than one leaf.
            let shared = if self.patterns.high.is_empty() {
                [0; 2]
            } else {
                [common(low), common(high) & self.common_high]
            };
            leaf.shared = u64::from(shared[1]) << 32 | u64::from(shared[0]);
            let used = [
                union(low) & !shared[0],
                union(high) & self.common_high & !shared[1],
            ];
            kernel.make_ties([low, high], used, &mut leaf.tables);
        }
    }

    /// The number of disjoint pairs of a pattern and one of `items`. Each [`LEAF`] patterns are one
    /// leaf to `audit`.
    pub fn count<K: JoinKernel>(
        &mut self,
        kernel: K,
        items: &KeyBatch,
        audit: &mut LeafAudit,
    ) -> u64 {
        let mut all = 0;
        for leaf in 0..self.patterns.low.len().div_ceil(LEAF) {
            let found = self.count_leaf(kernel, items, leaf);
            #[cfg(test)]
            let found = match self.flipped(kernel, leaf, audit) {
                Some(mut flipped) => flipped.count_leaf(kernel, items, leaf),
                None => found,
            };
            audit.check(items.iter(), self.leaf(leaf), found);
            all += found;
        }
        all
    }

    fn count_leaf<K: JoinKernel>(&mut self, kernel: K, items: &KeyBatch, leaf: usize) -> u64 {
        match self.leaves[..self.used].get(leaf) {
            Some(Leaf { tables, shared: 0 }) => kernel.look_up_ties(items, tables),
            Some(Leaf { tables, shared }) => {
                self.spared.clear();
                let high = !items.high.is_empty();
                kernel.spare(items, 0..items.low.len(), *shared, high, &mut self.spared);
                kernel.look_up_ties(&self.spared, tables)
            }
            None => kernel.compare_ties(items, &self.patterns, self.common_high),
        }
    }

    /// The patterns of a leaf, without the bits that do not count.
    fn leaf(&self, leaf: usize) -> impl ExactSizeIterator<Item = u64> + Clone {
        let counted = u64::from(self.common_high) << 32 | u64::from(u32::MAX);
        let patterns = self.patterns.iter().skip(leaf * LEAF).take(LEAF);
        patterns.map(move |pattern| pattern & counted)
    }
}

#[cfg(test)]
impl Ties {
    /// The same with a bit of a leaf flipped, if a fault is due there.
    fn flipped<K: JoinKernel>(
        &self,
        kernel: K,
        leaf: usize,
        audit: &mut LeafAudit,
    ) -> Option<Self> {
        let used = self.leaf(leaf).fold(0, |used, pattern| used | pattern);
        let flipped = audit.flip(self.leaf(leaf), used)?;
        let mut patterns: Vec<u64> = self.patterns.iter().collect();
        patterns[leaf * LEAF..][..flipped.len()].copy_from_slice(&flipped);
        let mut ties = Self {
            patterns: patterns.into_iter().collect(),
            common_high: self.common_high,
            ..Self::default()
        };
        if self.patterns.high.is_empty() {
            ties.patterns.high.clear();
        }
        // In the same order, so that the leaves stay the same.
        ties.make_leaves(kernel);
        Some(ties)
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::join::leaf_audit::FlippedBit;
    use crate::simd::stamp_tests;

    /// The bits that mean the same in both halves.
    const COMMON: u32 = 0x8000_FFFF;

    fn batch(random: &mut Rng, count: usize) -> KeyBatch {
        let mut bits = || random.u64(..) & random.u64(..) & random.u64(..);
        (0..count).map(|_| bits()).collect()
    }

    fn expected(items: &KeyBatch, patterns: &KeyBatch) -> u64 {
        let counted = u64::from(COMMON) << 32 | u64::from(u32::MAX);
        let fits = |item| {
            patterns
                .iter()
                .filter(|key| item & key & counted == 0)
                .count() as u64
        };
        items.iter().map(fits).sum()
    }

    const COUNTS: &[usize] = if cfg!(miri) {
        &[0, 1, FEW + 1]
    } else {
        &[0, 1, FEW, FEW + 1, LEAF, LEAF + 1, 3 * LEAF - 1]
    };

    fn all_pairs(kernel: impl JoinKernel) {
        let mut random = Rng::with_seed(1);
        // The same ties with more and with fewer patterns than before.
        let mut ties = Ties::default();
        for &count in COUNTS.iter().chain(COUNTS.iter().rev()) {
            ties.clear();
            let items = batch(&mut random, 50);
            // In several batches.
            for part in [count / 3, count - count / 3] {
                ties.add(&batch(&mut random, part));
            }
            assert_eq!(ties.patterns().low.len(), count);
            ties.make(kernel, COMMON);
            let mut audit = LeafAudit::new(1);
            let found = ties.count(kernel, &items, &mut audit);
            assert_eq!(found, expected(&items, ties.patterns()), "{count} patterns");
            assert_eq!(audit.take(), None);
        }
    }

    /// The bits that all patterns of a leaf share leave out items, and the count stays the same.
    fn leaves_that_share_bits(kernel: impl JoinKernel) {
        let mut random = Rng::with_seed(3);
        // Half of all keys have bit 63, which is the first that patterns are sorted by.
        let dense = |random: &mut Rng, count: usize| -> KeyBatch {
            let mut key = || random.u64(..) & (random.u64(..) & random.u64(..) | 1 << 63);
            (0..count).map(|_| key()).collect()
        };
        let items = dense(&mut random, 50);
        let mut ties = Ties::default();
        ties.add(&dense(&mut random, 5 * LEAF));
        ties.make(kernel, COMMON);
        assert_eq!(ties.leaves[0].shared >> 63, 1);
        assert_eq!(ties.leaves[4].shared >> 63, 0);
        let mut audit = LeafAudit::new(1);
        let found = ties.count(kernel, &items, &mut audit);
        assert_eq!(found, expected(&items, ties.patterns()));
        assert_eq!(audit.take(), None);
    }

    /// A flipped bit that changes the count is seen where every leaf is audited, whichever leaf it
    /// is in; the count is then that of the flipped patterns.
    fn flipped_bits(kernel: impl JoinKernel) {
        let mut random = Rng::with_seed(2);
        for &count in COUNTS {
            let mut ties = Ties::default();
            // A leaf of a single pattern needs a bit to flip.
            let patterns = batch(&mut random, count);
            ties.add(&patterns.iter().map(|pattern| pattern | 1).collect());
            ties.make(kernel, COMMON);
            let items = batch(&mut random, 50);
            let truth = expected(&items, ties.patterns());
            let leaves = count.div_ceil(LEAF) as u64;
            for leaf in 0..leaves {
                let mut changed = 0;
                for _ in 0..10 {
                    let place = random.u64(..1 << 20);
                    let mut count = |one_in| {
                        let mut audit = LeafAudit::new(one_in);
                        audit.plant(FlippedBit { leaf, place });
                        (ties.count(kernel, &items, &mut audit), audit.take())
                    };
                    let (found, seen) = count(1);
                    assert_eq!(seen.is_some(), found != truth, "leaf {leaf}");
                    assert_eq!(count(1 << 63), (found, None));
                    changed += u32::from(found != truth);
                }
                assert!(
                    changed > 0,
                    "no flip in leaf {leaf} of {leaves} changed the count"
                );
            }
        }
    }

    stamp_tests! {
        ties_are_counted_in_leaves_of_any_number: all_pairs,
        bits_that_a_leaf_shares_leave_out_items: leaves_that_share_bits,
        the_audit_sees_flipped_bits_of_ties: flipped_bits,
    }
}
