use super::audit::Audit;
use super::kernel::{Buckets, Kernel, LEAF, Rest, SAMPLE, SLACK, Tables};

/// Counts the pairs of keys, one from each of two lists, that share no bit.
///
/// Of the lists the shorter one is called *items*, the longer *patterns*. Take the bit that occurs
/// in as many items and as many patterns as possible. A disjoint pair has a pattern without that
/// bit, or a pattern with and an item without it:
///
/// ```text
/// pairs(items, patterns) = pairs(items without, patterns with) + pairs(items, patterns without)
/// ```
///
/// Neither side needs the bit again, and the pairs that have it on both sides are gone. When few
/// enough patterns are left, tables answer for all of them at once: see [`Kernel::leaf`].
///
/// The lists come sorted by some bits already: for each value of those bits in the patterns, the
/// items that share none of them are gathered.
pub struct Pairs<K> {
    kernel: K,
    tables: Tables,
    audit: Audit,
    scratch: Vec<u32>,
    wide_scratch: Vec<u64>,
    wide_items: Vec<u64>,
    wide_patterns: Vec<u64>,
    items: Vec<u32>,
    patterns: Vec<u32>,
}

/// The lists of both halves, and room to gather parts of them.
#[derive(Default)]
pub struct Lists<T> {
    /// Keys of the top half.
    pub top: Buckets<T>,
    /// Keys of the bottom half.
    pub bottom: Buckets<T>,
    some_items: Vec<T>,
    some_patterns: Vec<T>,
}

/// A list of keys, with the bits that occur in it.
#[derive(Clone, Copy)]
struct Items<'a> {
    keys: &'a [u32],
    union: u32,
}

/// Keys that lists may hold: narrow ones are counted directly, wide ones are split until what is
/// left fits a narrow key.
pub trait Countable: Rest + Into<u64> {
    /// Whether keys are narrow for the sake of memory, whatever the lists are sorted by for that.
    const NARROW: bool;

    /// The number of disjoint pairs of an item and a pattern. Leaves items and patterns in any order.
    fn count<K: Kernel>(pairs: &mut Pairs<K>, items: &mut [Self], patterns: &mut [Self]) -> u64;
}

impl Countable for u32 {
    const NARROW: bool = true;

    fn count<K: Kernel>(pairs: &mut Pairs<K>, items: &mut [u32], patterns: &mut [u32]) -> u64 {
        pairs.narrow(items, patterns)
    }
}

impl Countable for u64 {
    const NARROW: bool = false;

    fn count<K: Kernel>(pairs: &mut Pairs<K>, items: &mut [u64], patterns: &mut [u64]) -> u64 {
        pairs.wide(items, patterns)
    }
}

impl<K: Kernel> Pairs<K> {
    /// Leaves are counted again as `audit` says.
    pub fn new(kernel: K, audit: Audit) -> Self {
        Self {
            kernel,
            tables: Tables::new(),
            audit,
            scratch: Vec::new(),
            wide_scratch: Vec::new(),
            wide_items: Vec::new(),
            wide_patterns: Vec::new(),
            items: Vec::new(),
            patterns: Vec::new(),
        }
    }

    /// The audit of the leaves.
    pub fn audit(&mut self) -> &mut Audit {
        &mut self.audit
    }

    /// The number of disjoint pairs of a top and a bottom key; both lists are sorted by the same
    /// `sorted` bits.
    pub fn count<T: Countable>(&mut self, lists: &mut Lists<T>, sorted: u32) -> u64 {
        let (top, bottom) = (&lists.top, &lists.bottom);
        let (items, patterns) = if top.len() <= bottom.len() {
            (top, bottom)
        } else {
            (bottom, top)
        };
        if T::NARROW && sorted > MOST_TAKEN {
            return self.count_coarsely(items, patterns, sorted);
        }
        // As many as there ever are, and no more.
        lists.some_items.clear();
        lists.some_items.reserve_exact(items.len());
        let all = (1u32 << sorted) - 1;
        let mut found = 0;
        for value in 0..=all {
            if patterns.is_empty_at(value) {
                continue;
            }
            lists.some_items.clear();
            each_subset(all & !value, |other| {
                items.gather(other, &mut lists.some_items);
            });
            lists.some_patterns.clear();
            patterns.gather(value, &mut lists.some_patterns);
            found += T::count(self, &mut lists.some_items, &mut lists.some_patterns);
        }
        found
    }

