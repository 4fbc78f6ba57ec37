//! Counts a share of what a run has recorded again, and keeps nothing of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::count_again::{Compared, Said, ToCheck, WrongTask};
use crate::ledger::{
    Coverage, Entry, LedgerError, LedgerSums, OriginName, RecountChoice, Sessions, Store,
};
use queenfold::engine::Engine;

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
    /// Reads every record of `store`, and draws tasks by `choice`: of those that `by` counted, if it is given.
    ///
    /// # Errors
    /// The ledger is damaged or of other plans.
    pub fn draw(
        store: &Store,
        choice: RecountChoice,
        by: Option<&OriginName>,
    ) -> Result<Self, LedgerError> {
        let plans = store.plans()?;
        let _moment = store.moment()?;
        let sessions = Sessions::of(store.sessions()?);
        let host = |session: &str| sessions.host(session).map_or("", String::as_str);
        let mut done = Coverage::none_of(store.info().n(), &store.info().plans);
        let sums = store.sums_and(|task| {
            let Some(by) = by else { return };
            for entry in std::iter::once(&task.record).chain(&task.second) {
                if by.names(host(&entry.session), &entry.result.origin) {
                    done.add(entry.result.key);
                }
            }
        })?;
        if let Some(by) = by.filter(|_| done.done() == 0) {
            let what = format!(
                "`{by}` names no host, device or worker that counted; `queenfold report` shows who did"
            );
            return Err(LedgerError::other(store.file(), what));
        }
        let mut said = BTreeMap::new();
        for task in choice.among(by.map_or(&sums.coverage, |_| &done)) {
            if let Some(Entry {
                result, session, ..
            }) = store.get(task)?
            {
                let of = Said {
                    tally: result.tally,
                    has_partitions: true,
                    counted_by: result.origin.counted_by,
                    origin: Some(OriginName::of(host(&session), result.origin.worker)),
                };
                said.insert(task, of);
            }
        }
        let tasks = Arc::new(ToCheck { plans, said });
        Ok(Self { sums, tasks })
    }

    /// What it shows that the tasks were counted again.
    pub fn findings(self, compared: Compared) -> Findings {
        Findings {
            sums: self.sums,
            checked: self.tasks.tasks(),
            wrong: compared.wrong_of(&self.tasks),
            kernels: compared.kernels,
        }
    }
}
