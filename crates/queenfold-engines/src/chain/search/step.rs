//! One step: a queen on the lowest free square of every lane, and the children to the next level.

use std::ops::AddAssign;

use super::level::{CAPACITY, Level, MAX_STREAMS, Stream};
use super::row::{SearchRow, VectorRow};
use crate::simd::WordVector;

/// How much work a search did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Queens placed. Those of rows counted in closed form are left out.
    pub placed: u64,
    /// How often a lane had no queen to place while other lanes had.
    pub idle: u64,
}

impl AddAssign for Effort {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        self.placed += other.placed;
        self.idle += other.idle;
    }
}

/// Where the children of a step go.
pub(super) trait Target<V: WordVector> {
    /// The number of children that there is room for.
    fn room(&self) -> usize;

    /// Takes the children in the lanes of `mask`, or in all lanes without one. The diagonals are
    /// those in the row of the queen just placed, not yet shifted to the next row.
    ///
    /// # Safety
    /// There is room for a vector.
    unsafe fn take(&mut self, columns: V, left: V, right: V, mask: Option<V::Mask>);
}

/// Places the next queen of the nodes of `source`, whose next row allows the squares `allowed`.
/// Stops when the target is full or the source runs low; if `flush` is set, when the target is full
/// or the source is empty. Returns the target and the effort.
///
/// The target is passed and returned by value, so that it stays in registers.
#[inline(always)]
pub(super) fn advance<V: WordVector, T: Target<V>>(
    simd: V::Simd,
    source: &mut Level<V::Word>,
    allowed: u32,
    mut target: T,
    flush: bool,
) -> (T, Effort) {
    let round = V::STREAMS * V::LANES;
    let mut effort = Effort::default();
    // SAFETY: before each round there is room for `round` children, and before each round that does
    // not flush, the source holds `round` nodes.
    unsafe {
        let mut nodes = Nodes::<V> {
            simd,
            columns: source.columns.as_ptr(),
            left: source.left.as_ptr(),
            right: source.right.as_ptr(),
            len: source.len,
            allowed: V::splat(simd, allowed),
        };
        let mut streams: [Stream<V>; MAX_STREAMS] = source.unpark(simd);
        // The indices are constants, so that each stream stays in its own registers.
        while nodes.len >= round && target.room() >= round {
            streams[0].advance(&mut nodes, &mut target);
            if V::STREAMS > 1 {
                streams[1].advance(&mut nodes, &mut target);
            }
            if V::STREAMS > 2 {
                streams[2].advance(&mut nodes, &mut target);
            }
            if V::STREAMS > 3 {
                streams[3].advance(&mut nodes, &mut target);
            }
            effort.placed += round as u64;
        }
        let mut is_busy = true;
        while flush && is_busy && target.room() >= round {
            let mut active = 0;
            for stream in &mut streams[..V::STREAMS] {
                active += stream.advance_few(&mut nodes, &mut target);
            }
            effort.placed += active as u64;
            effort.idle += (round - active) as u64;
            is_busy = active != 0;
        }
        source.len = nodes.len;
        if flush && !is_busy {
            source.is_parked = false;
        } else {
            source.park(&streams);
        }
    }
    (target, effort)
}

/// The nodes of a level, taken from the top of the stack.
struct Nodes<V: WordVector> {
    simd: V::Simd,
    columns: *const V::Word,
    left: *const V::Word,
    right: *const V::Word,
    len: usize,
    allowed: V,
}

impl<V: WordVector> Stream<V> {
    /// Refills every lane that has no square left, and places a queen in each lane.
    ///
    /// # Safety
    /// There are nodes for every lane, and room for a vector of children.
    #[inline(always)]
    unsafe fn advance<T: Target<V>>(&mut self, nodes: &mut Nodes<V>, target: &mut T) {
        // SAFETY: the caller vouches for nodes and room.
        unsafe {
            self.refill(nodes, self.free.is_zero());
            self.place_lowest(None, target);
        }
    }

    /// As [`advance`](Self::advance), but leaves lanes empty when the nodes run out. Returns the
    /// number of queens placed.
    ///
    /// # Safety
    /// There is room for a vector of children.
    #[inline(always)]
    unsafe fn advance_few<T: Target<V>>(&mut self, nodes: &mut Nodes<V>, target: &mut T) -> usize {
        // SAFETY: no more nodes are taken than there are; the caller vouches for the room.
        unsafe {
            if nodes.len > 0 {
                self.refill(nodes, V::first(nodes.simd, self.free.is_zero(), nodes.len));
            } else if V::count(self.free.is_nonzero()) == 0 {
                return 0;
            }
            let active = self.free.is_nonzero();
            self.place_lowest(Some(active), target);
            V::count(active)
        }
    }

