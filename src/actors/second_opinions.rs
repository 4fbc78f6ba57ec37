//! What the collector does when it doubts a count: it has the task counted again elsewhere, lets a third
//! count decide if two differ, corrects the sums, and takes who counted wrongly out of the run.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use tracing::warn;

use super::collector::Collector;
use super::doubt::{Doubt, Opinion, Reason, Search, Searched, Verdict};
use super::events::{CorrectedCount, EventKind, SickWorker};
use super::index::{PlanIndex, WorkerIndex};
use super::messages::{CanaryCounted, Checked, Costed, Leave, Recount, Retry, RunFailed};
use super::recorder::RecordedResult;
use super::report::RunError;
use crate::engine::{Correction, CountedBy, TaskResult, WorkerId};

/// The parts of a search for wrong counts. After each one the sums are compared again.
const PARTS: usize = 16;

/// How long such a search may take however short the run was.
const LEAST_SEARCH: Duration = Duration::from_secs(60);

impl Collector {
    /// Takes in a result of `worker`.
    pub(super) fn hear(&mut self, worker: WorkerIndex, plan: PlanIndex, costed: Costed) {
        let key = costed.result.key;
        let doubt = self.doubts.open.remove(&key);
        if self.doubts.out.contains(&worker) {
            // Nothing that comes from it is believed any more.
            self.drop_from_hand(worker, plan, &costed);
            match doubt {
                Some(doubt) => self.ask(doubt),
                // Whoever counts it instead counts it as any other task, with its audit.
                None => self.retry.do_send(Retry {
                    plan,
                    task: key.index,
                    not_on: worker,
                }),
            }
        } else if let Some(doubt) = doubt {
            if doubt.counts.len() == 1 && doubt.repeats(worker, &costed.result) {
                // Whoever was to count it again was taken out of the run, and it came back to the first.
                self.ask(doubt);
            } else {
                self.decide(worker, doubt, costed.result);
            }
        } else if let Some(expected) = costed.audit {
            let Costed { result, cost, .. } = costed;
            let first = Opinion {
                worker: Some(worker),
                result,
            };
            self.ask(Doubt::new(plan, first, Reason::Audit(cost, expected)));
        } else {
            self.sum_up(worker, plan, costed);
        }
    }

    /// Has a doubted task counted once more: on another worker or device, if there is one. An audit, a
    /// third count, and whatever must be counted on the same one takes another kernel, too.
    fn ask(&mut self, doubt: Doubt) {
        let workers = doubt.workers();
        let elsewhere = self.shared.roster.elsewhere(&workers);
        let is_plain = doubt.counts.len() == 1 && !matches!(doubt.reason, Reason::Audit(..));
        let not_by = if is_plain && elsewhere.is_some() {
            Vec::new()
        } else {
            doubt.counted_by()
        };
        // Of two workers that differ, the second counts once more.
        let not_first = || {
            self.shared
                .roster
                .elsewhere(workers.get(..1).unwrap_or(&[]))
        };
        let only = elsewhere
            .or_else(not_first)
            .or_else(|| self.shared.roster.elsewhere(&[]));
        let key = doubt.counts[0].result.key;
        self.again(doubt.plan, vec![key.index], only, not_by);
        self.doubts.open.insert(key, doubt);
    }

    /// Notes that the collector has a result that it does not sum.
    fn drop_from_hand(&self, worker: WorkerIndex, plan: PlanIndex, costed: &Costed) {
        if self.shared.roster.is_cpu(worker) {
            let in_flight = &self.shared.in_flight;
            in_flight.collect(worker, plan, &costed.result, costed.cost);
        }
    }

    /// Has tasks counted again.
    fn again(
        &self,
        plan: PlanIndex,
        tasks: Vec<u64>,
        only: Option<WorkerIndex>,
        not_by: Vec<CountedBy>,
    ) {
        self.recount.do_send(Recount {
            plan,
            tasks,
            only,
            not_by,
        });
    }

