//! Every inner loop, with every instruction set, against plain iterators.

mod quadrants;

use std::panic::{AssertUnwindSafe, catch_unwind};

use fastrand::Rng;

use super::filter::Split;
use super::{Buckets, FEW, JoinKernel, KeyBatch, LEAF, SAMPLE, SLACK, Tables, TieTables};
use crate::simd::stamp_tests;

struct Random(Rng);

impl Random {
    fn new(seed: u64) -> Self {
        Self(Rng::with_seed(seed))
    }

    fn next(&mut self) -> u64 {
        self.0.u64(..)
    }

    /// A key with about a quarter of its bits set.
    fn key(&mut self) -> u64 {
        self.next() & self.next()
    }

    fn keys(&mut self, count: usize) -> Vec<u32> {
        (0..count).map(|_| self.key() as u32).collect()
    }

    fn wide_keys(&mut self, count: usize) -> Vec<u64> {
        (0..count).map(|_| self.key()).collect()
    }
}

/// Lengths of lists. Miri is too slow for the long ones.
const LENGTHS: &[usize] = if cfg!(miri) {
    &[0, 1, 7, 9, 17, 70]
} else {
    &[0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 100, 1000]
};

fn union(keys: &[u32]) -> u32 {
    keys.iter().fold(0, |union, key| union | key)
}

fn sorted<T: Ord + Copy>(keys: &[T]) -> Vec<T> {
    let mut keys = keys.to_vec();
    keys.sort_unstable();
    keys
}

fn filters(kernel: impl JoinKernel) {
    let mut random = Random::new(1);
    for &length in LENGTHS {
        let keys = random.keys(length);
        for bits in [1, 1 << 31, 0b1010 << 9] {
            let (with, without): (Vec<u32>, Vec<u32>) =
                keys.iter().partition(|key| **key & bits != 0);
            let mut to = vec![7; length + SLACK];
            let (kept, bits_kept) = kernel.lacking(&keys, bits, &mut to);
            assert_eq!(to[..kept], without);
            assert_eq!(bits_kept, union(&without));

            // What lies after the list must not be changed.
            let mut list = keys.clone();
            list.extend([0xDEAD_BEEF; 40]);
            let split = kernel.partition(&mut list[..length], bits, &mut to);
            let expected = Split {
                without: without.len(),
                with: with.len(),
                without_union: union(&without),
                with_union: union(&with),
            };
            assert_eq!(split, expected);
            assert_eq!(list[..without.len()], without);
            assert_eq!(to[..with.len()], with);
            assert!(list[length..].iter().all(|key| *key == 0xDEAD_BEEF));
        }
    }
}

fn wide_filters(kernel: impl JoinKernel) {
    let mut random = Random::new(6);
    for &length in LENGTHS {
        let keys = random.wide_keys(length);
        let union = keys.iter().fold(0, |union, key| union | key);
        assert_eq!(kernel.union(&keys), union);
        for bits in [1, 1 << 63, 0b1010 << 30] {
            let (with, without): (Vec<u64>, Vec<u64>) =
                keys.iter().partition(|key| **key & bits != 0);
            let mut to = vec![7; length + SLACK];
            // What lies after the list must not be changed.
            let mut list = keys.clone();
            list.extend([0xDEAD_BEEF; 40]);
            let split = kernel.partition_wide(&mut list[..length], bits, &mut to);
            assert_eq!(split, [without.len(), with.len()]);
            assert_eq!(list[..without.len()], without);
            assert_eq!(to[..with.len()], with);
            assert!(list[length..].iter().all(|key| *key == 0xDEAD_BEEF));
        }
        for bits in [
            0,
            1 << 63 | 1,
            u64::MAX >> 32,
            u64::MAX << 32,
            0x1248_8421_F0F0_0F0F,
        ] {
            let narrow = |key: &u64| {
                let places = (0..64).filter(|place| bits >> place & 1 == 1);
                places.enumerate().fold(0, |narrow, (to, from)| {
                    narrow | ((key >> from & 1) as u32) << to
                })
            };
            let expected: Vec<u32> = keys.iter().map(narrow).collect();
            let mut found = vec![1, 2, 3];
            kernel.pack(&keys, bits, &mut found);
            assert_eq!(found, expected, "{bits:#x}");
        }
    }
}

