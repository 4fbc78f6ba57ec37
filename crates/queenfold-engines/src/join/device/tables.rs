//! The tables of a launch: boards of quadrants, the runs of them that meet, and what the kernel makes of them.
//!
//! They begin with the number of groups and the word at which the groups lie. Then come runs and boards, then the groups:
//! `PairsGroup` of `kernels/crossing.h`.

use std::ops::Range;

use crate::engine::{Draft, Scratch, Words};
use crate::join::crossing::HalfBoards;
use crate::join::kernel::{Boards, Run};

/// Words before the runs and boards.
pub(super) const HEAD: usize = 2;

/// Words of a run: where it begins among the boards of the left quadrant and of the right one, and where it ends.
pub(super) const RUN_WORDS: usize = 4;

/// Words of the state of a list in the scratch memory: `ListState` of the kernel.
const STATE: usize = 3;

/// Two lists whose pairs are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Group {
    /// Logarithm of the number of buckets, and how many of these bits the keys lack once they are sorted.
    pub(super) bits: u32,
    pub(super) sorted: u32,
    /// Whether boards have high parts of keys.
    pub(super) high: bool,
    /// The list of the top half, and that of the bottom half.
    pub(super) lists: [List; 2],
}

/// A list: what it is crossed from, and where it lies in the scratch memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct List {
    /// The word at which the runs begin, and their number.
    pub(super) runs: u32,
    pub(super) run_count: u32,
    /// The words at which the boards of the left and of the right quadrant begin, and their numbers.
    pub(super) boards: [u32; 2],
    pub(super) counts: [u32; 2],
    /// Low and high part of the bits with which keys are left out.
    pub(super) attacked: [u32; 2],
    /// The number of jobs that count keys, and of those that write them.
    pub(super) jobs: u32,
    pub(super) place: Place,
}

/// Where a list lies in the scratch memory: its state, the number of keys of each bucket, where each bucket begins, its
/// keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) state: u32,
    pub(super) numbers: u32,
    pub(super) offsets: u32,
    pub(super) keys: u32,
}

/// Gives lists their places in the scratch memory: the words that are zero at the start come first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    scratch: Scratch,
}

impl List {
    const WORDS: usize = 13;

    fn words(self) -> [u32; Self::WORDS] {
        let Place {
            state,
            numbers,
            offsets,
            keys,
        } = self.place;
        [
            self.runs,
            self.run_count,
            self.boards[0],
            self.boards[1],
            self.counts[0],
            self.counts[1],
            self.attacked[0],
            self.attacked[1],
            self.jobs,
            state,
            numbers,
            offsets,
            keys,
        ]
    }

    fn of(words: &[u32]) -> Self {
        let pair = |at: usize| [words[at], words[at + 1]];
        Self {
            runs: words[0],
            run_count: words[1],
            boards: pair(2),
            counts: pair(4),
            attacked: pair(6),
            jobs: words[8],
            place: Place {
                state: words[9],
                numbers: words[10],
                offsets: words[11],
                keys: words[12],
            },
        }
    }

    /// The list of some of its runs.
    pub(super) fn of_runs(self, runs: &Range<usize>) -> Self {
        Self {
            runs: self.runs + (runs.start * RUN_WORDS) as u32,
            run_count: runs.len() as u32,
            ..self
        }
    }

    /// Its runs among the words of the tables, which must have them.
    pub(super) fn runs_in<'a>(&self, tables: &'a [u32]) -> &'a [[u32; RUN_WORDS]] {
        let words = self.run_count as usize * RUN_WORDS;
        tables[self.runs as usize..][..words].as_chunks().0
    }
}

impl Group {
    /// Words that describe it.
    pub(super) const WORDS: usize = 3 + 2 * List::WORDS;

    /// Words of a board: its diagonals, the low part of its key, the high part.
    pub(super) const fn board_words(high: bool) -> usize {
        if high { 3 } else { 2 }
    }

    /// These words.
    pub(super) fn words(self) -> [u32; Self::WORDS] {
        let mut words = [0; Self::WORDS];
        words[..3].copy_from_slice(&[self.bits, self.sorted, self.high.into()]);
        for (list, words) in self.lists.iter().zip(words[3..].chunks_mut(List::WORDS)) {
            words.copy_from_slice(&list.words());
        }
        words
    }

