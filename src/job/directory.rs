//! Jobs that keep their finished tasks in a directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Hardware, Job, JobError, JobResult, plan};
use crate::engine::Plan;
use crate::ledger::{LedgerError, Recording, RunInfo, Setting, Shard, Store};

/// Which directory a job keeps its tasks in, and how.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) path: PathBuf,
    pub(super) shard: Shard,
    pub(super) configuration: String,
    /// Whether there is a run in it.
    resumes: bool,
}

impl Request {
    /// Begins a run.
    pub(super) const fn create(path: PathBuf) -> Self {
        Self {
            path,
            shard: Shard::WHOLE,
            configuration: String::new(),
            resumes: false,
        }
    }

    /// Continues one.
    pub(super) fn resume(path: PathBuf) -> Self {
        Self {
            resumes: true,
            ..Self::create(path)
        }
    }
}

/// Counts what the directory lacks. Time and CPU time of the result are those of all processes that
/// worked on the run.
pub(super) fn run(
    job: &Job,
    request: &Request,
    hardware: &Hardware,
    plans: Vec<Arc<dyn Plan>>,
) -> Result<JobResult, JobError> {
    let directory = request.path.as_path();
    let devices = hardware.devices_for(&plans)?;
    let setting = Setting {
        isa: hardware.counter.isa.name().to_owned(),
        workers: hardware.workers as u64,
        devices: devices.iter().map(|device| device.name.clone()).collect(),
        config: request.configuration.clone(),
    };
    let recording = if request.resumes {
        Recording::resume(directory, &plans, &setting)?
    } else {
        let configuration = request.configuration.clone();
        let info = RunInfo::new(job.n, &plans, request.shard, configuration);
        Recording::create(directory, &info, &plans, &setting)?
    };
    let before = recording.before();
    let shard = recording.shard();
    let plan = plans.first().cloned();
    let recording = Arc::new(recording);
    let source = Arc::clone(&recording);
    let report = job.count(hardware, plans, source, Some(recording))?;
    let coverage = Store::open_to_read(directory)?.sums()?.coverage;
    let missing = || coverage.missing(shard);
    match plan.filter(|_| report.finished) {
        Some(plan) if coverage.is_whole() => {
            let time = (
                before.elapsed + report.elapsed,
                before.counting + report.cpu,
            );
            JobResult::new(plan, hardware, report, time)
        }
        // Somebody removed or replaced the file meanwhile: what was counted is not kept.
        Some(_) => Err(JobError::DirectoryChanged {
            directory: directory.to_owned(),
            missing: missing(),
            report: Box::new(report),
        }),
        None if coverage.is_whole_for(shard) => Err(JobError::OneShard {
            shard,
            missing: missing(),
            report: Box::new(report),
        }),
        None => Err(job.stopped(report, before.elapsed)),
    }
}

/// The plan of the run in `directory` that counts all solutions, and whether the run has a census.
pub(super) fn counting_plan(directory: &Path) -> Result<(Arc<dyn Plan>, bool), LedgerError> {
    let (_, plans) = open(directory)?;
    let census = plans.len() > 1;
    let first = plans.into_iter().next();
    Ok((
        first.ok_or_else(|| LedgerError::NoRun {
            dir: directory.to_owned(),
        })?,
        census,
    ))
}

/// The plans of a run as this program makes them, the counting one first.
pub fn plans_of(info: &RunInfo) -> Vec<Arc<dyn Plan>> {
    let engines = info.plans.iter().map(|plan| plan.engine);
    engines.map(|engine| plan(engine, info.n)).collect()
}

/// Opens the ledger of `directory` to read it, with the plans of its run.
///
/// # Errors
/// There is none, or it is damaged or of other plans.
pub fn open(directory: &Path) -> Result<(Store, Vec<Arc<dyn Plan>>), LedgerError> {
    let store = Store::open_to_read(directory)?;
    let plans = plans_of(store.info());
    store.info().check_plans(store.file(), &plans)?;
    Ok((store, plans))
}
