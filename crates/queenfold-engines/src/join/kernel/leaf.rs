use crate::simd::{Fields, Simd, TruthRow, array, each};

/// The largest number of patterns of a leaf.
pub const LEAF: usize = TruthRow::LEN;

/// The largest number of bits of a key that index one table. 2^7 rows are 8 KiB, so the tables of a
/// leaf take at most 32 KiB and stay in the first-level cache.
pub(super) const FIELD: usize = 7;

/// Memory for the tables of a leaf.
pub struct Tables {
    rows: Box<[[TruthRow; 1 << FIELD]; 5]>,
    lacking: Box<[TruthRow; 32]>,
    patterns: Box<[u32; LEAF]>,
}

impl Tables {
    /// Empty tables.
    pub fn new() -> Self {
        Self {
            rows: Box::new([[TruthRow::default(); 1 << FIELD]; 5]),
            lacking: Box::new([TruthRow::default(); 32]),
            patterns: Box::new([0; LEAF]),
        }
    }
}

impl Default for Tables {
    fn default() -> Self {
        Self::new()
    }
}

/// Loops that count the disjoint pairs of two lists.
pub trait Leaf: Simd {
    /// The number of disjoint pairs of an item and a pattern, by comparing all.
    fn compare(self, items: &[u32], patterns: &[u32]) -> u64 {
        self.vectorize(
            #[inline(always)]
            move || {
                let mut found = 0;
                for held in patterns.chunks(4 * Self::LANES) {
                    found += match held.len().div_ceil(Self::LANES) {
                        1 => compare_held::<Self, 1>(self, items, held),
                        2 => compare_held::<Self, 2>(self, items, held),
                        3 => compare_held::<Self, 3>(self, items, held),
                        _ => compare_held::<Self, 4>(self, items, held),
                    };
                }
                found
            },
        )
    }

    /// The number of disjoint pairs of an item and a pattern, by tables. There must be at most
    /// [`LEAF`] patterns. All bits that occur both in items and in patterns must be in `used`.
    fn leaf(self, items: &[u32], patterns: &[u32], used: u32, tables: &mut Tables) -> u64 {
        self.vectorize(
            #[inline(always)]
            move || {
                assert!(patterns.len() <= LEAF);
                let count = used.count_ones() as usize;
                let fields = Fields::new(used, FIELD as u32);
                macro_rules! specialised {
                    ($($fields:literal),*) => {
                        match count.div_ceil(FIELD) {
                            0 => items.len() as u64 * patterns.len() as u64,
                            $($fields => {
                                build::<Self, $fields>(self, patterns, &fields, tables);
                                look_up::<Self, $fields>(self, items, &fields, tables)
                            })*
                            _ => unreachable!("a key has at most 32 bits"),
                        }
                    };
                }
                specialised!(1, 2, 3, 4, 5)
            },
        )
    }
}

impl<S: Simd> Leaf for S {}

/// The number of disjoint pairs of an item and a pattern. The patterns fill `VECTORS` vectors, the
/// last one perhaps in part. The vectors and the counts of their lanes stay in registers.
#[inline(always)]
fn compare_held<S: Simd, const VECTORS: usize>(simd: S, items: &[u32], patterns: &[u32]) -> u64 {
    let last = patterns.len() - (VECTORS - 1) * S::LANES;
    let held: [S::Keys; VECTORS] = array(
        #[inline(always)]
        |index| {
            let from = patterns[index * S::LANES..].as_ptr();
            // SAFETY: a whole vector is left to read. In the last one `last` keys are left, and no more
            // are read.
            unsafe {
                if index + 1 == VECTORS && last < S::LANES {
                    simd.load_first(from, last)
                } else {
                    simd.load(from)
                }
            }
        },
    );
    let mut counts = [simd.splat(0); VECTORS];
    for &item in items {
        let item = simd.splat(item);
        counts = array(
            #[inline(always)]
            |index| simd.tally(counts[index], item, held[index]),
        );
    }
    // Lanes without a pattern hold 0, which is disjoint with all items: drop their counts.
    let there = u32::MAX >> (32 - last);
    counts[VECTORS - 1] = simd.keep(counts[VECTORS - 1], there);
    let mut sum = 0;
    for counts in counts {
        sum += simd.sum(counts);
    }
    sum
}

