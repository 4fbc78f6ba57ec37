//! How tasks of the colour engine become launches for a device.

use std::ops::Range;

use super::counter::{NewCounter, WideSet};
use super::job_recount::recount_job;
use super::lines::{Lines, Parity};
use super::open_squares::OpenSquares;
use super::orientation::Orientation;
use super::program::{COLOUR_ROWS, HEAD_WORDS, SET_SUMS, TRANSPOSED, program_for};
use super::row_sets::words;
use super::side::Side;
use super::sub_board::{SubBoard, Target};
use super::table::largest_weight;
use super::{ColourBoard, NAME, Partition, canary};
use crate::board::Size;
use crate::engine::{
    Canary, Completed, CounterSettings, DeviceKernel, DeviceProgram, Engine, JobGroup, Jobs,
    Launch, LaunchBatch, LaunchError, Launcher, Mismatch, SampledLaunch, Tally, Task, interpolate,
};
use crate::simd::Isa;

/// Makes launches of the tasks of a colour plan.
pub(super) struct ColourLauncher {
    board: ColourBoard,
    /// The parity of the columns of a unit: as in [`NewCounter`].
    columns: Parity,
    program: DeviceProgram,
    /// Placements that a device finds for the whole board.
    placements: f64,
    /// A counter that is as large may not be weighed: the kernel leaves it out of what its tables held.
    too_large: u32,
}

/// The launch for some tasks, and what turns its sums into tallies.
struct ColourBatch {
    board: ColourBoard,
    columns: Parity,
    /// `None` if there are no jobs.
    launch: Option<SampledLaunch>,
    /// One for each task, with the partitions that are in jobs.
    tallies: Vec<Tally>,
    /// What is left to the CPU: the sets whose rows of a colour are too many for the kernel, or none.
    beside: Vec<RankOfTask>,
    /// The ranks of the sets that are in jobs, in the order of their groups.
    sets: Vec<u64>,
    too_large: u32,
}

/// The index of a task in the batch, and a rank of it.
type RankOfTask = (usize, u64);

impl ColourLauncher {
    /// For the plan of a board, which takes this share of the work for the free board; `None` if the kernel
    /// does not count boards of this size.
    pub(super) fn new(board: ColourBoard, columns: Parity, work: f64) -> Option<Self> {
        let n = board.size();
        Some(Self {
            columns,
            program: program_for(n)?,
            placements: work * device_placements(n),
            too_large: (1 << 16) / largest_weight(n),
            board,
        })
    }
}

impl Launcher for ColourLauncher {
    fn program(&self) -> DeviceProgram {
        self.program
    }

    fn kernel(&self) -> DeviceKernel {
        match self.columns {
            Parity::Even => DeviceKernel::Cuda,
            Parity::Odd => DeviceKernel::CudaTransposed,
        }
    }

    /// Nodes are placements on all rows of a colour.
    fn work(&self) -> f64 {
        self.placements
    }

    fn batch(&self, tasks: &[Task], seed: u64) -> Result<Box<dyn LaunchBatch>, LaunchError> {
        let mut maker = Maker::new(&self.board, self.columns);
        let take = |(at, task): (usize, &Task)| {
            assert_eq!(task.key.engine, Engine::Colour, "{}", task.key);
            maker.take(task.ranks.clone(), at)
        };
        let tallies = tasks.iter().enumerate().map(take).collect();
        Ok(Box::new(ColourBatch {
            board: self.board.clone(),
            columns: self.columns,
            launch: maker.jobs.into_launch(self.program, seed)?,
            tallies,
            beside: maker.beside,
            sets: maker.sets,
            too_large: self.too_large,
        }))
    }

    fn of_canary(&self) -> (Canary, Box<dyn Launcher>) {
        let canary = canary::canary(self.board.size());
        let small = Self {
            board: canary.size().into(),
            columns: self.columns,
            program: self.program,
            placements: 0.0,
            too_large: self.too_large,
        };
        (canary, Box::new(small))
    }
}

/// Counts what is left to the CPU and adds it to the tallies of the tasks. It is counted when the launch has ended:
/// before, the device would wait for it.
fn count_beside(
    (board, columns): (&ColourBoard, Parity),
    beside: &[RankOfTask],
    tallies: &mut [Tally],
) -> Result<(), Mismatch> {
    if beside.is_empty() {
        return Ok(());
    }
    let settings = CounterSettings { isa: Isa::best() };
    let mut counter = NewCounter::of(board.clone(), columns, &settings);
    // The ranks alone are counted.
    let key = NAME.key(board.size(), 0);
    for &(task, rank) in beside {
        tallies[task] += counter.count(&Task {
            key,
            ranks: rank..rank + 1,
            cost: 0.0,
        })?;
    }
    Ok(())
}

