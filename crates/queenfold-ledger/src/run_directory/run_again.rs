//! Counts the recorded tasks of a run a second time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::count_again::count_again;
use super::{RunDirectory, RunDirectoryError, RunResult};
use crate::ledger::{
    ChosenTasks, Confirmation, Facts, FirstCounts, LoggedCorrection, Recording, Recounts, Store,
};
use queenfold::actors::{DeviceSpec, Recorder, Report};
use queenfold::engine::{
    DeviceKernel, Method, Plan, RecountKernel, TaskKey, TaskResult, WorkerId, deciding_kernel,
    second_kernel,
};
use queenfold::job::{Hardware, JobError, JobResult};

/// What counting a run again showed.
#[derive(Debug)]
pub struct AgainResult {
    /// The result of the run; `None` while tasks of it are missing, or contested.
    pub result: Option<JobResult>,
    /// How often its tasks are counted now.
    pub confirmation: Confirmation,
    /// What this process added to the log of corrections.
    pub corrections: Vec<LoggedCorrection>,
}

/// Counts the recorded tasks of a run without a second count.
pub(super) fn count(
    recorded: &RunDirectory,
    hardware: &Hardware,
) -> Result<AgainResult, RunDirectoryError> {
    recorded.job.settings.tuning.check()?;
    let directory = &recorded.directory;
    let store = Store::open_to_read(directory)?;
    let plans = store.plans()?;
    let devices = hardware.devices_for(&plans)?;
    let process = Facts {
        again: true,
        ..recorded.facts(hardware, &plans)?
    };
    let recording = Arc::new(Recording::resume(directory, &plans, &process)?);
    // Nobody else writes from now on.
    let first = Arc::new(FirstCounts::read(&store)?);
    let again = Again {
        recorded,
        hardware,
        plans: &plans,
        recording: Arc::clone(&recording),
    };
    let report = again.count_second(&first, devices)?;
    let contested = store.contested()?;
    // The last one that closes the file empties its write-ahead log, which a reader cannot.
    drop(store);
    if !contested.is_empty() {
        again.decide(&contested)?;
    }
    let session = recording.session.clone();
    drop(again);
    drop(recording);
    let store = Store::open_to_read(directory)?;
    let sums = store.sums()?;
    let corrections = store.corrections()?.into_iter();
    let (result, confirmation) = match plans.first() {
        Some(plan) if sums.coverage.is_whole() && sums.contested.is_empty() => {
            let of = (Arc::clone(plan), hardware);
            let whole = RunResult::read((&store, sums), of, report)?;
            (Some(whole.result), whole.who.confirmation)
        }
        _ => (None, sums.who.confirmation),
    };
    Ok(AgainResult {
        result,
        confirmation,
        corrections: corrections
            .filter(|logged| logged.session == session)
            .collect(),
    })
}

/// Tasks that are counted together.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Pass {
    /// The device that counted them first and does not count them again.
    without: Option<WorkerId>,
    /// Whether devices count them the other way.
    relaunches: bool,
}

/// The steps of a second count.
struct Again<'a> {
    recorded: &'a RunDirectory,
    hardware: &'a Hardware,
    plans: &'a [Arc<dyn Plan>],
    recording: Arc<Recording>,
}

