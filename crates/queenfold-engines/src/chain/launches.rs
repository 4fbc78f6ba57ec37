//! How tasks of the chain engine become launches for a device.

use std::ops::Range;
use std::sync::Arc;

use super::canary::canary;
use super::program::{GROUP_SUMS, fitted, program_for};
use super::{Borders, Frame, Subtrees, TakenLines};
use crate::board::Size;
use crate::engine::{
    Completed, DeviceCanary, DeviceProgram, Engine, Launch, LaunchBatch, LaunchError, Launcher,
    Mismatch, SampledJob, Tally, Task, interpolate, isolate,
};

/// The table word after the last row: all rows are filled.
const SOLVED: u32 = 1 << 31;

/// Makes launches of the tasks of a chain plan.
pub(super) struct ChainLauncher {
    borders: Arc<Borders>,
    program: DeviceProgram,
    /// Nodes that a device places for the whole board.
    nodes: f64,
}

/// The launch for some ranges of ranks, and what turns its sums into tallies.
struct ChainBatch {
    /// `None` if there are no jobs.
    launch: Option<Launch>,
    /// One for each range: what was counted while jobs were made.
    tallies: Vec<Tally>,
    groups: Vec<JobGroup>,
    /// What is counted again on the CPU.
    sample: Option<SampledJob>,
}

/// Jobs of one range and border. A launch returns sums for each group.
#[derive(Clone, Copy)]
struct JobGroup {
    /// Index of the range in the batch.
    range: usize,
    /// The number of solutions that each completion stands for.
    weight: u8,
}

impl ChainLauncher {
    /// For the plan of `borders`, which takes this share of the work for the free board; `None` if the
    /// kernel does not count boards of this size.
    pub(super) fn new(borders: Arc<Borders>, work: f64) -> Option<Self> {
        let n = borders.size();
        Some(Self {
            borders,
            program: program_for(n)?,
            nodes: work * device_nodes(n),
        })
    }

    /// Makes a batch of the partitions in `ranges`. One of its jobs, chosen by `seed`, is counted
    /// again on the CPU.
    fn make(
        &self,
        ranges: impl Iterator<Item = Range<u64>>,
        seed: u64,
    ) -> Result<ChainBatch, LaunchError> {
        let mut maker = Maker {
            n: self.borders.size(),
            depth: depth(&self.program),
            jobs: Vec::new(),
            rows: Vec::new(),
            groups: Vec::new(),
            frame: None,
        };
        let tallies = ranges
            .enumerate()
            .map(|(index, ranks)| {
                let jobs = Subtrees::new(Arc::clone(&self.borders), ranks);
                maker.take(jobs, index)
            })
            .collect();
        let sample = isolate(
            &self.program.layout,
            seed,
            &mut maker.jobs,
            &mut maker.rows,
            &mut maker.groups,
        );
        let launch = match sample {
            Some(_) => Some(Launch::new(self.program, maker.jobs, maker.rows)?),
            None => None,
        };
        Ok(ChainBatch {
            launch,
            tallies,
            groups: maker.groups,
            sample,
        })
    }
}

/// How many rows a job may leave to fill.
fn depth(program: &DeviceProgram) -> usize {
    program.variant() as usize
}

impl Launcher for ChainLauncher {
    fn program(&self) -> DeviceProgram {
        self.program
    }

    fn fitted(&self, shared_memory: u32) -> Option<Arc<dyn Launcher>> {
        let program = fitted(self.program, shared_memory);
        (program != self.program).then(|| {
            Arc::new(Self {
                borders: Arc::clone(&self.borders),
                program,
                nodes: self.nodes,
            }) as Arc<dyn Launcher>
        })
    }

    /// In nodes.
    fn work(&self) -> f64 {
        self.nodes
    }

    fn work_of(&self, _: f64, tally: &Tally) -> f64 {
        tally.nodes as f64
    }

    fn batch(&self, tasks: &[Task], seed: u64) -> Result<Box<dyn LaunchBatch>, LaunchError> {
        let ranges = tasks.iter().map(|task| {
            assert_eq!(task.key.engine, Engine::Chain, "{}", task.key);
            task.ranks.clone()
        });
        Ok(Box::new(self.make(ranges, seed)?))
    }

    fn canary(&self, multiprocessors: u32) -> Result<DeviceCanary, LaunchError> {
        let canary = canary();
        let small = Self {
            borders: Arc::new(Borders::new(canary.size().into())),
            program: self.program,
            nodes: 0.0,
        };
        let ranges = || canary.tasks().iter().map(|task| task.ranks.clone());
        let all = (0..multiprocessors.div_ceil(COPY_FOR)).flat_map(|_| ranges());
        Ok(DeviceCanary {
            batch: Box::new(small.make(all, 0)?),
            canary,
        })
    }
}

/// For so many multiprocessors one copy of the canary is enough: it has 30,000 jobs, one at least for each of their
/// threads.
const COPY_FOR: u32 = 32;

impl LaunchBatch for ChainBatch {
    fn launch(&self) -> Option<&Launch> {
        self.launch.as_ref()
    }

