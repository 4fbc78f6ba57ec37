use super::kernel::{Kernel, LEAF, SLACK, Tables};

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
pub struct Pairs<K> {
    kernel: K,
    tables: Tables,
    scratch: Vec<u32>,
}

/// A list of keys, with the bits that occur in it.
struct List<'a> {
    keys: &'a [u32],
    union: u32,
}

/// Keys of each side looked at to choose a bit.
const SAMPLE: usize = 64;

impl<K: Kernel> Pairs<K> {
    pub fn new(kernel: K) -> Self {
        Self {
            kernel,
            tables: Tables::new(),
            scratch: Vec::new(),
        }
    }

    /// The number of disjoint pairs. Leaves the lists in another order.
    pub fn count(&mut self, a: &mut Vec<u64>, b: &mut Vec<u64>) -> u64 {
        if a.len() <= b.len() {
            self.wide(a.clone(), b.clone())
        } else {
            self.wide(b.clone(), a.clone())
        }
    }

    fn wide(&mut self, items: Vec<u64>, mut patterns: Vec<u64>) -> u64 {
        let union = |keys: &[u64]| keys.iter().fold(0, |union, key| union | key);
        let used = union(&items) & union(&patterns);
        if used.count_ones() <= 32 {
            let pack =
                |keys: &[u64]| -> Vec<u32> { keys.iter().map(|key| pack(*key, used)).collect() };
            let (items, mut patterns) = (pack(&items), pack(&patterns));
            let union = |keys: &[u32]| keys.iter().fold(0, |union, key| union | key);
            let mut scratch = std::mem::take(&mut self.scratch);
            scratch.resize(8 * (items.len() + patterns.len() + SLACK), 0);
            let found = self.narrow(
                List {
                    keys: &items,
                    union: union(&items),
                },
                union(&patterns),
                &mut patterns,
                &mut scratch,
            );
            self.scratch = scratch;
            return found;
        }
        let counts = |keys: &[u64]| {
            let step = (keys.len() / SAMPLE).max(1);
            let mut counts = [0u64; 64];
            for key in keys.iter().step_by(step) {
                for (bit, count) in counts.iter_mut().enumerate() {
                    *count += key >> bit & 1;
                }
            }
            counts
        };
        let (a, b) = (counts(&items), counts(&patterns));
        let bit = 1u64
            << (0..64)
                .filter(|bit| used >> bit & 1 == 1)
                .max_by_key(|&bit| a[bit] * b[bit])
                .unwrap_or(0);
        let items_without = items.iter().copied().filter(|key| key & bit == 0).collect();
        let patterns_with = patterns
            .iter()
            .copied()
            .filter(|key| key & bit != 0)
            .collect();
        let found = self.wide(items_without, patterns_with);
        patterns.retain(|key| key & bit == 0);
        found + self.wide(items, patterns)
    }

    fn narrow(
        &mut self,
        items: List<'_>,
        mut union: u32,
        mut patterns: &mut [u32],
        scratch: &mut [u32],
    ) -> u64 {
        let mut found = 0;
        loop {
            let used = items.union & union;
            if items.keys.is_empty() || patterns.is_empty() {
                return found;
            }
            if used == 0 || patterns.len() <= LEAF {
                return found + self.leaf(items.keys, patterns, used);
            }
            let bit = self.choose(items.keys, patterns, used);
            if scratch.len() < items.keys.len() + patterns.len() + 2 * SLACK {
                let mut more = vec![0; 8 * (items.keys.len() + patterns.len() + SLACK)];
                return found + self.narrow(items, union, patterns, &mut more);
            }
            let split = self.kernel.partition(patterns, bit, scratch);
            let (with, rest) = scratch.split_at_mut(split.with);
            let (kept, kept_union) = self.kernel.lacking(items.keys, bit, rest);
            let (items_without, rest) = rest.split_at_mut(kept);
            found += self.narrow(
                List {
                    keys: items_without,
                    union: kept_union,
                },
                split.with_union,
                with,
                rest,
            );
            patterns = &mut patterns[..split.without];
            union = split.without_union;
        }
    }

    fn leaf(&mut self, items: &[u32], patterns: &[u32], used: u32) -> u64 {
        if used == 0 {
            return items.len() as u64 * patterns.len() as u64;
        }
        if items.len() * patterns.len() < 16 * (1000 + 4 * items.len()) {
            return self.kernel.compare(items, patterns);
        }
        self.kernel.leaf(items, patterns, used, &mut self.tables)
    }

    /// The bit, among those used, that splits best.
    fn choose(&self, items: &[u32], patterns: &[u32], used: u32) -> u32 {
        let counts = |keys: &[u32]| {
            let mut sample = [0; SAMPLE];
            let step = keys.len().div_ceil(SAMPLE).max(1);
            let mut taken = 0;
            for (to, key) in sample.iter_mut().zip(keys.iter().step_by(step)) {
                *to = *key;
                taken += 1;
            }
            self.kernel.frequencies(&sample[..taken])
        };
        let (a, b) = (counts(items), counts(patterns));
        let best = (0..32)
            .filter(|bit| used >> bit & 1 == 1)
            .max_by_key(|&bit| (a[bit] + 1) * (b[bit] + 1))
            .unwrap_or(0);
        1 << best
    }
}

/// The bits of `key` chosen by `mask`, moved together at the low end.
fn pack(key: u64, mut mask: u64) -> u32 {
    let mut packed = 0;
    let mut to = 0;
    while mask != 0 {
        packed |= (key >> mask.trailing_zeros() & 1) << to;
        to += 1;
        mask &= mask - 1;
    }
    packed as u32
}