impl LaunchBatch for ColourBatch {
    fn launch(&self) -> Option<&Launch> {
        self.launch.as_ref().map(|sampled| &sampled.launch)
    }

    fn tallies(self: Box<Self>, completed: Option<&Completed>) -> Result<Vec<Tally>, Mismatch> {
        let mut tallies = self.tallies;
        if let Some(launch) = &self.launch {
            let is_short = |[_, first, held, _]: [u64; SET_SUMS]| {
                first.saturating_sub(held) >= u64::from(self.too_large)
            };
            let recount = |launch: &_, job, given| match is_short(given) {
                true => given,
                false => recount_job(&self.board, launch, job),
            };
            let sums = launch.sums(completed, recount)?;
            for (rank, (group, given)) in self.sets.iter().zip(sums) {
                let tally = &mut tallies[group.task];
                let [solutions, first, held, second] = given;
                if let Some(partition) = self.board.partition(*rank).filter(|_| is_short(given)) {
                    let set = WideSet {
                        board: &self.board,
                        columns: self.columns,
                        partition: &partition,
                    };
                    let (found, nodes, largest) = Isa::best().run(set)?;
                    if largest >= self.too_large {
                        tally.completions.add(group.weight, found.into());
                        tally.nodes += nodes;
                        continue;
                    }
                }
                if first != held {
                    return Err(Mismatch(format!(
                        "the tables of a row set hold {held} placements on the device, and {first} were counted in \
                         them"
                    )));
                }
                tally.completions.add(group.weight, solutions.into());
                tally.nodes += first + second;
            }
        }
        count_beside((&self.board, self.columns), &self.beside, &mut tallies)?;
        Ok(tallies)
    }
}

/// Placements that a device finds for the whole board.
///
/// Up to n = 22 and even sizes counted by prototypes in November 2026, above and odd ones estimated by the time of the
/// same prototypes. Other sizes are interpolated geometrically.
fn device_placements(n: Size) -> f64 {
    interpolate(
        n,
        &[
            (14, 7.0e5),
            (16, 1.39e7),
            (17, 1.2e8),
            (18, 3.39e8),
            (19, 2.3e9),
            (20, 9.53e9),
            (21, 5.4e10),
            (22, 2.97e11),
            (23, 1.7e12),
            (24, 1.1e13),
            (25, 4.7e13),
            (26, 4.0e14),
            (27, 2.3e15),
            (28, 1.8e16),
            (29, 1.3e17),
            (30, 9.2e17),
        ],
    )
}

/// How many words of own columns a job has at most. From 19 queens on that is 10⁴ to 10⁶ placements, so that a job takes
/// a block longer than to take the next one, and a launch of a second has enough jobs for all blocks. Units of boards of odd
/// size have fewer.
const fn units_of_job(n: Size) -> usize {
    match n.get() {
        ..=18 | 20 | 23 => 64,
        19 => 256,
        21 => 128,
        22 => 32,
        24 => 8,
        25 => 16,
        26 => 2,
        27 => 4,
        _ => 1,
    }
}

/// Turns tasks into jobs.
struct Maker<'a> {
    board: &'a ColourBoard,
    /// The own columns of the kernel: those of a unit.
    columns: Parity,
    /// For each number of them, their words.
    words: Vec<Vec<u16>>,
    /// The image of the given board that squares were open on last, and these.
    image: Option<(usize, OpenSquares)>,
    jobs: Jobs,
    beside: Vec<RankOfTask>,
    sets: Vec<u64>,
}

impl<'a> Maker<'a> {
    fn new(board: &'a ColourBoard, columns: Parity) -> Self {
        Self {
            board,
            columns,
            words: words(Lines::of(board.size()).count(columns)),
            image: None,
            jobs: Jobs::default(),
            beside: Vec::new(),
            sets: Vec::new(),
        }
    }

    /// Makes the jobs of one range. Returns a tally with the partitions that are in these.
    fn take(&mut self, ranks: Range<u64>, task: usize) -> Tally {
        let mut tally = Tally::default();
        for rank in ranks {
            let Some(partition) = self.board.partition(rank) else {
                continue;
            };
            match self.describe(&partition) {
                Some(words) => {
                    self.add(&partition, &words, task);
                    self.sets.push(rank);
                    tally.partitions += 1;
                }
                None => self.beside.push((task, rank)),
            }
        }
        tally
    }

