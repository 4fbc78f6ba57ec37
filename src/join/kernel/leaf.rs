use super::{Row, Vector};

/// The most patterns a leaf holds: as many as a row has truth values.
pub const LEAF: usize = 512;

/// Bits of a key that one table looks at, at most: 128 rows are 8 KiB, and the tables of a leaf
/// stay in the first-level cache.
const FIELD: usize = 7;

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
    let mut found = 0;
    let whole = patterns.len() - patterns.len() % V::LANES;
    for &item in items {
        let item_in_all = v.splat(item);
        let mut pairs = 0;
        for at in (0..whole).step_by(V::LANES) {
            // SAFETY: a whole vector is left to read.
            let patterns = unsafe { v.load(patterns.as_ptr().add(at)) };
            pairs += v.disjoint(item_in_all, patterns).count_ones();
        }
        for pattern in &patterns[whole..] {
            pairs += u32::from(item & pattern == 0);
        }
        found += u64::from(pairs);
    }
    found
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
    let fields = count.div_ceil(FIELD);
    let width = count.div_ceil(fields.max(1));
    macro_rules! specialised {
        ($($fields:literal $width:literal),*) => {
            match (fields, width) {
                (0, _) => items.len() as u64 * patterns.len() as u64,
                $(($fields, $width) => {
                    build::<V, $fields, $width>(v, patterns, used, tables);
                    look_up::<V, $fields, $width>(v, items, used, tables)
                })*
                _ => unreachable!("a key has at most 32 bits"),
            }
        };
    }
    specialised!(1 1, 1 2, 1 3, 1 4, 1 5, 1 6, 1 7, 2 4, 2 5, 2 6, 2 7, 3 5, 3 6, 3 7, 4 6, 4 7, 5 6, 5 7)
}

/// Fills the tables: row `x` of field `f` says which patterns lack all the diagonals whose bits are
/// set in `x`.
#[inline(always)]
fn build<V: Vector, const FIELDS: usize, const WIDTH: usize>(
    v: V,
    patterns: &[u32],
    used: u32,
    tables: &mut Tables,
) {
    let count = used.count_ones() as usize;
    // What is left there of another leaf is masked out below.
    tables.patterns[..patterns.len()].copy_from_slice(patterns);
    v.lacking(&tables.patterns, used, &mut tables.lacking);
    let mut rest = used;
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
        for bit in 0..WIDTH.min(count.saturating_sub(field * WIDTH)) {
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
fn look_up<V: Vector, const FIELDS: usize, const WIDTH: usize>(
    v: V,
    items: &[u32],
    used: u32,
    tables: &Tables,
) -> u64 {
    let bits = v.bits::<WIDTH>(used);
    let mut sum = v.zero();
    for &item in items {
        let offsets = v.offsets::<WIDTH>(item, bits);
        // SAFETY: offsets are those of rows that a field of `WIDTH` bits can name.
        let row = |field: usize| unsafe {
            let table = tables.rows[field].as_ptr();
            v.row(&*table.byte_add(offsets[field]))
        };
        let mut all = row(0);
        for field in 1..FIELDS {
            all = v.both(all, row(field));
        }
        sum = v.count(sum, all);
    }
    v.total(sum)
}
