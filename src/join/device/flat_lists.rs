//! Lists as devices read them: keys in the order of buckets, and where each bucket begins.

use super::super::kernel::{Buckets, Sort};
use super::super::key_layout::KeyLayout;
use super::super::pairs::Lists;
use crate::engine::Draft;
use crate::simd::Portable;

/// The most bits that lists are sorted by for a device: a million buckets.
pub(super) const MOST_BITS: u32 = 20;

/// Where the lists of a set lie in the words of a launch: `PairsGroup` of `kernels/pairs.h`.
///
/// A list of 2^bits buckets has one more offset than buckets, for the end of the last. Offsets count from the
/// first key. The highest bit of the number of a bucket is the bit of the keys that is best to split by, the
/// next one is the second best, and so on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FlatLists {
    /// The number of bits that both lists are sorted by.
    pub(super) bits: u32,
    /// The list of the top half, and that of the bottom half.
    pub(super) lists: [FlatList; 2],
}

/// The word at which the offsets of a list begin, and the word at which its keys do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FlatList {
    pub(super) offsets: u32,
    pub(super) keys: u32,
}

impl FlatLists {
    /// Words that describe them.
    pub(super) const WORDS: usize = 5;

    /// These words.
    pub(super) fn words(self) -> [u32; Self::WORDS] {
        let [top, bottom] = self.lists;
        [
            self.bits,
            top.offsets,
            top.keys,
            bottom.offsets,
            bottom.keys,
        ]
    }

    /// Read back from its words.
    pub(super) fn of([bits, offsets, keys, other_offsets, other_keys]: [u32; Self::WORDS]) -> Self {
        let list = |offsets, keys| FlatList { offsets, keys };
        Self {
            bits,
            lists: [list(offsets, keys), list(other_offsets, other_keys)],
        }
    }

    /// The offsets of a list among the `words` of the launch.
    pub(super) fn offsets(self, side: usize, words: &[u32]) -> &[u32] {
        &words[self.lists[side].offsets as usize..][..(1 << self.bits) + 1]
    }

    /// The number of words that lists of so many keys take, offsets included.
    pub(super) fn words_for(keys: usize, bits: u32) -> usize {
        keys + 2 * ((1 << bits) + 1)
    }
}

/// Sorts lists for a device.
#[derive(Default)]
pub(super) struct Flattener {
    /// The keys of one bucket of the list as it was made.
    bucket: Vec<u32>,
    /// Where the next key of each bucket goes that this one is divided into.
    next: Vec<u32>,
}

impl Flattener {
    /// Appends both lists, which have this `layout`, to `words`, sorted by `bits` bits: those that they are
    /// sorted by already, and the next best ones.
    pub(super) fn append(
        &mut self,
        lists: &Lists<u32>,
        layout: &KeyLayout,
        bits: u32,
        words: &mut Draft,
    ) -> FlatLists {
        FlatLists {
            bits,
            lists: [&lists.top, &lists.bottom]
                .map(|list| self.append_list(list, layout.sorted(), bits, words)),
        }
    }

    fn append_list(
        &mut self,
        from: &Buckets<u32>,
        sorted: u32,
        bits: u32,
        words: &mut Draft,
    ) -> FlatList {
        let more = bits - sorted;
        let offsets_at = words.len();
        let keys_at = offsets_at + (1 << bits) + 1;
        let made = words.grow((1 << bits) + 1 + from.len());
        let (offsets, keys) = made.split_at_mut((1 << bits) + 1);
        let mut written = 0;
        for number in 0..1_u32 << sorted {
            // The buckets of a list as it was made have their best bit lowest.
            let value = number.reverse_bits().unbounded_shr(u32::BITS - sorted);
            self.bucket.clear();
            // It only copies: wider vectors would not be faster.
            Portable.gather(from, value, 0, &mut self.bucket);
            let offsets = &mut offsets[(number as usize) << more..][..1 << more];
            self.divide(offsets, &mut keys[written..][..self.bucket.len()], more);
            for offset in offsets {
                *offset += written as u32;
            }
            written += self.bucket.len();
        }
        offsets[1 << bits] = written as u32;
        FlatList {
            offsets: offsets_at as u32,
            keys: keys_at as u32,
        }
    }

    /// Sorts the keys of a bucket by their `more` lowest bits, which are the next best ones: the lowest bit
    /// becomes the highest of the number of a bucket.
    fn divide(&mut self, offsets: &mut [u32], to: &mut [u32], more: u32) {
        let number = |key: u32| key.reverse_bits().unbounded_shr(u32::BITS - more) as usize;
        if more == 0 {
            to.copy_from_slice(&self.bucket);
            return;
        }
        for &key in &self.bucket {
            offsets[number(key)] += 1;
        }
        let mut begin = 0;
        for offset in offsets.iter_mut() {
            begin += std::mem::replace(offset, begin);
        }
        self.next.clear();
        self.next.extend_from_slice(offsets);
        for &key in &self.bucket {
            let place = &mut self.next[number(key)];
            to[*place as usize] = key;
            *place += 1;
        }
    }
}

/// The number of bits to sort lists of these lengths by, so that most parts of their pairs fit a block with room
/// for `room` keys. Lists of this `layout` must be sorted by some, and can be sorted by some more.
///
/// A split leaves half of the list it splits and four fifths of the other one on average, so two thirds of the
/// keys; two bits more than this asks for let nearly all parts fit (docs/PERFORMANCE.md).
pub(super) fn bits_for(lengths: [usize; 2], layout: &KeyLayout, room: u32) -> u32 {
    let too_long = lengths.iter().sum::<usize>() as f64 / f64::from(room);
    let needed = if too_long <= 1.0 {
        0
    } else {
        (too_long.ln() / 1.5_f64.ln()).ceil() as u32 + 2
    };
    let can = layout.sorted() + layout.rest().min(u32::BITS);
    needed.max(layout.sorted()).min(can).min(MOST_BITS)
}
