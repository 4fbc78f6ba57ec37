use super::level::{CAPACITY, Level, Stream};
use crate::simd::Vector;

/// Where the children of a step go.
pub(super) trait Target<V: Vector> {
    /// Children there is room for.
    fn room(&self) -> usize;

    /// Takes the children in the lanes of `mask`, as their columns and diagonals in the row of the
    /// queen just placed: windows not moved on yet.
    ///
    /// # Safety
    /// There is room for a vector.
    unsafe fn take(&mut self, columns: V, left: V, right: V, mask: Option<V::Mask>);
}

/// Places the next queen of the nodes of `source`, whose next row allows the squares `allowed`,
/// until the source runs low or the target is full. With `flush`, until the source is empty or the
/// target is full. Returns the number of queens placed.
///
/// # Safety
/// The machine has the instruction set of `V`.
#[inline(always)]
pub(super) unsafe fn advance<V: Vector, T: Target<V>>(
    source: &mut Level<V::Word>,
    allowed: u32,
    target: &mut T,
    flush: bool,
) -> u64 {
    // SAFETY: the caller vouches for the instruction set.
    unsafe {
        match V::STREAMS {
            1 => advance_streams::<V, T, 1>(source, allowed, target, flush),
            2 => advance_streams::<V, T, 2>(source, allowed, target, flush),
            3 => advance_streams::<V, T, 3>(source, allowed, target, flush),
            _ => advance_streams::<V, T, 4>(source, allowed, target, flush),
        }
    }
}

#[inline(always)]
unsafe fn advance_streams<V: Vector, T: Target<V>, const S: usize>(
    source: &mut Level<V::Word>,
    allowed: u32,
    target: &mut T,
    flush: bool,
) -> u64 {
    let round = S * V::LANES;
    let mut placed = 0;
    // SAFETY: the caller vouches for the instruction set. `source.len` words lie below each end.
    // Every vector is read from a node on, and levels have slack for that. There is room for
    // `round` children before each round.
    unsafe {
        let allowed = V::splat(allowed);
        let mut streams: [Stream<V>; S] = source.unpark();
        let columns = source.columns.as_ptr();
        let left = source.left.as_ptr();
        let right = source.right.as_ptr();
        let mut len = source.len;
        while len >= round && target.room() >= round {
            for stream in &mut streams {
                let spent = stream.free.is_zero();
                let ends = [columns.add(len), left.add(len), right.add(len)];
                len -= stream.refill(spent, ends, allowed);
                stream.place_lowest(None, target);
            }
            placed += round as u64;
        }
        let mut busy = true;
        while flush && busy && target.room() >= round {
            busy = false;
            for stream in &mut streams {
                let spent = V::first(stream.free.is_zero(), len);
                let ends = [columns.add(len), left.add(len), right.add(len)];
                len -= stream.refill(spent, ends, allowed);
                let active = stream.free.is_nonzero();
                placed += V::count(active) as u64;
                busy |= V::count(active) != 0;
                stream.place_lowest(Some(active), target);
            }
        }
        source.len = len;
        if flush && !busy {
            source.is_parked = false;
        } else {
            source.park(streams);
        }
    }
    placed
}

impl<V: Vector> Stream<V> {
    /// Puts nodes from below `ends` into the lanes of `spent`, and returns how many.
    ///
    /// # Safety
    /// As for [`Vector::refill`].
    #[inline(always)]
    unsafe fn refill(&mut self, spent: V::Mask, ends: [*const V::Word; 3], allowed: V) -> usize {
        // SAFETY: the caller vouches for the memory.
        let (fresh, taken) =
            unsafe { V::refill([self.columns, self.left, self.right], spent, ends) };
        [self.columns, self.left, self.right] = fresh;
        let free = allowed.and_not(self.columns.or(self.left).or(self.right));
        self.free = V::select(spent, free, self.free);
        taken
    }

    /// Places a queen on the lowest free square of each lane and hands on the children in the
    /// lanes of `mask` (all if there is none).
    ///
    /// # Safety
    /// The target has room for a vector.
    #[inline(always)]
    unsafe fn place_lowest<T: Target<V>>(&mut self, mask: Option<V::Mask>, target: &mut T) {
        let rest = self.free.without_lowest();
        let bit = self.free.xor(rest);
        self.free = rest;
        // SAFETY: the caller vouches for the room.
        unsafe {
            target.take(
                self.columns.or(bit),
                self.left.or(bit),
                self.right.or(bit),
                mask,
            );
        }
    }
}

/// Children go to the next level, unless they have no square in its row.
pub(super) struct NextLevel<'a, V: Vector> {
    level: &'a mut Level<V::Word>,
    gap: V::Shift,
    allowed: V,
}

impl<'a, V: Vector> NextLevel<'a, V> {
    /// # Safety
    /// The machine has the instruction set of `V`.
    #[inline(always)]
    pub(super) unsafe fn new(level: &'a mut Level<V::Word>, row: super::Row) -> Self {
        // SAFETY: the caller vouches for the instruction set.
        unsafe {
            Self {
                level,
                gap: V::shift(row.gap),
                allowed: V::splat(row.allowed),
            }
        }
    }
}

impl<V: Vector> Target<V> for NextLevel<'_, V> {
    #[inline(always)]
    fn room(&self) -> usize {
        CAPACITY - self.level.len
    }

    #[inline(always)]
    unsafe fn take(&mut self, columns: V, left: V, right: V, mask: Option<V::Mask>) {
        let left = left.shl(self.gap);
        let right = right.shr(self.gap);
        let free = self.allowed.and_not(columns.or(left).or(right));
        let alive = among::<V>(free.is_nonzero(), mask);
        let level = &mut *self.level;
        // SAFETY: the caller vouches for the room.
        unsafe {
            let to = [
                level.columns.as_mut_ptr().add(level.len),
                level.left.as_mut_ptr().add(level.len),
                level.right.as_mut_ptr().add(level.len),
            ];
            level.len += V::append([columns, left, right], alive, to);
        }
    }
}

/// Lanes of `mask` within `lanes`.
#[inline(always)]
pub(super) fn among<V: Vector>(mask: V::Mask, lanes: Option<V::Mask>) -> V::Mask {
    match lanes {
        None => mask,
        Some(lanes) => V::both(mask, lanes),
    }
}