    /// Takes in another count of a doubted task.
    fn decide(&mut self, worker: WorkerIndex, mut doubt: Doubt, result: TaskResult) {
        let (plan, key) = (doubt.plan, result.key);
        match doubt.hear(worker, result) {
            Verdict::Agreed => self.settle_doubt(&doubt),
            Verdict::Undecided => {
                // From here on it is treated as any other: it is recorded, and may be corrected.
                if let Reason::Audit(cost, _) = doubt.reason {
                    let first = &doubt.counts[0];
                    let result = first.result.clone();
                    self.sum_up(
                        first.worker.unwrap_or(worker),
                        plan,
                        Costed::again(result, cost),
                    );
                    doubt.reason = Reason::Suspect;
                }
                self.ask(doubt);
            }
            Verdict::Wrong(wrong) => self.correct(&doubt, wrong),
            Verdict::Unreliable(worker) => {
                let reason = format!("task {key}: {}", doubt.in_words());
                doubt.refute(worker);
                self.take_out(worker, reason);
                if self.shared.roster.workers_left() > 0 {
                    self.ask(doubt);
                }
            }
            Verdict::Open => {
                let message = format!("three counts differ: {}", doubt.in_words());
                let error = self.task_error(plan, key.index, message);
                self.failure.do_send(RunFailed(error));
            }
        }
    }

    /// Two counts agree. If the first was not summed yet, because the second was its audit, it is now.
    fn settle_doubt(&mut self, doubt: &Doubt) {
        let [first, second] = doubt.counts.as_slice() else {
            return;
        };
        if let Some(correction) = doubt.correction(self.shared.plan(doubt.plan).as_ref()) {
            self.log(correction);
        }
        let Reason::Audit(cost, expected) = doubt.reason else {
            self.tasks.note_second(doubt.plan, first.result.key.index);
            return;
        };
        let by = second.result.origin.counted_by.backend().to_owned();
        let (took, key) = (second.result.duration, first.result.key);
        if let Some(worker) = first.worker {
            let mut audit = self.shared.audit_of(worker, doubt.plan);
            audit.note(first.result.duration, expected, took);
        }
        self.shared.observers.tell(EventKind::Audited {
            worker: second.result.origin.worker,
            key,
            by: by.clone().into(),
            took,
        });
        let result = TaskResult {
            audited_by: Some(by.into()),
            ..first.result.clone()
        };
        if let Some(worker) = first.worker {
            self.sum_up(worker, doubt.plan, Costed::again(result, cost));
        }
    }

    /// Corrects the sums by a third count, logs that, and takes out of the run who counted wrongly.
    fn correct(&mut self, doubt: &Doubt, wrong: usize) {
        let plan = doubt.plan;
        let of = self.shared.plan(plan).as_ref();
        let (Some(correction), Some(third)) = (doubt.correction(of), doubt.counts.get(2)) else {
            return;
        };
        let (bad, right) = (&doubt.counts[wrong], &doubt.counts[1 - wrong]);
        if wrong == 0 {
            self.tasks.replace(plan, &bad.result, &third.result);
            self.doubts.kept.replace(plan, &third.result);
        } else {
            self.tasks.note_second(plan, third.result.key.index);
        }
        self.log(correction);
        let reason = format!("task {}: {}", bad.result.key, doubt.in_words());
        self.shared
            .observers
            .tell(EventKind::Corrected(Box::new(CorrectedCount {
                wrong: bad.result.clone(),
                right: right.result.clone(),
                decided_by: third.result.origin.counted_by.clone(),
                was_summed: wrong == 0,
            })));
        // If another process counted it, its worker is named in the log alone.
        if let Some(worker) = bad.worker {
            self.take_out(worker, reason);
        }
    }

    /// Has a correction recorded.
    fn log(&self, correction: Correction) {
        if let Some(recorder) = &self.shared.spec.recorder
            && let Err(error) = recorder.correct(correction)
        {
            let error = self.record_error(error);
            self.failure.do_send(RunFailed(error));
        }
    }

    /// Takes in what came of a canary.
    pub(super) fn hear_canary(&mut self, counted: CanaryCounted) {
        let CanaryCounted {
            worker,
            outcome,
            took,
        } = counted;
        match outcome {
            Ok(counts) => {
                if !self.doubts.out.contains(&worker) {
                    self.doubts.kept.passed(worker);
                }
                let worker = self.shared.roster.id(worker);
                self.shared.observers.tell(EventKind::CanaryPassed {
                    worker,
                    counts,
                    took,
                });
            }
            Err(reason) => self.take_out(worker, reason),
        }
    }