impl Again<'_> {
    /// Counts what has no second count, in passes.
    fn count_second(
        &self,
        first: &Arc<FirstCounts>,
        devices: &[DeviceSpec],
    ) -> Result<Report, JobError> {
        let (settings, origins) = (self.hardware.counter.clone(), Arc::clone(first));
        let asked_for = self.recorded.job.settings.hardware.isa;
        let by = move |plan: &dyn Plan, task: TaskKey| match (asked_for, origins.origin(task)) {
            (Some(isa), Some(first)) => RecountKernel::other_way(isa, &first.counted_by),
            (None, Some(first)) => second_kernel(plan, &settings, &first.counted_by),
            (_, None) => RecountKernel::Isa(settings.isa),
        };
        let avoids = self.avoids(devices);
        let pass_of = |task: TaskKey| Pass {
            without: first.worker_here(task).filter(|at| avoids.contains(at)),
            relaunches: first
                .origin(task)
                .is_none_or(|of| !of.counted_by.is_transposed()),
        };
        let mut passes: BTreeSet<Pass> = first.once().map(pass_of).collect();
        let pass = passes.pop_first().unwrap_or_default();
        let recorder = self.recorder(None);
        let count = |pass: Pass| {
            let tasks = first.once().filter(|task| pass_of(*task) == pass);
            let is_left = |of: &&DeviceSpec| pass.without != Some(WorkerId::Device(of.index));
            let left: Vec<_> = devices.iter().filter(is_left).cloned().collect();
            let source = ChosenTasks::new(tasks).after(first);
            self.count(source, by.clone(), &recorder, (&left, pass.relaunches))
        };
        let mut report = count(pass)?;
        for pass in passes {
            let more = count(pass)?;
            report.elapsed += more.elapsed;
            report.cpu += more.cpu;
            report.workers.extend(more.workers);
        }
        Ok(report)
    }

    /// The devices that do not count again what they counted first: all of them if there is another one, or if CPU
    /// workers count and the device has no other way to do it.
    fn avoids(&self, devices: &[DeviceSpec]) -> Vec<WorkerId> {
        let other = |plan: &Arc<dyn Plan>| Some(plan.relauncher().ok()?.kernel());
        let has_two_ways = self
            .plans
            .iter()
            .any(|plan| other(plan) == Some(DeviceKernel::CudaTransposed));
        let is_other = devices.len() > 1 || (self.hardware.workers > 0 && !has_two_ways);
        let avoided = devices.iter().filter(|_| is_other);
        avoided.map(|of| WorkerId::Device(of.index)).collect()
    }

    /// Decides between counts that differ, on CPU workers.
    fn decide(&self, open: &BTreeMap<TaskKey, LoggedCorrection>) -> Result<(), JobError> {
        let (mut kernels, mut methods) = (BTreeMap::new(), BTreeMap::new());
        for (task, logged) in open {
            let results = logged.correction.results();
            let results: Vec<TaskResult> = results.map(|entry| entry.result.clone()).collect();
            let mut plans = self.plans.iter();
            if let Some(plan) = plans.find(|plan| plan.engine() == task.engine) {
                let (kernel, method) = deciding_kernel(plan.as_ref(), &results);
                kernels.insert(*task, kernel);
                methods.insert(*task, method);
            }
        }
        // Who gave the count that differs is not to decide.
        let last = open.iter().filter_map(|(task, logged)| {
            let last = logged.correction.others.last()?;
            (last.session == self.recording.session).then_some((*task, last.result.origin.worker))
        });
        let last: BTreeMap<_, _> = last.collect();
        let source = ChosenTasks::new(open.keys().copied());
        let source = source.without(move |task| last.get(&task).copied());
        let recorder = self.recorder(Some(methods));
        let by = move |_: &dyn Plan, task: TaskKey| {
            let kernel = kernels.get(&task).copied();
            kernel.unwrap_or(RecountKernel::Oracle)
        };
        self.count(source, by, &recorder, (&[], false)).map(|_| ())
    }

    fn recorder(&self, deciding: Option<BTreeMap<TaskKey, Method>>) -> Arc<dyn Recorder> {
        let recording = Arc::clone(&self.recording);
        Arc::new(Recounts {
            recording,
            deciding,
        })
    }

    fn count(
        &self,
        tasks: ChosenTasks,
        by: impl Fn(&dyn Plan, TaskKey) -> RecountKernel + Send + Sync + 'static,
        recorder: &Arc<dyn Recorder>,
        devices: (&[DeviceSpec], bool),
    ) -> Result<Report, JobError> {
        let on = (&self.recorded.job.settings, self.hardware);
        let (before, tell) = (self.recording.before, Arc::clone(recorder));
        count_again(self.plans, tasks, by, on, devices, tell, before)
    }
}
