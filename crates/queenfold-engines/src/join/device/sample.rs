//! The few half boards of each launch whose pairs the CPU counts, too.
//!
//! They are a group of their own, crossed from some boards of a set of the launch: they are counted, sorted, written and
//! divided among jobs as all others are, but fewer. That is enough to notice a device that counts wrongly now and then,
//! because launches are many. To count a whole set again would take a core as long as to count it first, and a launch of
//! a large board has a few sets: the device would save nothing. What a sample cannot show is seen otherwise. All
//! pairs of boards were crossed, and all pairs of keys tested or discarded, by their numbers, for each set; every
//! bucket got the keys that were counted for it. The audit counts whole tasks on the CPU, from lists of its own.

use fastrand::Rng;

use super::tables::{Group, List, RUN_WORDS, groups};
use crate::engine::{Draft, Launch};

/// Pairs of boards of each half that a sample is crossed from: some 1,400 keys, so that their pairs take the CPU a
/// millisecond.
const CROSSED: u32 = 4096;

/// Appends the runs of a sample of this group to `words`, chosen by `seed`. The lists have no place yet, and no jobs.
pub(super) fn append(group: &Group, words: &mut Draft, seed: u64) -> Group {
    let mut random = Rng::with_seed(seed);
    let lists = group.lists.map(|list| {
        let runs = sampled(list.runs_in(words), &mut random);
        let at = words.len() as u32;
        let to = words.grow(runs.len() * RUN_WORDS);
        to.copy_from_slice(runs.as_flattened());
        List {
            runs: at,
            run_count: runs.len() as u32,
            ..list
        }
    });
    Group { lists, ..*group }
}

/// Runs from a random one on, and of the last one some boards.
fn sampled(runs: &[[u32; RUN_WORDS]], random: &mut Rng) -> Vec<[u32; RUN_WORDS]> {
    let first = random.usize(..runs.len().max(1));
    let mut left = CROSSED;
    let mut sampled = Vec::new();
    for &[begin, right, end, right_end] in runs.iter().skip(first) {
        let others = (right_end - right).max(1);
        let count = (end - begin).min(left.div_ceil(others));
        // Which boards is a matter of chance, too.
        let begin = begin + random.u32(..=end - begin - count);
        sampled.push([begin, right, begin + count, right_end]);
        left = left.saturating_sub(count * others);
        if left == 0 {
            break;
        }
    }
    sampled
}

/// The keys of each list of the last group of a launch, and the number of their pairs that share no bit.
pub(super) fn count(launch: &Launch) -> Option<([u64; 2], u64)> {
    let tables = launch.tables();
    let group = groups(tables).last()?;
    let [top, bottom] = group.lists.map(|list| keys(&group, &list, tables));
    let disjoint = |key: &u64| {
        bottom
            .iter()
            .map(|other| u64::from(key & other == 0))
            .sum::<u64>()
    };
    let found = top.iter().map(disjoint).sum();
    Some(([top.len() as u64, bottom.len() as u64], found))
}

/// The keys of a list, with the bits of their high parts that they are sorted by.
pub(super) fn keys(group: &Group, list: &List, tables: &[u32]) -> Vec<u64> {
    let board = |quadrant: usize, at: u32| {
        let count = list.counts[quadrant] as usize;
        let word =
            |part: usize| tables[list.boards[quadrant] as usize + part * count + at as usize];
        let high = if group.high { word(2) } else { 0 };
        (word(0), u64::from(high) << 32 | u64::from(word(1)))
    };
    let attacked = u64::from(list.attacked[1]) << 32 | u64::from(list.attacked[0]);
    let sorted = !(u64::MAX.unbounded_shr(group.sorted));
    let mut keys = Vec::new();
    for &[left, right, left_end, right_end] in list.runs_in(tables) {
        for left in left..left_end {
            let (lines, key) = board(0, left);
            for right in right..right_end {
                let (others, other) = board(1, right);
                if lines & others == 0 && (key | other) & attacked == 0 {
                    keys.push((key | other) & (sorted | u64::from(u32::MAX)));
                }
            }
        }
    }
    keys
}