    /// As [`count`](Self::count), taking the lists as sorted by [`COARSE`] bits: the others go back
    /// into the keys, which are wide then. They were sorted by for the sake of memory alone, and
    /// buckets would be too thin.
    fn count_coarsely<T: Countable>(
        &mut self,
        items: &Buckets<T>,
        patterns: &Buckets<T>,
        sorted: u32,
    ) -> u64 {
        let all = (1u32 << COARSE) - 1;
        let fine = 0..1u32 << (sorted - COARSE);
        let gather = |list: &Buckets<T>, coarse: u32, to: &mut Vec<u64>| {
            for fine in fine.clone() {
                list.gather_wide(coarse | fine << COARSE, u64::from(fine) << 32, to);
            }
        };
        let mut some_items = std::mem::take(&mut self.wide_items);
        let mut some_patterns = std::mem::take(&mut self.wide_patterns);
        some_items.clear();
        some_items.reserve_exact(items.len());
        let mut found = 0;
        for value in 0..=all {
            some_patterns.clear();
            gather(patterns, value, &mut some_patterns);
            if some_patterns.is_empty() {
                continue;
            }
            some_items.clear();
            each_subset(all & !value, |other| gather(items, other, &mut some_items));
            found += self.wide(&mut some_items, &mut some_patterns);
        }
        self.wide_items = some_items;
        self.wide_patterns = some_patterns;
        found
    }

    fn wide(&mut self, items: &mut [u64], patterns: &mut [u64]) -> u64 {
        let mut scratch = std::mem::take(&mut self.wide_scratch);
        make_room(&mut scratch, items.len().max(patterns.len()) + SLACK);
        let found = self.split_wide(items, patterns, &mut scratch);
        self.wide_scratch = scratch;
        found
    }

    /// Splits wide keys until those left fit narrow ones. Where they lie changes, but not which they
    /// are: lists too long to be copied at each split are put in order in their place.
    fn split_wide(
        &mut self,
        items: &mut [u64],
        mut patterns: &mut [u64],
        scratch: &mut [u64],
    ) -> u64 {
        let kernel = self.kernel;
        let in_order = |list: &mut [u64], bit, scratch: &mut [u64]| {
            let [without, with] = kernel.partition_wide(list, bit, scratch);
            list[without..].copy_from_slice(&scratch[..with]);
            without
        };
        let union = kernel.union_wide(items);
        let mut found = 0;
        while !items.is_empty() && !patterns.is_empty() {
            let used = union & kernel.union_wide(patterns);
            if used.count_ones() <= 32 {
                let mut narrow = std::mem::take(&mut self.items);
                let mut narrow_patterns = std::mem::take(&mut self.patterns);
                kernel.pack(items, used, &mut narrow);
                kernel.pack(patterns, used, &mut narrow_patterns);
                found += self.narrow(&narrow, &mut narrow_patterns);
                self.items = narrow;
                self.patterns = narrow_patterns;
                break;
            }
            let bit = self.best_wide_bit(items, patterns, used);
            let items_without = in_order(items, bit, scratch);
            let patterns_without = in_order(patterns, bit, scratch);
            let (without, with) = patterns.split_at_mut(patterns_without);
            found += self.split_wide(&mut items[..items_without], with, scratch);
            patterns = without;
        }
        found
    }

    /// As [`Kernel::best_bit`], of wide keys: the best of the half of `used` with more bits.
    fn best_wide_bit(&self, items: &[u64], patterns: &[u64], used: u64) -> u64 {
        let shift = if (used >> 32).count_ones() > (used as u32).count_ones() {
            32
        } else {
            0
        };
        let [items, patterns] =
            [items, patterns].map(|keys| sample(keys).map(|key| (key >> shift) as u32));
        let bit = self
            .kernel
            .best_bit(&items, &patterns, (used >> shift) as u32);
        u64::from(bit) << shift
    }

    fn narrow(&mut self, items: &[u32], patterns: &mut [u32]) -> u64 {
        let union = |keys: &[u32]| keys.iter().fold(0, |union, key| union | key);
        let items = Items {
            keys: items,
            union: union(items),
        };
        let mut scratch = std::mem::take(&mut self.scratch);
        make_room(
            &mut scratch,
            3 * (items.keys.len() + patterns.len() + SLACK),
        );
        let found = self.split(items, union(patterns), patterns, &mut scratch);
        self.scratch = scratch;
        found
    }

    fn split(
        &mut self,
        items: Items<'_>,
        mut union: u32,
        mut patterns: &mut [u32],
        scratch: &mut [u32],
    ) -> u64 {
        let mut found = 0;
        loop {
            if items.keys.is_empty() || patterns.is_empty() {
                return found;
            }
            let used = items.union & union;
            if used == 0 || patterns.len() <= LEAF {
                return found + self.leaf(items.keys, patterns, used);
            }
            if scratch.len() < items.keys.len() + patterns.len() + 2 * SLACK {
                let mut more = vec![0; 2 * (items.keys.len() + patterns.len() + SLACK)];
                return found + self.split(items, union, patterns, &mut more);
            }
            let bit = self
                .kernel
                .best_bit(&sample(items.keys), &sample(patterns), used);
            let split = self.kernel.partition(patterns, bit, scratch);
            let (with, rest) = scratch.split_at_mut(split.with);
            let (kept, kept_union) = self.kernel.lacking(items.keys, bit, rest);
            let (items_without, rest) = rest.split_at_mut(kept);
            let without = Items {
                keys: items_without,
                union: kept_union,
            };
            found += self.split(without, split.with_union, with, rest);
            patterns = &mut patterns[..split.without];
            union = split.without_union;
        }
    }

