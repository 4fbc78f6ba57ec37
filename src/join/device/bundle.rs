//! Lists of many sets become one launch.

use std::cmp::Reverse;

use super::batch::{JoinBatch, LeftSet, SampledPart};
use super::flat_lists::{FlatLists, Flattener, bits_for};
use super::planner::Planner;
use super::program::{JOB_WORDS, TABLES_HEAD, job_words, part_of, room};
use crate::engine::{DeviceProgram, Draft, Launch, LaunchError, Tally};
use crate::join::counter::LeftPairs;
use crate::join::key_layout::KeyLayout;
use crate::join::pairs::Lists;

/// A launch that is being built.
pub(super) struct Bundle {
    program: DeviceProgram,
    /// Jobs, with the number of pairs of each.
    jobs: Vec<(u64, [u32; JOB_WORDS])>,
    /// The tables, but for the groups, which follow the lists.
    words: Draft,
    groups: Vec<FlatLists>,
    /// The pairs of each group.
    pairs: Vec<u64>,
    /// What the pairs of each group stand for, and the position of its task.
    stand_for: Vec<(usize, LeftPairs)>,
    work: f64,
    flattener: Flattener,
    planner: Planner,
}

impl Bundle {
    /// An empty one.
    pub(super) fn new(program: DeviceProgram) -> Self {
        Self {
            program,
            jobs: Vec::new(),
            words: Draft::default(),
            groups: Vec::new(),
            pairs: Vec::new(),
            stand_for: Vec::new(),
            work: 0.0,
            flattener: Flattener::default(),
            planner: Planner::default(),
        }
    }

    /// Whether it holds no lists.
    pub(super) const fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Bytes of jobs and tables.
    pub(super) fn bytes(&self) -> u64 {
        let words =
            self.words.len() + self.groups.len() * FlatLists::WORDS + self.jobs.len() * JOB_WORDS;
        4 * words as u64
    }

    /// About how many bytes the lists will take.
    pub(super) fn bytes_for(&self, lists: &Lists<u32>, layout: &KeyLayout) -> u64 {
        let lengths = [lists.top.len(), lists.bottom.len()];
        let bits = bits_for(lengths, layout, room(&self.program));
        let words = FlatLists::words_for(lengths.iter().sum(), bits) + FlatLists::WORDS;
        // Of the parts that lists are split into, one of four is empty or needs no split by the last bits.
        let jobs = JOB_WORDS << bits >> 2;
        4 * (words + jobs) as u64
    }

    /// Adds lists whose keys have this `layout`. [`settle`](Self::settle) must follow.
    pub(super) fn add(&mut self, lists: &Lists<u32>, layout: &KeyLayout) {
        let room = room(&self.program);
        let lengths = [lists.top.len(), lists.bottom.len()];
        let bits = bits_for(lengths, layout, room);
        // The groups follow the lists, and one of them is that of the sample.
        let words = FlatLists::words_for(lengths.iter().sum(), bits);
        let groups = (self.groups.len() + 2) * FlatLists::WORDS;
        self.words.reserve(TABLES_HEAD + words + groups);
        if self.words.is_empty() {
            self.words.grow(TABLES_HEAD);
        }
        let flat = self.flattener.append(lists, layout, bits, &mut self.words);
        let group = self.groups.len() as u32;
        let offsets = [0, 1].map(|side| flat.offsets(side, &self.words));
        let (mut sent, mut work) = (0, 0.0);
        let jobs = &mut self.jobs;
        let discarded = self
            .planner
            .divide(offsets, bits, layout.sorted(), room, &mut |part| {
                sent += part.pairs();
                work += part.work();
                jobs.push((part.pairs(), job_words(group, &part)));
            });
        let all: u64 = lengths.iter().map(|&length| length as u64).product();
        assert_eq!(
            sent + discarded,
            all,
            "every pair is in one part or discarded"
        );
        self.groups.push(flat);
        self.pairs.push(sent);
        self.work += work;
    }

    /// Says what the pairs of the lists added last stand for. They belong to the task at this position.
    pub(super) fn settle(&mut self, task: usize, stands_for: LeftPairs) {
        self.stand_for.push((task, stands_for));
    }

    /// Drops everything.
    pub(super) fn clear(&mut self) {
        self.jobs.clear();
        self.words.clear();
        self.groups.clear();
        self.pairs.clear();
        self.stand_for.clear();
        self.work = 0.0;
    }

    /// Takes everything out as a batch, of tasks of which `tallies` was counted on the CPU. One of its parts,
    /// chosen by `seed`, is counted again on the CPU. Returns the work that it is for a device, too: see
    /// [`SubProblem::work`](super::planner::SubProblem::work).
    ///
    /// # Errors
    /// The launch does not fit its program: a defect.
    pub(super) fn take(
        &mut self,
        tallies: Vec<Tally>,
        seed: u64,
    ) -> Result<(JoinBatch, f64), LaunchError> {
        // Large ones first, so that no block begins one when the others have nothing left to do.
        self.jobs.sort_unstable_by_key(|(pairs, _)| Reverse(*pairs));
        let sample = self.isolate(seed);
        let launch = match sample {
            Some(_) => {
                let head = [self.groups.len(), self.words.len()].map(|number| number as u32);
                self.words.words()[..TABLES_HEAD].copy_from_slice(&head);
                let groups = self.groups.iter().map(|group| group.words());
                let groups = groups.collect::<Vec<_>>().into_flattened();
                self.words.grow(groups.len()).copy_from_slice(&groups);
                let jobs: Vec<_> = self.jobs.iter().map(|(_, job)| *job).collect();
                Some(Launch::new(
                    self.program,
                    jobs.into_flattened(),
                    self.words.finish(),
                )?)
            }
            None => None,
        };
        let sets = self.stand_for.iter().zip(&self.pairs);
        let batch = JoinBatch {
            launch,
            tallies,
            sets: sets
                .map(|(&(task, stands_for), &pairs)| LeftSet {
                    task,
                    stands_for,
                    pairs,
                })
                .collect(),
            sample,
            wrong: None,
        };
        let work = self.work;
        self.clear();
        Ok((batch, work))
    }

    /// Gives one job a group of its own.
    fn isolate(&mut self, seed: u64) -> Option<SampledPart> {
        let count = self.jobs.len();
        if count == 0 {
            return None;
        }
        // The constant is 2⁶⁴ divided by the golden ratio: neighbouring seeds pick jobs far apart.
        let index = (u128::from(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)) * count as u128) >> 64;
        let (_, job) = &mut self.jobs[index as usize];
        let set = std::mem::replace(&mut job[0], self.groups.len() as u32) as usize;
        let part = part_of(job);
        self.groups.push(self.groups[set]);
        Some(SampledPart { set, part })
    }
}
