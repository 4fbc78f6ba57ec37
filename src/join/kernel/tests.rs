//! Every inner loop, with every instruction set, against plain iterators.

use std::panic::{AssertUnwindSafe, catch_unwind};

use fastrand::Rng;

use super::filter::Split;
use super::{Boards, Buckets, FLAT, JoinKernel, LEAF, Packed, Place, SAMPLE, SLACK, Tables};
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

fn bits(kernel: impl JoinKernel) {
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
            let items: Vec<u32> = random.keys(40).iter().map(|key| key & used).collect();
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

fn crossings(kernel: impl JoinKernel) {
    let mut random = Random::new(4);
    let [a, b] = [(); 2].map(|()| [(); 2].map(|()| random.wide_keys(200 + SLACK)));
    let [ours, theirs] = [&a, &b].map(|[lines, keys]| Boards {
        lines,
        keys,
        ahead: 2,
    });
    // An empty side, single boards, and more boards than the registers hold; either side in
    // vectors.
    let counts = [
        (0, 5),
        (3, 0),
        (1, 1),
        (5, 7),
        (9, 8),
        (7, 9),
        (12, 38),
        (38, 33),
        (1, 150),
        (150, 2),
    ];
    let places: Vec<[Place; 2]> = counts
        .iter()
        .map(|&(outer, inner)| {
            [outer, inner].map(|count| Place {
                at: (200 - count) / 2,
                count,
            })
        })
        .collect();
    let range = |place: Place| place.at as usize..(place.at + place.count) as usize;
    for (index, pair) in places.iter().enumerate() {
        let mut expected = vec![42];
        for i in range(pair[0]) {
            for j in range(pair[1]).filter(|&j| a[0][i] & b[0][j] == 0) {
                expected.push(a[1][i] | b[1][j]);
            }
        }
        let mut found = vec![42];
        let done = kernel.cross(&places[index..=index], [ours, theirs], &mut found);
        assert_eq!(done, 1);
        assert_eq!(sorted(&found), sorted(&expected), "{pair:?}");

        let (mut lines, mut keys) = (vec![1], vec![2]);
        let (line, key) = (random.key(), random.key());
        kernel.extend(theirs, pair[1], line, key, [&mut lines, &mut keys]);
        let free = range(pair[1]).filter(|&j| b[0][j] & line == 0);
        let expected: Vec<_> = free.map(|j| (b[0][j] | line, b[1][j] | key)).collect();
        let found: Vec<_> = lines.into_iter().zip(keys).skip(1).collect();
        assert_eq!(found, expected);
    }
}

/// A crossing stops when there are enough keys, and the next call continues there.
fn crossings_in_batches(kernel: impl JoinKernel) {
    let boards = [vec![0; 100 + SLACK], (0..100 + SLACK as u64).collect()];
    let [lines, keys] = &boards;
    let view = Boards {
        lines,
        keys,
        ahead: 0,
    };
    let place = Place { at: 0, count: 30 };
    let places = [[place; 2]; 7];
    let mut rest = &places[..];
    let mut batches = Vec::new();
    while !rest.is_empty() {
        let mut found = Vec::new();
        let done = kernel.cross(rest, [view, view], &mut found);
        assert_eq!(found.len(), 900 * done);
        batches.push(done);
        rest = &rest[done..];
    }
    assert_eq!(batches, [3, 3, 1]);
}

/// Boards beyond the end of the list are refused.
fn boards_that_are_not_there(kernel: impl JoinKernel) {
    let list = vec![0; 10 + SLACK];
    let view = Boards {
        lines: &list,
        keys: &list,
        ahead: 0,
    };
    let place = |at, count| Place { at, count };
    kernel.cross(&[[place(0, 10); 2]], [view; 2], &mut Vec::new());
    for wrong in [place(1, 10), place(0, 11), place(u32::MAX, 1)] {
        for pair in [[place(0, 1), wrong], [wrong, place(0, 1)]] {
            let crossed = catch_unwind(AssertUnwindSafe(|| {
                kernel.cross(&[pair], [view; 2], &mut Vec::new());
            }));
            assert!(crossed.is_err(), "{pair:?}");
        }
        let extended = catch_unwind(AssertUnwindSafe(|| {
            kernel.extend(view, wrong, 1, 1, [&mut Vec::new(), &mut Vec::new()]);
        }));
        assert!(extended.is_err(), "{wrong:?}");
    }
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
            kernel.scatter(&keys, &mut narrow);
            kernel.scatter(&keys, &mut wide);
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
            // Wide keys may keep their sorted top bits.
            let below = |keys: &[u64]| -> Vec<u64> {
                keys.iter()
                    .map(|key| key & u64::MAX.unbounded_shr(top))
                    .collect()
            };
            let here: Vec<u64> = here.copied().collect();
            assert_eq!(sorted(&below(&found_wide)), sorted(&below(&here)));
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

/// Keys without some bits are moved to buckets sorted by the same or fewer bits.
fn sparing(kernel: impl JoinKernel) {
    let mut random = Random::new(9);
    for (before, after) in [(0, 0), (1, 0), (2, 1), (2, 2), (4, 2), (FLAT, FLAT)] {
        for &length in LENGTHS {
            let keys = random.wide_keys(length);
            for bits in [1, 0b1010 << 9, 1 << 63, 0b110 << 61 | 1 << 30] {
                // Narrow keys do not have the bits in between.
                let bits = bits & !(u64::MAX >> before & u64::MAX << 32);
                let mut from = Buckets::default();
                from.clear(before);
                kernel.scatter(&keys, &mut from);
                let mut packed = Packed::default();
                packed.copy(&from);
                let mut to = Buckets::default();
                to.clear(after);
                kernel.spare(&packed, bits, &mut to);
                let spared: Vec<u64> = keys.iter().copied().filter(|key| key & bits == 0).collect();
                assert_eq!(to.len(), spared.len());
                for value in 0..1 << after {
                    let on_top = |key: &&u64| key.unbounded_shr(64 - after) == u64::from(value);
                    let expected: Vec<u32> = spared
                        .iter()
                        .filter(on_top)
                        .map(|key| *key as u32)
                        .collect();
                    let mut found = Vec::new();
                    kernel.gather(&to, value, 0, &mut found);
                    assert_eq!(
                        sorted(&found),
                        sorted(&expected),
                        "{before} to {after} bits"
                    );
                }
            }
        }
    }
}

stamp_tests! {
    filters_keep_order_and_collect_bits: filters,
    wide_filters_keep_order_and_pack_closes_gaps: wide_filters,
    the_best_bit_has_the_largest_product_of_frequencies: bits,
    leaves_count_disjoint_pairs_for_any_number_of_bits: leaves,
    comparing_counts_disjoint_pairs_of_lists_of_any_length: comparisons,
    crossings_are_all_pairs_that_do_not_attack: crossings,
    crossings_come_in_batches: crossings_in_batches,
    boards_that_are_not_there_are_refused: boards_that_are_not_there,
    buckets_keep_the_keys_that_lack_bits: sparing,
    keys_are_found_again_in_their_buckets: sorting,
}
