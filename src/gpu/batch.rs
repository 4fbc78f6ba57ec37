use super::{Completed, Launch, Program};
use crate::board::Size;
use crate::chain::{ChainPlan, Frame, State};
use crate::engine::{Engine, Mismatch, Plan, Tally, Task};

/// Words of a job: columns, up, down, group.
const JOB_WORDS: usize = 4;
/// Sums of a group: solutions, nodes.
const GROUP_SUMS: usize = 2;
/// The word below the last row.
const SOLVED: u32 = 1 << 31;

/// Makes batches of tasks of one chain plan.
#[derive(Debug)]
pub struct ChainBatcher {
    plan: ChainPlan,
    program: Program,
}

/// Tasks of the chain engine as a launch, and what is needed to make tallies of its sums.
#[derive(Debug)]
pub struct ChainBatch {
    /// What to submit. Without jobs (`job_count` 0) there is nothing to submit.
    pub launch: Launch,
    /// The tasks, with what was counted while jobs were made.
    tasks: Vec<(Task, Tally)>,
    groups: Vec<Group>,
    /// What the sampled job gives, by the CPU's count.
    sample: Option<Sample>,
}

/// Jobs of one task and border; the sums of a launch are per group.
#[derive(Clone, Copy, Debug)]
struct Group {
    /// Index of the task in the batch.
    task: usize,
    /// The number of solutions each completion stands for.
    weight: u8,
}

/// A job in a group of its own.
#[derive(Debug)]
struct Sample {
    group: usize,
    job: [u32; JOB_WORDS],
}

impl ChainBatcher {
    /// For boards of size `n`; `None` if the device kernel does not count such boards.
    pub fn new(n: Size) -> Option<Self> {
        let program = Program::chain(n)?;
        Some(Self::with_program(n, program))
    }

    /// For boards of size `n`, at least 5, with a kernel specialised for others: to test a kernel on
    /// a small board.
    pub fn with_program(n: Size, program: Program) -> Self {
        Self {
            plan: ChainPlan::new(n),
            program,
        }
    }

    /// The plan whose tasks it takes.
    pub const fn plan(&self) -> &ChainPlan {
        &self.plan
    }

    /// The kernel that its launches run.
    pub const fn program(&self) -> Program {
        self.program
    }

    /// Makes a batch of `tasks`. One of its jobs, chosen by `seed`, is to be counted again on the
    /// CPU.
    ///
    /// # Panics
    /// A task is not of the chain engine.
    pub fn batch(&self, tasks: &[Task], seed: u64) -> ChainBatch {
        let mut maker = Maker {
            n: self.plan.size(),
            depth: self.program.depth as usize,
            jobs: Vec::new(),
            rows: Vec::new(),
            groups: Vec::new(),
            frame: None,
        };
        let tasks = tasks
            .iter()
            .enumerate()
            .map(|(index, task)| (task.clone(), maker.take(&self.plan, task, index)))
            .collect();
        let sample = maker.isolate(seed);
        ChainBatch {
            launch: Launch {
                program: self.program,
                job_count: (maker.jobs.len() / JOB_WORDS) as u32,
                jobs: maker.jobs,
                tables: maker.rows,
                sums: maker.groups.len() * GROUP_SUMS,
            },
            tasks,
            groups: maker.groups,
            sample,
        }
    }
}

impl ChainBatch {
    /// The tasks in it.
    pub fn tasks(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter().map(|(task, _)| task)
    }

    /// The tally of each task, from what the launch gave; `None` for a launch without jobs.
    ///
    /// # Errors
    /// The device did not count what it was sent: a job is missing, or the sampled job has another
    /// count on the CPU.
    pub fn tallies(self, completed: Option<&Completed>) -> Result<Vec<(Task, Tally)>, Mismatch> {
        let done = completed.map_or(0, |completed| completed.jobs_done);
        if done != self.launch.job_count {
            let sent = self.launch.job_count;
            return Err(Mismatch(format!(
                "the device counted {done} jobs of {sent}"
            )));
        }
        let sums = completed.map_or(&[][..], |completed| &completed.sums);
        if let Some(sample) = &self.sample {
            let rows = self.launch.program.depth as usize + 1;
            let rows = &self.launch.tables[sample.group * rows..][..rows];
            let [columns, up, down, _] = sample.job;
            let mut expected = [0, 0];
            recount(rows, columns, up, down, &mut expected);
            let given = &sums[sample.group * GROUP_SUMS..][..GROUP_SUMS];
            if given != expected {
                return Err(Mismatch(format!(
                    "a sampled job has {} solutions and {} nodes on the device, {} and {} on the CPU",
                    given[0], given[1], expected[0], expected[1]
                )));
            }
        }
        let mut tasks = self.tasks;
        for (group, sums) in self.groups.iter().zip(sums.chunks_exact(GROUP_SUMS)) {
            let tally = &mut tasks[group.task].1;
            tally.completions.add(group.weight, sums[0].into());
            tally.nodes += sums[1];
        }
        Ok(tasks)
    }
}

/// Turns tasks into jobs.
struct Maker {
    n: Size,
    depth: usize,
    jobs: Vec<u32>,
    rows: Vec<u32>,
    groups: Vec<Group>,
    /// The frame of the last group.
    frame: Option<Frame>,
}

