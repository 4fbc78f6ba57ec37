//! Which counts are believed, and which are counted again.
//!
//! It is a state machine. The collector tells it what was counted, which canaries were right or wrong and
//! what contradicts the sums, and does what it asks for. It has tasks counted again elsewhere, lets a third
//! count decide if two differ, and says who is faulty.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::mem::take;
use std::sync::Arc;

use tracing::warn;

use crate::actors::{
    Batch, CorrectedCount, Costed, Effect, EventKind, FaultyWorker, PlanIndex, Reason,
    RecentResults, Recheck, RecordedResult, Roster, RunError, SumCheck, TaskCount, Verdict,
    WorkerIndex, WrongCountSearch,
};
use crate::engine::{CountedBy, Plan, TaskKey, TaskResult};

pub(crate) struct Rechecker {
    plans: Vec<Arc<dyn Plan>>,
    /// Who is faulty is retired here at once, so that its thread begins no more tasks.
    roster: Arc<Roster>,
    /// Whether anything may show later that results are wrong, so that they are kept.
    keeps_results: bool,
    /// Whether only right sums pass the check at the end.
    check_is_exact: bool,
    recent: RecentResults,
    /// Tasks that are counted again.
    open: HashMap<TaskKey, Recheck>,
    /// Workers from which nothing is believed any more.
    faulty: BTreeSet<WorkerIndex>,
    /// Those, and one that counted wrongly but is the last that can search for wrong counts.
    named: BTreeSet<WorkerIndex>,
    search: Option<WrongCountSearch>,
    /// What the present call asks for.
    effects: Vec<Effect>,
}

impl Rechecker {
    /// For a run with or without canaries, and with this check at its end.
    pub(crate) fn new(
        plans: Vec<Arc<dyn Plan>>,
        roster: Arc<Roster>,
        has_canaries: bool,
        check: Option<&SumCheck>,
    ) -> Self {
        Self {
            recent: RecentResults::new(roster.workers(), plans.len()),
            plans,
            roster,
            keeps_results: has_canaries || check.is_some(),
            check_is_exact: check.is_some_and(|check| check.is_exact),
            open: HashMap::new(),
            faulty: BTreeSet::new(),
            named: BTreeSet::new(),
            search: None,
            effects: Vec::new(),
        }
    }

    /// Hears a result of a worker.
    pub(crate) fn hear(
        &mut self,
        worker: WorkerIndex,
        plan: PlanIndex,
        costed: Costed,
    ) -> Vec<Effect> {
        let open = self.open.remove(&costed.result.key);
        if self.faulty.contains(&worker) {
            let task = costed.result.key.index;
            self.effects.push(Effect::Drop(worker, plan, costed));
            match open {
                Some(recheck) => self.ask(recheck),
                // Whoever counts it instead counts it as any other task, with its audit.
                None => self.effects.push(Effect::Retry(plan, task, worker)),
            }
        } else if let Some(recheck) = open {
            let is_no_news = recheck.counts.len() == 1 && recheck.repeats(worker, &costed.result);
            if is_no_news && !recheck.is_with_first {
                // Whoever was to count it again is faulty, and it came back to the first.
                self.ask(recheck);
            } else {
                self.decide(worker, recheck, costed.result);
            }
        } else if let Some(expected) = costed.audit {
            let reason = Reason::Audit(costed.cost, expected);
            self.ask(Recheck::new(plan, Some(worker), costed.result, reason));
        } else {
            self.sum(worker, plan, costed);
        }
        take(&mut self.effects)
    }

    /// Hears that a worker counted its canary correctly.
    pub(crate) fn passed_canary(&mut self, worker: WorkerIndex) {
        if !self.faulty.contains(&worker) {
            self.recent.passed(worker);
        }
    }

    /// Whether a task is being counted again.
    pub(crate) fn is_open(&self, task: &TaskKey) -> bool {
        self.open.contains_key(task)
    }

    /// Hears that a worker tried in vain to count a task again: another one tries, if there is one.
    pub(crate) fn failed_again(&mut self, worker: WorkerIndex, task: &TaskKey) -> Vec<Effect> {
        if let Some(recheck) = self.open.remove(task) {
            self.ask_others(recheck, Some(worker));
        }
        take(&mut self.effects)
    }

    /// Hears that a worker counted its canary wrongly.
    pub(crate) fn failed_canary(&mut self, worker: WorkerIndex, reason: String) -> Vec<Effect> {
        self.found_faulty(worker, reason);
        take(&mut self.effects)
    }