    /// Puts a node into each lane of `spent`.
    ///
    /// # Safety
    /// There are at least as many nodes.
    #[inline(always)]
    unsafe fn refill(&mut self, nodes: &mut Nodes<V>, spent: V::Mask) {
        let stacks = [nodes.columns, nodes.left, nodes.right];
        let vectors = [self.columns, self.left, self.right];
        // SAFETY: the caller vouches for the nodes, and levels have slack for a vector.
        let (fresh, len) = unsafe { V::refill(vectors, spent, stacks, nodes.len) };
        nodes.len = len;
        [self.columns, self.left, self.right] = fresh;
        let taken = self.columns.or(self.left).or(self.right);
        self.free = self.free.fill(spent, nodes.allowed.and_not(taken));
    }

    /// Places a queen on the lowest free square of each lane, and gives the children in the lanes
    /// of `mask` to the target, or all children without a mask.
    ///
    /// # Safety
    /// The target has room for a vector.
    #[inline(always)]
    unsafe fn place_lowest<T: Target<V>>(&mut self, mask: Option<V::Mask>, target: &mut T) {
        let free = self.free;
        self.free = free.without_lowest();
        // SAFETY: the caller vouches for the room.
        unsafe {
            target.take(
                self.columns.or_lost(free, self.free),
                self.left.or_lost(free, self.free),
                self.right.or_lost(free, self.free),
                mask,
            );
        }
    }
}

/// Stores children in the next level. Drops those without a free square in the next row. With
/// `AHEAD`, also drops those that cannot fill the next two rows: one of these rows has no free
/// square, or both have only the same column free.
pub(super) struct NextLevel<V: WordVector, const AHEAD: bool> {
    columns: *mut V::Word,
    left: *mut V::Word,
    right: *mut V::Word,
    /// Nodes of the level, at most [`CAPACITY`].
    pub(super) len: usize,
    next: VectorRow<V>,
    after: VectorRow<V>,
}

impl<V: WordVector, const AHEAD: bool> NextLevel<V, AHEAD> {
    /// `next` is the row of the level, `after` the row below it.
    ///
    /// # Safety
    /// The target holds pointers into the level: it must not be used after the level is dropped or
    /// used otherwise.
    #[inline(always)]
    pub(super) unsafe fn new(
        simd: V::Simd,
        level: &mut Level<V::Word>,
        next: SearchRow,
        after: SearchRow,
    ) -> Self {
        Self {
            columns: level.columns.as_mut_ptr(),
            left: level.left.as_mut_ptr(),
            right: level.right.as_mut_ptr(),
            len: level.len,
            next: VectorRow::new(simd, next),
            after: VectorRow::new(simd, after),
        }
    }
}

impl<V: WordVector, const AHEAD: bool> Target<V> for NextLevel<V, AHEAD> {
    #[inline(always)]
    fn room(&self) -> usize {
        CAPACITY - self.len
    }

    #[inline(always)]
    unsafe fn take(&mut self, columns: V, left: V, right: V, mask: Option<V::Mask>) {
        let left = left.shl(self.next.gap);
        let right = right.shr(self.next.gap);
        let next = self.next.allowed.and_not(columns.or(left).or(right));
        let mut alive = among::<V>(next.is_nonzero(), mask);
        if AHEAD {
            let left = left.shl(self.after.gap);
            let right = right.shr(self.after.gap);
            let after = self.after.allowed.and_not(columns.or(left).or(right));
            alive = V::both(alive, after.is_nonzero());
            alive = V::both(alive, next.or(after).without_lowest().is_nonzero());
        }
        // SAFETY: the caller vouches for the room, and levels have slack for a vector.
        unsafe {
            let to = [
                self.columns.add(self.len),
                self.left.add(self.len),
                self.right.add(self.len),
            ];
            self.len += V::append([columns, left, right], alive, to);
        }
    }
}

/// The lanes of `mask` that are among `lanes`, or all of `mask` without them.
#[inline(always)]
pub(super) fn among<V: WordVector>(mask: V::Mask, lanes: Option<V::Mask>) -> V::Mask {
    match lanes {
        None => mask,
        Some(lanes) => V::both(mask, lanes),
    }
}
