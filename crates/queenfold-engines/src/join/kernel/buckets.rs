use super::{KeyBatch, extend};
use crate::simd::Simd;

/// Keys sorted by their top bits: a bucket for each value of those bits. A bucket is a chain of
/// small chunks, or a flat list if there are few buckets.
///
/// One pass over the keys fills the buckets, without counting them first. Chunks take little more
/// memory than their keys, and the chunks being filled stay in the second-level cache.
#[derive(Debug, Default)]
pub struct Buckets<T> {
    /// The number of top bits that the keys are sorted by.
    sorted: u32,
    /// For each bucket, the index in `pool` of its next key: a multiple of [`CHUNK`] if its last
    /// chunk is full, 0 if it has no chunk.
    ends: Vec<u32>,
    /// For each chunk, the previous chunk of the same bucket, or [`NONE`].
    before: Vec<u32>,
    pool: Vec<T>,
    /// The flat lists, if the keys are sorted by at most [`FLAT`] bits.
    few: [Vec<T>; 1 << FLAT],
    length: usize,
}

/// The part of a key that a bucket stores: its low 32 bits, or all bits but the sorted ones.
pub trait Rest: Copy + Default + 'static {
    /// Whether the high part of a key is needed.
    const HIGH: bool;

    /// The key with this low part, and with a high part that lacks the sorted bits.
    fn of(low: u32, high: u32) -> Self;

    /// Adds keys to two or four flat lists.
    #[inline(always)]
    fn deal<S: Simd>(_: S, keys: &KeyBatch, buckets: &mut Buckets<Self>) {
        append(keys, buckets);
    }
}

impl Rest for u32 {
    const HIGH: bool = false;

    #[inline(always)]
    fn of(low: u32, _: u32) -> Self {
        low
    }

    #[inline(always)]
    fn deal<S: Simd>(simd: S, keys: &KeyBatch, buckets: &mut Buckets<Self>) {
        deal(simd, keys, buckets);
    }
}

impl Rest for u64 {
    const HIGH: bool = true;

    #[inline(always)]
    fn of(low: u32, high: u32) -> Self {
        Self::from(high) << 32 | Self::from(low)
    }
}

/// With at most this many top bits, each bucket is a flat list.
pub const FLAT: u32 = 5;

/// With at most this many top bits, vectors move the keys to the buckets.
const DEALT: u32 = 2;

/// Keys in a chunk.
const CHUNK: usize = 64;

const NONE: u32 = u32::MAX;

impl<T: Rest> Buckets<T> {
    /// Empties all buckets, and prepares one for each value of the `sorted` top bits.
    pub fn clear(&mut self, sorted: u32) {
        if sorted != self.sorted && sorted.min(self.sorted) <= FLAT {
            // Frees the memory of the flat lists: their sizes do not suit another number of lists.
            *self = Self::default();
        }
        self.sorted = sorted;
        self.ends.clear();
        self.ends.resize(1 << sorted, 0);
        self.before.clear();
        self.pool.clear();
        self.few.iter_mut().for_each(Vec::clear);
        self.length = 0;
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.length
    }
}

/// Loops that move keys into buckets and out of them.
pub trait Sort: Simd {
    /// Adds keys to the buckets of their top bits.
    fn scatter<T: Rest>(self, keys: &KeyBatch, buckets: &mut Buckets<T>) {
        self.vectorize(
            #[inline(always)]
            move || {
                let (low, high) = (&keys.low[..], &keys.high[..]);
                let count = low.len();
                buckets.length += count;
                if !T::HIGH && buckets.sorted == 0 {
                    return extend(&mut buckets.few[0], count, |index| T::of(low[index], 0));
                }
                assert_eq!(count, high.len());
                if buckets.sorted == 0 {
                    return extend(&mut buckets.few[0], count, |index| {
                        T::of(low[index], high[index])
                    });
                }
                if buckets.sorted <= DEALT {
                    return T::deal(self, keys, buckets);
                }
                if buckets.sorted <= FLAT {
                    return append(keys, buckets);
                }
                let shift = 32 - buckets.sorted;
                let unsorted = u32::MAX >> buckets.sorted;
                // SAFETY: there are 2^sorted buckets.
                unsafe {
                    chain(buckets, count, |index| {
                        let (low, high) = (low[index], high[index]);
                        (high >> shift, T::of(low, high & unsorted))
                    });
                }
            },
        )
    }

