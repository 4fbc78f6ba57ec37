use super::{SLACK, filter};
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

/// Keys sorted by a few top bits, in one list without spare memory.
#[derive(Debug, Default)]
pub struct Packed {
    /// The number of top bits that the keys are sorted by.
    sorted: u32,
    /// For each value of those bits, the index after the last of its keys.
    ends: Vec<u32>,
    keys: Vec<u32>,
}

impl Packed {
    /// Copies the keys of `from`, which must be sorted by at most [`FLAT`] bits.
    pub fn copy(&mut self, from: &Buckets<u32>) {
        assert!(from.sorted <= FLAT);
        self.sorted = from.sorted;
        self.ends.clear();
        self.keys.clear();
        self.keys.reserve_exact(from.length);
        for list in &from.few[..1 << from.sorted] {
            self.keys.extend_from_slice(list);
            self.ends.push(self.keys.len() as u32);
        }
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.keys.len()
    }
}

/// The part of a wide key that a bucket stores: all of it, or its low 32 bits.
pub trait Rest: Copy + Default + 'static {
    /// The low bits of `key`.
    fn of(key: u64) -> Self;

    /// Writes the keys of the lanes in `mask` to `to`, in order and without gaps.
    ///
    /// # Safety
    /// `S::WIDE_LANES` keys may be written at `to`, even if `mask` has fewer lanes.
    unsafe fn compress<S: Simd>(simd: S, keys: S::Wide, mask: u32, to: *mut Self);
}

impl Rest for u32 {
    #[inline(always)]
    fn of(key: u64) -> Self {
        key as Self
    }

    #[inline(always)]
    unsafe fn compress<S: Simd>(simd: S, keys: S::Wide, mask: u32, to: *mut Self) {
        // SAFETY: the caller vouches for the memory.
        unsafe { simd.compress_low(keys, mask, to) }
    }
}

impl Rest for u64 {
    #[inline(always)]
    fn of(key: u64) -> Self {
        key
    }

    #[inline(always)]
    unsafe fn compress<S: Simd>(simd: S, keys: S::Wide, mask: u32, to: *mut Self) {
        // SAFETY: the caller vouches for the memory.
        unsafe { simd.compress_wide(keys, mask, to) }
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
    fn scatter<T: Rest>(self, keys: &[u64], buckets: &mut Buckets<T>) {
        self.vectorize(
            #[inline(always)]
            move || {
                buckets.length += keys.len();
                if buckets.sorted == 0 {
                    return buckets.few[0].extend(keys.iter().map(|&key| T::of(key)));
                }
                if buckets.sorted <= DEALT {
                    return deal(self, keys, buckets);
                }
                if buckets.sorted <= FLAT {
                    return append(keys, buckets);
                }
                let shift = 64 - buckets.sorted;
                let low = u64::MAX >> buckets.sorted;
                // Room for the worst case: every bucket begins a chunk, and every full chunk is
                // followed by another.
                let chunks = buckets.ends.len() + keys.len() / CHUNK + 1;
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
                for &key in keys {
                    // SAFETY: there are 2^sorted ends. An end that is not a multiple of `CHUNK`
                    // lies inside a chunk, and there is room for all chunks that can be begun.
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
                // SAFETY: all of `before` has been written. The last chunk of a bucket may be
                // partly unwritten; what lies after the end of a bucket is copied, but never used.
                unsafe {
                    buckets.before.set_len(used);
                    buckets.pool.set_len(used * CHUNK);
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

    /// Adds the keys of `from` without any of `bits` to `to`. `from` must be sorted by the bits
    /// that `to` is sorted by; if it is sorted by more, the keys lose those.
    fn spare(self, from: &Packed, bits: u64, to: &mut Buckets<u32>) {
        self.vectorize(
            #[inline(always)]
            move || {
                assert!(to.sorted <= from.sorted);
                let on_top = bits.unbounded_shr(64 - from.sorted) as usize;
                let mut start = 0;
                for (value, &end) in from.ends.iter().enumerate() {
                    let keys = &from.keys[start..end as usize];
                    start = end as usize;
                    if value & on_top != 0 {
                        continue;
                    }
                    let list = &mut to.few[value >> (from.sorted - to.sorted)];
                    list.reserve(keys.len() + SLACK);
                    let room = list.spare_capacity_mut().as_mut_ptr().cast();
                    // SAFETY: there is room for all keys and the slack, and so many are written.
                    unsafe {
                        let (kept, _) = filter::copy_lacking(self, keys, bits as u32, room);
                        list.set_len(list.len() + kept);
                        to.length += kept;
                    }
                }
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

/// Adds keys to a few flat lists, one by one.
#[inline(always)]
fn append<T: Rest>(keys: &[u64], buckets: &mut Buckets<T>) {
    let shift = 64 - buckets.sorted;
    let low = u64::MAX >> buckets.sorted;
    let used = &mut buckets.few[..1 << buckets.sorted];
    let mut ends = ends_with_room::<_, { 1 << FLAT }>(used, keys.len());
    for &key in keys {
        let end = &mut ends[(key >> shift) as usize];
        // SAFETY: each list has room for all keys.
        unsafe {
            end.write(T::of(key & low));
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
    for (end, list) in ends.iter_mut().zip(lists) {
        list.reserve(room);
        *end = list.spare_capacity_mut().as_mut_ptr().cast();
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
    for (list, end) in lists.iter_mut().zip(ends) {
        // SAFETY: the caller vouches for both.
        unsafe { list.set_len(end.offset_from_unsigned(list.as_ptr())) };
    }
}

/// Adds keys to two or four flat lists, a vector at a time. One by one would be slower: with so few
/// lists, a key often waits for the new end of the list that the key before it went to.
#[inline(always)]
fn deal<S: Simd, T: Rest>(simd: S, keys: &[u64], buckets: &mut Buckets<T>) {
    let whole = keys.len() - keys.len() % S::WIDE_LANES;
    let all = u32::MAX >> (32 - S::WIDE_LANES);
    let bits = [62, 63].map(|bit| simd.splat_wide(1 << bit));
    let used = &mut buckets.few[..1 << buckets.sorted];
    let mut ends = ends_with_room::<_, { 1 << DEALT }>(used, keys.len() + S::WIDE_LANES);
    for at in (0..whole).step_by(S::WIDE_LANES) {
        // SAFETY: a whole vector is left to read, and each list has room for all keys and a vector
        // more.
        unsafe {
            let keys = simd.load_wide(keys.as_ptr().add(at));
            let [low, high] = bits.map(|bit| simd.disjoint_wide(keys, bit, all));
            let mut give = |value: usize, lanes: u32| {
                T::compress(simd, keys, lanes, ends[value]);
                ends[value] = ends[value].add(lanes.count_ones() as usize);
            };
            match buckets.sorted {
                1 => {
                    give(0, high);
                    give(1, high ^ all);
                }
                _ => {
                    give(0, high & low);
                    give(1, high & (low ^ all));
                    give(2, (high ^ all) & low);
                    give(3, (high ^ all) & (low ^ all));
                }
            }
        }
    }
    // SAFETY: all from the old ends to these has been written.
    unsafe { lengthen(used, ends) };
    for &key in &keys[whole..] {
        let value = key >> (64 - buckets.sorted);
        used[value as usize].push(T::of(key));
    }
}