fn best_bits(kernel: impl JoinKernel) {
    let mut random = Random::new(2);
    for _ in 0..if cfg!(miri) { 3 } else { 50 } {
        let (a, b) = (random.keys(SAMPLE), random.keys(SAMPLE));
        let used = random.next() as u32 | 1;
        let best = kernel.best_bit(
            a.as_slice().try_into().unwrap(),
            b.as_slice().try_into().unwrap(),
            used,
        );
        let count = |keys: &[u32], bit: u32| keys.iter().filter(|key| **key & bit != 0).count();
        let score = |bit| (count(&a, bit) + 1) * (count(&b, bit) + 1);
        assert!(best.is_power_of_two() && used & best != 0);
        for bit in (0..32).map(|bit| 1 << bit).filter(|bit| used & bit != 0) {
            assert!(score(bit) <= score(best));
        }
    }
}

fn leaves(kernel: impl JoinKernel) {
    let mut random = Random::new(3);
    let mut tables = Tables::new();
    for bits in (0..=32).step_by(if cfg!(miri) { 11 } else { 1 }) {
        // A random choice of `bits` bits.
        let mut used = 0u32;
        while used.count_ones() < bits {
            used |= 1 << (random.next() % 32);
        }
        let counts: &[usize] = if cfg!(miri) {
            &[65]
        } else {
            &[1, 63, 64, 65, 511, LEAF]
        };
        for &count in counts {
            // Not a multiple of four: rows are counted four at a time.
            let items: Vec<u32> = random.keys(43).iter().map(|key| key & used).collect();
            let patterns = random.keys(count);
            let expected: u64 = items
                .iter()
                .map(|item| patterns.iter().filter(|p| item & *p == 0).count() as u64)
                .sum();
            let found = kernel.leaf(&items, &patterns, used, &mut tables);
            assert_eq!(found, expected, "{bits} bits, {count} patterns");
            assert_eq!(kernel.compare(&items, &patterns), expected);
        }
    }
}

fn comparisons(kernel: impl JoinKernel) {
    let mut random = Random::new(7);
    for &items in LENGTHS {
        let mut items = random.keys(items);
        // A key without bits is disjoint with every pattern, but must not count empty lanes.
        items.push(0);
        for &patterns in LENGTHS {
            let patterns = random.keys(patterns);
            let pairs = items
                .iter()
                .flat_map(|item| patterns.iter().map(move |p| item & p));
            let expected = pairs.filter(|shared| *shared == 0).count() as u64;
            assert_eq!(kernel.compare(&items, &patterns), expected);
        }
    }
}

/// The number of disjoint pairs of keys, of whose high parts only the bits of `high` count.
fn disjoint_pairs(items: &KeyBatch, patterns: &KeyBatch, high: u32) -> u64 {
    let counted = u64::from(high) << 32 | u64::from(u32::MAX);
    let fits = |item: u64| {
        patterns
            .iter()
            .filter(|key| item & key & counted == 0)
            .count() as u64
    };
    items.iter().map(fits).sum()
}