impl Maker {
    /// Makes the jobs of one task. What it gives is counted above them, and where nothing is left to
    /// search.
    fn take(&mut self, plan: &ChainPlan, task: &Task, index: usize) -> Tally {
        assert_eq!(task.key.engine, Engine::Chain, "{}", task.key);
        let mut tally = Tally::default();
        let mut subtrees = plan.jobs(task.ranks.clone());
        self.frame = None;
        while let Some(subtree) = subtrees.next_job() {
            if self.frame.as_ref() != Some(subtree.frame) {
                self.begin_group(subtree.frame, index, subtree.weight);
            }
            let mut completions = 0;
            self.descend(
                subtree.frame,
                subtree.depth,
                subtree.state,
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
        self.groups.push(Group { task, weight });
        // The deepest row has the last word but one; shallow frames leave the first ones empty.
        let missing = self.depth.saturating_sub(frame.rows.len());
        self.rows.extend(std::iter::repeat_n(0, missing));
        let deep = frame.rows.len().saturating_sub(self.depth);
        for row in &frame.rows[deep..] {
            self.rows
                .push(self.squares(frame.full & !row.banned) | row.gap);
        }
        self.rows.push(SOLVED);
    }

    /// Places queens until at most `depth` rows are left, and makes a job of what is alive then.
    fn descend(
        &mut self,
        frame: &Frame,
        row: usize,
        state: State,
        nodes: &mut u64,
        completions: &mut u128,
    ) {
        let Some(&next) = frame.rows.get(row) else {
            *completions += 1;
            return;
        };
        let mut free = frame.free(state, next);
        if frame.rows.len() - row <= self.depth {
            if free != 0 {
                let entered = state.enter(next);
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
                state.enter(next).place(bit),
                nodes,
                completions,
            );
        }
    }

    /// The inner columns of a mask where the kernel has them: bit 30 and below.
    fn squares(&self, mask: u32) -> u32 {
        let inner = self.n.full_mask() >> 1 & !1;
        (mask & inner) << (Size::MAX - self.n.get())
    }

    /// Gives one job a group of its own.
    fn isolate(&mut self, seed: u64) -> Option<Sample> {
        let count = self.jobs.len() / JOB_WORDS;
        if count == 0 {
            return None;
        }
        // A multiplicative hash: neighbouring seeds pick jobs far apart.
        let index = (u128::from(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)) * count as u128) >> 64;
        let job = self.jobs[index as usize * JOB_WORDS..].first_chunk_mut::<JOB_WORDS>()?;
        let words = self.depth + 1;
        let from = job[3] as usize;
        let group = self.groups.len();
        job[3] = group as u32;
        let job = *job;
        self.groups.push(self.groups[from]);
        self.rows
            .extend_from_within(from * words..(from + 1) * words);
        Some(Sample { group, job })
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
    use crate::engine::Plan;

    fn batcher(n: u32) -> ChainBatcher {
        ChainBatcher::new(Size::new(n).unwrap()).unwrap()
    }

    /// What a device that makes no mistake gives, by the recount.
    pub(in crate::gpu) fn exact(launch: &Launch) -> Completed {
        let words = launch.program.depth as usize + 1;
        let mut sums = vec![0; launch.sums];
        for job in launch.jobs.chunks_exact(JOB_WORDS) {
            let group = job[3] as usize;
            let mut counted = [0, 0];
            let rows = &launch.tables[group * words..][..words];
            recount(rows, job[0], job[1], job[2], &mut counted);
            sums[group * GROUP_SUMS] += counted[0];
            sums[group * GROUP_SUMS + 1] += counted[1];
        }
        Completed {
            ticket: crate::gpu::Ticket(0),
            sums,
            jobs_done: launch.job_count,
            stream: 0,
            spans: crate::gpu::Spans::default(),
        }
    }

    fn all_tasks(plan: &ChainPlan) -> Vec<Task> {
        (0..plan.tasks()).map(|index| plan.task(index)).collect()
    }

    #[test]
    fn tallies_are_those_of_the_reference_kernel() {
        for n in 5..=12 {
            let batcher = batcher(n);
            let tasks = all_tasks(batcher.plan());
            let batch = batcher.batch(&tasks, n.into());
            let completed = exact(&batch.launch);
            let mut oracle = batcher.plan().oracle();
            for (task, tally) in batch.tallies(Some(&completed)).unwrap() {
                let expected = oracle.count(&task).unwrap();
                assert!(tally.agrees_with(&expected), "n = {n}, {}", task.key);
            }
        }
    }

    #[test]
    fn a_job_that_is_missing_is_noticed() {
        let batcher = batcher(9);
        let batch = batcher.batch(&all_tasks(batcher.plan()), 1);
        let mut completed = exact(&batch.launch);
        completed.jobs_done -= 1;
        let error = batch.tallies(Some(&completed)).unwrap_err();
        assert!(error.0.contains("jobs of"), "{error}");
    }

    #[test]
    fn a_sampled_job_with_another_count_is_noticed() {
        for sum in [0, 1] {
            let batcher = batcher(9);
            let batch = batcher.batch(&all_tasks(batcher.plan()), 1);
            let mut completed = exact(&batch.launch);
            let sampled = batch.groups.len() - 1;
            completed.sums[sampled * GROUP_SUMS + sum] += 1;
            let error = batch.tallies(Some(&completed)).unwrap_err();
            assert!(error.0.contains("sampled"), "{error}");
        }
    }

    #[test]
    fn every_seed_picks_a_job() {
        let batcher = batcher(8);
        let tasks = all_tasks(batcher.plan());
        for seed in [0, 1, 2, u64::MAX / 2, u64::MAX] {
            assert!(batcher.batch(&tasks, seed).sample.is_some(), "seed {seed}");
        }
    }
}
