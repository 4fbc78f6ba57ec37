use super::kernel::{Buckets, FLAT, JoinKernel, LEAF, Rest, SAMPLE, SLACK, Tables};
use super::leaf_audit::LeafAudit;
use crate::engine::{GivenUp, Stretch};
use crate::simd::{array, each};

/// Counts the pairs of keys, one from each of two lists, that share no bit.
///
/// Take a bit that occurs in many keys of both lists. In a disjoint pair, the key of one list lacks
/// that bit, or has it while the key of the other list lacks it:
///
/// ```text
/// pairs(longer, shorter) = pairs(longer with, shorter without) + pairs(longer without, shorter)
/// ```
///
/// The bit is then settled, and the pairs in which both keys have it are excluded. The longer list
/// is split each time, so that both lists become short together; this excludes the most pairs. When
/// one list is short enough, the recursion ends in a *leaf*: the keys of the short list are the
/// *patterns*, from which tables are made that answer for all of them at once. The keys of the
/// other list are the *items*, which are looked up in the tables: see
/// [`Leaf::leaf`](super::kernel::Leaf::leaf).
///
/// The lists come sorted by some bits. To split by these bits is to choose buckets; the keys of the
/// chosen buckets are gathered when the lists have been split by all of these bits.
pub struct Pairs<K> {
    kernel: K,
    tables: Tables,
    audit: LeafAudit,
    scratch: Vec<u32>,
    wide_scratch: Vec<u64>,
    /// Narrow keys made from lists of wide keys.
    narrowed: [Vec<u32>; 2],
    /// The same, sorted by those bits of wide keys that narrow ones have no place for.
    resorted: Lists<u32>,
}

/// The lists of both halves, and buffers to gather parts of them in.
#[derive(Default)]
pub struct Lists<T> {
    /// Keys of the top half.
    pub top: Buckets<T>,
    /// Keys of the bottom half.
    pub bottom: Buckets<T>,
    gathered: [Vec<T>; 2],
}

impl<T: Rest> Lists<T> {
    /// The number of keys of both halves.
    pub fn len(&self) -> u64 {
        (self.top.len() + self.bottom.len()) as u64
    }
}

/// A list of keys, with the bits that occur in any of them.
struct List<'a, T> {
    keys: &'a mut [T],
    union: T,
}

/// A key of a list: narrow keys have 32 bits and are counted directly, wide keys have 64 bits and
/// are split until the bits that matter fit a narrow key.
pub trait Countable: Rest {
    /// The number of disjoint pairs of keys of two lists. Destroys the lists. They are this stretch of the
    /// task.
    ///
    /// # Errors
    /// The task is to be given up.
    fn count<K: JoinKernel>(
        pairs: &mut Pairs<K>,
        lists: [&mut [Self]; 2],
        stretch: Stretch<'_>,
    ) -> Result<u64, GivenUp>;
}

impl Countable for u32 {
    fn count<K: JoinKernel>(
        pairs: &mut Pairs<K>,
        [one, other]: [&mut [u32]; 2],
        _: Stretch<'_>,
    ) -> Result<u64, GivenUp> {
        Ok(pairs.narrow(one, other))
    }
}

impl Countable for u64 {
    fn count<K: JoinKernel>(
        pairs: &mut Pairs<K>,
        lists: [&mut [u64]; 2],
        stretch: Stretch<'_>,
    ) -> Result<u64, GivenUp> {
        if lists.iter().all(|keys| keys.len() >= RESORTED) {
            let used = pairs.kernel.union(lists[0]) & pairs.kernel.union(lists[1]);
            let more = used.count_ones().saturating_sub(u32::BITS);
            if (LEAST_RESORTED..=MOST_RESORTED).contains(&more) {
                return pairs.resort(lists, used, more, stretch);
            }
        }
        let [one, other] = lists;
        Ok(pairs.wide(one, other))
    }
}

/// Lists of at least so many wide keys are sorted once more, by the bits that narrow keys have no place
/// for. To split them bit by bit would move all keys through the memory for each bit.
const RESORTED: usize = 1 << 16;