    /// Takes a worker out of the run that counted wrongly, and doubts what it counted since its last good
    /// canary.
    fn take_out(&mut self, worker: WorkerIndex, reason: String) {
        if !self.doubts.named.insert(worker) {
            return;
        }
        // While wrong counts are searched for, the last worker goes on with other kernels: what it counts
        // is compared with what is known.
        let last = self.shared.roster.elsewhere(&[worker]).is_none();
        let stays = last && self.doubts.search.is_some();
        if !stays {
            self.doubts.out.insert(worker);
            self.shared.roster.retire(worker);
        }
        let mut suspects: BTreeMap<PlanIndex, Vec<u64>> = BTreeMap::new();
        let untested = if stays {
            Vec::new()
        } else {
            self.doubts.kept.take_untested(worker)
        };
        for task in untested {
            let Some(result) = self.doubts.kept.get(task).cloned() else {
                continue;
            };
            let (plan, key) = (task.0, result.key);
            if self.doubts.open.contains_key(&key) {
                continue;
            }
            let first = Opinion {
                worker: Some(worker),
                result,
            };
            suspects.entry(plan).or_default().push(key.index);
            let doubt = Doubt::new(plan, first, Reason::Suspect);
            self.doubts.open.insert(key, doubt);
        }
        let id = self.shared.roster.id(worker);
        let progress = self.shared.observers.progress().now();
        let of = progress.workers.iter().find(|worker| worker.id == id);
        let taken_out = SickWorker {
            worker: id,
            counted_by: of.and_then(|worker| worker.counted_by.clone()),
            reason,
            suspects: suspects.values().map(|tasks| tasks.len() as u64).sum(),
        };
        warn!(
            "{id} counts wrongly and is taken out of the run (tasks counted since its last good canary, \
             and now doubted: {}): {}",
            taken_out.suspects, taken_out.reason
        );
        if let Some(recorder) = &self.shared.spec.recorder {
            recorder.note_taken_out(&taken_out);
        }
        if !stays {
            self.leave.do_send(Leave { worker });
        }
        let reason = taken_out.reason.clone();
        self.shared.observers.tell(EventKind::TakenOut(taken_out));
        if self.shared.roster.workers_left() == 0 {
            let error = RunError::Sick { worker: id, reason };
            self.failure.do_send(RunFailed(error));
            return;
        }
        for (plan, tasks) in suspects {
            self.again(plan, tasks, None, Vec::new());
        }
    }

    /// Withdraws what is still doubted when a run ends before it was counted again.
    pub(super) fn withdraw_doubted(&mut self) {
        let doubts = self.doubts.open.drain();
        let suspect = doubts.filter(|(_, doubt)| doubt.reason == Reason::Suspect);
        for (key, doubt) in suspect {
            let Some(first) = doubt.counts.first() else {
                continue;
            };
            self.tasks.remove(doubt.plan, &first.result);
            if let Some(recorder) = &self.shared.spec.recorder
                && let Err(error) = recorder.withdraw(key)
            {
                warn!("{key} could not be withdrawn: {error}");
            }
        }
    }

    /// Everything is counted. If the sums contradict what is known, tasks are counted again elsewhere to
    /// find the wrong ones.
    pub(super) fn check_sums(&mut self) {
        if let Some(doubt) = self.doubts.open.values().next() {
            let key = doubt.counts[0].result.key;
            let why = format!("a second count of task {key} did not come back");
            self.failure.do_send(RunFailed(RunError::Runtime(why)));
            return;
        }
        match self.contradiction() {
            None => self.checked.do_send(Checked),
            Some(reason) => {
                if self.doubts.search.is_none() {
                    self.begin_search(&reason);
                }
                self.search_on(reason);
            }
        }
    }

