use super::Vector;

/// Keys sorted by their top bits, in chains of small chunks: one pass over the keys fills them, and
/// no count need be known beforehand.
///
/// Each list takes little more memory than its keys, and the chunks being filled stay in the
/// second-level cache.
#[derive(Debug, Default)]
pub struct Buckets<T> {
    /// The number of top bits sorted by.
    sorted: u32,
    /// For each value of those bits, the place in `pool` of the next key; a multiple of [`CHUNK`]
    /// where the last chunk is full, 0 where there is none.
    ends: Vec<u32>,
    /// For each chunk, the chunk before in the same bucket.
    before: Vec<u32>,
    pool: Vec<T>,
    length: usize,
}

/// A key without its top bits.
pub trait Rest: Copy + Default + 'static {
    /// The low bits of `key`.
    fn of(key: u64) -> Self;
}

impl Rest for u32 {
    #[inline(always)]
    fn of(key: u64) -> Self {
        key as Self
    }
}

impl Rest for u64 {
    #[inline(always)]
    fn of(key: u64) -> Self {
        key
    }
}

/// Keys in a chunk.
const CHUNK: usize = 64;

const NONE: u32 = u32::MAX;

impl<T: Rest> Buckets<T> {
    /// Empties all buckets; there will be one for each value of the `sorted` top bits.
    pub fn clear(&mut self, sorted: u32) {
        self.sorted = sorted;
        self.ends.clear();
        self.ends.resize(1 << sorted, 0);
        self.before.clear();
        self.pool.clear();
        self.length = 0;
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there is no key with `value` on top.
    pub fn is_empty_at(&self, value: u32) -> bool {
        self.ends[value as usize] == 0
    }

    /// Appends the keys with `value` on top to `to`.
    pub fn gather(&self, value: u32, to: &mut Vec<T>) {
        let end = self.ends[value as usize] as usize;
        if end == 0 {
            return;
        }
        if self.sorted == 0 {
            to.extend_from_slice(&self.pool);
            return;
        }
        let last = (end - 1) / CHUNK;
        to.extend_from_slice(&self.pool[last * CHUNK..end]);
        let mut chunk = self.before[last];
        while chunk != NONE {
            let from = chunk as usize * CHUNK;
            to.extend_from_slice(&self.pool[from..from + CHUNK]);
            chunk = self.before[chunk as usize];
        }
    }
}

#[inline(always)]
pub(super) fn scatter<V: Vector, T: Rest>(_: V, keys: &[u64], buckets: &mut Buckets<T>) {
    buckets.length += keys.len();
    if buckets.sorted == 0 {
        buckets.pool.extend(keys.iter().map(|key| T::of(*key)));
        buckets.ends[0] = buckets.pool.len() as u32;
        return;
    }
    let shift = 64 - buckets.sorted;
    let low = u64::MAX >> buckets.sorted;
    // Room for the worst case: every bucket begins a chunk, and every full chunk one more.
    let chunks = buckets.ends.len() + keys.len() / CHUNK + 1;
    buckets.pool.reserve(chunks * CHUNK);
    buckets.before.reserve(chunks);
    let pool = buckets.pool.as_mut_ptr();
    let before = buckets.before.as_mut_ptr();
    let ends = buckets.ends.as_mut_ptr();
    let mut used = buckets.before.len();
    for &key in keys {
        // SAFETY: there are 2^sorted ends; an end that is no multiple of a chunk lies within a
        // chunk, and there is room for all chunks that can be begun.
        unsafe {
            let end = ends.add((key >> shift) as usize);
            let mut at = *end;
            if (at as usize).is_multiple_of(CHUNK) {
                before.add(used).write((at / CHUNK as u32).wrapping_sub(1));
                at = (used * CHUNK) as u32;
                used += 1;
            }
            pool.add(at as usize).write(T::of(key & low));
            *end = at + 1;
        }
    }
    // SAFETY: all of `before` has been written. Chunks begun are not written to the end, but any
    // bits are a valid key, and none is read beyond the end of its bucket.
    unsafe {
        buckets.before.set_len(used);
        buckets.pool.set_len(used * CHUNK);
    }
}