    /// Hears that everything is counted, and what contradicts the sums, if anything does. Then tasks are
    /// counted again elsewhere to find the wrong ones, also among what is `recorded`.
    pub(crate) fn check(
        &mut self,
        contradiction: Option<String>,
        recorded: impl FnOnce() -> Vec<RecordedResult>,
    ) -> Vec<Effect> {
        if let Some(recheck) = self.open.values().next() {
            let why = format!("a second count of task {} did not come back", recheck.key());
            self.effects.push(Effect::Fail(RunError::Runtime(why)));
        } else if let Some(reason) = contradiction {
            let search = self.search.take();
            let search = search.unwrap_or_else(|| self.begin_search(&reason, recorded()));
            self.search_on(search, reason);
        } else {
            self.effects.push(Effect::Done);
        }
        take(&mut self.effects)
    }

    /// Hears that the run ends: what was not counted again is withdrawn.
    pub(crate) fn end(&mut self) -> Vec<Effect> {
        let open = self.open.drain().map(|(_, recheck)| recheck);
        let suspect = open.filter(|recheck| recheck.reason == Reason::Suspect);
        suspect
            .map(|recheck| Effect::Withdraw(recheck.plan, recheck.first().clone()))
            .collect()
    }

    fn sum(&mut self, worker: WorkerIndex, plan: PlanIndex, costed: Costed) {
        if self.keeps_results {
            self.recent.add(worker, plan, costed.result.clone());
        }
        self.effects.push(Effect::Sum(worker, plan, costed));
    }

    /// Has a task counted once more: on another worker, if there is one. An audit, a third count, and
    /// whatever must be counted on the same one takes another kernel, too.
    fn ask(&mut self, recheck: Recheck) {
        self.ask_others(recheck, None);
    }

    /// The same, if possible on another worker than one that could not count it, too.
    fn ask_others(&mut self, mut recheck: Recheck, not_on: Option<WorkerIndex>) {
        let (key, workers) = (recheck.key(), recheck.workers());
        let also_not: Vec<_> = workers.iter().copied().chain(not_on).collect();
        let elsewhere = self.roster.elsewhere(&also_not);
        let elsewhere = elsewhere.or_else(|| self.roster.elsewhere(&workers));
        recheck.is_with_first = elsewhere.is_none();
        let is_plain = recheck.counts.len() == 1 && !matches!(recheck.reason, Reason::Audit(..));
        let not_by = if is_plain && elsewhere.is_some() {
            Vec::new()
        } else {
            recheck.counted_by()
        };
        // Of two workers that differ, the second counts once more.
        let not_first = || self.roster.elsewhere(workers.get(..1).unwrap_or(&[]));
        let only = elsewhere
            .or_else(not_first)
            .or_else(|| self.roster.elsewhere(&[]));
        self.recount(recheck.plan, vec![key.index], only, not_by);
        self.open.insert(key, recheck);
    }

    fn recount(
        &mut self,
        plan: PlanIndex,
        tasks: Vec<u64>,
        only: Option<WorkerIndex>,
        not_by: Vec<CountedBy>,
    ) {
        self.effects.push(Effect::Recount(Batch {
            only,
            again: Some(not_by),
            ..Batch::of(plan, tasks)
        }));
    }

    /// Takes in another count of a task.
    fn decide(&mut self, worker: WorkerIndex, mut recheck: Recheck, result: TaskResult) {
        let (plan, key) = (recheck.plan, result.key);
        match recheck.hear(worker, result) {
            Verdict::Agreed => self.agree(&recheck),
            Verdict::Undecided => {
                // From here on it is treated as any other: it is recorded, and may be corrected.
                if let Reason::Audit(cost, _) = recheck.reason {
                    let first = &recheck.counts[0];
                    let costed = Costed::again(first.result.clone(), cost);
                    self.sum(first.worker.unwrap_or(worker), plan, costed);
                    recheck.reason = Reason::Suspect;
                }
                self.ask(recheck);
            }
            Verdict::Wrong(wrong) => self.correct(&recheck, wrong),
            Verdict::Unreliable(worker) if !recheck.has_refuted(worker) => {
                let reason = format!("task {key}: {}", recheck.in_words());
                recheck.refute(worker);
                // It is known as open meanwhile: it is not asked for twice, and withdrawn if nobody is left.
                self.open.insert(key, recheck);
                self.found_faulty(worker, reason);
                if self.roster.cpu_workers_left() > 0
                    && let Some(recheck) = self.open.remove(&key)
                {
                    self.ask(recheck);
                }
            }
            // Or the last worker, which goes on, has contradicted itself before.
            Verdict::Unreliable(_) | Verdict::Open => {
                // The first count is recorded: without this, a later process would believe it.
                let open = recheck.open_correction();
                self.effects.push(Effect::Correct(open));
                let message = format!("three counts differ: {}", recheck.in_words());
                let plan = self.plans[plan.0].as_ref();
                let error = RunError::mismatch(Some(plan), key, message);
                self.effects.push(Effect::Fail(error));
            }
        }
    }

