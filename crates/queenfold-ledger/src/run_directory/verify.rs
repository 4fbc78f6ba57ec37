//! Counts a share of what a run has recorded again, and keeps nothing of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::count_again::{Compared, Said, ToCheck, WrongTask};
use crate::ledger::{
    DoneBy, Entry, LedgerError, LedgerSums, OriginName, RecountChoice, Sessions, Store,
};
use queenfold::engine::{Engine, Plan};

/// Records of a run that are to be counted again.
pub struct Verification {
    /// What all records add up to. Each of them was read.
    pub sums: LedgerSums,
    /// Those that are counted again.
    pub tasks: Arc<ToCheck>,
}

/// What counting recorded tasks again showed.
#[derive(Clone, Debug)]
pub struct Findings {
    /// What the records add up to.
    pub sums: LedgerSums,
    /// Tasks counted again.
    pub checked: u64,
    /// How often each pair of kernels was compared: engine, recorded, counted now.
    pub kernels: BTreeMap<(Engine, String, String), u64>,
    /// The tasks whose record is wrong, in the order of the plans.
    pub wrong: Vec<WrongTask>,
}

impl Verification {
    /// Reads every record of `store`, and draws tasks by `choice`: of those that `done_by` counted, if it is given.
    ///
    /// # Errors
    /// The ledger is damaged or of other plans.
    pub fn draw(
        store: &Store,
        plans: &[Arc<dyn Plan>],
        choice: RecountChoice,
        done_by: Option<&DoneBy>,
    ) -> Result<Self, LedgerError> {
        store.info().check_plans(store.file(), plans)?;
        let _moment = store.moment()?;
        let mut done = done_by.map(|done_by| done_by.begin(store)).transpose()?;
        let sums = store.sums_and(|task| {
            if let Some(done) = &mut done {
                done.add(&task);
            }
        })?;
        let done = done.map(|done| done.end(store)).transpose()?;
        let mut said = BTreeMap::new();
        for task in choice.among(done.as_ref().unwrap_or(&sums.coverage)) {
            if let Some(Entry { result, .. }) = store.get(task)? {
                let of = Said {
                    tally: result.tally,
                    has_partitions: true,
                    counted_by: result.origin.counted_by,
                };
                said.insert(task, of);
            }
        }
        let plans = plans.to_vec();
        let tasks = Arc::new(ToCheck { plans, said });
        Ok(Self { sums, tasks })
    }

    /// What it shows that the tasks were counted again.
    ///
    /// # Errors
    /// The ledger cannot be read any more.
    pub fn findings(self, store: &Store, compared: Compared) -> Result<Findings, LedgerError> {
        let sessions = Sessions::of(store.sessions()?);
        let mut wrong = compared.wrong_of(&self.tasks);
        for wrong in &mut wrong {
            let record = store.get(wrong.task)?;
            wrong.origin = record.map(|record| {
                let host = sessions.host(&record.session).map_or("", String::as_str);
                OriginName::of(host, record.result.origin.worker)
            });
        }
        Ok(Findings {
            sums: self.sums,
            checked: self.tasks.tasks(),
            kernels: compared.kernels,
            wrong,
        })
    }
}