    /// Read back from its words.
    pub(super) fn of(words: &[u32; Self::WORDS]) -> Self {
        Self {
            bits: words[0],
            sorted: words[1],
            high: words[2] != 0,
            lists: [3, 3 + List::WORDS].map(|at| List::of(&words[at..at + List::WORDS])),
        }
    }
}

/// The groups of a launch.
pub(super) fn groups(tables: &[u32]) -> impl Iterator<Item = Group> {
    let at = tables.get(1).map_or(0, |&at| at as usize);
    let (groups, _) = tables.get(at..).unwrap_or_default().as_chunks();
    groups.iter().map(Group::of)
}

/// The number of pairs of boards in a run: no more keys can come of it.
pub(super) fn crossed(run: &[u32; RUN_WORDS]) -> u64 {
    let [lefts, rights] = [0, 1].map(|side| u64::from(run[side + 2].saturating_sub(run[side])));
    lefts * rights
}

impl Places {
    /// For lists of which each is sorted by as many bits as it says.
    pub(super) fn new(bits: impl Iterator<Item = u32>) -> Self {
        let zeros = bits.map(|bits| STATE + (1 << bits)).sum();
        Self {
            scratch: Scratch { words: 0, zeros },
        }
    }

    /// Words of a list, besides its keys.
    pub(super) const fn words(bits: u32) -> u64 {
        STATE as u64 + (2 << bits) + 1
    }

    /// The place of the next list, which has at most `keys` keys.
    pub(super) fn next(&mut self, bits: u32, keys: usize) -> Place {
        let buckets = 1 << bits;
        let Scratch { words, zeros } = &mut self.scratch;
        let (state, offsets) = (*words, *zeros);
        *words += STATE + buckets;
        *zeros += buckets + 1 + keys;
        Place {
            state: state as u32,
            numbers: (state + STATE) as u32,
            offsets: offsets as u32,
            keys: (offsets + buckets + 1) as u32,
        }
    }

    /// All of the memory, once every list has its place.
    pub(super) const fn scratch(self) -> Scratch {
        // The words that begin at zero are all given away, and the others follow them.
        Scratch {
            words: self.scratch.zeros,
            zeros: self.scratch.words,
        }
    }
}

/// Ends the tables of a launch, which begin with room for the head, with these groups.
pub(super) fn finish(mut words: Draft, groups: &[Group]) -> Words {
    let head = [groups.len(), words.len()].map(|number| number as u32);
    words.words()[..HEAD].copy_from_slice(&head);
    groups.iter().for_each(|group| words.append(&group.words()));
    words.finish()
}

/// Words of the runs and boards of a half.
pub(super) fn words_for(half: &HalfBoards<'_>, high: bool) -> usize {
    let boards: usize = half.boards.iter().map(Boards::count).sum();
    half.runs.len() * RUN_WORDS + boards * Group::board_words(high)
}

/// Writes the runs and boards of a half to `words`. The list of all of them has no place yet, and no jobs. Boards that the
/// `last` set had too, as those of right quadrants mostly are, are not written again.
pub(super) fn append(
    half: &HalfBoards<'_>,
    high: bool,
    last: Option<&List>,
    words: &mut Draft,
) -> List {
    let runs = words.len() as u32;
    let to = words.grow(half.runs.len() * RUN_WORDS);
    for ([left, right], to) in half.runs.iter().zip(to.as_chunks_mut().0) {
        *to = run_words(*left, *right);
    }
    let boards = [0, 1].map(|quadrant| {
        let boards = half.boards[quadrant];
        let count = boards.count();
        let parts = [boards.lines, boards.low, boards.high].map(|part| &part[..count]);
        let parts = &parts[..Group::board_words(high)];
        let last = last.filter(|last| last.counts[quadrant] as usize == count);
        let are_there = |at: u32| {
            let mut there = words[at as usize..].chunks_exact(count.max(1));
            parts.iter().all(|part| there.next() == Some(part))
        };
        match last.map(|last| last.boards[quadrant]) {
            Some(at) if are_there(at) => at,
            _ => {
                let at = words.len() as u32;
                parts.iter().for_each(|part| words.append(part));
                at
            }
        }
    });
    List {
        runs,
        run_count: half.runs.len() as u32,
        boards,
        counts: half.boards.map(|boards| boards.count() as u32),
        attacked: [half.attacked as u32, (half.attacked >> 32) as u32],
        ..List::default()
    }
}

const fn run_words(left: Run, right: Run) -> [u32; RUN_WORDS] {
    [left.begin, right.begin, left.end, right.end]
}