    fn tallies(self: Box<Self>, completed: Option<&Completed>) -> Result<Vec<Tally>, Mismatch> {
        let mut tallies = self.tallies;
        let (Some(launch), Some(sample)) = (&self.launch, &self.sample) else {
            return Ok(tallies);
        };
        let sums = launch.returned(completed)?;
        let expected = sample.recount(launch);
        let given = &sums[sample.group * GROUP_SUMS..][..GROUP_SUMS];
        if given != expected {
            return Err(Mismatch(format!(
                "a sampled job has {} solutions and {} nodes on the device, {} and {} on the CPU",
                given[0], given[1], expected[0], expected[1]
            )));
        }
        for (group, sums) in self.groups.iter().zip(sums.chunks_exact(GROUP_SUMS)) {
            let tally = &mut tallies[group.range];
            tally.completions.add(group.weight, sums[0].into());
            tally.nodes += sums[1];
        }
        Ok(tallies)
    }
}

impl SampledJob {
    /// What the kernel should have counted.
    fn recount(&self, launch: &Launch) -> [u64; GROUP_SUMS] {
        let words = depth(&launch.program()) + 1;
        let rows = &launch.tables()[self.group * words..][..words];
        let [columns, up, down, _] = self.job;
        let mut sums = [0; GROUP_SUMS];
        recount(rows, columns, up, down, &mut sums);
        sums
    }
}

/// Nodes that a device places for the whole board.
///
/// Up to n = 16 measured on 2026-11-18 by a prototype of the plan; n = 18 from the nodes of the CPU
/// kernel on 2026-11-20 (8.22e9, whose look-ahead saves 24 %); n = 20 to 24 estimated by the same
/// prototype from samples. Other sizes are interpolated geometrically.
fn device_nodes(n: Size) -> f64 {
    interpolate(
        n,
        &[
            (14, 5.28e6),
            (16, 2.136e8),
            (18, 1.08e10),
            (20, 7.2e11),
            (22, 5.6e13),
            (24, 4.7e15),
        ],
    )
}

/// Turns ranges of ranks into jobs.
struct Maker {
    n: Size,
    depth: usize,
    jobs: Vec<u32>,
    rows: Vec<u32>,
    groups: Vec<JobGroup>,
    /// The frame of the last group.
    frame: Option<Frame>,
}

impl Maker {
    /// Makes the jobs of one range. Returns what was counted while making them: the nodes above the
    /// jobs, and placements that leave nothing to search.
    fn take(&mut self, mut subtrees: Subtrees, range: usize) -> Tally {
        let mut tally = Tally::default();
        self.frame = None;
        while let Some(subtree) = subtrees.next_subtree() {
            if self.frame.as_ref() != Some(subtree.frame) {
                self.begin_group(subtree.frame, range, subtree.weight);
            }
            let mut completions = 0;
            self.descend(
                subtree.frame,
                subtree.depth,
                subtree.taken,
                &mut tally.nodes,
                &mut completions,
            );
            tally.completions.add(subtree.weight, completions);
            tally.partitions += subtree.partitions;
        }
        tally.nodes += subtrees.prefix_nodes();
        tally
    }

    fn begin_group(&mut self, frame: &Frame, range: usize, weight: u8) {
        self.frame = Some(frame.clone());
        self.groups.push(JobGroup { range, weight });
        // The deepest row has the last word but one. Shallow frames leave the first words empty.
        let missing = self.depth.saturating_sub(frame.rows.len());
        self.rows.extend(std::iter::repeat_n(0, missing));
        let deep = frame.rows.len().saturating_sub(self.depth);
        for row in &frame.rows[deep..] {
            self.rows
                .push(self.squares(frame.full & !row.banned) | row.gap);
        }
        self.rows.push(SOLVED);
    }

    /// Places queens until at most `depth` rows are left, and makes a job of each placement whose
    /// next row has a free square.
    fn descend(
        &mut self,
        frame: &Frame,
        row: usize,
        taken: TakenLines,
        nodes: &mut u64,
        completions: &mut u128,
    ) {
        let Some(&next) = frame.rows.get(row) else {
            *completions += 1;
            return;
        };
        let mut free = frame.free(taken, next);
        if frame.rows.len() - row <= self.depth {
            if free != 0 {
                let entered = taken.enter(next);
                let job = [
                    !self.squares(!entered.columns),
                    self.squares(entered.left),
                    self.squares(entered.right),
                    (self.groups.len() - 1) as u32,
                ];
                self.jobs.extend(job);
            }
            return;
        }
        while free != 0 {
            let bit = free & free.wrapping_neg();
            free ^= bit;
            *nodes += 1;
            self.descend(
                frame,
                row + 1,
                taken.enter(next).place(bit),
                nodes,
                completions,
            );
        }
    }

    /// The inner columns of a mask, moved to where the kernel expects them: bit 30 and below.
    fn squares(&self, mask: u32) -> u32 {
        let inner = self.n.full_mask() >> 1 & !1;
        (mask & inner) << (Size::MAX - self.n.get())
    }
}