    /// What contradicts the sums, if all tasks of all plans are counted.
    fn contradiction(&self) -> Option<String> {
        let check = self.check.as_ref()?;
        let plans = || self.shared.spec.plans.iter();
        let sums = self.tasks.sums();
        let whole =
            |(plan, (tasks, _)): (usize, &(u64, _))| self.shared.spec.plans[plan].tasks() == *tasks;
        if !sums.iter().enumerate().all(whole) {
            return None;
        }
        let engines = plans().map(|plan| plan.engine());
        let sums = engines.zip(sums.into_iter().map(|(_, tally)| tally));
        check(&sums.collect()).err()
    }

    fn begin_search(&mut self, reason: &str) {
        warn!("{reason}; tasks are counted again to find the wrong ones");
        let reason = reason.to_owned();
        self.shared
            .observers
            .tell(EventKind::Contradicted { reason });
        let kept = self.doubts.kept.iter().map(|(plan, result)| Searched {
            plan,
            result: result.clone(),
            is_own: true,
        });
        let mut left: Vec<_> = kept.collect();
        if let Some(recorder) = &self.shared.spec.recorder {
            match recorder.results() {
                Ok(results) => left.extend(results.into_iter().filter_map(|recorded| {
                    let RecordedResult { result, is_own } = recorded;
                    let mut plans = self.shared.spec.plans.iter();
                    let plan = plans.position(|plan| plan.engine() == result.key.engine)?;
                    let plan = PlanIndex(plan);
                    let kept = self.doubts.kept.get((plan, result.key.index));
                    kept.is_none().then_some(Searched {
                        plan,
                        result,
                        is_own,
                    })
                })),
                Err(error) => warn!("what is recorded cannot be read: {error}"),
            }
        }
        let counting: Duration = left.iter().map(|searched| searched.result.duration).sum();
        fastrand::shuffle(&mut left);
        self.doubts.search = Some(Search {
            begun: Instant::now(),
            budget: (counting / self.shared.roster.workers_left().max(1) as u32).max(LEAST_SEARCH),
            all: left.len(),
            left,
        });
    }

    /// Has the next part of the tasks counted again, or gives up.
    fn search_on(&mut self, reason: String) {
        let Some(search) = &mut self.doubts.search else {
            return;
        };
        if search.left.is_empty()
            || (search.begun.elapsed() >= search.budget && search.all > search.left.len())
        {
            let error = RunError::Contradiction {
                reason,
                tasks: self.tasks.sums().iter().map(|(tasks, _)| tasks).sum(),
                again: (search.all - search.left.len()) as u64,
            };
            self.failure.do_send(RunFailed(error));
            return;
        }
        // What those counted who are known to be wrong comes first: it is last in the list.
        let out = &self.doubts.out;
        let is_out = |id: WorkerId| {
            out.iter()
                .any(|&worker| self.shared.roster.id(worker) == id)
        };
        search
            .left
            .sort_by_key(|searched| searched.is_own && is_out(searched.result.origin.worker));
        let part = search.all.div_ceil(PARTS).min(search.left.len());
        let part = search.left.split_off(search.left.len() - part);
        // By the worker that is to count them, and the kernels that it must not use.
        let mut groups: BTreeMap<(PlanIndex, Option<WorkerIndex>, Vec<CountedBy>), Vec<u64>> =
            BTreeMap::new();
        for searched in part {
            let Searched {
                plan,
                result,
                is_own,
            } = searched;
            let worker = self.shared.roster.find(result.origin.worker);
            let not_on: Vec<WorkerIndex> = worker.into_iter().collect();
            let first = result.origin.counted_by.clone();
            let (only, not_by) = match self.shared.roster.elsewhere(&not_on) {
                Some(elsewhere) => (Some(elsewhere), Vec::new()),
                None => (worker, vec![first]),
            };
            let key = result.key;
            groups
                .entry((plan, only, not_by))
                .or_default()
                .push(key.index);
            // What another process counted says nothing of a worker of this one.
            let worker = worker.filter(|_| is_own);
            let doubt = Doubt::new(plan, Opinion { worker, result }, Reason::Sums);
            self.doubts.open.insert(key, doubt);
        }
        for ((plan, only, not_by), tasks) in groups {
            self.again(plan, tasks, only, not_by);
        }
    }
}
