//! Counts the recorded tasks of a run a second time.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::{Hardware, Job, JobError, JobResult};
use crate::actors::{DeviceSpec, Recorder, Report};
use crate::engine::{
    ChooseKernel, Origin, Plan, RecountKernel, RecountPlan, TaskKey, TaskResult, TaskSet, WorkerId,
    deciding_kernel, second_kernel,
};
use crate::ledger::{
    ChosenTasks, Confirmation, Decisions, FirstCounts, LoggedCorrection, ProcessFacts, Recording,
    SecondCounts,
};

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

impl Job {
    /// Counts the recorded tasks of the run that this job [resumes](Self::resume) a second time, those
    /// without a second count. A task that a device of this host counted first is counted by another
    /// device or by a CPU worker, if there is one. On the CPU, each task is counted by another kernel than
    /// the first time if that takes at most four times as long as the widest; the instruction set of the
    /// job, if it has one, counts all of them.
    ///
    /// Where the counts differ, a further one decides, and the log of corrections keeps all of them.
    ///
    /// # Errors
    /// See [`JobError`]. If it was stopped, what was counted is kept, and another call goes on.
    pub fn count_again_on(&self, hardware: &Hardware) -> Result<AgainResult, JobError> {
        self.tuning.check()?;
        let directory = self.resumed_directory()?;
        let (store, plans) = super::open(directory)?;
        let devices = hardware.devices_for(&plans)?;
        let process = ProcessFacts {
            isa: hardware.counter.isa.name().to_owned(),
            workers: hardware.workers as u64,
            devices: devices.iter().map(|device| device.name.clone()).collect(),
            config: self.configuration.clone().unwrap_or_default(),
        };
        let recording = Arc::new(Recording::resume(directory, &plans, &process)?);
        let before = recording.before();
        // Nobody else writes from now on.
        let first = Arc::new(FirstCounts::read(&store)?);
        drop(store);
        let again = Again {
            job: self,
            hardware,
            plans: &plans,
            recording: Arc::clone(&recording),
        };
        let mut report = again.count_second(&first, devices)?;
        let (store, _) = super::open(directory)?;
        let open = FirstCounts::read(&store)?.open().clone();
        drop(store);
        if !open.is_empty() {
            again.decide(&open)?;
        }
        let session = recording.session().to_owned();
        drop(again);
        drop(recording);
        let (store, _) = super::open(directory)?;
        let sums = store.sums()?;
        let corrections = store.corrections()?.into_iter();
        let confirmation = Confirmation::read(&store)?;
        let result = match plans.first() {
            Some(plan) if sums.coverage.is_whole() && sums.contested.is_empty() => {
                let time = (
                    before.elapsed + report.elapsed,
                    before.counting + report.cpu,
                );
                report.tallies = sums.tallies;
                let result = JobResult::new(Arc::clone(plan), hardware, report, time)?;
                Some(result.confirmed(confirmation))
            }
            _ => None,
        };
        Ok(AgainResult {
            result,
            confirmation,
            corrections: corrections
                .filter(|logged| logged.session == session)
                .collect(),
        })
    }

    fn resumed_directory(&self) -> Result<&Path, JobError> {
        let resumed = self.resumed.as_ref().map(|run| run.directory.as_path());
        resumed.ok_or(JobError::NeedsDirectory("a second count"))
    }
}

/// The steps of a second count.
struct Again<'a> {
    job: &'a Job,
    hardware: &'a Hardware,
    plans: &'a [Arc<dyn Plan>],
    recording: Arc<Recording>,
}

