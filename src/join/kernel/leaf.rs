use super::{Row, Vector};

/// The most patterns a leaf holds: as many as a row has truth values.
pub const LEAF: usize = 512;

/// Bits of a key that one table looks at, at most: 128 rows are 8 KiB, and the tables of a leaf
/// stay in the first-level cache.
const FIELD: usize = 7;

/// How the bits that a leaf looks at are shared out to its tables: from the low end, the tables as
/// equal as can be.
#[derive(Clone, Copy, Debug)]
pub struct Fields {
    /// The bits.
    pub used: u32,
    /// How many of them each table looks at.
    pub widths: [u32; 5],
}

impl Fields {
    fn new(used: u32) -> Self {
        let count = used.count_ones();
        let tables = count.div_ceil(FIELD as u32).max(1);
        let width = |table: u32| count / tables + u32::from(table < count % tables);
        let widths = [0, 1, 2, 3, 4].map(|table| if table < tables { width(table) } else { 0 });
        Self { used, widths }
    }
}

/// Space for the tables of a leaf.
pub struct Tables {
    rows: Box<[[Row; 1 << FIELD]; 5]>,
    lacking: Box<[Row; 32]>,
    patterns: Box<[u32; LEAF]>,
}

impl Tables {
    /// Empty tables.
    pub fn new() -> Self {
        Self {
            rows: Box::new([[Row::default(); 1 << FIELD]; 5]),
            lacking: Box::new([Row::default(); 32]),
            patterns: Box::new([0; LEAF]),
        }
    }
}

impl Default for Tables {
    fn default() -> Self {
        Self::new()
    }
}

#[inline(always)]
pub(super) fn compare<V: Vector>(v: V, items: &[u32], patterns: &[u32]) -> u64 {
    patterns
        .chunks(4 * V::LANES)
        .map(|held| match held.len().div_ceil(V::LANES) {
            1 => compare_held::<V, 1>(v, items, held),
            2 => compare_held::<V, 2>(v, items, held),
            3 => compare_held::<V, 3>(v, items, held),
            _ => compare_held::<V, 4>(v, items, held),
        })
        .sum()
}

/// The number of disjoint pairs of an item and one of the patterns, which fill so many vectors, the
/// last perhaps in part: they stay in registers, and so do the counts of each lane.
#[inline(always)]
fn compare_held<V: Vector, const VECTORS: usize>(v: V, items: &[u32], patterns: &[u32]) -> u64 {
    let last = patterns.len() - (VECTORS - 1) * V::LANES;
    let held: [V::Keys; VECTORS] = std::array::from_fn(|index| {
        let from = patterns[index * V::LANES..].as_ptr();
        // SAFETY: a whole vector is left to read, but for the last, of which no more is read.
        unsafe {
            if index + 1 == VECTORS && last < V::LANES {
                v.load_first(from, last)
            } else {
                v.load(from)
            }
        }
    });
    let mut counts = [v.splat(0); VECTORS];
    for &item in items {
        let item = v.splat(item);
        for (counts, patterns) in counts.iter_mut().zip(held) {
            *counts = v.tally(*counts, item, patterns);
        }
    }
    // Lanes without a pattern count items without any bit.
    let there = u32::MAX >> (32 - last);
    counts[VECTORS - 1] = v.keep(counts[VECTORS - 1], there);
    counts.map(|counts| v.sum(counts)).into_iter().sum()
}

#[inline(always)]
pub(super) fn leaf<V: Vector>(
    v: V,
    items: &[u32],
    patterns: &[u32],
    used: u32,
    tables: &mut Tables,
) -> u64 {
    assert!(patterns.len() <= LEAF);
    let count = used.count_ones() as usize;
    let fields = Fields::new(used);
    macro_rules! specialised {
        ($($fields:literal),*) => {
            match count.div_ceil(FIELD) {
                0 => items.len() as u64 * patterns.len() as u64,
                $($fields => {
                    build::<V, $fields>(v, patterns, &fields, tables);
                    look_up::<V, $fields>(v, items, &fields, tables)
                })*
                _ => unreachable!("a key has at most 32 bits"),
            }
        };
    }
    specialised!(1, 2, 3, 4, 5)
}

/// Fills the tables: row `x` of field `f` says which patterns lack all the diagonals whose bits are
/// set in `x`.
#[inline(always)]
fn build<V: Vector, const FIELDS: usize>(
    v: V,
    patterns: &[u32],
    fields: &Fields,
    tables: &mut Tables,
) {
    // What is left there of another leaf is masked out below.
    tables.patterns[..patterns.len()].copy_from_slice(patterns);
    v.lacking(&tables.patterns, fields.used, &mut tables.lacking);
    let mut rest = fields.used;
    // The first table knows which patterns there are; in the others rows may say anything of those
    // that there are not.
    let mut present = Row([u64::MAX; 8]);
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
            Row([u64::MAX; 8])
        };
        for bit in 0..fields.widths[field] {
            let lacks = v.row(&tables.lacking[(rest.trailing_zeros() & 31) as usize]);
            rest &= rest.wrapping_sub(1);
            let (done, next) = table.split_at_mut(1 << bit);
            for (from, to) in done.iter().zip(next) {
                v.set_row(to, v.both(v.row(from), lacks));
            }
        }
    }
}

/// Looks all items up.
#[inline(always)]
fn look_up<V: Vector, const FIELDS: usize>(
    v: V,
    items: &[u32],
    fields: &Fields,
    tables: &Tables,
) -> u64 {
    let bits = v.bits(fields);
    let mut sum = v.zero();
    // Four at a time: counting up costs as much as a table.
    let (fours, rest) = items.as_chunks::<4>();
    for four in fours {
        for &item in four {
            sum = v.count(sum, found::<V, FIELDS>(v, item, bits, tables));
        }
    }
    for &item in rest {
        sum = v.count(sum, found::<V, FIELDS>(v, item, bits, tables));
    }
    v.total(sum)
}

/// The patterns that lack all bits of `item`.
#[inline(always)]
fn found<V: Vector, const FIELDS: usize>(
    v: V,
    item: u32,
    bits: V::Bits,
    tables: &Tables,
) -> V::Row {
    let offsets = v.offsets(item, bits);
    // SAFETY: offsets are those of rows that the field can name.
    let row = |field: usize| unsafe {
        let table = tables.rows[field].as_ptr();
        v.row(&*table.byte_add(offsets[field]))
    };
    let mut all = row(0);
    for field in 1..FIELDS {
        all = v.both(all, row(field));
    }
    all
}