/// The most bits by which lists are sorted once more.
const MOST_RESORTED: u32 = 14;

/// The fewest: with fewer, buckets would be flat lists.
const LEAST_RESORTED: u32 = FLAT + 1;

impl<K: JoinKernel> Pairs<K> {
    /// Counts with the loops of `kernel`; `audit` decides which leaves are counted again.
    pub fn new(kernel: K, audit: LeafAudit) -> Self {
        Self {
            kernel,
            tables: Tables::new(),
            audit,
            scratch: Vec::new(),
            wide_scratch: Vec::new(),
            narrowed: Default::default(),
            resorted: Lists::default(),
        }
    }

    /// The loops.
    pub fn kernel(&self) -> K {
        self.kernel
    }

    /// The audit of the leaves.
    pub fn audit(&mut self) -> &mut LeafAudit {
        &mut self.audit
    }

    /// The number of disjoint pairs of a top and a bottom key; both lists are sorted by the same
    /// `sorted` bits. They are this stretch of the task.
    ///
    /// # Errors
    /// The task is to be given up.
    pub fn count<T: Countable>(
        &mut self,
        lists: &mut Lists<T>,
        sorted: u32,
        stretch: Stretch<'_>,
    ) -> Result<u64, GivenUp> {
        let splits = assign_splits(sorted, [lists.top.len(), lists.bottom.len()]);
        let [tops, bottoms] = &mut lists.gathered;
        let kernel = self.kernel;
        let mut found = 0;
        for step in 0..1u32 << sorted {
            stretch.step(step.into(), 1 << sorted)?;
            // The bits that split first change last, so that buckets needed again are still in a
            // cache.
            let value = step.reverse_bits().unbounded_shr(32 - sorted);
            let [top, bottom] = each(splits, |split| value & split);
            tops.clear();
            kernel.gather(&lists.top, top, splits[1] & !bottom, tops);
            if tops.is_empty() {
                continue;
            }
            bottoms.clear();
            kernel.gather(&lists.bottom, bottom, splits[0] & !top, bottoms);
            if !bottoms.is_empty() {
                let stretch = stretch.part(step.into(), 1 << sorted);
                found += T::count(self, [tops, bottoms], stretch)?;
            }
        }
        Ok(found)
    }

    /// Counts lists of wide keys as narrow ones, sorted by `more` of the bits that both lists use.
    fn resort(
        &mut self,
        keys: [&mut [u64]; 2],
        used: u64,
        more: u32,
        stretch: Stretch<'_>,
    ) -> Result<u64, GivenUp> {
        let [one, other] = keys.each_ref().map(|keys| frequencies(keys));
        let mut bits: Vec<u32> = (0..u64::BITS).filter(|bit| used >> bit & 1 == 1).collect();
        bits.sort_by_key(|&bit| std::cmp::Reverse(one[bit as usize] * other[bit as usize]));
        let by = bits[..more as usize]
            .iter()
            .fold(0, |by, bit| by | 1 << bit);
        let mut lists = std::mem::take(&mut self.resorted);
        for (keys, buckets) in keys.into_iter().zip([&mut lists.top, &mut lists.bottom]) {
            buckets.clear(more);
            self.kernel.scatter_by(keys, by, used & !by, buckets);
        }
        let found = self.count(&mut lists, more, stretch);
        self.resorted = lists;
        found
    }

    fn wide(&mut self, one: &mut [u64], other: &mut [u64]) -> u64 {
        let mut scratch = std::mem::take(&mut self.wide_scratch);
        make_room(&mut scratch, one.len().max(other.len()) + SLACK);
        let [one, other] = [one, other].map(|keys| self.wide_list(keys));
        let found = self.split_wide(one, other, &mut scratch);
        self.wide_scratch = scratch;
        found
    }

