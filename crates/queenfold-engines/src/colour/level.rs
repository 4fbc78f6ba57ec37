//! The states of an expansion that have the same rows left, in arrays for vectors.

use super::side::MAX_ROWS;

/// States of an expansion that have the same rows left to fill.
///
/// A state is the other columns that its queens take, below the number of its unit, and for each row left the
/// squares that are free: one word of 16 bits each. A level holds each of these words of all its states in
/// one array.
#[derive(Debug, Default)]
pub struct Level {
    words: Vec<Vec<u16>>,
    /// How many of the arrays are in use.
    used: usize,
    len: usize,
}

/// How many states are begun at once.
pub const BLOCK: usize = 16;

/// How many words may be read or written after the last state: at least as many as any vector has.
const SLACK: usize = 32;

impl Level {
    /// Makes it empty, for states of so many words.
    pub fn clear(&mut self, words: usize) {
        if self.words.len() < words {
            self.words.resize(words, Vec::new());
        }
        self.used = words;
        self.len = 0;
    }

    /// The words of a state.
    pub const fn words(&self) -> usize {
        self.used
    }

    /// The number of states.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A word of all states.
    pub fn word(&self, word: usize) -> &[u16] {
        &self.words[word][..self.len]
    }

    /// Adds `count` states: returns the number of the first one, and the arrays to which their words are to
    /// be written. There is room for more after the last one.
    pub fn add(&mut self, count: usize) -> (usize, &mut [Vec<u16>]) {
        let start = self.len;
        self.len += count;
        self.make_room(self.len);
        (start, &mut self.words[..self.used])
    }

    /// Sets the first word of `count` states that are to be added after `others` more. There must be
    /// [room](Self::make_room) for them. What is written after the last of them, the next ones replace.
    #[inline]
    pub fn set_first(&mut self, others: usize, count: usize, word: u16) {
        let states = &mut self.words[0][self.len + others..];
        for block in states.chunks_exact_mut(BLOCK).take(count.div_ceil(BLOCK)) {
            block.fill(word);
        }
    }

    /// Makes room for so many states.
    pub fn make_room(&mut self, states: usize) {
        for array in &mut self.words[..self.used] {
            if array.len() < states + SLACK {
                array.resize(states + SLACK, 0);
            }
        }
    }

    /// Removes the last `count` states. Returns where their words begin; they stay until something is
    /// written to the level.
    pub fn take<const N: usize>(&mut self, count: usize) -> [*const u16; N] {
        assert!(self.used == N && count <= self.len);
        self.len -= count;
        let mut places = [std::ptr::null(); N];
        for (place, array) in places.iter_mut().zip(&self.words) {
            *place = array[self.len..self.len + count + SLACK].as_ptr();
        }
        places
    }

    /// Makes room in an empty level for all states that can follow from `parents`. Returns where their
    /// words are to be written.
    pub fn start<const M: usize>(&mut self, parents: usize) -> [*mut u16; M] {
        assert!(self.used == M && self.is_empty());
        self.make_room(parents * MAX_ROWS);
        let mut places = [std::ptr::null_mut(); M];
        for (place, array) in places.iter_mut().zip(&mut self.words) {
            *place = array.as_mut_ptr();
        }
        places
    }

    /// Says how many states were written.
    pub fn finish(&mut self, made: usize) {
        self.len = made;
    }
}
