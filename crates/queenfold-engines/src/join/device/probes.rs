//! Launches that each take one path of the kernel, to measure what that takes.

use super::batch::Sums;
use super::jobs::{Job, Node, listing, shares};
use super::program::{default_program, fitted, room};
use super::tables::{Group, HEAD, List, Places, RUN_WORDS, finish};
use crate::engine::{Completed, DeviceProgram, Draft, Launch, LaunchError, Mismatch, Words};

/// The way of all jobs of a launch through the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// Two lists that share no bit: their keys are gathered, and all pairs count.
    Gather,
    /// Two lists that share one bit: their keys are gathered and split once.
    Split,
    /// Two short lists, whose pairs are compared.
    Compare,
    /// The keys of a list are looked up in so many tables of [`PATTERNS`](Probe::PATTERNS) keys, 1 to 4.
    Leaf {
        /// Tables.
        tables: u32,
        /// Whether the list fills a block; else it has a thousand keys.
        is_long: bool,
    },
}

/// Two lists whose pairs take one path, to be counted any number of times at once.
pub struct Probe {
    program: DeviceProgram,
    path: Path,
    lists: [Vec<u32>; 2],
    /// Disjoint pairs.
    found: u64,
}

/// Keys of each list that is compared: so few that no tables are built.
const COMPARED: usize = 100;

/// Keys of the short list that is looked up.
const SHORT: usize = 1024;

/// Bits of a table.
const FIELD: u32 = 7;

impl Probe {
    /// The keys that the tables are made of.
    pub const PATTERNS: usize = 512;

    /// The probes for a device whose multiprocessors have so many bytes of shared memory, if that is known.
    pub fn all(shared_memory: Option<u32>) -> Vec<Self> {
        let program = shared_memory.map_or_else(default_program, fitted);
        let leaves =
            (1..=4).flat_map(|tables| [false, true].map(|is_long| Path::Leaf { tables, is_long }));
        let paths = [Path::Gather, Path::Split, Path::Compare].into_iter();
        paths
            .chain(leaves)
            .map(|path| Self::new(program, path))
            .collect()
    }

    fn new(program: DeviceProgram, path: Path) -> Self {
        let room = room(&program) as usize;
        let mut random = fastrand::Rng::with_seed(1);
        // Bits of a list begin at `from`. Half of the keys have any one of them, as after some splits; the first key
        // has the lowest and the highest, so that a window has this width.
        let mut list = |keys: usize, from: u32, width: u32| -> Vec<u32> {
            let ends = 1 | 1 << (width - 1);
            let mut list: Vec<u32> = (0..keys)
                .map(|_| random.u32(..) & ((1 << width) - 1))
                .collect();
            list[0] |= ends;
            list.iter_mut().for_each(|key| *key <<= from);
            list
        };
        let lists = match path {
            Path::Gather => [list(room / 2, 1, 13), list(room / 2, 14, 13)],
            Path::Split => {
                let mut lists = [list(room / 2, 1, 13), list(room / 2, 14, 13)];
                let keys = lists.iter_mut().flatten();
                keys.step_by(2).for_each(|key| *key |= 1);
                lists
            }
            Path::Compare => [list(COMPARED, 0, 20), list(COMPARED, 0, 20)],
            Path::Leaf { tables, is_long } => {
                let looked_up = if is_long {
                    room - Self::PATTERNS
                } else {
                    SHORT
                };
                let width = tables * FIELD;
                [list(looked_up, 0, width), list(Self::PATTERNS, 0, width)]
            }
        };
        let [top, bottom] = &lists;
        let disjoint = |key: &u32| bottom.iter().filter(|other| key & **other == 0).count() as u64;
        Self {
            program,
            path,
            found: top.iter().map(disjoint).sum(),
            lists,
        }
    }

    /// What counts it.
    pub const fn program(&self) -> DeviceProgram {
        self.program
    }

    /// The path.
    pub const fn path(&self) -> Path {
        self.path
    }

    /// The keys of each list.
    pub fn keys(&self) -> [usize; 2] {
        self.lists.each_ref().map(Vec::len)
    }