    fn wide_list<'a>(&self, keys: &'a mut [u64]) -> List<'a, u64> {
        let union = self.kernel.union(keys);
        List { keys, union }
    }

    /// Splits wide keys until the bits that both lists have fit narrow keys. Reorders the lists in
    /// place, because they are too long to be copied at each split.
    fn split_wide<'a>(
        &mut self,
        mut shorter: List<'a, u64>,
        mut longer: List<'a, u64>,
        scratch: &mut [u64],
    ) -> u64 {
        let kernel = self.kernel;
        let in_order = |list: &mut [u64], bit, scratch: &mut [u64]| {
            let [without, with] = kernel.partition_wide(list, bit, scratch);
            list[without..].copy_from_slice(&scratch[..with]);
            without
        };
        let mut found = 0;
        loop {
            if shorter.keys.len() > longer.keys.len() {
                std::mem::swap(&mut shorter, &mut longer);
            }
            if shorter.keys.is_empty() {
                return found;
            }
            let used = shorter.union & longer.union;
            if used.count_ones() <= 32 {
                let [mut one, mut other] = std::mem::take(&mut self.narrowed);
                kernel.pack(shorter.keys, used, &mut one);
                kernel.pack(longer.keys, used, &mut other);
                found += self.narrow(&mut one, &mut other);
                self.narrowed = [one, other];
                return found;
            }
            let bit = self.best_wide_bit(shorter.keys, longer.keys, used);
            let shorter_without = in_order(shorter.keys, bit, scratch);
            let longer_without = in_order(longer.keys, bit, scratch);
            let (without, with) = longer.keys.split_at_mut(longer_without);
            let with = self.wide_list(with);
            let other = self.wide_list(&mut shorter.keys[..shorter_without]);
            found += self.split_wide(other, with, scratch);
            longer = self.wide_list(without);
        }
    }

    /// As [`Filter::best_bit`](super::kernel::Filter::best_bit), for wide keys: looks only at that
    /// half of the 64 bits which has more bits in `used`.
    fn best_wide_bit(&self, one: &[u64], other: &[u64], used: u64) -> u64 {
        let shift = if (used >> 32).count_ones() > (used as u32).count_ones() {
            32
        } else {
            0
        };
        let [one, other] = [one, other].map(|keys| each(sample(keys), |key| (key >> shift) as u32));
        let bit = self.kernel.best_bit(&one, &other, (used >> shift) as u32);
        u64::from(bit) << shift
    }

    fn narrow(&mut self, one: &mut [u32], other: &mut [u32]) -> u64 {
        let mut scratch = std::mem::take(&mut self.scratch);
        make_room(&mut scratch, 3 * (one.len() + other.len() + SLACK));
        let [one, other] = [one, other].map(|keys| List {
            union: self.kernel.union(keys),
            keys,
        });
        let found = self.split(one, other, &mut scratch);
        self.scratch = scratch;
        found
    }

    fn split<'a>(
        &mut self,
        mut shorter: List<'a, u32>,
        mut longer: List<'a, u32>,
        scratch: &mut [u32],
    ) -> u64 {
        let mut found = 0;
        loop {
            if shorter.keys.len() > longer.keys.len() {
                std::mem::swap(&mut shorter, &mut longer);
            }
            if shorter.keys.is_empty() {
                return found;
            }
            let used = shorter.union & longer.union;
            if used == 0 || shorter.keys.len() <= LEAF {
                return found + self.leaf(shorter.keys, longer.keys, used);
            }
            if scratch.len() < shorter.keys.len() + longer.keys.len() + 2 * SLACK {
                let mut more = vec![0; 2 * (shorter.keys.len() + longer.keys.len() + SLACK)];
                return found + self.split(shorter, longer, &mut more);
            }
            let bit = self
                .kernel
                .best_bit(&sample(shorter.keys), &sample(longer.keys), used);
            let split = self.kernel.partition(longer.keys, bit, scratch);
            let (with, rest) = scratch.split_at_mut(split.with);
            let (without, union) = self.kernel.lacking(shorter.keys, bit, rest);
            let (other, rest) = rest.split_at_mut(without);
            let with = List {
                keys: with,
                union: split.with_union,
            };
            found += self.split(List { keys: other, union }, with, rest);
            let (without, _) = longer.keys.split_at_mut(split.without);
            longer = List {
                keys: without,
                union: split.without_union,
            };
        }
    }

    /// The number of disjoint pairs of two lists. `used` are the bits that occur in both; if there
    /// are any, the shorter list has at most [`LEAF`] keys.
    fn leaf(&mut self, shorter: &[u32], longer: &[u32], used: u32) -> u64 {
        if used == 0 {
            return shorter.len() as u64 * longer.len() as u64;
        }
        // If either list can be the patterns, the shorter one is looked up.
        let (items, patterns) = if longer.len() <= LEAF {
            (shorter, longer)
        } else {
            (longer, shorter)
        };
        #[cfg(test)]
        let original = patterns;
        #[cfg(test)]
        let flipped = self.audit.flip(wide(patterns), used.into());
        #[cfg(test)]
        let flipped =
            flipped.map(|keys| keys.into_iter().map(|key| key as u32).collect::<Vec<_>>());
        #[cfg(test)]
        let patterns = flipped.as_deref().unwrap_or(patterns);
        let found = if items.len() * patterns.len() < TABLES_PAIRS + LOOKUP_PAIRS * items.len() {
            self.kernel.compare(items, patterns)
        } else {
            self.kernel.leaf(items, patterns, used, &mut self.tables)
        };
        #[cfg(test)]
        let patterns = original;
        self.audit.check(wide(items), wide(patterns), found);
        found
    }
}

