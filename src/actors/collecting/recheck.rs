//! A task that is counted again, and what its counts decide; and what the rechecker asks the collector for.

use std::time::Duration;

use crate::actors::{Batch, Costed, EventKind, FaultyWorker, PlanIndex, RunError, WorkerIndex};
use crate::engine::{
    self, Correction, CountedBy, Decision, Method, Plan, TaskKey, TaskResult, verdict,
};

/// A task whose count is not believed yet.
pub(crate) struct Recheck {
    pub(crate) plan: PlanIndex,
    /// What was counted so far, the first count first.
    pub(crate) counts: Vec<TaskCount>,
    /// The first count, if its worker contradicted itself.
    refuted_first: Option<TaskResult>,
    /// What else was counted by workers that contradicted themselves.
    refuted: Vec<TaskCount>,
    /// Whether nobody was left but those who counted it, so that one of them counts it once more.
    pub(crate) is_with_first: bool,
    pub(crate) reason: Reason,
}

/// A count of a task, and the worker of this run that gave it, if it was one.
pub(crate) struct TaskCount {
    pub(crate) worker: Option<WorkerIndex>,
    pub(crate) result: TaskResult,
}

/// Why a task is counted again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Reason {
    /// It was drawn for an audit, and is neither summed nor recorded yet. Its cost, and how long the
    /// second count was expected to take.
    Audit(f64, Duration),
    /// Its worker counted wrongly.
    Suspect,
    /// The sums contradict what is known.
    Sums,
}

/// What a further count of a task changes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The first two agree.
    Agreed,
    /// The first two differ, and a third count has to decide.
    Undecided,
    /// The count at this position is wrong by the third one.
    Wrong(usize),
    /// All three differ, and this worker gave two of them.
    Unreliable(WorkerIndex),
    /// All three differ.
    Open,
}

impl Recheck {
    pub(crate) fn new(
        plan: PlanIndex,
        worker: Option<WorkerIndex>,
        result: TaskResult,
        reason: Reason,
    ) -> Self {
        Self {
            plan,
            counts: vec![TaskCount { worker, result }],
            refuted_first: None,
            refuted: Vec::new(),
            is_with_first: false,
            reason,
        }
    }

    /// Notes that the first count is not to be believed before another one agrees. An audit is not summed before.
    pub(crate) fn doubt(&mut self) {
        if self.reason == Reason::Sums {
            self.reason = Reason::Suspect;
        }
    }

    pub(crate) fn key(&self) -> TaskKey {
        self.counts[0].result.key
    }

    /// Whether a count says nothing new: the same result of the same worker by the same kernel.
    pub(crate) fn repeats(&self, worker: WorkerIndex, result: &TaskResult) -> bool {
        self.counts.iter().any(|count| {
            count.worker == Some(worker)
                && count.result.origin.counted_by == result.origin.counted_by
                && count.result.tally.agrees_with(&result.tally)
        })
    }

    /// Takes in another count.
    pub(crate) fn hear(&mut self, worker: WorkerIndex, result: TaskResult) -> Verdict {
        self.counts.push(TaskCount {
            worker: Some(worker),
            result,
        });
        let counts = self.counts.iter();
        let counts: Vec<_> = counts
            .map(|count| (count.worker, &count.result.tally))
            .collect();
        match (verdict(&counts), counts.len()) {
            (engine::Verdict::Stands(_), 2) => Verdict::Agreed,
            (engine::Verdict::Open, 2) => Verdict::Undecided,
            // The third count agrees with one of the first two.
            (engine::Verdict::Stands(right), _) => Verdict::Wrong(1 - right.min(1)),
            (engine::Verdict::Contradicts(worker), _) => Verdict::Unreliable(worker),
            (engine::Verdict::Open, _) => Verdict::Open,
        }
    }

    /// Forgets what a worker counted that contradicts itself. It stays in the log.
    pub(crate) fn refute(&mut self, worker: WorkerIndex) {
        if self.refuted_first.is_none() && self.counts[0].worker == Some(worker) {
            self.refuted_first = Some(self.counts.remove(0).result);
        }
        let bad = |count: &mut TaskCount| count.worker == Some(worker);
        self.refuted.extend(self.counts.extract_if(.., bad));
    }

