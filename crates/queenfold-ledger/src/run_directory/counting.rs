//! A run that a directory keeps: how it counts, and what it gives.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::count_again::recounted;
use super::{RunDirectory, RunDirectoryError};
use crate::ledger::{Facts, LedgerError, LedgerSums, Recording, Session, Store, WhoCounted};
use queenfold::actors::{Report, RunEnd};
use queenfold::engine::{CountedBy, Plan, RecountKernel, second_kernel};
use queenfold::job::{Hardware, JobError, JobResult, Stopped};

/// What a finished run in a directory found.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// Its result. The times are those of all processes that counted for the first time.
    pub result: JobResult,
    /// Who counted its tasks, and how often.
    pub who: WhoCounted,
}

impl RunResult {
    /// The result of a whole run: what its ledger adds up to, how it was checked, and how long it took.
    pub(super) fn read(
        (store, sums): (&Store, LedgerSums),
        (plan, hardware): (Arc<dyn Plan>, &Hardware),
        mut report: Report,
    ) -> Result<Self, RunDirectoryError> {
        store.check_decided()?;
        report.tallies = sums.tallies;
        let time = Session::time(&store.sessions()?, false);
        let elapsed = time.elapsed.unwrap_or(report.elapsed);
        let mut result = JobResult::new(plan, hardware, report, (elapsed, time.cpu))?;
        result.checked = sums.who.confirmation.checked(&result.outcome);
        Ok(Self {
            result,
            who: sums.who,
        })
    }
}

impl RunDirectory {
    /// What the ledger keeps of this process.
    pub(super) fn facts(
        &self,
        hardware: &Hardware,
        plans: &[Arc<dyn Plan>],
    ) -> Result<Facts, JobError> {
        let devices = hardware.devices_for(plans)?.iter();
        Ok(Facts {
            isa: hardware.counter.isa.name().to_owned(),
            workers: hardware.workers_of_run() as u64,
            devices: devices.map(|device| device.name.clone()).collect(),
            config: self.configuration.clone(),
            ..Facts::default()
        })
    }

    /// Counts what `recording` lacks of the plans of a run, of which `plan` counts all solutions.
    pub(super) fn count(
        &self,
        hardware: &Hardware,
        (plan, plans): (Arc<dyn Plan>, Vec<Arc<dyn Plan>>),
        recording: Recording,
    ) -> Result<RunResult, RunDirectoryError> {
        let before = recording.before;
        let shard = recording.shard;
        let division = recording.division.clone();
        let recording = Arc::new(recording);
        let source = Arc::clone(&recording);
        let how = &self.job.settings;
        let plans = match self.other_way {
            true => self.other_ways(&plans, hardware),
            false => plans,
        };
        let report = how.count_all(hardware, (&plan, plans), source, Some(recording))?;
        if let RunEnd::Stopped(cause) = report.end {
            return Err(Stopped::by(self.job.board(), cause, report, before).into());
        }
        let store = Store::open_to_glance(&self.directory)?;
        let sums = store.sums()?;
        let coverage = &sums.coverage;
        match report.end {
            RunEnd::Whole if coverage.is_whole() => {
                RunResult::read((&store, sums), (plan, hardware), report)
            }
            RunEnd::Part if coverage.is_whole_for(shard, &division) => {
                Err(RunDirectoryError::OneShard {
                    shard,
                    missing: coverage.missing(&division),
                    report: Box::new(report),
                })
            }
            _ => {
                let what = "another process replaced it while the run wrote to it";
                Err(LedgerError::other(&self.directory, what).into())
            }
        }
    }

    /// Plans whose tasks are counted as the second time, after such hardware as this.
    fn other_ways(&self, plans: &[Arc<dyn Plan>], hardware: &Hardware) -> Vec<Arc<dyn Plan>> {
        let settings = &hardware.counter;
        let kernel = |plan: &Arc<dyn Plan>| {
            let first = CountedBy::Cpu(plan.kernel(settings.isa).into());
            let kernel = match self.job.settings.hardware.isa {
                Some(isa) => RecountKernel::other_way(isa, &first),
                None => second_kernel(plan.as_ref(), settings, &first),
            };
            (plan.engine(), kernel)
        };
        let kernels: BTreeMap<_, _> = plans.iter().map(kernel).collect();
        recounted(plans, move |plan, _| kernels[&plan.engine()], true)
    }
}
