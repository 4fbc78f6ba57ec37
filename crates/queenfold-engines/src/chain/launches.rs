//! How tasks of the chain engine become launches for a device.

use std::sync::Arc;

use super::canary::canary;
use super::program::{GROUP_SUMS, fitted, program_for};
use super::{Borders, Frame, Subtrees, TakenLines};
use crate::board::Size;
use crate::engine::{
    Canary, Completed, DeviceProgram, Engine, JOB_WORDS, JobGroup, Jobs, Launch, LaunchBatch,
    LaunchError, Launcher, Mismatch, SampledLaunch, Tally, Task, interpolate,
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

/// The launch for some tasks, and what turns its sums into tallies.
struct ChainBatch {
    /// `None` if there are no jobs.
    launch: Option<SampledLaunch>,
    /// One for each task: what was counted while jobs were made.
    tallies: Vec<Tally>,
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

    fn work(&self) -> f64 {
        self.nodes
    }

    fn batch(&self, tasks: &[Task], seed: u64) -> Result<Box<dyn LaunchBatch>, LaunchError> {
        let mut maker = Maker {
            n: self.borders.size(),
            depth: depth(&self.program),
            jobs: Jobs::default(),
            frame: None,
        };
        let take = |(at, task): (usize, &Task)| {
            assert_eq!(task.key.engine, Engine::Chain, "{}", task.key);
            let subtrees = Subtrees::new(Arc::clone(&self.borders), task.ranks.clone());
            maker.take(subtrees, at)
        };
        let tallies = tasks.iter().enumerate().map(take).collect();
        Ok(Box::new(ChainBatch {
            launch: maker.jobs.into_launch(self.program, seed)?,
            tallies,
        }))
    }

    fn of_canary(&self) -> (Canary, Box<dyn Launcher>) {
        let canary = canary();
        let small = Self {
            borders: Arc::new(Borders::new(canary.size().into())),
            program: self.program,
            nodes: 0.0,
        };
        (canary, Box::new(small))
    }
}

impl LaunchBatch for ChainBatch {
    fn launch(&self) -> Option<&Launch> {
        self.launch.as_ref().map(|sampled| &sampled.launch)
    }

    fn tallies(self: Box<Self>, completed: Option<&Completed>) -> Result<Vec<Tally>, Mismatch> {
        let mut tallies = self.tallies;
        if let Some(launch) = &self.launch {
            for (group, [solutions, nodes]) in
                launch.sums(completed, |launch, job, _| recount_job(launch, job))?
            {
                let tally = &mut tallies[group.task];
                tally.completions.add(group.weight, solutions.into());
                tally.nodes += nodes;
            }
        }
        Ok(tallies)
    }
}

/// Solutions and nodes that the kernel should have counted of a job.
fn recount_job(launch: &Launch, [columns, up, down, group]: [u32; JOB_WORDS]) -> [u64; GROUP_SUMS] {
    let words = depth(&launch.program()) + 1;
    let rows = &launch.tables()[group as usize * words..][..words];
    let mut sums = [0; GROUP_SUMS];
    recount(rows, columns, up, down, &mut sums);
    sums
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

/// Turns tasks into jobs.
struct Maker {
    n: Size,
    depth: usize,
    jobs: Jobs,
    /// The frame of the last group.
    frame: Option<Frame>,
}

impl Maker {
    /// Makes the jobs of one task. Returns what was counted while making them: the nodes above the
    /// jobs, and placements that leave nothing to search.
    fn take(&mut self, mut subtrees: Subtrees, task: usize) -> Tally {
        let mut tally = Tally::default();
        self.frame = None;
        while let Some(subtree) = subtrees.next_subtree() {
            if self.frame.as_ref() != Some(subtree.frame) {
                self.begin_group(subtree.frame, task, subtree.weight);
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

    fn begin_group(&mut self, frame: &Frame, task: usize, weight: u8) {
        self.frame = Some(frame.clone());
        self.jobs.groups.push(JobGroup { task, weight });
        // The deepest row has the last word but one. Shallow frames leave the first words empty.
        let missing = self.depth.saturating_sub(frame.rows.len());
        self.jobs.tables.extend(std::iter::repeat_n(0, missing));
        let deep = frame.rows.len().saturating_sub(self.depth);
        for row in &frame.rows[deep..] {
            let word = self.squares(frame.full & !row.banned) | row.gap;
            self.jobs.tables.push(word);
        }
        self.jobs.tables.push(SOLVED);
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
                self.jobs.add([
                    !self.squares(!entered.columns),
                    self.squares(entered.left),
                    self.squares(entered.right),
                    (self.jobs.groups.len() - 1) as u32,
                ]);
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
    use crate::engine::{DeviceCanary, Plan, exact};

    fn launcher(n: u32) -> (ChainPlan, ChainLauncher) {
        let n = Size::new(n).unwrap();
        let plan = ChainPlan::new(n);
        let launcher = ChainLauncher::new(Arc::new(plan.borders().clone()), 1.0).unwrap();
        (plan, launcher)
    }

    fn tasks(plan: &ChainPlan) -> Vec<Task> {
        (0..plan.tasks()).map(|index| plan.task(index)).collect()
    }

    #[test]
    fn tallies_are_those_of_the_reference_kernel() {
        for n in 5..=12 {
            let (plan, launcher) = launcher(n);
            let tasks = tasks(&plan);
            let batch = launcher.batch(&tasks, n.into()).unwrap();
            let completed = batch.launch().map(|launch| exact(launch, recount_job));
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
            let DeviceCanary { canary, batch } = launcher.canary(33).unwrap();
            let launch = batch.launch().unwrap();
            assert_eq!(launch.program(), launcher.program(), "n = {n}");
            let completed = exact(launch, recount_job);
            let tallies = batch.tallies(Some(&completed)).unwrap();
            assert_eq!(tallies.len(), 2 * canary.tasks().len());
            for (at, tally) in tallies.iter().enumerate() {
                canary.compare(at % canary.tasks().len(), tally).unwrap();
            }
        }
    }

    #[test]
    fn a_sampled_job_with_another_count_is_noticed() {
        for sum in 1..=GROUP_SUMS {
            let (plan, launcher) = launcher(9);
            let batch = launcher.batch(&tasks(&plan), 1).unwrap();
            let mut completed = exact(batch.launch().unwrap(), recount_job);
            let at = completed.sums.len() - sum;
            completed.sums[at] += 1;
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
