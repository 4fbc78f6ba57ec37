//! Boards of many sets become one launch.

use super::batch::{JoinBatch, LeftSet};
use std::ops::RangeInclusive;

use super::jobs::{Division, JOB_WORDS, Job, shares, sortable, work};
use super::program::room;
use super::sample;
use super::tables::{Group, HEAD, Places, append, crossed, words_for};
use crate::engine::{DeviceProgram, Draft, Launch, LaunchError, Tally};
use crate::join::counter::LeftPairs;
use crate::join::crossing::HalfBoards;
use crate::join::key_layout::KeyLayout;

/// A launch that is being built.
pub(super) struct Bundle {
    program: DeviceProgram,
    /// The tables, but for the groups, which come last.
    words: Draft,
    sets: Vec<BundledSet>,
    /// Bytes of jobs, groups and scratch memory.
    more_bytes: u64,
}

struct BundledSet {
    group: Group,
    /// The numbers of bits that its lists can be sorted by.
    bits: RangeInclusive<u32>,
    division: Division,
    crossed: [u64; 2],
    /// The position of its task, and what its pairs stand for.
    stands_for: Option<(usize, LeftPairs)>,
}

impl Bundle {
    /// An empty one.
    pub(super) fn new(program: DeviceProgram) -> Self {
        Self {
            program,
            words: Draft::default(),
            sets: Vec::new(),
            more_bytes: 0,
        }
    }

    /// Whether it holds no set.
    pub(super) const fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Bytes that it takes on a device, about.
    pub(super) fn bytes(&self) -> u64 {
        4 * self.words.len() as u64 + self.more_bytes
    }

    /// What it takes a device to count it: see [`work`].
    pub(super) fn work(&self) -> f64 {
        self.sets.iter().map(|set| work(set.crossed)).sum()
    }