/// Narrow keys as wide ones.
fn wide(keys: &[u32]) -> impl ExactSizeIterator<Item = u64> + Clone {
    keys.iter().copied().map(u64::from)
}

/// Decides which list each of the `sorted` bits splits, best bit first: always the one that is
/// expected to be longer by then. Returns the bits that split the first list and those that split
/// the other.
fn assign_splits(sorted: u32, lengths: [usize; 2]) -> [u32; 2] {
    // The bits that lists are sorted by occur in 40 to 60 % of the keys (n = 20). A split leaves
    // half of the list it splits. The other list keeps all its keys for one part, and those without
    // the bit for the other part: four fifths on average.
    const LONGER: f64 = 0.8 / 0.5;
    let [mut one, mut other] = lengths.map(|length| length as f64);
    let mut splits = [0; 2];
    for bit in 0..sorted {
        if one >= other {
            splits[0] |= 1 << bit;
            other *= LONGER;
        } else {
            splits[1] |= 1 << bit;
            one *= LONGER;
        }
    }
    splits
}

/// Makes `scratch` at least `room` long, and little longer. Its contents are lost if it grows.
fn make_room<T: Copy + Default>(scratch: &mut Vec<T>, room: usize) {
    if scratch.len() < room {
        // Free the old buffer first, so that memory need not hold both.
        *scratch = Vec::new();
        *scratch = vec![T::default(); room + room / 8];
    }
}

/// The time to make the tables of a leaf, as the number of pairs that can be compared in that time.
///
/// With AVX-512 about sixteen pairs are compared in a cycle. The tables of a leaf take as long as
/// 200 to 240 lookups of 3.1 to 3.5 cycles (docs/PERFORMANCE.md, Join, "What limits it"), in which
/// 10,000 to 13,000 pairs can be compared.
const TABLES_PAIRS: usize = 12_000;

/// The time to look one item up, in pairs that can be compared in that time: 3.1 to 3.5 cycles are
/// 50 to 56 pairs, rounded up to a power of two.
const LOOKUP_PAIRS: usize = 64;

/// For each bit, how many of 2^10 keys have it that are spread evenly over the list.
fn frequencies(keys: &[u64]) -> [u32; 64] {
    let mut found = [0; 64];
    for key in keys.iter().step_by(keys.len().div_ceil(1 << 10)) {
        for (bit, count) in found.iter_mut().enumerate() {
            *count += (key >> bit & 1) as u32;
        }
    }
    found
}