    /// Whether counts of this worker were refuted.
    pub(crate) fn has_refuted(&self, worker: WorkerIndex) -> bool {
        let mut refuted = self.refuted.iter();
        refuted.any(|count| count.worker == Some(worker))
    }

    /// The first count of all, which is summed and recorded unless it is an audit that has not agreed yet.
    pub(crate) fn first(&self) -> &TaskResult {
        let first = self.refuted_first.as_ref();
        first.unwrap_or(&self.counts[0].result)
    }

    /// The workers that counted it.
    pub(crate) fn workers(&self) -> Vec<WorkerIndex> {
        let workers = self.counts.iter().filter_map(|count| count.worker);
        workers.collect()
    }

    /// The kernels and devices that counted it.
    pub(crate) fn counted_by(&self) -> Vec<CountedBy> {
        let results = self.counts.iter().map(|count| &count.result);
        results
            .map(|result| result.origin.counted_by.clone())
            .collect()
    }

    /// All counts if some of them differ; the last one decides.
    pub(crate) fn correction(&self, plan: &dyn Plan) -> Option<Correction> {
        let (third, others) = self.counts.split_last()?;
        let others = self.beside_first(others);
        if others.is_empty() {
            return None;
        }
        let first = self.first();
        let by = &third.result.origin.counted_by;
        let is_of_it = |other: &TaskResult| other.origin.counted_by == *by;
        let method = if is_of_it(first) || others.iter().any(is_of_it) {
            Method::SameKernel
        } else if by.is_kernel(plan.oracle().backend()) {
            Method::Oracle
        } else {
            Method::OtherKernel
        };
        Some(Correction {
            recorded: first.clone(),
            others,
            decision: Some(Decision {
                result: third.result.clone(),
                method,
            }),
        })
    }

    /// All counts, of which nobody knows which one is right.
    pub(crate) fn open_correction(&self) -> Correction {
        Correction {
            recorded: self.first().clone(),
            others: self.beside_first(&self.counts),
            decision: None,
        }
    }

    /// These counts without the first of all, and those that were refuted.
    fn beside_first(&self, counts: &[TaskCount]) -> Vec<TaskResult> {
        let others = counts.iter().skip(self.refuted_first.is_none().into());
        let others = others.chain(&self.refuted);
        others.map(|count| count.result.clone()).collect()
    }

    /// All counts in words.
    pub(crate) fn in_words(&self) -> String {
        let counts = self.counts.iter().map(|TaskCount { result, .. }| {
            let origin = &result.origin;
            format!(
                "{} by {} with {}",
                result.tally.exact(),
                origin.worker,
                origin.counted_by
            )
        });
        counts.collect::<Vec<_>>().join("; ")
    }
}

/// What is to be done about counts.
#[derive(Debug)]
pub(crate) enum Effect {
    /// Add a result of a worker to the sums, and have it recorded.
    Sum(WorkerIndex, PlanIndex, Costed),
    /// A result of a faulty worker is not summed, but no longer in flight either.
    Drop(WorkerIndex, PlanIndex, Costed),
    /// Have a task counted that has no count yet, on another worker.
    Retry(PlanIndex, u64, WorkerIndex),
    /// Have tasks counted again.
    Recount(Batch),
    /// Two counts of a task agree.
    CountedTwice(PlanIndex, u64),
    /// How long the first count of an audited task took, the second one was expected to take, and took.
    AuditTook(WorkerIndex, PlanIndex, [Duration; 3]),
    /// Put a result in the place of a wrong one in the sums.
    Replace {
        plan: PlanIndex,
        wrong: TaskResult,
        right: TaskResult,
    },
    /// Have a correction recorded.
    Correct(Correction),
    /// A worker counted wrongly, and may have used a device or kernel that is still to be named. This one
    /// leaves the run; `None` if it goes on as the last one.
    Faulty(FaultyWorker, Option<WorkerIndex>),
    /// Take a result out of the sums and out of the record.
    Withdraw(PlanIndex, TaskResult),
    /// Tell what happened.
    Tell(EventKind),
    /// Nothing more is to be counted.
    Done,
    /// There can be no result.
    Fail(RunError),
}