    /// The words of a row set for the kernel; `None` if it does not count such sets.
    fn describe(&mut self, partition: &Partition) -> Option<Vec<u32>> {
        let (n, set) = (self.board.size(), partition.set);
        let lines = Lines::of(n);
        if self.image.as_ref().map(|(image, _)| *image) != Some(partition.image) {
            self.image = Some((partition.image, OpenSquares::new(n, &partition.open)));
        }
        let (_, squares) = self.image.as_ref()?;
        let (columns, others) = (self.columns, self.columns.other());
        let black = |parity| lines.all(parity) & !set.word(parity);
        // Own rows are in own columns: on white these are rows of the same parity.
        let white = (columns, set.word(columns), set.word(others));
        let black = (others, black(others), black(columns));
        let colours = match columns {
            Parity::Even => [black, white],
            Parity::Odd => [white, black],
        };
        let mut words = vec![self.flags(), self.class(partition), 0];
        for (colour, (parity, own, left)) in colours.into_iter().enumerate() {
            let [own_count, left_count] = [own, left].map(u32::count_ones);
            if own_count.min(left_count) == 0 || own_count + left_count > COLOUR_ROWS as u32 {
                return None;
            }
            words[2] |= (own_count | left_count << 8) << (16 * colour);
            let board = SubBoard {
                rows: parity,
                columns,
            };
            let own_rows = Side::new((parity, own), 0);
            let rows_left = Side::new((parity.other(), left), own);
            let own_rows = own_rows.rows().iter();
            let own_rows = own_rows.map(|&row| board.own_row(lines, squares, row));
            let rows_left = rows_left.rows().iter();
            let rows_left = rows_left.map(|&row| board.other_row(lines, squares, row));
            words.extend(own_rows.chain(rows_left).map(row_word));
            words.resize(HEAD_WORDS + (colour + 1) * COLOUR_ROWS, 0);
        }
        Some(words)
    }

    /// The first word of a row set.
    fn flags(&self) -> u32 {
        let n = self.board.size();
        let lines = Lines::of(n);
        lines.count(self.columns)
            | lines.count(self.columns.other()) << 8
            | u32::from(n.get().is_multiple_of(2)) << 16
            | u32::from(self.board.is_oriented) << 17
            | u32::from(self.board.is_mirrored) << 18
            | if self.columns == Parity::Odd {
                TRANSPOSED
            } else {
                0
            }
    }

    /// The class of the rows, as the second word of a set.
    fn class(&self, partition: &Partition) -> u32 {
        let orientation = Orientation::of(self.board.size());
        let [first, second] = orientation.class([partition.set.even, partition.set.odd]);
        u32::from(first) | u32::from(second) << 16
    }

    fn add(&mut self, partition: &Partition, words: &[u32], task: usize) {
        let set = self.jobs.groups.len() as u32;
        self.jobs.tables.extend(words);
        let weight = partition.set.weight;
        self.jobs.groups.push(JobGroup { task, weight });
        // So many queens of the second colour stand in own columns.
        let own = words[2] >> 16 & 0xff;
        for units in self.words[own as usize].chunks(units_of_job(self.board.size())) {
            let first = units[0].into();
            self.jobs.add([set, first, units.len() as u32, 0]);
        }
    }
}