/// Fills the tables: row `x` of field `f` says which patterns lack all diagonals whose bits are set
/// in `x`.
#[inline(always)]
pub(super) fn build<S: Simd, const FIELDS: usize>(
    simd: S,
    patterns: &[u32],
    fields: &Fields,
    tables: &mut Tables,
) {
    // The patterns of an earlier leaf that are left after these are masked out below.
    tables.patterns[..patterns.len()].copy_from_slice(patterns);
    let count = patterns.len();
    simd.rows_lacking(&tables.patterns, count, fields.used, &mut tables.lacking);
    let mut rest = fields.used;
    // The first table knows which patterns exist. In the other tables, the truth values of patterns
    // that do not exist are arbitrary.
    let mut present = TruthRow([u64::MAX; 8]);
    for (index, word) in present.0.iter_mut().enumerate() {
        let here = patterns.len().saturating_sub(64 * index).min(64);
        *word = if here == 64 {
            u64::MAX
        } else {
            (1 << here) - 1
        };
    }
    for (field, table) in tables.rows[..FIELDS].iter_mut().enumerate() {
        table[0] = if field == 0 {
            present
        } else {
            TruthRow([u64::MAX; 8])
        };
        for bit in 0..fields.widths[field] {
            let lacks = simd.row(&tables.lacking[(rest.trailing_zeros() & 31) as usize]);
            rest &= rest.wrapping_sub(1);
            let (done, next) = table.split_at_mut(1 << bit);
            for (index, to) in next[..done.len()].iter_mut().enumerate() {
                simd.set_row(to, simd.both(simd.row(&done[index]), lacks));
            }
        }
    }
}

/// The number of patterns that fit each item, summed over all items.
#[inline(always)]
fn look_up<S: Simd, const FIELDS: usize>(
    simd: S,
    items: &[u32],
    fields: &Fields,
    tables: &Tables,
) -> u64 {
    let fields = simd.fields(fields);
    let mut sum = simd.zero();
    // Four at a time: the overhead of the loop costs as much as a table, and AVX2 counts the bits of
    // four rows together.
    let (fours, rest) = items.as_chunks::<4>();
    for four in fours {
        let four = if S::FOUR_AT_ONCE {
            let offsets = simd.offsets_of_four(*four, fields);
            each(
                offsets,
                #[inline(always)]
                |offsets| rows_of::<S, FIELDS>(simd, offsets, tables),
            )
        } else {
            // x86 has no registers for the offsets of four.
            each(
                *four,
                #[inline(always)]
                |item| found::<S, FIELDS>(simd, item, fields, tables),
            )
        };
        sum = simd.count_four(sum, four);
    }
    for &item in rest {
        sum = simd.count(sum, found::<S, FIELDS>(simd, item, fields, tables));
    }
    simd.total(sum)
}

/// The patterns that lack all bits of `item`.
#[inline(always)]
pub(super) fn found<S: Simd, const FIELDS: usize>(
    simd: S,
    item: u32,
    fields: S::Fields,
    tables: &Tables,
) -> S::LoadedRow {
    rows_of::<S, FIELDS>(simd, simd.offsets(item, fields), tables)
}

/// The row of the table of `field`.
#[inline(always)]
fn row_at<S: Simd>(simd: S, offsets: [usize; 5], tables: &Tables, field: usize) -> S::LoadedRow {
    let table = tables.rows[field].as_ptr();
    // SAFETY: the offsets are those of rows: a field has at most `FIELD` bits.
    simd.row(unsafe { &*table.byte_add(offsets[field]) })
}

/// The patterns that are true in all rows at `offsets`.
#[inline(always)]
fn rows_of<S: Simd, const FIELDS: usize>(
    simd: S,
    offsets: [usize; 5],
    tables: &Tables,
) -> S::LoadedRow {
    let mut all = row_at(simd, offsets, tables, 0);
    for field in 1..FIELDS {
        all = simd.both(all, row_at(simd, offsets, tables, field));
    }
    all
}
