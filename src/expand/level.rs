use crate::simd::{Vector, Word};

/// Nodes a level has room for.
pub(super) const CAPACITY: usize = 4096;

/// Words after the last node that full vectors may be read from or written to.
const SLACK: usize = 64;

/// The most streams an instruction set may ask for.
pub(super) const MAX_STREAMS: usize = 4;

/// Vectors of parked streams: columns, left, right and free squares of each.
const PARKED: usize = 4 * MAX_STREAMS;

/// The nodes that wait for their next queen: a stack, and the streams that were interrupted.
pub struct Level<W> {
    pub(super) columns: Box<[W]>,
    pub(super) left: Box<[W]>,
    pub(super) right: Box<[W]>,
    /// Nodes on the stack, at most [`CAPACITY`].
    pub(super) len: usize,
    parked: Box<[W]>,
    /// Whether parked streams may have free squares left.
    pub(super) is_parked: bool,
}

/// A vector of nodes and the squares they have not tried yet.
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
        }
    }

    /// Adds a node. There must be room.
    pub(super) fn push(&mut self, columns: u32, left: u32, right: u32) {
        assert!(self.len < CAPACITY, "a level overflowed");
        self.columns[self.len] = W::of(columns);
        self.left[self.len] = W::of(left);
        self.right[self.len] = W::of(right);
        self.len += 1;
    }

    /// Whether neither the stack nor the streams hold anything.
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0 && !self.is_parked
    }

    /// The parked streams; dead ones if there are none.
    ///
    /// # Safety
    /// The machine has the instruction set of `V`.
    #[inline(always)]
    pub(super) unsafe fn unpark<V: Vector<Word = W>>(&self) -> [Stream<V>; MAX_STREAMS] {
        // SAFETY: the caller vouches for the instruction set.
        let dead = unsafe { V::splat(0) };
        let mut streams = [Stream {
            columns: dead,
            left: dead,
            right: dead,
            free: dead,
        }; MAX_STREAMS];
        if self.is_parked {
            for (i, stream) in streams.iter_mut().enumerate().take(V::STREAMS) {
                let from = self.parked[4 * i * SLACK..4 * (i + 1) * SLACK].as_ptr();
                // SAFETY: four places of `SLACK` words, and no vector is longer.
                unsafe {
                    stream.columns = V::load(from);
                    stream.left = V::load(from.add(SLACK));
                    stream.right = V::load(from.add(2 * SLACK));
                    stream.free = V::load(from.add(3 * SLACK));
                }
            }
        }
        streams
    }

    /// Keeps `streams` for the next time.
    #[inline(always)]
    pub(super) fn park<V: Vector<Word = W>>(&mut self, streams: &[Stream<V>; MAX_STREAMS]) {
        for (i, stream) in streams.iter().enumerate().take(V::STREAMS) {
            let to = self.parked[4 * i * SLACK..4 * (i + 1) * SLACK].as_mut_ptr();
            // SAFETY: four places of `SLACK` words, and no vector is longer.
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
