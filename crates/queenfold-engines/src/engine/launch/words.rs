//! The words of launches, in memory that is used again: a device may pin it, which takes longer than to fill it.

use std::fmt;
use std::mem;
use std::ops::Deref;
use std::sync::Arc;

use parking_lot::Mutex;

/// Words that a launch and those who submit it share.
///
/// Those of large launches are in *recycled* memory: it is never freed, and used for other words when nobody shares
/// these any more.
#[derive(Clone)]
pub struct Words(Arc<Buffer>);

/// Words that are being written. They grow without ever moving recycled memory.
#[derive(Default)]
pub struct Draft {
    buffer: Buffer,
}

/// Memory that is never freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recycled {
    /// Names it: no two have the same number.
    pub number: usize,
    /// Where it begins.
    pub address: *const u32,
    /// Its length.
    pub bytes: usize,
}

#[derive(Default)]
struct Buffer {
    words: Vec<u32>,
    /// The number of recycled memory. Its vector must keep its capacity.
    number: Option<usize>,
}

/// Words from which memory is recycled: a mebibyte. To copy less takes next to no time.
const RECYCLED: usize = 1 << 18;

/// Words that recycled memory has at least: the tables of most launches that workers prepare (docs/PERFORMANCE.md, "The
/// join on a device").
const LEAST: usize = 5 << 20;

/// Recycled memory that nobody uses, and how much there is in all.
static UNUSED: Mutex<(Vec<Buffer>, usize)> = Mutex::new((Vec::new(), 0));

impl Buffer {
    /// Recycled memory for so many words, without any.
    fn recycled(words: usize) -> Self {
        let mut unused = UNUSED.lock();
        let (buffers, count) = &mut *unused;
        let large = buffers.iter().enumerate();
        let large = large.filter(|(_, buffer)| buffer.words.capacity() >= words);
        let smallest = large.min_by_key(|(_, buffer)| buffer.words.capacity());
        if let Some((at, _)) = smallest {
            return buffers.swap_remove(at);
        }
        *count += 1;
        Self {
            words: Vec::with_capacity(words.max(LEAST)),
            number: Some(*count),
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.number.is_some() {
            let mut words = mem::take(&mut self.words);
            words.clear();
            let number = self.number.take();
            UNUSED.lock().0.push(Self { words, number });
        }
    }
}

impl Draft {
    /// Makes room for `more` words.
    pub fn reserve(&mut self, more: usize) {
        let words = self.buffer.words.len() + more;
        if words <= self.buffer.words.capacity() {
            return;
        }
        if self.buffer.number.is_none() && words < RECYCLED {
            self.buffer.words.reserve(more);
            return;
        }
        // Half as much again, so that words that keep growing are copied a few times only.
        let capacity = self.buffer.words.capacity();
        let mut larger = Buffer::recycled(words.max(capacity + capacity / 2));
        larger.words.extend_from_slice(&self.buffer.words);
        self.buffer = larger;
    }

    /// Appends so many zeros, and returns them.
    pub fn grow(&mut self, more: usize) -> &mut [u32] {
        self.reserve(more);
        let from = self.buffer.words.len();
        self.buffer.words.resize(from + more, 0);
        &mut self.buffer.words[from..]
    }

    /// Appends these words.
    pub fn append(&mut self, words: &[u32]) {
        self.reserve(words.len());
        self.buffer.words.extend_from_slice(words);
    }

    /// The words so far.
    pub fn words(&mut self) -> &mut [u32] {
        &mut self.buffer.words
    }

    /// Forgets the words.
    pub fn clear(&mut self) {
        self.buffer.words.clear();
    }

    /// The words, to be shared.
    pub fn finish(&mut self) -> Words {
        Words(Arc::new(mem::take(&mut self.buffer)))
    }
}

impl Words {
    /// The memory that they are in, if it is recycled.
    pub fn memory(&self) -> Option<Recycled> {
        let Buffer { words, number } = &*self.0;
        number.map(|number| Recycled {
            number,
            address: words.as_ptr(),
            bytes: words.capacity() * size_of::<u32>(),
        })
    }
}

impl Deref for Draft {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.buffer.words
    }
}

impl Deref for Words {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.0.words
    }
}

impl From<Vec<u32>> for Words {
    fn from(words: Vec<u32>) -> Self {
        Self(Arc::new(Buffer {
            words,
            number: None,
        }))
    }
}

impl PartialEq for Words {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Words {}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} words", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_words_are_written_to_memory_that_was_used_before() {
        let mut draft = Draft::default();
        draft.grow(3).copy_from_slice(&[1, 2, 3]);
        assert_eq!(*draft.finish(), [1, 2, 3]);
        assert_eq!(Words::from(vec![1]).memory(), None);

        draft.grow(5)[4] = 9;
        draft.grow(RECYCLED)[0] = 8;
        let words = draft.finish();
        let memory = words.memory().unwrap();
        assert_eq!(words.len(), RECYCLED + 5);
        assert_eq!(words[..7], [0, 0, 0, 0, 9, 8, 0]);
        // Somebody else shares them.
        let shared = words.clone();
        drop(words);
        draft.grow(RECYCLED);
        assert_ne!(draft.finish().memory(), Some(memory));
        drop(shared);
        let mut used = Vec::new();
        // Other tests may use it meanwhile.
        let again = (0..100).any(|_| {
            draft.grow(RECYCLED);
            used.push(draft.finish());
            used.last().unwrap().memory() == Some(memory)
        });
        assert!(again);
        assert!(used.iter().all(|words| words.iter().all(|word| *word == 0)));
    }

    #[test]
    fn words_that_outgrow_their_memory_move_to_other_memory() {
        let mut draft = Draft::default();
        draft.grow(RECYCLED)[0] = 7;
        let before = draft.buffer.number;
        draft.reserve(draft.buffer.words.capacity());
        assert!(draft.buffer.number.is_some() && draft.buffer.number != before);
        assert_eq!((draft[0], draft.len()), (7, RECYCLED));
    }
}