    /// Two counts agree. If the first was not summed yet, because the second was its audit, it is now.
    fn agree(&mut self, recheck: &Recheck) {
        let [first, second] = recheck.counts.as_slice() else {
            return;
        };
        let (plan, key) = (recheck.plan, first.result.key);
        let correction = recheck.correction(self.plans[plan.0].as_ref());
        self.effects.extend(correction.map(Effect::Correct));
        let Reason::Audit(cost, expected) = recheck.reason else {
            if self.replace(recheck, &second.result) {
                self.tell_corrected(recheck.first(), first, second, true);
            } else {
                self.effects.push(Effect::CountedTwice(plan, key.index));
            }
            return;
        };
        let Some(worker) = first.worker else { return };
        let by = second.result.origin.counted_by.backend().to_owned();
        let took = second.result.duration;
        let times = [first.result.duration, expected, took];
        self.effects.push(Effect::AuditTook(worker, plan, times));
        self.effects.push(Effect::Tell(EventKind::Audited {
            worker: second.result.origin.worker,
            key,
            by: by.clone().into(),
            took,
        }));
        let result = TaskResult {
            audited_by: Some(by.into()),
            ..first.result.clone()
        };
        self.sum(worker, plan, Costed::again(result, cost));
    }

    /// Corrects the sums by a third count, and says who is faulty.
    fn correct(&mut self, recheck: &Recheck, wrong: usize) {
        let plan = recheck.plan;
        let correction = recheck.correction(self.plans[plan.0].as_ref());
        let (Some(correction), Some(third)) = (correction, recheck.counts.get(2)) else {
            return;
        };
        let (bad, right) = (&recheck.counts[wrong], &recheck.counts[1 - wrong]);
        let was_summed = self.replace(recheck, &third.result);
        if !was_summed {
            let index = third.result.key.index;
            self.effects.push(Effect::CountedTwice(plan, index));
        }
        self.effects.push(Effect::Correct(correction));
        self.tell_corrected(&bad.result, right, third, was_summed);
        // If another process counted it, its worker is named in the log alone.
        if let Some(worker) = bad.worker {
            let reason = format!("task {}: {}", bad.result.key, recheck.in_words());
            self.found_faulty(worker, reason);
        }
    }

    fn tell_corrected(
        &mut self,
        wrong: &TaskResult,
        right: &TaskCount,
        third: &TaskCount,
        was_summed: bool,
    ) {
        let corrected = CorrectedCount {
            wrong: wrong.clone(),
            right: right.result.clone(),
            decided_by: third.result.origin.counted_by.clone(),
            was_summed,
        };
        let event = EventKind::Corrected(Box::new(corrected));
        self.effects.push(Effect::Tell(event));
    }

    /// Puts the right count in the place of what was summed of its task, if that is another one. Returns whether it is.
    fn replace(&mut self, recheck: &Recheck, right: &TaskResult) -> bool {
        let summed = recheck.first();
        let is_wrong = !summed.tally.agrees_with(&right.tally);
        if is_wrong {
            self.recent.replace(recheck.plan, right);
            self.effects.push(Effect::Replace {
                plan: recheck.plan,
                wrong: summed.clone(),
                right: right.clone(),
            });
        }
        is_wrong
    }

