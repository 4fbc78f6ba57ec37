use super::SLACK;
use crate::simd::each;

/// Boards that a list has room for at least: a mebibyte. Memory that no board was written to yet costs nothing, but lists that
/// outgrow theirs are copied to memory that the system has to clear first.
const LEAST: usize = 1 << 18;

/// Boards by which lists are longer than needed.
const AHEAD: usize = 1 << 10;

/// Boards of a quadrant, each with its lines and the two parts of its key.
///
/// All lists go on for at least [`SLACK`] entries after the last board, because whole vectors are
/// read.
#[derive(Clone, Copy, Debug)]
pub struct Boards<'a> {
    /// For each board, the diagonals that its queens attack, as lines of one column: by the row in
    /// which they cross that column, in the low half of the word those whose row grows with the
    /// column, in the high half the others.
    pub lines: &'a [u32],
    /// For each board, the low part of its share of the key.
    pub low: &'a [u32],
    /// For each board, the high part of its share of the key; undefined where high parts are not in
    /// use.
    pub high: &'a [u32],
}

/// Neighbouring boards in a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// The index of the first.
    pub begin: u32,
    /// The index after the last.
    pub end: u32,
}

/// Keys, each in two parts of 32 bits.
#[derive(Debug, Default)]
pub struct KeyBatch {
    /// The low parts.
    pub low: Vec<u32>,
    /// The high parts; empty if all are 0, or if none of their bits counts.
    pub high: Vec<u32>,
    /// For each pair of runs that the keys are made of, the number of keys up to its last.
    pub ends: Vec<u32>,
}

/// Boards of a quadrant for several column sets, one [`Entry`] after the other.
#[derive(Debug, Default)]
pub struct QuadrantBoards {
    lines: Vec<u32>,
    low: Vec<u32>,
    /// Empty if high parts are not in use.
    high: Vec<u32>,
    has_high: bool,
    /// See [`starts`](Self::starts).
    starts: Vec<u32>,
    /// The number of boards. The lists are longer by at least [`SLACK`].
    length: usize,
}

/// Where the boards of a column set are.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    first: usize,
    count: usize,
    first_start: usize,
    last_start: usize,
}

impl Boards<'_> {
    /// The number of boards.
    pub fn count(&self) -> usize {
        self.end()
    }

    /// The end of the boards after which a whole vector may still be read.
    #[inline(always)]
    pub(super) fn end(&self) -> usize {
        let length = self.lines.len().min(self.low.len()).min(self.high.len());
        length.saturating_sub(SLACK)
    }

    /// Where the boards of a run begin, which must lie within the lists.
    #[inline(always)]
    pub(super) fn at(&self, run: Run) -> [*const u32; 3] {
        each([self.lines, self.low, self.high], |list| {
            list.as_ptr().wrapping_add(run.begin as usize)
        })
    }
}

impl Run {
    /// The number of boards.
    #[inline(always)]
    pub fn len(self) -> usize {
        (self.end - self.begin) as usize
    }

    /// Whether it ends at `end` or before.
    #[inline(always)]
    pub(super) fn within(self, end: usize) -> bool {
        self.begin <= self.end && self.end as usize <= end
    }
}

impl KeyBatch {
    /// Removes all keys.
    pub fn clear(&mut self) {
        self.low.clear();
        self.high.clear();
        self.ends.clear();
    }

    /// Sets the number of keys to `length`, and makes room for `most` in all. Returns for how many
    /// there is room.
    ///
    /// # Safety
    /// So many keys have been written, within the capacity; their high parts only with `HIGH`.
    #[cold]
    pub(super) unsafe fn make_room<const HIGH: bool>(
        &mut self,
        length: usize,
        most: usize,
    ) -> usize {
        let mut room = usize::MAX;
        for part in self.parts(HIGH) {
            // SAFETY: the caller vouches for it.
            unsafe { part.set_len(length) };
            // Twice the room, so that a batch needs it once.
            if part.capacity() < most {
                part.reserve(2 * most - length);
            }
            room = room.min(part.capacity());
        }
        room
    }

    /// The whole keys.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u64> + Clone {
        self.low.iter().enumerate().map(|(index, &low)| {
            let high = self.high.get(index).copied().unwrap_or(0);
            u64::from(high) << 32 | u64::from(low)
        })
    }

    /// The low parts, and the high ones if they are in use.
    #[inline(always)]
    pub(super) fn parts(&mut self, high: bool) -> impl Iterator<Item = &mut Vec<u32>> {
        [Some(&mut self.low), high.then_some(&mut self.high)]
            .into_iter()
            .flatten()
    }
}

#[cfg(test)]
impl FromIterator<u64> for KeyBatch {
    fn from_iter<I: IntoIterator<Item = u64>>(keys: I) -> Self {
        let (low, high) = keys
            .into_iter()
            .map(|key| (key as u32, (key >> 32) as u32))
            .unzip();
        Self {
            low,
            high,
            ends: Vec::new(),
        }
    }
}

impl QuadrantBoards {
    /// Removes all boards.
    pub fn clear(&mut self) {
        self.starts.clear();
        self.length = 0;
    }

    /// Removes the entry that was made last.
    pub fn remove_last(&mut self, entry: Entry) {
        self.length = entry.first;
        self.starts.truncate(entry.first_start);
    }