    /// Adds wide keys to the buckets that their bits of `by` name, moved together, and keeps their bits of
    /// `rest`, at most 32, moved together. `by` has as many bits as the buckets are sorted by, and more
    /// than there are for flat lists.
    fn scatter_by(self, keys: &[u64], by: u64, rest: u64, buckets: &mut Buckets<u32>) {
        self.vectorize(
            #[inline(always)]
            move || {
                assert!(buckets.sorted > FLAT && by.count_ones() == buckets.sorted);
                buckets.length += keys.len();
                let [by, rest] = [self.choice(by), self.choice(rest)];
                // SAFETY: there are 2^sorted buckets, and as many bits are moved together.
                unsafe {
                    chain(
                        buckets,
                        keys.len(),
                        #[inline(always)]
                        |index| {
                            let key = keys[index];
                            (self.pack_bits(key, by), self.pack_bits(key, rest))
                        },
                    );
                }
            },
        )
    }

    /// Appends the keys to `to` whose top bits are those of `own` and any of those of `free`.
    fn gather<T: Rest>(self, from: &Buckets<T>, own: u32, free: u32, to: &mut Vec<T>) {
        self.vectorize(
            #[inline(always)]
            move || {
                let mut pieces = [Piece::default(); AHEAD];
                let mut count = 0;
                each_subset(free, |other| {
                    let value = (own | other) as usize;
                    if from.sorted <= FLAT {
                        return to.extend_from_slice(&from.few[value]);
                    }
                    let end = from.ends[value] as usize;
                    let Some(last) = end.checked_sub(1) else {
                        return;
                    };
                    let mut chunk = last / CHUNK;
                    let mut keys = end - chunk * CHUNK;
                    loop {
                        let start = from.pool[chunk * CHUNK..].as_ptr();
                        for line in (0..CHUNK).step_by(64 / size_of::<T>()) {
                            self.prefetch(start.wrapping_add(line).cast());
                        }
                        pieces[count] = Piece { chunk, keys };
                        count += 1;
                        if count == AHEAD {
                            append_pieces(from, &pieces, to);
                            count = 0;
                        }
                        keys = CHUNK;
                        match from.before[chunk] {
                            NONE => return,
                            before => chunk = before as usize,
                        }
                    }
                });
                append_pieces(from, &pieces[..count], to);
            },
        )
    }
}

impl<S: Simd> Sort for S {}

/// The number of chunks to prefetch before the first of them is copied. The lists are rarely in a
/// cache, and a chunk is found only through the one after it.
const AHEAD: usize = 32;

/// A chunk, and how many of its keys are used.
#[derive(Clone, Copy, Default)]
struct Piece {
    chunk: usize,
    keys: usize,
}

#[inline(always)]
fn append_pieces<T: Rest>(from: &Buckets<T>, pieces: &[Piece], to: &mut Vec<T>) {
    to.reserve(pieces.len() * CHUNK);
    for piece in pieces {
        let begin = piece.chunk * CHUNK;
        assert!(begin + CHUNK <= from.pool.len() && piece.keys <= CHUNK);
        let length = to.len();
        // SAFETY: the chunk lies within the pool, and there is room for a whole chunk. Copying all
        // of it takes a few vectors; copying only the used keys would be a call of a function.
        unsafe {
            let to = to.as_mut_ptr().add(length);
            let chunk = from.pool.as_ptr().add(begin);
            chunk.copy_to_nonoverlapping(to, CHUNK);
        }
        // SAFETY: these keys have just been written.
        unsafe { to.set_len(length + piece.keys) };
    }
}

/// Calls `found` with each subset of the bits of `mask`.
#[inline(always)]
fn each_subset(mask: u32, mut found: impl FnMut(u32)) {
    let mut subset = mask;
    loop {
        found(subset);
        if subset == 0 {
            return;
        }
        subset = (subset - 1) & mask;
    }
}

/// Adds `count` keys to buckets that are chains. Each key comes with the number of its bucket.
///
/// # Safety
/// There are buckets with these numbers.
#[inline(always)]
unsafe fn chain<T: Rest>(buckets: &mut Buckets<T>, count: usize, key: impl Fn(usize) -> (u32, T)) {
    // Room for the worst case: every bucket begins a chunk, and every full chunk is followed by
    // another.
    let chunks = buckets.ends.len() + count / CHUNK + 1;
    let used = buckets.pool.len();
    if buckets.pool.capacity() - used < chunks * CHUNK {
        // `reserve` would double the capacity, but the next list is hardly longer.
        buckets.pool.reserve_exact(chunks * CHUNK + used / 8);
    }
    buckets.before.reserve(chunks);
    let pool = buckets.pool.as_mut_ptr();
    let before = buckets.before.as_mut_ptr();
    let ends = buckets.ends.as_mut_ptr();
    let mut used = buckets.before.len();
    for index in 0..count {
        let (bucket, key) = key(index);
        debug_assert!((bucket as usize) < buckets.ends.len());
        // SAFETY: the caller vouches for the bucket. An end that is not a multiple of `CHUNK` lies
        // inside a chunk, and there is room for all chunks that can be begun.
        unsafe {
            let end = ends.add(bucket as usize);
            let mut at = *end;
            if (at as usize).is_multiple_of(CHUNK) {
                before.add(used).write((at / CHUNK as u32).wrapping_sub(1));
                at = (used * CHUNK) as u32;
                used += 1;
            }
            pool.add(at as usize).write(key);
            *end = at + 1;
        }
    }
    // SAFETY: all of `before` has been written. The last chunk of a bucket may be partly unwritten;
    // what lies after the end of a bucket is copied, but never used.
    unsafe {
        buckets.before.set_len(used);
        buckets.pool.set_len(used * CHUNK);
    }
}