    fn leaf(&mut self, items: &[u32], patterns: &[u32], used: u32) -> u64 {
        if used == 0 {
            return items.len() as u64 * patterns.len() as u64;
        }
        #[cfg(test)]
        let original = patterns;
        #[cfg(test)]
        let flipped = self.audit.flip(patterns, used);
        #[cfg(test)]
        let patterns = flipped.as_deref().unwrap_or(patterns);
        let found = if items.len() * patterns.len() < SMALL_LEAF + 64 * items.len() {
            self.kernel.compare(items, patterns)
        } else {
            self.kernel.leaf(items, patterns, used, &mut self.tables)
        };
        #[cfg(test)]
        let patterns = original;
        self.audit.look_at(items, patterns, found);
        found
    }
}

/// The most bits that narrow lists are taken as sorted by; by more, and they are taken as sorted by
/// [`COARSE`] bits.
const MOST_TAKEN: u32 = 8;

/// See [`Pairs::count_coarsely`].
const COARSE: u32 = 6;

/// Calls `found` with each choice of some of the bits of `mask`.
fn each_subset(mask: u32, mut found: impl FnMut(u32)) {
    let mut subset = mask;
    loop {
        found(subset);
        if subset == 0 {
            return;
        }
        subset = (subset - 1) & mask;
    }
}

/// Lets `scratch` have `room`, little more, and forget what it held.
fn make_room<T: Copy + Default>(scratch: &mut Vec<T>, room: usize) {
    if scratch.len() < room {
        // Given back first: both would not be needed at once.
        *scratch = Vec::new();
        *scratch = vec![T::default(); room + room / 8];
    }
}

/// Pairs up to which comparing all is cheaper than making tables.
const SMALL_LEAF: usize = 8000;

/// Keys from all over the list; some twice if it is short.
fn sample<T: Copy>(keys: &[T]) -> [T; SAMPLE] {
    let step = (keys.len() << 16) / SAMPLE;
    std::array::from_fn(|index| keys[(index * step) >> 16])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::join::kernel::{self, Portable};

    /// Sparse keys of 45 bits, as the halves of boards from n = 24 on have: more than fit a narrow
    /// key even when sorted.
    fn splits_wide_keys(kernel: impl Kernel) {
        let mut key = sparse_keys();
        let mut items: Vec<u64> = (0..700).map(|_| key()).collect();
        let mut patterns: Vec<u64> = (0..1500).map(|_| key()).collect();
        let disjoint = |item: &u64| patterns.iter().filter(|key| *key & item == 0).count() as u64;
        let expected: u64 = items.iter().map(disjoint).sum();
        let mut pairs = Pairs::new(kernel, Audit::new(1));
        assert_eq!(u64::count(&mut pairs, &mut items, &mut patterns), expected);
        assert_eq!(pairs.audit().take(), None);
        assert!(expected > 0);
    }

    /// The same keys without the lowest, as the halves of 22 and 23 queens have: sorted by enough bits
    /// that the rest is narrow.
    fn takes_lists_as_sorted_coarsely(kernel: impl Kernel) {
        const SORTED: u32 = 12;
        let mut key = sparse_keys();
        let [top, bottom] = [600, 900].map(|count| -> Vec<u64> {
            (0..count)
                .map(|_| {
                    let key = key();
                    key >> 32 << (64 - SORTED) | key & u64::from(u32::MAX)
                })
                .collect()
        });
        let mut lists = Lists::<u32>::default();
        for (keys, buckets) in [(&top, &mut lists.top), (&bottom, &mut lists.bottom)] {
            buckets.clear(SORTED);
            kernel.scatter(keys, buckets);
        }
        let disjoint = |key: &u64| bottom.iter().filter(|other| *other & key == 0).count() as u64;
        let expected: u64 = top.iter().map(disjoint).sum();
        let mut pairs = Pairs::new(kernel, Audit::new(1));
        assert_eq!(pairs.count(&mut lists, SORTED), expected);
        assert_eq!(pairs.audit().take(), None);
        assert!(expected > 0);
    }

    /// Makes keys of 45 bits, about a quarter of them set.
    fn sparse_keys() -> impl FnMut() -> u64 {
        let mut state = 1u64;
        move || {
            let mut bits = || {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(99);
                state >> 19
            };
            bits() & bits()
        }
    }

    #[test]
    fn lists_sorted_finely_are_taken_as_sorted_coarsely() {
        takes_lists_as_sorted_coarsely(Portable);
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(kernel) = kernel::Avx2::new() {
                takes_lists_as_sorted_coarsely(kernel);
            }
            if let Some(kernel) = kernel::Avx512::new() {
                takes_lists_as_sorted_coarsely(kernel);
            }
        }
    }

    #[test]
    fn wide_keys_are_split_until_they_are_narrow() {
        splits_wide_keys(Portable);
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(kernel) = kernel::Avx2::new() {
                splits_wide_keys(kernel);
            }
            if let Some(kernel) = kernel::Avx512::new() {
                splits_wide_keys(kernel);
            }
        }
    }
}