/// Keys spread evenly over the list; some occur twice if the list is short.
fn sample<T: Copy>(keys: &[T]) -> [T; SAMPLE] {
    let step = (keys.len() << 16) / SAMPLE;
    array(|index| keys[(index * step) >> 16])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::TaskWatch;
    use crate::simd::stamp_tests;

    /// Sparse keys of 45 bits: more than fit a narrow key.
    fn splits_wide_keys(kernel: impl JoinKernel) {
        let mut key = sparse_keys();
        // Longer than a leaf.
        let ([items, patterns], bits) = if cfg!(miri) {
            ([20, 600], 34)
        } else {
            ([700, 1500], 45)
        };
        let mut keys = |count| -> Vec<u64> { (0..count).map(|_| key() >> (45 - bits)).collect() };
        let mut items = keys(items);
        let mut patterns = keys(patterns);
        let disjoint = |item: &u64| patterns.iter().filter(|key| *key & item == 0).count() as u64;
        let expected: u64 = items.iter().map(disjoint).sum();
        let mut pairs = Pairs::new(kernel, LeafAudit::new(1));
        let watch = TaskWatch::default();
        let lists = [&mut items[..], &mut patterns[..]];
        let found = u64::count(&mut pairs, lists, watch.whole());
        assert_eq!(found, Ok(expected));
        assert_eq!(pairs.audit().take(), None);
        assert!(expected > 0);
    }

    /// Long lists of wide keys are sorted once more: the count stays the same.
    fn resorts_long_lists(kernel: impl JoinKernel) {
        let mut key = sparse_keys();
        let mut lists = [RESORTED, RESORTED + 1000].map(|count| -> Vec<u64> {
            std::iter::repeat_with(|| key() & key())
                .take(count)
                .collect()
        });
        let mut split = lists.clone();
        let mut pairs = Pairs::new(kernel, LeafAudit::new(64));
        let [one, other] = &mut split;
        let expected = pairs.wide(one, other);
        let [one, other] = &mut lists;
        let watch = TaskWatch::default();
        let found = u64::count(&mut pairs, [one, other], watch.whole());
        assert_eq!(found, Ok(expected));
        assert!(pairs.resorted.len() > 0, "they were not sorted");
        assert_eq!(pairs.audit().take(), None);
        assert!(expected > 0);
    }

    /// Keys sorted by so many bits that the rest is narrow.
    fn counts_sorted_lists(kernel: impl JoinKernel) {
        const SORTED: u32 = if cfg!(miri) { 3 } else { 13 };
        let mut key = sparse_keys();
        let mut keys = |count: usize| -> Vec<u64> {
            let key = || {
                let key = key();
                key >> 32 << (64 - SORTED) | key & u64::from(u32::MAX)
            };
            std::iter::repeat_with(key).take(count).collect()
        };
        // With either list the longer one, and one much longer.
        let all_counts: &[_] = if cfg!(miri) {
            &[[40, 60]]
        } else {
            &[[600, 900], [900, 600], [40, 2000]]
        };
        for counts in all_counts {
            let [top, bottom] = counts.map(&mut keys);
            let mut lists = Lists::<u32>::default();
            for (keys, buckets) in [(&top, &mut lists.top), (&bottom, &mut lists.bottom)] {
                buckets.clear(SORTED);
                kernel.scatter(&keys.iter().copied().collect(), buckets);
            }
            let disjoint =
                |key: &u64| bottom.iter().filter(|other| *other & key == 0).count() as u64;
            let expected: u64 = top.iter().map(disjoint).sum();
            let mut pairs = Pairs::new(kernel, LeafAudit::new(1));
            let watch = TaskWatch::default();
            let found = pairs.count(&mut lists, SORTED, watch.whole());
            assert_eq!(found, Ok(expected));
            assert_eq!(pairs.audit().take(), None);
            assert!(expected > 0);
        }
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

    stamp_tests! {
        pairs_of_sorted_lists_are_counted: counts_sorted_lists,
        wide_keys_are_split_until_they_are_narrow: splits_wide_keys,
        #[cfg_attr(miri, ignore = "takes hours")]
        long_lists_of_wide_keys_are_sorted_once_more: resorts_long_lists,
    }
}
