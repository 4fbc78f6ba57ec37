use super::leaf::{FIELD, Tables, build, found};
use super::{KeyBatch, LEAF};
use crate::simd::{Fields, Simd, array, each};

/// Tables that answer for up to [`LEAF`] patterns of 64 bits at once.
pub struct TieTables {
    low: Tables,
    high: Tables,
    low_fields: Fields,
    high_fields: Fields,
}

/// The number of tables for the low part of a key.
const LOW: usize = 5;

impl TieTables {
    /// Empty tables.
    pub fn new() -> Self {
        Self {
            low: Tables::new(),
            high: Tables::new(),
            low_fields: Fields::new(0, FIELD as u32),
            high_fields: Fields::new(0, FIELD as u32),
        }
    }
}

/// Loops that count the disjoint pairs of lists of keys of 64 bits.
pub trait TieLeaf: Simd {
    /// Makes the tables of `patterns`, at most [`LEAF`]: their low and high parts. All bits that
    /// occur in items and in patterns must be in `used`.
    fn make_ties(self, patterns: [&[u32]; 2], used: [u32; 2], tables: &mut TieTables) {
        self.vectorize(
            #[inline(always)]
            move || {
                assert!(patterns[0].len() <= LEAF && patterns[0].len() == patterns[1].len());
                tables.low_fields = Fields::divided(used[0], LOW as u32);
                tables.high_fields = Fields::new(used[1], FIELD as u32);
                build::<Self, LOW>(self, patterns[0], &tables.low_fields, &mut tables.low);
                match tables.high_fields.count() {
                    0 | 1 => {
                        build::<Self, 1>(self, patterns[1], &tables.high_fields, &mut tables.high)
                    }
                    2 => build::<Self, 2>(self, patterns[1], &tables.high_fields, &mut tables.high),
                    _ => build::<Self, 5>(self, patterns[1], &tables.high_fields, &mut tables.high),
                }
            },
        )
    }

    /// The number of disjoint pairs of an item and a pattern, by comparing all. There must be at
    /// most [`FEW`] patterns. In the high parts only the bits of `high` count.
    fn compare_ties(self, items: &KeyBatch, patterns: &KeyBatch, high: u32) -> u64 {
        self.vectorize(
            #[inline(always)]
            move || {
                let count = patterns.low.len();
                let mut padded = [[0; FEW]; 2];
                padded[0][..count].copy_from_slice(&patterns.low);
                padded[1][..patterns.high.len()].copy_from_slice(&patterns.high);
                for part in &mut padded[1] {
                    *part &= high;
                }
                compare(self, items, &padded, count)
            },
        )
    }

    /// The number of disjoint pairs of an item and a pattern of the tables.
    fn look_up_ties(self, items: &KeyBatch, tables: &TieTables) -> u64 {
        self.vectorize(
            #[inline(always)]
            move || {
                if tables.high_fields.used == 0 {
                    return look_up::<Self, 0>(self, items, tables);
                }
                assert_eq!(items.low.len(), items.high.len());
                match tables.high_fields.count() {
                    0 | 1 => look_up::<Self, 1>(self, items, tables),
                    2 => look_up::<Self, 2>(self, items, tables),
                    _ => look_up::<Self, 5>(self, items, tables),
                }
            },
        )
    }
}

impl<S: Simd> TieLeaf for S {}

/// At most so many patterns are compared with each item; more are looked up in tables. 32 and 64
/// take the same time (docs/PERFORMANCE.md, Join, "What was tried").
pub const FEW: usize = 32;

#[inline(always)]
fn compare<S: Simd>(simd: S, items: &KeyBatch, padded: &[[u32; FEW]; 2], count: usize) -> u64 {
    let whole = items.high.is_empty();
    let mut total = 0;
    for at in (0..count).step_by(S::LANES) {
        // SAFETY: the patterns are a whole number of vectors.
        let low = unsafe { simd.load(padded[0].as_ptr().add(at)) };
        // SAFETY: as above.
        let high = unsafe { simd.load(padded[1].as_ptr().add(at)) };
        let mut counts = simd.splat(0);
        for (index, &item) in items.low.iter().enumerate() {
            let mut shared = simd.and(simd.splat(item), low);
            if !whole {
                shared = simd.or(shared, simd.and(simd.splat(items.high[index]), high));
            }
            counts = simd.tally(counts, shared, shared);
        }
        let there = (count - at).min(S::LANES);
        counts = simd.keep(counts, ((1u64 << there) - 1) as u32);
        total += simd.sum(counts);
    }
    total
}

#[inline(always)]
fn look_up<S: Simd, const HIGH: usize>(simd: S, items: &KeyBatch, tables: &TieTables) -> u64 {
    let low_fields = simd.fields(&tables.low_fields);
    let high_fields = simd.fields(&tables.high_fields);
    let mut sum = simd.zero();
    // Four at a time, as in a leaf of narrow keys.
    let (low_fours, low_rest) = items.low.as_chunks::<4>();
    let (high_fours, high_rest) = items.high.as_chunks::<4>();
    for (index, low) in low_fours.iter().enumerate() {
        let mut rows = each(
            *low,
            #[inline(always)]
            |low| found::<S, LOW>(simd, low, low_fields, &tables.low),
        );
        if HIGH > 0 {
            let high = each(
                high_fours[index],
                #[inline(always)]
                |high| found::<S, HIGH>(simd, high, high_fields, &tables.high),
            );
            rows = array(
                #[inline(always)]
                |row| simd.both(rows[row], high[row]),
            );
        }
        sum = simd.count_four(sum, rows);
    }
    for (index, &low) in low_rest.iter().enumerate() {
        let mut fits = found::<S, LOW>(simd, low, low_fields, &tables.low);
        if HIGH > 0 {
            let high = found::<S, HIGH>(simd, high_rest[index], high_fields, &tables.high);
            fits = simd.both(fits, high);
        }
        sum = simd.count(sum, fits);
    }
    simd.total(sum)
}
