use super::{SLACK, Vector, filter};

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
    /// The buckets themselves, where there are few.
    few: [Vec<T>; 1 << FLAT],
    length: usize,
}

/// A list sorted by a few top bits, in as little memory as it takes.
#[derive(Debug, Default)]
pub struct Packed {
    /// The number of top bits sorted by.
    sorted: u32,
    /// For each value of those bits, where its keys end.
    ends: Vec<u32>,
    keys: Vec<u32>,
}

impl Packed {
    /// Copies the keys of `from`, which must be sorted by no more than [`FLAT`] bits.
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

/// A key without its top bits.
pub trait Rest: Copy + Default + 'static {
    /// The low bits of `key`.
    fn of(key: u64) -> Self;

    /// Writes the keys of the lanes in `mask` to `to`, without gaps.
    ///
    /// # Safety
    /// `V::WIDE_LANES` keys may be written there, however many are in `mask`.
    unsafe fn compress<V: Vector>(v: V, keys: V::Wide, mask: u32, to: *mut Self);
}

impl Rest for u32 {
    #[inline(always)]
    fn of(key: u64) -> Self {
        key as Self
    }

    #[inline(always)]
    unsafe fn compress<V: Vector>(v: V, keys: V::Wide, mask: u32, to: *mut Self) {
        // SAFETY: the caller vouches for the memory.
        unsafe { v.compress_low(keys, mask, to) }
    }
}

impl Rest for u64 {
    #[inline(always)]
    fn of(key: u64) -> Self {
        key
    }

    #[inline(always)]
    unsafe fn compress<V: Vector>(v: V, keys: V::Wide, mask: u32, to: *mut Self) {
        // SAFETY: the caller vouches for the memory.
        unsafe { v.compress_wide(keys, mask, to) }
    }
}

/// Up to so many top bits each bucket is a flat list.
pub const FLAT: u32 = 5;

/// Up to so many, keys are dealt out by vectors.
const DEALT: u32 = 2;

/// Keys in a chunk.
const CHUNK: usize = 64;

const NONE: u32 = u32::MAX;

impl<T: Rest> Buckets<T> {
    /// Empties all buckets; there will be one for each value of the `sorted` top bits.
    pub fn clear(&mut self, sorted: u32) {
        if sorted != self.sorted && sorted.min(self.sorted) <= FLAT {
            // What flat lists have grown to is of no use to more or fewer of them, nor to chunks.
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

/// Appends the keys with the bits of `own` on top, and any of `free`, to `to`.
#[inline(always)]
pub(super) fn gather<V: Vector, T: Rest>(
    v: V,
    from: &Buckets<T>,
    own: u32,
    free: u32,
    to: &mut Vec<T>,
) {
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
                v.prefetch(start.wrapping_add(line).cast());
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
}

/// Chunks asked for before the first of them is copied: lists lie far away as a rule, and where each
/// chunk is says the one after it.
const AHEAD: usize = 32;

/// The first keys of a chunk.
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
        // SAFETY: the chunk lies within the pool, and there is room for one. Copying all of it is a
        // handful of vectors, where copying the `keys` that have been written would be a call.
        unsafe {
            let to = to.as_mut_ptr().add(length);
            let chunk = from.pool.as_ptr().add(begin);
            chunk.copy_to_nonoverlapping(to, CHUNK);
        }
        // SAFETY: so many have just been written.
        unsafe { to.set_len(length + piece.keys) };
    }
}

/// Calls `found` with each choice of some of the bits of `mask`.
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

#[inline(always)]
pub(super) fn scatter<V: Vector, T: Rest>(v: V, keys: &[u64], buckets: &mut Buckets<T>) {
    buckets.length += keys.len();
    if buckets.sorted == 0 {
        return buckets.few[0].extend(keys.iter().map(|&key| T::of(key)));
    }
    if buckets.sorted <= DEALT {
        return deal(v, keys, buckets);
    }
    if buckets.sorted <= FLAT {
        return append(keys, buckets);
    }
    let shift = 64 - buckets.sorted;
    let low = u64::MAX >> buckets.sorted;
    // Room for the worst case: every bucket begins a chunk, and every full chunk one more.
    let chunks = buckets.ends.len() + keys.len() / CHUNK + 1;
    let used = buckets.pool.len();
    if buckets.pool.capacity() - used < chunks * CHUNK {
        // Not twice as much as before: the next list is hardly longer.
        buckets.pool.reserve_exact(chunks * CHUNK + used / 8);
    }
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
    // SAFETY: all of `before` has been written. Chunks begun are not written to the end; what lies
    // beyond the end of a bucket is copied at most, never looked at.
    unsafe {
        buckets.before.set_len(used);
        buckets.pool.set_len(used * CHUNK);
    }
}

#[inline(always)]
pub(super) fn spare<V: Vector>(v: V, from: &Packed, bits: u64, to: &mut Buckets<u32>) {
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
            let (kept, _) = filter::copy_lacking(v, keys, bits as u32, room);
            list.set_len(list.len() + kept);
            to.length += kept;
        }
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

/// Makes room for so many more keys in each list. Returns where each of them ends.
#[inline(always)]
fn ends_with_room<T, const N: usize>(lists: &mut [Vec<T>], room: usize) -> [*mut T; N] {
    let mut ends = [std::ptr::null_mut(); N];
    for (end, list) in ends.iter_mut().zip(lists) {
        list.reserve(room);
        *end = list.spare_capacity_mut().as_mut_ptr().cast();
    }
    ends
}

/// Lets each list end there.
///
/// # Safety
/// The ends lie in the room that [`ends_with_room`] made, and all before them has been written.
#[inline(always)]
unsafe fn lengthen<T, const N: usize>(lists: &mut [Vec<T>], ends: [*mut T; N]) {
    for (list, end) in lists.iter_mut().zip(ends) {
        // SAFETY: the caller vouches for both.
        unsafe { list.set_len(end.offset_from_unsigned(list.as_ptr())) };
    }
}

/// Adds keys to two or four flat lists, a vector at a time: as many lie in turn in the same list, one
/// by one each would wait for the one before.
#[inline(always)]
fn deal<V: Vector, T: Rest>(v: V, keys: &[u64], buckets: &mut Buckets<T>) {
    let whole = keys.len() - keys.len() % V::WIDE_LANES;
    let all = u32::MAX >> (32 - V::WIDE_LANES);
    let bits = [62, 63].map(|bit| v.splat_wide(1 << bit));
    let used = &mut buckets.few[..1 << buckets.sorted];
    let mut ends = ends_with_room::<_, { 1 << DEALT }>(used, keys.len() + V::WIDE_LANES);
    for at in (0..whole).step_by(V::WIDE_LANES) {
        // SAFETY: a whole vector is left to read, and each list has room for all keys and a vector
        // more.
        unsafe {
            let keys = v.load_wide(keys.as_ptr().add(at));
            let [low, high] = bits.map(|bit| v.disjoint_wide(keys, bit, all));
            let mut give = |value: usize, lanes: u32| {
                T::compress(v, keys, lanes, ends[value]);
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
