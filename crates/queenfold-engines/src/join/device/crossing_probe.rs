//! A launch that makes lists and counts no pairs, to measure what crossing takes.

use fastrand::Rng;

use super::batch::Sums;
use super::jobs::{listing, shares};
use super::program::{default_program, fitted};
use super::sample;
use super::tables::{Group, HEAD, List, Places, RUN_WORDS, crossed, finish, groups};
use crate::engine::{Completed, Draft, Launch, LaunchError, Mismatch};

/// Runs, and boards of each quadrant in a run: about as in a set of 24 queens, but fewer runs.
const RUNS: usize = 256;
const BOARDS: usize = 64;

/// Bits that the lists are sorted by.
const BITS: u32 = 12;

/// Multiprocessors for each group, so that there are at least as many jobs of each kind as blocks.
const SERVED: u32 = 8;

/// Boards with random diagonals and keys, of which about a third make half boards.
pub struct CrossingProbe {
    launch: Launch,
    crossed: u64,
    keys: u64,
}

impl CrossingProbe {
    /// For a device with so many multiprocessors, of so many bytes of shared memory if that is known.
    ///
    /// # Errors
    /// The device has more multiprocessors than a launch has room for.
    pub fn new(shared_memory: Option<u32>, multiprocessors: u32) -> Result<Self, LaunchError> {
        let program = shared_memory.map_or_else(default_program, fitted);
        let mut words = Draft::default();
        words.grow(HEAD);
        let list = random_boards(&mut words);
        let crossed: u64 = list.runs_in(&words).iter().map(crossed).sum();
        let shares = [0, 1].map(|side| shares(side, list.runs_in(&words)));
        let copies = multiprocessors.div_ceil(SERVED).max(1);
        let mut places = Places::new((0..2 * copies).map(|_| BITS));
        let mut group = || Group {
            bits: BITS,
            lists: [0, 1].map(|side| List {
                jobs: shares[side].len() as u32,
                place: places.next(BITS, crossed as usize),
                ..list
            }),
            ..Group::default()
        };
        let copied: Vec<Group> = (0..copies).map(|_| group()).collect();
        let shares = (0..copies).flat_map(|group| {
            let shares = shares.iter().flatten();
            shares.map(move |share| (group, *share))
        });
        let jobs = listing(&shares.collect::<Vec<_>>());
        let launch = Launch::new(program, jobs.into_flattened(), finish(words, &copied))?;
        let keys = groups(launch.tables()).next().map_or(0, |group| {
            sample::keys(&group, &group.lists[0], launch.tables()).len() as u64
        });
        Ok(Self {
            crossed: crossed * u64::from(2 * copies),
            launch,
            keys,
        })
    }

    /// What to submit.
    pub const fn launch(&self) -> &Launch {
        &self.launch
    }

    /// Pairs of boards that are crossed, to count keys and again to write them.
    pub const fn crossed(&self) -> u64 {
        self.crossed
    }

    /// Compares what the launch gave with what it should have.
    ///
    /// # Errors
    /// The device counted wrongly.
    pub fn check(&self, completed: &Completed) -> Result<(), Mismatch> {
        let (sums, _) = completed.sums.as_chunks();
        for sums in sums.iter().map(Sums::of) {
            if [sums.counted, sums.written] != [[self.keys; 2]; 2] {
                return Err(Mismatch(format!(
                    "the device counted {:?} half boards and wrote {:?}, not {} of each list",
                    sums.counted, sums.written, self.keys
                )));
            }
        }
        Ok(())
    }
}

/// A list of random boards, without a place and jobs.
fn random_boards(words: &mut Draft) -> List {
    let mut random = Rng::with_seed(1);
    let runs = words.len() as u32;
    let to = words.grow(RUNS * RUN_WORDS);
    for (run, to) in to.as_chunks_mut().0.iter_mut().enumerate() {
        let [begin, end] = [run, run + 1].map(|run| (run * BOARDS) as u32);
        *to = [begin, begin, end, end];
    }
    let count = RUNS * BOARDS;
    let boards = [(); 2].map(|()| {
        let at = words.len() as u32;
        let (lines, keys) = words
            .grow(Group::board_words(false) * count)
            .split_at_mut(count);
        // With six bits of 32 set at random, a third of the boards do not attack each other.
        lines.fill_with(|| (0..6).fold(0, |lines, _| lines | 1 << random.u32(..32)));
        keys.fill_with(|| random.u32(..) & random.u32(..));
        at
    });
    List {
        runs,
        run_count: RUNS as u32,
        boards,
        counts: [count as u32; 2],
        ..List::default()
    }
}
