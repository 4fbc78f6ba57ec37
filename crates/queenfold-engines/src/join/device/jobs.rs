//! The jobs of a launch: what a block of a device does at a time.

use std::ops::RangeInclusive;

use super::tables::{RUN_WORDS, crossed};
use crate::join::key_layout::KeyLayout;

/// Words of a job: `JoinJob` of `kernels/crossing.h`.
pub(super) const JOB_WORDS: usize = 4;

/// The most bits that lists are sorted by: a million buckets.
pub(super) const MOST_BITS: u32 = 20;

/// The most bits that are settled where the pairs of two lists are divided among jobs: 256 jobs. Two blocks on each of
/// 132 multiprocessors count a few sets at a time, so they are all busy.
const MOST_SETTLED: u32 = 8;

/// Pairs of boards that a job crosses at least, if there are so many: some microseconds of a block.
const CROSSED: u64 = 1 << 16;

/// Runs that it crosses at least: each warp of a block takes some.
const RUNS: u32 = 32;

/// Bits of the low parts of keys that the lists of a sample are sorted by, and bits that are settled for its jobs.
const SAMPLE_BITS: u32 = 4;

/// Keys for each pair of boards that is crossed, about (docs/PERFORMANCE.md, Join).
const KEYS: f64 = 0.35;

/// A job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Job {
    /// Counts the keys that come of some runs.
    Count(Share),
    /// Writes these keys.
    Write(Share),
    /// Counts the pairs below a node of the division.
    Pairs(Node),
}

/// Some runs of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    /// The list: 0 top, 1 bottom.
    pub(super) side: u32,
    /// The first run.
    pub(super) first: u32,
    /// The number of runs.
    pub(super) runs: u32,
}

/// A node of the division: the bits of bucket numbers that are settled, from the highest on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Node {
    /// Their number.
    pub(super) depth: u32,
    /// At which of these the second list was split.
    pub(super) second: u32,
    /// Of which of these the keys of the list that was split have the bit, and the others lack it. Else these lack it, and
    /// the others may have it.
    pub(super) with: u32,
}

impl Job {
    /// Its words, for a group.
    pub(super) fn words(self, group: u32) -> [u32; JOB_WORDS] {
        let (kind, of, [first, second]) = match self {
            Self::Count(share) => (0, share.side, [share.first, share.runs]),
            Self::Write(share) => (1, share.side, [share.first, share.runs]),
            Self::Pairs(node) => (2, node.depth, [node.second, node.with]),
        };
        [group, kind | of << 8, first, second]
    }

    /// The job that these words mean; `None` if there is none of that kind.
    pub(super) fn of(words: &[u32; JOB_WORDS]) -> Option<Self> {
        let &[_, what, first, second] = words;
        let share = Share {
            side: what >> 8,
            first,
            runs: second,
        };
        match what & 0xff {
            0 => Some(Self::Count(share)),
            1 => Some(Self::Write(share)),
            2 => Some(Self::Pairs(Node {
                depth: what >> 8,
                second: first,
                with: second,
            })),
            _ => None,
        }
    }
}

/// The words of the jobs that make lists, of groups: first all that count keys, then all that write them. So a job seldom
/// waits for those that it builds on.
pub(super) fn listing(shares: &[(u32, Share)]) -> Vec<[u32; JOB_WORDS]> {
    let of = |kind: fn(Share) -> Job| {
        let words = move |&(group, share): &(u32, Share)| kind(share).words(group);
        shares.iter().map(words)
    };
    of(Job::Count).chain(of(Job::Write)).collect()
}

/// Divides the runs of a list among jobs. There is one job at least.
pub(super) fn shares(side: u32, runs: &[[u32; RUN_WORDS]]) -> Vec<Share> {
    let mut shares = Vec::new();
    let (mut first, mut sum) = (0, 0);
    let mut share = |first: u32, end: u32| {
        let runs = end - first;
        shares.push(Share { side, first, runs });
    };
    for (end, words) in (1..).zip(runs) {
        sum += crossed(words);
        if sum >= CROSSED && end - first >= RUNS {
            share(first, end);
            (first, sum) = (end, 0);
        }
    }
    let end = runs.len() as u32;
    if first < end || end == 0 {
        share(first, end);
    }
    shares
}

/// How two lists are sorted and divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Division {
    /// The number of bits to sort by.
    pub(super) bits: u32,
    /// The number of bits that are settled for a job.
    pub(super) settled: u32,
}

impl Division {
    /// For lists that come of so many pairs of boards, on blocks with room for `room` keys. They can be sorted by so many
    /// `bits` ([`sortable`]), as many as it takes so that most parts of their pairs fit a block.
    ///
    /// A split leaves half of the list it splits and four fifths of the other one on average, so two thirds of the
    /// keys; two bits more than this asks for let nearly all parts fit (docs/PERFORMANCE.md).
    pub(super) fn new(crossed: [u64; 2], bits: &RangeInclusive<u32>, room: u32) -> Self {
        let too_long = keys(crossed).into_iter().sum::<f64>() / f64::from(room);
        let needed = if too_long <= 1.0 {
            0
        } else {
            (too_long.ln() / 1.5_f64.ln()).ceil() as u32 + 2
        };
        let bits = needed.clamp(*bits.start(), *bits.end());
        Self {
            bits,
            settled: needed.saturating_sub(2).min(bits).min(MOST_SETTLED),
        }
    }

    /// For the sample of a launch: sorted by some bits of either kind, and divided among some jobs, as large lists are.
    pub(super) fn of_sample(bits: &RangeInclusive<u32>) -> Self {
        let bits = (bits.start() + SAMPLE_BITS).min(*bits.end());
        Self {
            bits,
            settled: bits.min(SAMPLE_BITS),
        }
    }

    /// The nodes at which jobs begin, those with the most pairs first. The lists are split in turn.
    pub(super) fn nodes(self) -> Vec<Node> {
        let Self { bits, settled } = self;
        let place = |index: u32| 1 << (bits - 1 - index);
        let second = (0..settled).filter(|index| index % 2 == 1).map(place).sum();
        let mut nodes: Vec<Node> = (0..1_u32 << settled)
            .map(|with| Node {
                depth: settled,
                second,
                with: with << (bits - settled),
            })
            .collect();
        nodes.sort_by_key(|node| node.with.count_ones());
        nodes
    }
}

/// The numbers of bits that lists of this layout can be sorted by: those that their keys lack then, and some more.
pub(super) fn sortable(layout: &KeyLayout) -> RangeInclusive<u32> {
    let all = layout.sorted() + layout.rest().min(u32::BITS);
    layout.sorted()..=all.min(MOST_BITS)
}

/// The keys of two lists that come of so many pairs of boards, about.
pub(super) fn keys(crossed: [u64; 2]) -> [f64; 2] {
    crossed.map(|pairs| pairs as f64 * KEYS)
}

/// What it takes a device to count the pairs of two lists that come of so many pairs of boards, in an arbitrary unit: the
/// work of splitting and testing grows as the power 0.73 of the pairs of lists of equal length (docs/PERFORMANCE.md,
/// Join).
pub(super) fn work(crossed: [u64; 2]) -> f64 {
    keys(crossed).into_iter().product::<f64>().powf(0.73)
}
