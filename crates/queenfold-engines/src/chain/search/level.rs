//! The nodes of one level that wait to be searched.

use crate::simd::{Word, WordVector};

/// The number of nodes that a level has room for.
pub(super) const CAPACITY: usize = 4096;

/// Words after the last node: full vectors are read and written there.
const SLACK: usize = 64;

/// The largest number of streams that an instruction set may ask for.
pub(super) const MAX_STREAMS: usize = 4;

/// Vectors of parked streams. Each stream has four: columns, left, right and free squares.
const PARKED: usize = 4 * MAX_STREAMS;

/// The nodes that wait for their next queen: a stack of nodes, and the parked streams.
pub struct Level<W> {
    pub(super) columns: Box<[W]>,
    pub(super) left: Box<[W]>,
    pub(super) right: Box<[W]>,
    /// Nodes on the stack, at most [`CAPACITY`].
    pub(super) len: usize,
    parked: Box<[W]>,
    /// Whether parked streams may have free squares left.
    pub(super) is_parked: bool,
    /// Nodes that entered the level since the search was empty.
    pub(super) entered: u64,
    /// The share of the task that was pushed on the level since then.
    pub(super) share: f64,
}

/// A vector of nodes, with the squares that each has not tried yet.
#[derive(Clone, Copy)]
pub(super) struct Stream<V> {
    pub(super) columns: V,
    pub(super) left: V,
    pub(super) right: V,
    pub(super) free: V,
}

impl<W: Word> Level<W> {
    pub(super) fn new() -> Self {
        let words = |count: usize| vec![W::default(); count].into_boxed_slice();
        Self {
            columns: words(CAPACITY + SLACK),
            left: words(CAPACITY + SLACK),
            right: words(CAPACITY + SLACK),
            len: 0,
            parked: words(PARKED * SLACK),
            is_parked: false,
            entered: 0,
            share: 0.0,
        }
    }

    /// Adds a node.
    ///
    /// # Panics
    /// If the level is full.
    pub(super) fn push(&mut self, columns: u32, left: u32, right: u32) {
        assert!(self.len < CAPACITY, "a level overflowed");
        self.columns[self.len] = W::of(columns);
        self.left[self.len] = W::of(left);
        self.right[self.len] = W::of(right);
        self.len += 1;
        self.entered += 1;
    }

    /// Notes that nodes were added at the end of the stack, which has this length now.
    #[inline(always)]
    pub(super) fn enter(&mut self, len: usize) {
        self.entered += (len - self.len) as u64;
        self.len = len;
    }

    /// Whether neither the stack nor the streams have work left.
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0 && !self.is_parked
    }

    /// The parked streams, or streams without free squares if none are parked.
    #[inline(always)]
    pub(super) fn unpark<V: WordVector<Word = W>>(
        &self,
        simd: V::Simd,
    ) -> [Stream<V>; MAX_STREAMS] {
        let dead = V::splat(simd, 0);
        let mut streams = [Stream {
            columns: dead,
            left: dead,
            right: dead,
            free: dead,
        }; MAX_STREAMS];
        if self.is_parked {
            for (i, stream) in streams.iter_mut().enumerate().take(V::STREAMS) {
                let from = self.parked[4 * i * SLACK..4 * (i + 1) * SLACK].as_ptr();
                // SAFETY: there are four times `SLACK` words, and no vector has more than `SLACK`.
                unsafe {
                    stream.columns = V::load(simd, from);
                    stream.left = V::load(simd, from.add(SLACK));
                    stream.right = V::load(simd, from.add(2 * SLACK));
                    stream.free = V::load(simd, from.add(3 * SLACK));
                }
            }
        }
        streams
    }

    /// Parks `streams` until the search returns to this level.
    #[inline(always)]
    pub(super) fn park<V: WordVector<Word = W>>(&mut self, streams: &[Stream<V>; MAX_STREAMS]) {
        for (i, stream) in streams.iter().enumerate().take(V::STREAMS) {
            let to = self.parked[4 * i * SLACK..4 * (i + 1) * SLACK].as_mut_ptr();
            // SAFETY: there are four times `SLACK` words, and no vector has more than `SLACK`.
            unsafe {
                stream.columns.store(to);
                stream.left.store(to.add(SLACK));
                stream.right.store(to.add(2 * SLACK));
                stream.free.store(to.add(3 * SLACK));
            }
        }
        self.is_parked = true;
    }
}