fn ties(kernel: impl JoinKernel) {
    let mut random = Random::new(13);
    let mut tables = TieTables::new();
    let counts: &[usize] = if cfg!(miri) {
        &[1, 65]
    } else {
        &[1, 2, 7, 8, 9, 16, 31, 33, FEW, FEW + 1, 200, LEAF]
    };
    // The bits of the high parts: none, one table, two, three, and all; `u32::MAX` as if all were
    // common to both halves.
    for high in [
        0,
        1 << 31,
        0x7F,
        0xFF80_0000,
        0x3FFF,
        0x1F_FFFF,
        0xFFFF_FFF0,
        u32::MAX,
    ] {
        for &count in counts {
            let key = |random: &mut Random, bits: u32| {
                let low = random.key() as u32;
                // Few bits, or no pair is disjoint.
                let upper = (random.key() & random.key()) as u32 & bits;
                u64::from(upper) << 32 | u64::from(low & random.next() as u32)
            };
            // Items may have bits that do not count.
            let mut items: KeyBatch = (0..43).map(|_| key(&mut random, u32::MAX)).collect();
            let patterns: KeyBatch = (0..count).map(|_| key(&mut random, u32::MAX)).collect();
            // A key without bits is disjoint with every pattern, but must not count empty lanes.
            items.low.push(0);
            items.high.push(0);
            let expected = disjoint_pairs(&items, &patterns, high);
            if count <= FEW {
                let found = kernel.compare_ties(&items, &patterns, high);
                assert_eq!(found, expected, "{count} patterns, {high:#x}");
            }
            let used = [union(&patterns.low), union(&patterns.high) & high];
            kernel.make_ties([&patterns.low, &patterns.high], used, &mut tables);
            let found = kernel.look_up_ties(&items, &tables);
            assert_eq!(found, expected, "{count} patterns, {high:#x}");
            assert!(expected > 0);
        }
    }
    // Without high parts.
    let low = |random: &mut Random| random.key() & u64::from(u32::MAX);
    let mut batch = |count| (0..count).map(|_| low(&mut random)).collect::<KeyBatch>();
    let (mut items, mut patterns) = (batch(100), batch(FEW));
    let expected = disjoint_pairs(&items, &patterns, 0);
    kernel.make_ties([&patterns.low, &patterns.high], [u32::MAX, 0], &mut tables);
    for keys in [&mut items, &mut patterns] {
        keys.high.clear();
    }
    assert_eq!(kernel.look_up_ties(&items, &tables), expected);
    assert_eq!(kernel.compare_ties(&items, &patterns, u32::MAX), expected);
}

/// More patterns than there is memory for, and lists of unequal length, are refused.
fn ties_that_do_not_fit(kernel: impl JoinKernel) {
    let keys = |count: usize| (0..count as u64).collect::<KeyBatch>();
    let refuses = |action: &mut dyn FnMut()| catch_unwind(AssertUnwindSafe(action)).is_err();
    let mut tables = TieTables::new();
    let [fewer, most, more] = [LEAF - 1, LEAF, LEAF + 1].map(keys);
    let mut make = |low: &[u32], high: &[u32]| {
        refuses(&mut || kernel.make_ties([low, high], [u32::MAX, 1], &mut tables))
    };
    assert!(!make(&most.low, &most.high));
    assert!(make(&more.low, &more.high));
    assert!(make(&most.low, &fewer.high));
    assert!(!make(&most.low, &most.high));
    let mut items = keys(5);
    items.high.pop();
    assert!(refuses(&mut || {
        let _: u64 = kernel.look_up_ties(&items, &tables);
    }));
    let (items, few, many) = (keys(5), keys(FEW), keys(FEW + 1));
    assert!(!refuses(&mut || {
        let _: u64 = kernel.compare_ties(&items, &few, 0);
    }));
    assert!(refuses(&mut || {
        let _: u64 = kernel.compare_ties(&items, &many, 0);
    }));
}