    /// A launch that counts the pairs in each of so many jobs, besides the jobs that make the lists.
    ///
    /// # Errors
    /// There are more jobs than a launch may have.
    pub fn launch(&self, jobs: u32) -> Result<Launch, LaunchError> {
        let [top, bottom] = self.lists.each_ref().map(Vec::as_slice);
        let runs = self.keys().map(|keys| keys as u32);
        launch(self.program, jobs, runs, &[top, bottom], true)
    }

    /// Compares what such a launch gave with what it should have.
    ///
    /// # Errors
    /// The device counted wrongly.
    pub fn check(&self, launch: &Launch, completed: &Completed) -> Result<(), Mismatch> {
        let pairs: u64 = self.keys().map(|keys| keys as u64).iter().product();
        let (sums, _) = completed.sums.as_chunks();
        let [sums] = sums else {
            let sums = sums.len();
            return Err(Mismatch(format!("the sums of {sums} groups, not of one")));
        };
        let jobs = u64::from(launch.job_count().saturating_sub(LISTING));
        let Sums {
            tested,
            discarded,
            found,
            written,
            ..
        } = Sums::of(sums);
        let right = completed.jobs_done == launch.job_count()
            && written == self.keys().map(|keys| keys as u64)
            && tested + discarded == jobs * pairs
            && found == jobs * self.found;
        if right {
            return Ok(());
        }
        Err(Mismatch(format!(
            "{:?}: tested {tested}, discarded {discarded}, found {found} in {jobs} jobs, not {} of {pairs} in each",
            self.path, self.found
        )))
    }
}

/// Jobs that make the two lists.
const LISTING: u32 = 4;

/// A launch with one pair to count and `bytes` bytes of tables, a mebibyte or more, to measure how long these take.
/// Its tables are in recycled memory, which a GPU reads itself, or else are copied first.
///
/// # Errors
/// The tables are too large for a launch.
pub fn upload(
    shared_memory: Option<u32>,
    bytes: usize,
    recycled: bool,
) -> Result<Launch, LaunchError> {
    let program = shared_memory.map_or_else(default_program, fitted);
    let keys = vec![1; bytes / 16];
    launch(program, 1, [1, 1], &[&keys, &keys], recycled)
}

/// Jobs that all count the pairs of two lists. The keys of these are the boards of left quadrants, each with the one
/// board of the right quadrant, which has no queens; the first `runs` of them are crossed.
fn launch(
    program: DeviceProgram,
    jobs: u32,
    runs: [u32; 2],
    keys: &[&[u32]; 2],
    recycled: bool,
) -> Result<Launch, LaunchError> {
    const QUADRANT: usize = 2;
    let mut words = Draft::default();
    let boards: usize = keys.iter().map(|keys| QUADRANT * (keys.len() + 1)).sum();
    words.reserve(HEAD + boards + 2 * RUN_WORDS + Group::WORDS);
    words.grow(HEAD);
    let mut places = Places::new([0; 2].into_iter());
    let lists = [0, 1].map(|side| {
        let (keys, run) = (keys[side], words.len());
        words
            .grow(RUN_WORDS)
            .copy_from_slice(&[0, 0, runs[side], 1]);
        let left = words.len();
        words.grow(QUADRANT * keys.len())[keys.len()..].copy_from_slice(keys);
        let right = words.len();
        words.grow(QUADRANT);
        List {
            runs: run as u32,
            run_count: 1,
            boards: [left as u32, right as u32],
            counts: [keys.len() as u32, 1],
            jobs: 1,
            place: places.next(0, runs[side] as usize),
            ..List::default()
        }
    });
    let shares = [0, 1].map(|side| shares(side, lists[side as usize].runs_in(&words)));
    let shares: Vec<_> = shares
        .concat()
        .into_iter()
        .map(|share| (0, share))
        .collect();
    let group = Group {
        lists,
        ..Group::default()
    };
    let words = finish(words, &[group]);
    let words = if recycled {
        words
    } else {
        Words::from(words.to_vec())
    };
    let mut words_of_jobs = listing(&shares);
    let pairs = Job::Pairs(Node::default()).words(0);
    words_of_jobs.extend(std::iter::repeat_n(pairs, jobs as usize));
    Launch::new(program, words_of_jobs.into_flattened(), words)
}