    /// Adds the board without queens, from which all others are made. `high` says whether the high parts of keys are in use.
    pub fn add_empty(&mut self, high: bool) -> Entry {
        if high != self.has_high {
            *self = Self {
                has_high: high,
                ..Self::default()
            };
        }
        let draft = Draft::new(self, 1);
        draft.reserve(self, 0, 1 + SLACK);
        for list in self.lists() {
            list[draft.first] = 0;
        }
        draft.finish(self, 1)
    }

    /// Whether boards have high parts of keys.
    pub(super) const fn has_high(&self) -> bool {
        self.has_high
    }

    /// The lists that are in use.
    fn lists(&mut self) -> impl Iterator<Item = &mut Vec<u32>> {
        let high = self.has_high.then_some(&mut self.high);
        [&mut self.lines, &mut self.low].into_iter().chain(high)
    }

    /// The boards of an entry, with their lines in the column of the queen placed last.
    #[inline(always)]
    pub fn boards(&self, entry: Entry) -> Boards<'_> {
        let range = entry.first..entry.first + entry.count + SLACK;
        Boards {
            lines: &self.lines[range.clone()],
            low: &self.low[range.clone()],
            // Vectors of them may be read even if they are not in use.
            high: if self.has_high {
                &self.high[range]
            } else {
                &self.low[range]
            },
        }
    }

    /// Where the runs of an entry begin: for each set of rows, in the order of their numbers, and
    /// for each row of the queen placed last. At the end the number of boards.
    #[inline(always)]
    pub fn starts(&self, entry: Entry) -> &[u32] {
        &self.starts[entry.first_start..entry.last_start]
    }

    /// The largest number of boards in `stride` neighbouring runs of an entry, from a multiple of
    /// `stride` on.
    pub(super) fn longest(&self, entry: Entry, stride: usize) -> usize {
        let begins = self.starts(entry).iter().step_by(stride);
        let ends = begins.clone().skip(1);
        let lengths = begins.zip(ends).map(|(begin, end)| end - begin);
        lengths.max().unwrap_or(0) as usize
    }

    /// Bytes of all boards and runs.
    pub fn bytes(&self) -> u64 {
        4 * (3 * self.length + self.starts.len()) as u64
    }
}

/// An entry being made.
#[derive(Clone, Copy)]
pub(super) struct Draft {
    first: usize,
    first_start: usize,
}

/// Where an entry that is being made, and the one it is made from, have their boards.
pub(super) struct Pointers {
    /// Lines, low and high parts of the new entry.
    pub(super) to: [*mut u32; 3],
    /// Low and high parts of the other.
    pub(super) from: [*const u32; 2],
}

impl Draft {
    /// The draft of an entry of so many runs.
    pub(super) fn new(boards: &mut QuadrantBoards, runs: usize) -> Self {
        let first_start = boards.starts.len();
        boards.starts.resize(first_start + runs + 1, 0);
        Self {
            first: boards.length,
            first_start,
        }
    }

    /// Where the runs of `parent` begin, and where those of this draft are to be noted: so many from
    /// the one of this number on.
    #[inline(always)]
    pub(super) fn starts(
        self,
        boards: &mut QuadrantBoards,
        parent: Entry,
        number: usize,
        count: usize,
    ) -> (&[u32], &mut [u32]) {
        let (others, own) = boards.starts.split_at_mut(self.first_start);
        (
            &others[parent.first_start..parent.last_start],
            &mut own[number..][..count],
        )
    }

    /// Makes room for `more` boards after the first `length` of the entry. Returns for how many
    /// boards of the entry there is room in all.
    #[inline(always)]
    pub(super) fn reserve(self, boards: &mut QuadrantBoards, length: usize, more: usize) -> usize {
        let needed = self.first + length + more;
        if boards.lines.len() < needed {
            let length = needed + AHEAD;
            for list in boards.lists() {
                if list.capacity() < length {
                    list.reserve_exact(LEAST.max(2 * length) - list.len());
                }
                list.resize(length, 0);
            }
        }
        boards.lines.len() - self.first
    }

    /// Where the boards of the entry, and those of `parent`, begin. The vectors read after the last
    /// board of `parent` may be boards of this entry, so both have pointers and no references.
    #[inline(always)]
    pub(super) fn pointers(self, boards: &mut QuadrantBoards, parent: Entry) -> Pointers {
        let lists = [
            boards.lines.as_mut_ptr(),
            boards.low.as_mut_ptr(),
            boards.high.as_mut_ptr(),
        ];
        Pointers {
            to: each(lists, |list| list.wrapping_add(self.first)),
            from: each([lists[1], lists[2]], |list| {
                list.wrapping_add(parent.first).cast_const()
            }),
        }
    }

    /// Ends the entry after `length` boards.
    pub(super) fn finish(self, boards: &mut QuadrantBoards, length: usize) -> Entry {
        self.reserve(boards, length, SLACK);
        if let Some(last) = boards.starts.last_mut() {
            *last = length as u32;
        }
        boards.length = self.first + length;
        Entry {
            first: self.first,
            count: length,
            first_start: self.first_start,
            last_start: boards.starts.len(),
        }
    }

    /// Ends without an entry.
    pub(super) fn give_up(self, boards: &mut QuadrantBoards) {
        boards.starts.truncate(self.first_start);
    }
}