/// A row as a word.
const fn row_word(row: Target) -> u32 {
    row.falling | row.rising << 5 | row.open << 16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::ColourPlan;
    use crate::colour::cost::Costs;
    use crate::colour::program::BOARDS;
    use crate::engine::{DeviceCanary, Plan};

    fn launcher(n: u32) -> (ColourPlan, ColourLauncher) {
        launcher_of(n, Parity::Even)
    }

    fn launcher_of(n: u32, columns: Parity) -> (ColourPlan, ColourLauncher) {
        let n = Size::new(n).unwrap();
        (
            ColourPlan::new(n),
            ColourLauncher::new(n.into(), columns, 1.0).unwrap(),
        )
    }

    const BOTH: [Parity; 2] = [Parity::Even, Parity::Odd];

    fn tasks(plan: &ColourPlan) -> Vec<Task> {
        (0..plan.tasks()).map(|index| plan.task(index)).collect()
    }

    /// What a device that makes no mistake returns.
    fn exact(board: &ColourBoard, launch: &Launch) -> Completed {
        crate::engine::exact(launch, |launch, job| recount_job(board, launch, job))
    }

    #[test]
    fn tallies_are_those_of_the_oracle() {
        for (n, columns) in (5..=12).flat_map(|n| BOTH.map(|columns| (n, columns))) {
            let (plan, launcher) = launcher_of(n, columns);
            let tasks = tasks(&plan);
            let batch = launcher.batch(&tasks, n.into()).unwrap();
            let completed = batch.launch().map(|launch| exact(&launcher.board, launch));
            let mut oracle = plan.oracle();
            let tallies = batch.tallies(completed.as_ref()).unwrap();
            assert_eq!(tallies.len(), tasks.len());
            for (task, tally) in tasks.iter().zip(tallies) {
                let expected = oracle.count(task).unwrap();
                assert!(tally.agrees_with(&expected), "n = {n}, {}", task.key);
            }
        }
    }

    #[test]
    fn the_canary_is_a_whole_board_for_every_program() {
        for (n, columns) in [9, 20, 25, 28, 30]
            .into_iter()
            .zip(BOTH.into_iter().cycle())
        {
            let (_, launcher) = launcher_of(n, columns);
            let DeviceCanary { canary, batch } = launcher.canary(33).unwrap();
            let launch = batch.launch().unwrap();
            assert_eq!(launch.program(), launcher.program(), "n = {n}");
            let completed = exact(&canary.size().into(), launch);
            let tallies = batch.tallies(Some(&completed)).unwrap();
            assert_eq!(tallies.len(), 2 * canary.tasks().len());
            for (at, tally) in tallies.iter().enumerate() {
                canary.compare(at % canary.tasks().len(), tally).unwrap();
            }
        }
    }

    #[test]
    fn wrong_sums_are_noticed() {
        let wrong = |change: &dyn Fn(&mut [u64]), what: &str| {
            let (plan, launcher) = launcher(9);
            let batch = launcher.batch(&tasks(&plan), 1).unwrap();
            let mut completed = exact(&launcher.board, batch.launch().unwrap());
            change(&mut completed.sums);
            let error = batch.tallies(Some(&completed)).unwrap_err();
            assert!(error.0.contains(what), "{error}");
        };
        for sum in 1..=SET_SUMS {
            let change = |sums: &mut [u64]| sums[sums.len() - sum] += 1;
            wrong(&change, "sampled job");
        }
        for sum in [1, 2] {
            wrong(&|sums: &mut [u64]| sums[sum] += 1, "tables of a row set");
        }
    }

    #[test]
    fn a_set_with_a_counter_that_is_too_large_for_the_device_is_counted_on_the_cpu() {
        // Where there is a solution, a counter has 1, and none has 200.
        for (too_large, is_right) in [(1, true), (200, false)] {
            let (plan, mut launcher) = launcher(9);
            launcher.too_large = too_large;
            let tasks = tasks(&plan);
            let batch = launcher.batch(&tasks, 1).unwrap();
            let mut completed = exact(&launcher.board, batch.launch().unwrap());
            // A wrong number of solutions of each set, and what its tables counted and do not hold.
            for [solutions, first, ..] in completed.sums.as_chunks_mut::<SET_SUMS>().0 {
                if *solutions > 0 {
                    *solutions += 1;
                    *first += u64::from(too_large);
                }
            }
            let Ok(tallies) = batch.tallies(Some(&completed)) else {
                assert!(!is_right);
                continue;
            };
            assert!(is_right);
            let mut oracle = plan.oracle();
            for (task, tally) in tasks.iter().zip(tallies) {
                let expected = oracle.count(task).unwrap();
                assert!(tally.agrees_with(&expected), "{}", task.key);
            }
        }
    }

    #[test]
    fn the_cpu_counts_next_to_nothing_beside() {
        for n in 16..=*BOARDS.end() {
            let (_, launcher) = launcher(n);
            let board = &launcher.board;
            let lines = Lines::of(board.size());
            let costs = Costs::new(board);
            // The first set of each size stands for all.
            let mut seen = vec![false; lines.even as usize + 1];
            let (mut beside, mut rank) = ([0.0; 2], 0);
            for even in 0..=lines.even {
                let sets = board.sets_of(even);
                if sets == 0 || std::mem::replace(&mut seen[even as usize], true) {
                    continue;
                }
                let middle = board.partition(rank + sets / 2).unwrap();
                assert_eq!(middle.set.even.count_ones(), even);
                for (beside, columns) in beside.iter_mut().zip(BOTH) {
                    if Maker::new(board, columns).describe(&middle).is_none() {
                        *beside += costs.share(&middle) * sets as f64;
                    }
                }
                rank += sets;
            }
            let most = if (20..=28).contains(&n) { 1e-5 } else { 1e-4 };
            assert!(
                beside.into_iter().all(|share| share < most),
                "n = {n}: {beside:?}"
            );
        }
    }

    #[test]
    fn placements_grow_with_the_board() {
        let placements = |n| device_placements(Size::new(n).unwrap());
        assert!((5..30).all(|n| placements(n) < placements(n + 1)));
        assert!((placements(20) / 9.53e9 - 1.0).abs() < 0.01);
    }
}