    /// What it takes a device to count these half boards.
    pub(super) fn work_for(halves: &[HalfBoards<'_>; 2]) -> f64 {
        work(crossed_of(halves))
    }

    /// About how many bytes the lists of these half boards will take on a device.
    pub(super) fn bytes_for(&self, halves: &[HalfBoards<'_>; 2], layout: &KeyLayout) -> u64 {
        let high = layout.high();
        let words: usize = halves.iter().map(|half| words_for(half, high)).sum();
        4 * words as u64 + self.more_bytes_for(crossed_of(halves), layout)
    }

    /// Bytes of jobs, group and scratch memory.
    fn more_bytes_for(&self, crossed: [u64; 2], layout: &KeyLayout) -> u64 {
        let Division { bits, settled } =
            Division::new(crossed, &sortable(layout), room(&self.program));
        let jobs = JOB_WORDS << settled;
        let words = Group::WORDS + jobs + (4 << bits);
        4 * (words as u64 + crossed.iter().sum::<u64>())
    }

    /// Adds the half boards that come of these boards, whose keys have this `layout`. [`settle`](Self::settle) must
    /// follow.
    pub(super) fn add(&mut self, halves: &[HalfBoards<'_>; 2], layout: &KeyLayout) {
        let high = layout.high();
        let crossed = crossed_of(halves);
        let bits = sortable(layout);
        let division = Division::new(crossed, &bits, room(&self.program));
        self.more_bytes += self.more_bytes_for(crossed, layout);
        let words: usize = halves.iter().map(|half| words_for(half, high)).sum();
        // The groups follow, and one of them is that of the sample.
        self.words
            .reserve(HEAD + words + (self.sets.len() + 2) * Group::WORDS);
        if self.words.is_empty() {
            self.words.grow(HEAD);
        }
        let lists = halves
            .each_ref()
            .map(|half| append(half, high, &mut self.words));
        self.sets.push(BundledSet {
            group: Group {
                bits: division.bits,
                sorted: layout.sorted(),
                high,
                lists,
            },
            bits,
            division,
            crossed,
            stands_for: None,
        });
    }

    /// Says what the pairs of the half boards added last stand for. They belong to the task at this position.
    pub(super) fn settle(&mut self, task: usize, stands_for: LeftPairs) {
        if let Some(set) = self.sets.last_mut() {
            set.stands_for = Some((task, stands_for));
        }
    }

    /// Drops everything.
    pub(super) fn clear(&mut self) {
        self.words.clear();
        self.sets.clear();
        self.more_bytes = 0;
    }

    /// Takes everything out as a batch, of tasks of which `tallies` was counted on the CPU. The pairs of some half
    /// boards, chosen by `seed`, are counted again on the CPU.
    ///
    /// # Errors
    /// The launch does not fit its program: a defect.
    pub(super) fn take(
        &mut self,
        tallies: Vec<Tally>,
        seed: u64,
    ) -> Result<JoinBatch, LaunchError> {
        let mut sampled = [0; 2];
        let launch = if self.sets.is_empty() {
            None
        } else {
            // The constant is 2⁶⁴ divided by the golden ratio: neighbouring seeds pick sets far apart.
            let seed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let set = (u128::from(seed) * self.sets.len() as u128) >> 64;
            let BundledSet { group, bits, .. } = &self.sets[set as usize];
            let (bits, mut group) = (bits.clone(), sample::append(group, &mut self.words, seed));
            sampled = group.lists.map(|list| {
                let runs = list.runs_in(&self.words);
                runs.iter().map(crossed).sum()
            });
            let division = Division::new(sampled, &bits, room(&self.program));
            group.bits = division.bits;
            self.sets.push(BundledSet {
                group,
                bits,
                division,
                crossed: sampled,
                stands_for: None,
            });
            Some(self.launch()?)
        };
        let all = self.sets.len().saturating_sub(1);
        let sets = self.sets.iter().take(all).map(|set| {
            let (task, stands_for) = set.stands_for.expect("every set was settled");
            LeftSet {
                task,
                stands_for,
                crossed: set.crossed,
            }
        });
        let batch = JoinBatch {
            launch,
            tallies,
            sets: sets.collect(),
            sampled,
            wrong: None,
        };
        self.clear();
        Ok(batch)
    }

    /// The launch: first all jobs that count keys, then those that write them, then those that count pairs. So a job
    /// seldom waits for those that it builds on.
    fn launch(&mut self) -> Result<Launch, LaunchError> {
        let bits = self.sets.iter().flat_map(|set| [set.group.bits; 2]);
        let mut places = Places::new(bits);
        let mut crossing = Vec::new();
        for (number, set) in (0..).zip(&mut self.sets) {
            for (side, list) in (0..).zip(&mut set.group.lists) {
                let shares = shares(list.runs_in(&self.words));
                list.jobs = shares.len() as u32;
                list.place = places.next(set.group.bits, set.crossed[side as usize] as usize);
                let of_list = |(first, runs)| (number, side, first, runs);
                crossing.extend(shares.into_iter().map(of_list));
            }
        }
        let mut jobs = Vec::new();
        for &(group, side, first, runs) in &crossing {
            jobs.push(Job::Count { side, first, runs }.words(group));
        }
        for &(group, side, first, runs) in &crossing {
            jobs.push(Job::Write { side, first, runs }.words(group));
        }
        // Large ones first, so that no block begins one when the others have nothing left to do.
        let mut pairs: Vec<_> = (0..)
            .zip(&self.sets)
            .flat_map(|(group, set)| {
                set.division
                    .nodes()
                    .into_iter()
                    .map(move |node| (group, node))
            })
            .collect();
        pairs.sort_by_key(|(_, node)| node.with.count_ones());
        jobs.extend(
            pairs
                .into_iter()
                .map(|(group, node)| Job::Pairs(node).words(group)),
        );

        let head = [self.sets.len(), self.words.len()].map(|number| number as u32);
        self.words.words()[..HEAD].copy_from_slice(&head);
        let groups: Vec<_> = self.sets.iter().map(|set| set.group.words()).collect();
        let groups = groups.into_flattened();
        self.words.grow(groups.len()).copy_from_slice(&groups);
        Launch::new(self.program, jobs.into_flattened(), self.words.finish())
    }
}

/// Pairs of boards that both lists are crossed from.
fn crossed_of(halves: &[HalfBoards<'_>; 2]) -> [u64; 2] {
    halves.each_ref().map(|half| {
        let pairs = half.runs.iter();
        pairs
            .map(|[left, right]| left.len() as u64 * right.len() as u64)
            .sum()
    })
}
