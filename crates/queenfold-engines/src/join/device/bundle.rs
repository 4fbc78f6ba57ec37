//! Boards of many sets become one launch.

use std::mem;
use std::ops::RangeInclusive;

use super::batch::{JoinBatch, LeftPart, LeftSet};
use super::jobs::{Division, JOB_WORDS, Job, listing, shares, sortable, work};
use super::program::room;
use super::sample;
use super::tables::{Group, HEAD, List, Places, append, crossed, finish, words_for};
use crate::engine::{DeviceProgram, Draft, Launch, LaunchError, Tally};
use crate::join::counter::LeftPairs;
use crate::join::crossing::{PairsOfRuns, SetBoards};
use crate::join::key_layout::KeyLayout;

/// A launch that is being built.
pub(super) struct Bundle {
    program: DeviceProgram,
    /// The tables, but for the groups, which come last.
    words: Draft,
    groups: Vec<BundledGroup>,
    sets: Vec<LeftSet>,
    /// The groups of the set added last, from the first on, until it is settled.
    added: Option<(usize, Vec<LeftPart>)>,
    /// The lists of the set added last, and whether they have high parts.
    last: Option<(bool, [List; 2])>,
    /// Bytes of jobs, groups and scratch memory.
    more_bytes: u64,
}

/// Pairs that are counted together.
struct BundledGroup {
    group: Group,
    /// The numbers of bits that its lists can be sorted by.
    bits: RangeInclusive<u32>,
    division: Division,
    /// Pairs of boards that each list is crossed from.
    crossed: [u64; 2],
}

