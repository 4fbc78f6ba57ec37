//! Divides the pairs of two lists into parts that each fit a block of a device.

use super::flat_lists::FlatLists;

/// A part of the pairs of two lists, that of the top half first: the keys of some buckets of each.
///
/// For each set of bits of `free`, a run of 2^`run` buckets begins at these bits and `own`. Of all keys of these
/// runs, in this order of sets, `count` after the first `skip` are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SubProblem {
    pub(super) run: [u32; 2],
    pub(super) own: [u32; 2],
    pub(super) free: [u32; 2],
    pub(super) skip: [u32; 2],
    pub(super) count: [u32; 2],
}

/// The most bits of `free`: a block keeps its runs in a table of a thousand (`QF_MOST_RUNS`).
pub(super) const MOST_FREE: u32 = 10;

impl SubProblem {
    /// The number of pairs.
    pub(super) fn pairs(&self) -> u64 {
        self.count.map(u64::from).iter().product()
    }

    /// What it takes a device, in an arbitrary unit: the work of splitting and testing grows as the power 0.73
    /// of the pairs of lists of equal length (docs/PERFORMANCE.md, Join).
    pub(super) fn work(&self) -> f64 {
        (self.pairs() as f64).powf(0.73)
    }

    /// The keys of one list that it means, among the `words` of the launch, which has checked them.
    pub(super) fn keys(&self, side: usize, lists: FlatLists, words: &[u32]) -> Vec<u32> {
        let offsets = lists.offsets(side, words);
        let keys = &words[lists.lists[side].keys as usize..];
        let mut found = Vec::new();
        for set in subsets(self.free[side]) {
            let bucket = (self.own[side] | set) as usize;
            let ends = [bucket, bucket + (1 << self.run[side])].map(|at| offsets[at] as usize);
            found.extend_from_slice(&keys[ends[0]..ends[1]]);
        }
        let skip = self.skip[side] as usize;
        found[skip..][..self.count[side] as usize].to_vec()
    }
}

/// The sets of bits of `mask` as numbers, in ascending order: as `subset` of the kernel numbers them.
pub(super) fn subsets(mask: u32) -> impl Iterator<Item = u32> {
    let mut next = Some(0_u32);
    std::iter::from_fn(move || {
        let subset = next?;
        let following = (subset | !mask).wrapping_add(1) & mask;
        next = (following != 0).then_some(following);
        Some(subset)
    })
}

/// Divides pairs. Keeps its buffers.
#[derive(Default)]
pub(super) struct Planner {
    /// For each number of bits split by, the sizes of the buckets of a list that was not split there: those
    /// with the bit and those without it belong together.
    folded: Vec<Vec<u32>>,
}

/// What stays the same while the pairs of two lists are divided.
struct Division<'a> {
    /// Bits that the lists are sorted by, and how many of these bits the keys themselves lack.
    bits: u32,
    lacking: u32,
    /// Keys that a block has room for.
    room: u32,
    folded: &'a mut [Vec<u32>],
    discarded: u64,
}

/// Buckets of both lists, by the bits split by so far.
#[derive(Clone, Copy, Default)]
struct Node {
    depth: u32,
    own: [u32; 2],
    free: [u32; 2],
}

impl Planner {
    /// Divides the pairs of two lists, whose offsets are `lists`, sorted by `bits` bits of which the keys
    /// themselves lack the first `lacking`. Calls `found` with the parts: each has at most `room` keys, an even
    /// number. Returns the number of pairs that are in no part, because both keys have a bit that lists were
    /// split by.
    ///
    /// The lists are split as the CPU splits them, always the longer one, but by the sizes of their buckets
    /// alone.
    pub(super) fn divide(
        &mut self,
        lists: [&[u32]; 2],
        bits: u32,
        lacking: u32,
        room: u32,
        found: &mut impl FnMut(SubProblem),
    ) -> u64 {
        let sizes = lists.map(|offsets| -> Vec<u32> {
            offsets.windows(2).map(|ends| ends[1] - ends[0]).collect()
        });
        self.folded.resize_with(bits as usize, Vec::new);
        let mut division = Division {
            bits,
            lacking,
            room,
            folded: &mut self.folded,
            discarded: 0,
        };
        division.split(Node::default(), sizes.each_ref().map(Vec::as_slice), found);
        division.discarded
    }
}

impl Division<'_> {
    /// `sizes` are those of the buckets that are not told apart yet.
    fn split(&mut self, node: Node, sizes: [&[u32]; 2], found: &mut impl FnMut(SubProblem)) {
        let counts = sizes.map(|sizes| sizes.iter().sum::<u32>());
        if counts.contains(&0) {
            return;
        }
        let fits = counts[0] + counts[1] <= self.room;
        if node.depth == self.bits || (fits && node.depth >= self.lacking) {
            return self.give(node, counts, found);
        }
        let longer = usize::from(counts[0] < counts[1]);
        // Whatever is split, one list gets a free bit where the other one has none.
        let full = node.free[1 - longer].count_ones() == MOST_FREE;
        let split = if full { 1 - longer } else { longer };
        let other = 1 - split;
        let bit = 1 << (self.bits - node.depth - 1);
        let [without, with] = {
            let halves = sizes.map(|sizes| sizes.split_at(sizes.len() / 2));
            [halves.map(|half| half.0), halves.map(|half| half.1)]
        };
        let sum = |sizes: &[u32]| sizes.iter().map(|&size| u64::from(size)).sum::<u64>();
        self.discarded += sum(with[0]) * sum(with[1]);

        let mut next = Node {
            depth: node.depth + 1,
            ..node
        };
        next.own[split] |= bit;
        let mut parts = with;
        parts[other] = without[other];
        self.split(next, parts, found);

        let mut next = Node {
            depth: node.depth + 1,
            ..node
        };
        next.free[other] |= bit;
        let mut folded = std::mem::take(&mut self.folded[node.depth as usize]);
        folded.clear();
        let both = without[other].iter().zip(with[other]);
        folded.extend(both.map(|(without, with)| without + with));
        parts[split] = without[split];
        parts[other] = &folded;
        self.split(next, parts, found);
        self.folded[node.depth as usize] = folded;
    }

    /// Gives a part, in pieces if it is too large: nothing is left to split by.
    fn give(&self, node: Node, counts: [u32; 2], found: &mut impl FnMut(SubProblem)) {
        let mut whole = SubProblem {
            run: [self.bits - node.depth; 2],
            own: node.own,
            free: node.free,
            skip: [0; 2],
            count: counts,
        };
        // Runs that follow one another are one.
        for (run, free) in whole.run.iter_mut().zip(&mut whole.free) {
            while *free >> *run & 1 == 1 {
                *free &= !(1 << *run);
                *run += 1;
            }
        }
        let shorter = counts[0].min(counts[1]).min(self.room / 2);
        let most = counts.map(|count| {
            if count <= shorter {
                count
            } else {
                self.room - shorter
            }
        });
        for [top, top_end] in pieces(counts[0], most[0]) {
            for [bottom, bottom_end] in pieces(counts[1], most[1]) {
                found(SubProblem {
                    skip: [top, bottom],
                    count: [top_end - top, bottom_end - bottom],
                    ..whole
                });
            }
        }
    }
}

/// Divides `count` things into pieces of about the same size, at most `most`: where each begins and ends.
fn pieces(count: u32, most: u32) -> impl Iterator<Item = [u32; 2]> {
    let pieces = u64::from(count.div_ceil(most));
    let end = move |piece: u64| (u64::from(count) * piece / pieces) as u32;
    (0..pieces).map(move |piece| [end(piece), end(piece + 1)])
}