    /// Notes that a worker is faulty, and has counted again what it counted since its
    /// last good canary.
    fn found_faulty(&mut self, worker: WorkerIndex, reason: String) {
        // While wrong counts are searched for, the last worker goes on with other kernels: nothing but right sums will do.
        // Where wrong ones may pass, too, or if it has failed its canary, what it counted is worth nothing.
        let goes_on = self.search.is_some()
            && self.check_is_exact
            && !self.roster.is_retired(worker)
            && self.roster.elsewhere(&[worker]).is_none();
        let mut suspects: BTreeMap<PlanIndex, Vec<u64>> = BTreeMap::new();
        if !goes_on && self.faulty.insert(worker) {
            self.roster.retire(worker);
            for (plan, task) in self.recent.take_untested(worker) {
                let Some(result) = self.recent.get((plan, task)).cloned() else {
                    continue;
                };
                match self.open.entry(result.key) {
                    Entry::Vacant(open) => {
                        suspects.entry(plan).or_default().push(task);
                        open.insert(Recheck::new(plan, Some(worker), result, Reason::Suspect));
                    }
                    // It is asked for already.
                    Entry::Occupied(mut open) => open.get_mut().doubt(),
                }
            }
        }
        let id = self.roster.id(worker);
        if self.named.insert(worker) {
            let faulty = FaultyWorker {
                worker: id,
                counted_by: None,
                reason: reason.clone(),
                suspects: suspects.values().map(|tasks| tasks.len() as u64).sum(),
            };
            let leaves = (!goes_on).then_some(worker);
            self.effects.push(Effect::Faulty(faulty, leaves));
        }
        if self.roster.cpu_workers_left() == 0 {
            let worker = id;
            let error = RunError::Faulty { worker, reason };
            self.effects.push(Effect::Fail(error));
            return;
        }
        for (plan, tasks) in suspects {
            self.recount(plan, tasks, None, Vec::new());
        }
    }

    fn begin_search(&mut self, reason: &str, recorded: Vec<RecordedResult>) -> WrongCountSearch {
        warn!("{reason}; tasks are counted again to find the wrong ones");
        let reason = reason.to_owned();
        let told = EventKind::Contradicted { reason };
        self.effects.push(Effect::Tell(told));
        let own = self.recent.iter().map(|(plan, result)| {
            let (result, is_own) = (result.clone(), true);
            (plan, RecordedResult { result, is_own })
        });
        let recorded = recorded.into_iter().filter_map(|recorded| {
            let TaskKey { engine, index, .. } = recorded.result.key;
            let plan = self.plans.iter().position(|plan| plan.engine() == engine);
            let plan = PlanIndex(plan?);
            let own = self.recent.get((plan, index));
            own.is_none().then_some((plan, recorded))
        });
        WrongCountSearch::begin(
            own.chain(recorded).collect(),
            self.roster.cpu_workers_left(),
        )
    }

    /// Has the next part of the tasks counted again, or gives up.
    fn search_on(&mut self, mut search: WrongCountSearch, reason: String) {
        let worker_of = |result: &TaskResult| self.roster.find(result.origin.worker);
        let faulty = |worker: WorkerIndex| self.faulty.contains(&worker);
        let part = if search.is_over() {
            self.effects.push(Effect::Fail(RunError::Contradiction {
                reason,
                tasks: self.plans.iter().map(|plan| plan.tasks()).sum(),
                again: search.counted_again() as u64,
            }));
            Vec::new()
        } else {
            search.next_part(|(_, count)| {
                count.is_own && worker_of(&count.result).is_some_and(faulty)
            })
        };
        // By the worker that is to count them, and the kernels that it must not use.
        let mut groups: BTreeMap<_, Vec<u64>> = BTreeMap::new();
        for (plan, RecordedResult { result, is_own }) in part {
            // It may have been corrected since the search began.
            let now = self.recent.get((plan, result.key.index)).cloned();
            let result = now.unwrap_or(result);
            let (worker, key) = (worker_of(&result), result.key);
            let elsewhere = self.roster.elsewhere(worker.as_slice());
            let is_alone = elsewhere.is_none();
            let group = match elsewhere {
                Some(elsewhere) => (plan, Some(elsewhere), Vec::new()),
                None => (plan, worker, vec![result.origin.counted_by.clone()]),
            };
            groups.entry(group).or_default().push(key.index);
            // What another process counted says nothing of a worker of this one.
            let worker = worker.filter(|_| is_own);
            let mut recheck = Recheck::new(plan, worker, result, Reason::Sums);
            recheck.is_with_first = is_alone;
            self.open.insert(key, recheck);
        }
        for ((plan, only, not_by), tasks) in groups {
            self.recount(plan, tasks, only, not_by);
        }
        self.search = Some(search);
    }
}

#[cfg(test)]
mod tests;