/// Solutions and nodes of a subtree: what the kernel counts, in plain recursion.
fn recount(rows: &[u32], columns: u32, up: u32, down: u32, sums: &mut [u64; GROUP_SUMS]) {
    let rows_left = columns.count_zeros() as usize;
    if rows_left == 0 {
        sums[0] += 1;
        return;
    }
    let below = &rows[rows.len() - rows_left..];
    let mut free = rows[rows.len() - 1 - rows_left] & !(columns | up | down);
    let gap = below[0] & 3;
    while free != 0 {
        let bit = free & free.wrapping_neg();
        free ^= bit;
        sums[1] += 1;
        recount(
            rows,
            columns | bit,
            (up | bit) << gap,
            (down | bit) >> gap,
            sums,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::ChainPlan;
    use crate::chain::program::JOB_WORDS;
    use crate::engine::{DeviceSpans, Plan, Ticket};

    fn launcher(n: u32) -> (ChainPlan, ChainLauncher) {
        let n = Size::new(n).unwrap();
        let plan = ChainPlan::new(n);
        let launcher = ChainLauncher::new(Arc::new(plan.borders().clone()), 1.0).unwrap();
        (plan, launcher)
    }

    /// The tasks of the plan as a batch.
    fn batch(n: u32, seed: u64) -> Box<ChainBatch> {
        let (plan, launcher) = launcher(n);
        let ranges = tasks(&plan).into_iter().map(|task| task.ranks);
        Box::new(launcher.make(ranges, seed).unwrap())
    }

    fn tasks(plan: &ChainPlan) -> Vec<Task> {
        (0..plan.tasks()).map(|index| plan.task(index)).collect()
    }

    /// What a device that makes no mistake returns, by the recount.
    fn exact(launch: &Launch) -> Completed {
        let words = depth(&launch.program()) + 1;
        let mut sums = vec![0; launch.sums()];
        for job in launch.jobs().chunks_exact(JOB_WORDS) {
            let group = job[3] as usize;
            let mut counted = [0, 0];
            let rows = &launch.tables()[group * words..][..words];
            recount(rows, job[0], job[1], job[2], &mut counted);
            sums[group * GROUP_SUMS] += counted[0];
            sums[group * GROUP_SUMS + 1] += counted[1];
        }
        Completed {
            ticket: Ticket(0),
            sums,
            jobs_done: launch.job_count(),
            stream: 0,
            spans: DeviceSpans::default(),
        }
    }

    #[test]
    fn tallies_are_those_of_the_reference_kernel() {
        for n in 5..=12 {
            let (plan, launcher) = launcher(n);
            let tasks = tasks(&plan);
            let batch = launcher.batch(&tasks, n.into()).unwrap();
            let completed = batch.launch().map(exact);
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
        for n in 5..=28 {
            let (_, launcher) = launcher(n);
            let DeviceCanary { canary, batch } = launcher.canary(COPY_FOR + 1).unwrap();
            let launch = batch.launch().unwrap();
            assert_eq!(launch.program(), launcher.program(), "n = {n}");
            let completed = exact(launch);
            let tallies = batch.tallies(Some(&completed)).unwrap();
            assert_eq!(tallies.len(), 2 * canary.tasks().len());
            for (at, tally) in tallies.iter().enumerate() {
                canary.compare(at % canary.tasks().len(), tally).unwrap();
            }
        }
    }

    #[test]
    fn a_job_that_is_missing_is_noticed() {
        let batch = batch(9, 1);
        let mut completed = exact(batch.launch().unwrap());
        completed.jobs_done -= 1;
        let error = batch.tallies(Some(&completed)).unwrap_err();
        assert!(error.0.contains("jobs of"), "{error}");
    }

    #[test]
    fn sums_that_are_missing_are_noticed() {
        let batch = batch(9, 1);
        let mut completed = exact(batch.launch().unwrap());
        completed.sums.pop();
        let error = batch.tallies(Some(&completed)).unwrap_err();
        assert!(error.0.contains("sums, not"), "{error}");
    }

    #[test]
    fn a_sampled_job_with_another_count_is_noticed() {
        for sum in [0, 1] {
            let batch = batch(9, 1);
            let mut completed = exact(batch.launch().unwrap());
            let sampled = batch.groups.len() - 1;
            completed.sums[sampled * GROUP_SUMS + sum] += 1;
            let error = batch.tallies(Some(&completed)).unwrap_err();
            assert!(error.0.contains("sampled"), "{error}");
        }
    }

    #[test]
    fn nodes_are_the_figures_they_come_from_and_grow_with_the_board() {
        let nodes = |n| device_nodes(Size::new(n).unwrap());
        let close = |a: f64, b: f64| (a / b - 1.0).abs() < 0.01;
        assert!(close(nodes(22), 5.6e13));
        assert!(close(nodes(21), 6.35e12));
        assert!(close(nodes(25), 4.7e15 * 9.16));
        assert!((5..28).all(|n| nodes(n) < nodes(n + 1)));
    }
}