impl Bundle {
    /// An empty one.
    pub(super) fn new(program: DeviceProgram) -> Self {
        Self {
            program,
            words: Draft::default(),
            groups: Vec::new(),
            sets: Vec::new(),
            added: None,
            last: None,
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
        self.groups.iter().map(|group| work(group.crossed)).sum()
    }

    /// What it takes a device to count the pairs of these half boards.
    pub(super) fn work_for(set: &SetBoards<'_>) -> f64 {
        let crossed = set.pairs.iter().map(|pairs| crossed_of(set, pairs));
        crossed.map(work).sum()
    }

    /// About how many bytes these half boards will take on a device.
    pub(super) fn bytes_for(&self, set: &SetBoards<'_>, layout: &KeyLayout) -> u64 {
        let crossed = set.pairs.iter().map(|pairs| crossed_of(set, pairs));
        let more: u64 = crossed
            .map(|crossed| self.more_bytes_for(crossed, layout))
            .sum();
        4 * words_of(set, layout) as u64 + more
    }

    /// Bytes of the jobs of a group, of its words, and of the scratch memory.
    fn more_bytes_for(&self, crossed: [u64; 2], layout: &KeyLayout) -> u64 {
        let Division { bits, settled } =
            Division::new(crossed, &sortable(layout), room(&self.program));
        let jobs = JOB_WORDS << settled;
        let words = Group::WORDS + jobs;
        4 * (words as u64 + 2 * Places::words(bits) + crossed.iter().sum::<u64>())
    }

    /// Adds the half boards that come of these boards, whose keys have this `layout`. [`settle`](Self::settle) must
    /// follow.
    pub(super) fn add(&mut self, set: &SetBoards<'_>, layout: &KeyLayout) {
        let high = layout.high();
        // The groups follow, and one of them is that of the sample.
        let groups = (self.groups.len() + set.pairs.len() + 1) * Group::WORDS;
        self.words.reserve(HEAD + words_of(set, layout) + groups);
        if self.words.is_empty() {
            self.words.grow(HEAD);
        }
        let lists = [0, 1].map(|side| {
            let last = self.last.as_ref().filter(|(of, _)| *of == high);
            let last = last.map(|(_, lists)| &lists[side]);
            append(&set.halves[side], high, last, &mut self.words)
        });
        self.last = Some((high, lists));
        let first = self.groups.len();
        let bits = sortable(layout);
        let mut parts = Vec::with_capacity(set.pairs.len());
        for pairs in &set.pairs {
            let crossed = crossed_of(set, pairs);
            self.more_bytes += self.more_bytes_for(crossed, layout);
            let division = Division::new(crossed, &bits, room(&self.program));
            let group = Group {
                bits: division.bits,
                sorted: layout.sorted(),
                high,
                lists: [0, 1].map(|side| lists[side].of_runs(&pairs.runs[side])),
            };
            self.groups.push(BundledGroup {
                group,
                bits: bits.clone(),
                division,
                crossed,
            });
            parts.push(LeftPart {
                crossed,
                times: pairs.times,
            });
        }
        self.added = Some((first, parts));
    }

    /// Says what the pairs of the half boards added last stand for. They belong to the task at this position.
    #[expect(
        clippy::expect_used,
        reason = "callers add a set before they settle it"
    )]
    pub(super) fn settle(&mut self, task: usize, stands_for: LeftPairs) {
        let (first, parts) = self.added.take().expect("a set was added");
        self.sets.push(LeftSet {
            first,
            parts,
            task,
            stands_for,
        });
    }

    /// Drops everything.
    pub(super) fn clear(&mut self) {
        self.words.clear();
        self.groups.clear();
        self.sets.clear();
        self.added = None;
        self.last = None;
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
            let BundledGroup { group, bits, .. } = &self.groups[self.sets[set as usize].first];
            let division = Division::of_sample(bits);
            let (bits, group) = (bits.clone(), sample::append(group, &mut self.words, seed));
            let group = Group {
                bits: division.bits,
                ..group
            };
            sampled = group.lists.map(|list| {
                let runs = list.runs_in(&self.words);
                runs.iter().map(crossed).sum()
            });
            self.groups.push(BundledGroup {
                group,
                bits,
                division,
                crossed: sampled,
            });
            Some(self.launch()?)
        };
        let batch = JoinBatch {
            launch,
            tallies,
            sets: mem::take(&mut self.sets),
            sampled,
            wrong: None,
        };
        self.clear();
        Ok(batch)
    }

    /// The launch: first the jobs that make the lists, then those that count pairs.
    fn launch(&mut self) -> Result<Launch, LaunchError> {
        let bits = self.groups.iter().flat_map(|of| [of.group.bits; 2]);
        let mut places = Places::new(bits);
        let mut crossing = Vec::new();
        for (number, of) in (0..).zip(&mut self.groups) {
            for (side, list) in (0..).zip(&mut of.group.lists) {
                let shares = shares(side, list.runs_in(&self.words));
                list.jobs = shares.len() as u32;
                list.place = places.next(of.group.bits, of.crossed[side as usize] as usize);
                crossing.extend(shares.into_iter().map(|share| (number, share)));
            }
        }
        let mut jobs = listing(&crossing);
        // Large ones first, so that no block begins one when the others have nothing left to do.
        let mut pairs: Vec<_> = (0..)
            .zip(&self.groups)
            .flat_map(|(number, of)| {
                let nodes = of.division.nodes().into_iter();
                nodes.map(move |node| (number, node))
            })
            .collect();
        pairs.sort_by_key(|(_, node)| node.with.count_ones());
        jobs.extend(
            pairs
                .into_iter()
                .map(|(group, node)| Job::Pairs(node).words(group)),
        );

        let groups: Vec<Group> = self.groups.iter().map(|of| of.group).collect();
        let tables = finish(mem::take(&mut self.words), &groups);
        Launch::new(self.program, jobs.into_flattened(), tables)
    }
}

/// Words of the runs and boards of a set.
fn words_of(set: &SetBoards<'_>, layout: &KeyLayout) -> usize {
    let halves = set.halves.iter();
    halves.map(|half| words_for(half, layout.high())).sum()
}

/// Pairs of boards that the lists of some runs are crossed from.
fn crossed_of(set: &SetBoards<'_>, pairs: &PairsOfRuns) -> [u64; 2] {
    [0, 1].map(|side| {
        let runs = &set.halves[side].runs[pairs.runs[side].clone()];
        runs.iter()
            .map(|[left, right]| left.len() as u64 * right.len() as u64)
            .sum()
    })
}