impl Again<'_> {
    /// Counts what has no second count. Tasks that a device of this run counted first come after the
    /// others, without that device, unless there is nobody else.
    fn count_second(
        &self,
        first: &Arc<FirstCounts>,
        devices: &[DeviceSpec],
    ) -> Result<Report, JobError> {
        let avoids = |device: &DeviceSpec| {
            let others = self.hardware.workers > 0 || devices.len() > 1;
            others.then_some(WorkerId::Device(device.index))
        };
        let avoided: Vec<WorkerId> = devices.iter().filter_map(avoids).collect();
        let of_device = |task: TaskKey| {
            let worker = first.worker_here(task)?;
            avoided.contains(&worker).then_some(worker)
        };
        let all = self.plans_by({
            let (first, settings, costs) = (
                Arc::clone(first),
                self.hardware.counter.clone(),
                self.hardware.costs.clone(),
            );
            let asked_for = self.job.hardware.isa;
            move |plan| {
                let (first, settings, costs) =
                    (Arc::clone(&first), settings.clone(), costs.clone());
                Arc::new(move |index| {
                    let origin = first.origin(plan.key(index));
                    match (asked_for, origin) {
                        (Some(isa), _) => RecountKernel::Isa(isa),
                        (None, Some(Origin { counted_by, .. })) => {
                            second_kernel(plan.as_ref(), &settings, &costs, counted_by)
                        }
                        (None, None) => RecountKernel::Isa(settings.isa),
                    }
                })
            }
        });
        let recorder: Arc<dyn Recorder> = Arc::new(SecondCounts(Arc::clone(&self.recording)));
        let tasks = first.once(|task| of_device(task).is_none());
        let source = ChosenTasks::new(self.plans, tasks).after(first);
        let mut report = self.count(&all, source, &recorder, devices)?;
        for avoided in avoided.iter().copied() {
            let tasks = first.once(|task| of_device(task) == Some(avoided));
            let source = ChosenTasks::new(self.plans, tasks);
            if source.is_empty() {
                continue;
            }
            let is_other = |device: &&DeviceSpec| WorkerId::Device(device.index) != avoided;
            let others: Vec<_> = devices.iter().filter(is_other).cloned().collect();
            let more = self.count(&all, source, &recorder, &others)?;
            report.elapsed += more.elapsed;
            report.cpu += more.cpu;
            report.workers.extend(more.workers);
        }
        Ok(report)
    }

    /// Decides between counts that differ, on CPU workers.
    fn decide(&self, open: &BTreeMap<TaskKey, LoggedCorrection>) -> Result<(), JobError> {
        let mut kernels = BTreeMap::new();
        let mut methods = BTreeMap::new();
        for (task, logged) in open {
            let results: Vec<TaskResult> = logged
                .correction
                .results()
                .map(|entry| entry.result.clone())
                .collect();
            let mut plans = self.plans.iter();
            if let Some(plan) = plans.find(|plan| plan.engine() == task.engine) {
                let (kernel, method) = deciding_kernel(plan.as_ref(), &results);
                kernels.insert(*task, kernel);
                methods.insert(*task, method);
            }
        }
        let kernels = Arc::new(kernels);
        let plans = self.plans_by(|plan| {
            let kernels = Arc::clone(&kernels);
            Arc::new(move |index| {
                let kernel = kernels.get(&plan.key(index)).copied();
                kernel.unwrap_or(RecountKernel::Oracle)
            })
        });
        let tasks = |plan: &dyn Plan| {
            let mut tasks = TaskSet::default();
            for task in open.keys().filter(|task| task.engine == plan.engine()) {
                tasks.insert(task.index);
            }
            tasks
        };
        // Who gave the count that differs is not to decide.
        let last = open.iter().filter_map(|(task, logged)| {
            let last = logged.correction.others.last()?;
            (last.session == self.recording.session()).then_some((*task, last.result.origin.worker))
        });
        let last: BTreeMap<_, _> = last.collect();
        let source =
            ChosenTasks::new(self.plans, tasks).without(move |task| last.get(&task).copied());
        let recorder: Arc<dyn Recorder> = Arc::new(Decisions {
            recording: Arc::clone(&self.recording),
            methods,
        });
        self.count(&plans, source, &recorder, &[]).map(|_| ())
    }

    /// The plans, with the kernel that `choose` gives for a task.
    fn plans_by(&self, choose: impl Fn(Arc<dyn Plan>) -> ChooseKernel) -> Vec<Arc<dyn Plan>> {
        let by = |plan: &Arc<dyn Plan>| {
            let recount = RecountPlan {
                plan: Arc::clone(plan),
                choose: choose(Arc::clone(plan)),
            };
            Arc::new(recount) as Arc<dyn Plan>
        };
        self.plans.iter().map(by).collect()
    }

    fn count(
        &self,
        plans: &[Arc<dyn Plan>],
        source: ChosenTasks,
        recorder: &Arc<dyn Recorder>,
        devices: &[DeviceSpec],
    ) -> Result<Report, JobError> {
        let spec = self.job.spec(
            self.hardware,
            plans.to_vec(),
            Arc::new(source),
            Some(Arc::clone(recorder)),
        );
        // Every task is counted twice already: that shows what audits would. Canaries tell which of two counts
        // that differ to doubt, before all of them are contested.
        let spec = crate::actors::RunSpec { audit: 0.0, ..spec };
        let report = self.job.run_actors(&spec, devices)?;
        if report
            .tasks_total
            .is_some_and(|all| report.tasks_done < all)
        {
            let before = self.recording.before().elapsed;
            return Err(match self.job.stopped(report, before) {
                JobError::Stopped(mut stopped) => {
                    stopped.again = true;
                    JobError::Stopped(stopped)
                }
                other => other,
            });
        }
        Ok(report)
    }
}