/// Adds keys to a few flat lists, one by one.
#[inline(always)]
fn append<T: Rest>(keys: &KeyBatch, buckets: &mut Buckets<T>) {
    let shift = 32 - buckets.sorted;
    let unsorted = u32::MAX >> buckets.sorted;
    let used = &mut buckets.few[..1 << buckets.sorted];
    let mut ends = ends_with_room::<_, { 1 << FLAT }>(used, keys.low.len());
    let high = &keys.high[..keys.low.len()];
    for (index, &low) in keys.low.iter().enumerate() {
        let high = high[index];
        let end = &mut ends[(high >> shift) as usize];
        // SAFETY: each list has room for all keys.
        unsafe {
            end.write(T::of(low, high & unsorted));
            *end = end.add(1);
        }
    }
    // SAFETY: all from the old ends to these has been written.
    unsafe { lengthen(used, ends) };
}

/// Makes room for `room` more keys in each list. Returns a pointer to the end of each list.
#[inline(always)]
fn ends_with_room<T, const N: usize>(lists: &mut [Vec<T>], room: usize) -> [*mut T; N] {
    let mut ends = [std::ptr::null_mut(); N];
    for (index, list) in lists.iter_mut().enumerate() {
        list.reserve(room);
        ends[index] = list.spare_capacity_mut().as_mut_ptr().cast();
    }
    ends
}

/// Sets the length of each list so that it ends at the pointer in `ends`.
///
/// # Safety
/// The pointers lie in the room that [`ends_with_room`] made, and all keys before them have been
/// written.
#[inline(always)]
unsafe fn lengthen<T, const N: usize>(lists: &mut [Vec<T>], ends: [*mut T; N]) {
    for (index, list) in lists.iter_mut().enumerate() {
        // SAFETY: the caller vouches for both.
        unsafe { list.set_len(ends[index].offset_from_unsigned(list.as_ptr())) };
    }
}

/// Adds keys to two or four flat lists, a vector at a time. One by one would be slower: with so few
/// lists, a key often waits for the new end of the list that the key before it went to.
#[inline(always)]
fn deal<S: Simd>(simd: S, keys: &KeyBatch, buckets: &mut Buckets<u32>) {
    let count = keys.low.len();
    let whole = count - count % S::LANES;
    let all = u32::MAX >> (32 - S::LANES);
    let [low_bit, high_bit] = [simd.splat(1 << 30), simd.splat(1 << 31)];
    let used = &mut buckets.few[..1 << buckets.sorted];
    let mut ends = ends_with_room::<_, { 1 << DEALT }>(used, count + S::LANES);
    for at in (0..whole).step_by(S::LANES) {
        // SAFETY: a whole vector is left to read, and each list has room for all keys and a vector
        // more.
        unsafe {
            let high = simd.load(keys.high.as_ptr().add(at));
            let keys = simd.load(keys.low.as_ptr().add(at));
            let lower = simd.disjoint(high, low_bit);
            let upper = simd.disjoint(high, high_bit);
            macro_rules! give {
                ($value:literal, $lanes:expr) => {
                    let lanes: u32 = $lanes;
                    simd.compress(keys, lanes, ends[$value]);
                    ends[$value] = ends[$value].add(lanes.count_ones() as usize);
                };
            }
            match buckets.sorted {
                1 => {
                    give!(0, upper);
                    give!(1, upper ^ all);
                }
                _ => {
                    give!(0, upper & lower);
                    give!(1, upper & (lower ^ all));
                    give!(2, (upper ^ all) & lower);
                    give!(3, (upper ^ all) & (lower ^ all));
                }
            }
        }
    }
    // SAFETY: all from the old ends to these has been written.
    unsafe { lengthen(used, ends) };
    for at in whole..count {
        used[(keys.high[at] >> (32 - buckets.sorted)) as usize].push(keys.low[at]);
    }
}