fn sorting(kernel: impl JoinKernel) {
    let mut random = Random::new(5);
    for top in [0, 1, 2, 3, 5, 6, if cfg!(miri) { 7 } else { 12 }] {
        let mut narrow = Buckets::<u32>::default();
        let mut wide = Buckets::<u64>::default();
        narrow.clear(top);
        wide.clear(top);
        let mut all = Vec::new();
        for &length in LENGTHS {
            let keys = random.wide_keys(length);
            let batch = keys.iter().copied().collect();
            kernel.scatter(&batch, &mut narrow);
            kernel.scatter(&batch, &mut wide);
            all.extend(keys);
        }
        assert_eq!((narrow.len(), wide.len()), (all.len(), all.len()));
        for value in 0..1 << top {
            let here = all
                .iter()
                .filter(|key| key.unbounded_shr(64 - top) == u64::from(value));
            let (mut found, mut found_wide) = (Vec::new(), Vec::new());
            kernel.gather(&narrow, value, 0, &mut found);
            kernel.gather(&wide, value, 0, &mut found_wide);
            let low: Vec<u32> = here.clone().map(|key| *key as u32).collect();
            assert_eq!(sorted(&found), sorted(&low), "{top} bits, {value}");
            // Wide keys lose their sorted top bits.
            let rest: Vec<u64> = here.map(|key| key & u64::MAX.unbounded_shr(top)).collect();
            assert_eq!(sorted(&found_wide), sorted(&rest));
        }
        // Gathering several buckets at once gives the same as one after the other.
        let mask = (1 << top) - 1;
        let (own, free) = (0b0010_0100_1001 & mask, 0b1001_0011_0010 & mask);
        let (mut together, mut each) = (Vec::new(), Vec::new());
        kernel.gather(&narrow, own, free, &mut together);
        for value in (0..1 << top).filter(|value| value & !free == own) {
            kernel.gather(&narrow, value, 0, &mut each);
        }
        assert_eq!(sorted(&together), sorted(&each), "{top} bits");
    }
}

/// The keys of a range that lack some bits are appended in their order.
fn sparing(kernel: impl JoinKernel) {
    let mut random = Random::new(9);
    for &length in LENGTHS {
        let keys = random.wide_keys(length);
        let batch: KeyBatch = keys.iter().copied().collect();
        for bits in [0, 1, 0b1010 << 9, 1 << 63, 0b110 << 61 | 1 << 30, u64::MAX] {
            for range in [0..length, 0..length / 2, length / 3..length, length..length] {
                let mut found: KeyBatch = [42, 43].into_iter().collect();
                kernel.spare(&batch, range.clone(), bits, true, &mut found);
                let mut expected = vec![42, 43];
                expected.extend(keys[range.clone()].iter().filter(|key| **key & bits == 0));
                assert_eq!(found.iter().collect::<Vec<_>>(), expected);
                let mut low = KeyBatch::default();
                kernel.spare(&batch, range.clone(), bits, false, &mut low);
                assert!(low.high.is_empty());
                assert_eq!(low.low, found.low[2..]);
                // Keys without high parts, as if these were 0.
                let narrow = KeyBatch {
                    low: batch.low.clone(),
                    ..KeyBatch::default()
                };
                let mut spared = KeyBatch::default();
                kernel.spare(&narrow, range.clone(), bits, false, &mut spared);
                let without = batch.low[range]
                    .iter()
                    .filter(|key| **key & bits as u32 == 0);
                assert_eq!(spared.low, without.copied().collect::<Vec<_>>());
            }
        }
        let beyond = catch_unwind(AssertUnwindSafe(|| {
            kernel.spare(&batch, 0..length + 1, 0, true, &mut KeyBatch::default());
        }));
        assert!(beyond.is_err());
    }
}

stamp_tests! {
    filters_keep_order_and_collect_bits: filters,
    wide_filters_keep_order_and_pack_closes_gaps: wide_filters,
    the_best_bit_has_the_largest_product_of_frequencies: best_bits,
    leaves_count_disjoint_pairs_for_any_number_of_bits: leaves,
    comparing_counts_disjoint_pairs_of_lists_of_any_length: comparisons,
    ties_are_all_disjoint_pairs: ties,
    ties_that_do_not_fit_are_refused: ties_that_do_not_fit,
    keys_that_lack_bits_are_spared: sparing,
    keys_are_found_again_in_their_buckets: sorting,
}
