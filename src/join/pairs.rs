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
pub trait Countable: Rest {
    /// The number of disjoint pairs of an item and a pattern. Leaves the patterns in any order.
    fn count<K: Kernel>(pairs: &mut Pairs<K>, items: &[Self], patterns: &mut Vec<Self>) -> u64;
}

impl Countable for u32 {
    fn count<K: Kernel>(pairs: &mut Pairs<K>, items: &[u32], patterns: &mut Vec<u32>) -> u64 {
        pairs.narrow(items, patterns)
    }
}

impl Countable for u64 {
    fn count<K: Kernel>(pairs: &mut Pairs<K>, items: &[u64], patterns: &mut Vec<u64>) -> u64 {
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
        let all = (1u32 << sorted) - 1;
        let mut found = 0;
        for value in 0..=all {
            if patterns.is_empty_at(value) {
                continue;
            }
            lists.some_items.clear();
            let disjoint = all & !value;
            let mut other = disjoint;
            loop {
                items.gather(other, &mut lists.some_items);
                if other == 0 {
                    break;
                }
                other = (other - 1) & disjoint;
            }
            lists.some_patterns.clear();
            patterns.gather(value, &mut lists.some_patterns);
            found += T::count(self, &lists.some_items, &mut lists.some_patterns);
        }
        found
    }

    fn wide(&mut self, items: &[u64], patterns: &mut Vec<u64>) -> u64 {
        let union = |keys: &[u64]| keys.iter().fold(0, |union, key| union | key);
        let used = union(items) & union(patterns);
        if used.count_ones() <= 32 {
            let bits = BitsOf::new(used);
            let mut narrow = std::mem::take(&mut self.items);
            let mut narrow_patterns = std::mem::take(&mut self.patterns);
            narrow.clear();
            narrow.extend(items.iter().map(|key| bits.pack(*key)));
            narrow_patterns.clear();
            narrow_patterns.extend(patterns.iter().map(|key| bits.pack(*key)));
            let found = self.narrow(&narrow, &mut narrow_patterns);
            self.items = narrow;
            self.patterns = narrow_patterns;
            return found;
        }
        let counts = |keys: &[u64]| {
            let step = keys.len().div_ceil(SAMPLE);
            let mut counts = [1u64; 64];
            for key in keys.iter().step_by(step) {
                for (bit, count) in counts.iter_mut().enumerate() {
                    *count += key >> bit & 1;
                }
            }
            counts
        };
        let (a, b) = (counts(items), counts(patterns));
        let bit = 1u64
            << (0..64)
                .filter(|bit| used >> bit & 1 == 1)
                .max_by_key(|&bit| a[bit] * b[bit])
                .unwrap_or(0);
        let items_without: Vec<u64> = items.iter().copied().filter(|key| key & bit == 0).collect();
        let mut patterns_with: Vec<u64> = patterns.extract_if(.., |key| *key & bit != 0).collect();
        let found = self.wide(&items_without, &mut patterns_with);
        found + self.wide(items, patterns)
    }

    fn narrow(&mut self, items: &[u32], patterns: &mut [u32]) -> u64 {
        let union = |keys: &[u32]| keys.iter().fold(0, |union, key| union | key);
        let items = Items {
            keys: items,
            union: union(items),
        };
        let mut scratch = std::mem::take(&mut self.scratch);
        let room = 3 * (items.keys.len() + patterns.len() + SLACK);
        if scratch.len() < room {
            scratch.resize(room, 0);
        }
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

/// Pairs up to which comparing all is cheaper than making tables.
const SMALL_LEAF: usize = 8000;

/// Keys from all over the list; some twice if it is short.
fn sample(keys: &[u32]) -> [u32; SAMPLE] {
    let step = (keys.len() << 16) / SAMPLE;
    std::array::from_fn(|index| keys[(index * step) >> 16])
}

/// A choice of at most 32 bits of 64.
struct BitsOf {
    /// For each byte of a key, what its values contribute.
    tables: [[u32; 256]; 8],
}

impl BitsOf {
    fn new(mask: u64) -> Self {
        let mut tables = [[0; 256]; 8];
        let mut next = 0;
        for (byte, table) in tables.iter_mut().enumerate() {
            for bit in 0..8 {
                if mask >> (8 * byte + bit) & 1 == 1 {
                    for (value, packed) in table.iter_mut().enumerate() {
                        *packed |= ((value >> bit & 1) as u32) << next;
                    }
                    next += 1;
                }
            }
        }
        Self { tables }
    }

    /// The chosen bits of `key`, moved together at the low end.
    fn pack(&self, key: u64) -> u32 {
        key.to_le_bytes()
            .iter()
            .zip(&self.tables)
            .fold(0, |packed, (byte, table)| {
                packed | table[usize::from(*byte)]
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::join::kernel::Portable;

    /// Sparse keys of 45 bits, as the halves of boards from n = 24 on have: more than fit a narrow
    /// key even when sorted.
    #[test]
    fn wide_keys_are_split_until_they_are_narrow() {
        let mut state = 1u64;
        let mut key = || {
            let mut bits = || {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(99);
                state >> 19
            };
            bits() & bits()
        };
        let items: Vec<u64> = (0..700).map(|_| key()).collect();
        let mut patterns: Vec<u64> = (0..1500).map(|_| key()).collect();
        let disjoint = |item: &u64| patterns.iter().filter(|key| *key & item == 0).count() as u64;
        let expected: u64 = items.iter().map(disjoint).sum();
        let mut pairs = Pairs::new(Portable, Audit::new(1));
        assert_eq!(u64::count(&mut pairs, &items, &mut patterns), expected);
        assert_eq!(pairs.audit().take(), None);
        assert!(expected > 0);
    }
}
