//! With what the recorded tasks of a run were counted.

use std::collections::BTreeSet;

use crate::ledger::{LedgerError, Store};
use queenfold::engine::WorkerId;

/// With what a run was counted, as its directory says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedWith {
    /// The kernel of the CPU workers, or `mixed` if there were several.
    pub kernel: String,
    /// The CPU workers of the last process that worked on it.
    pub workers: u64,
}

impl CountedWith {
    /// Reads it; `None` if nobody has worked on the run. The records are believed: [`Store::sums`] checks them.
    ///
    /// # Errors
    /// The ledger cannot be read, or holds what is not of its run.
    pub fn read(store: &Store) -> Result<Option<Self>, LedgerError> {
        let _moment = store.moment()?;
        let sessions = store.sessions()?;
        let last = sessions.iter().max_by_key(|session| session.facts.number);
        let Some(last) = last else {
            return Ok(None);
        };
        let mut kernels = BTreeSet::new();
        store.for_each_account(|record, _| {
            let is_of_cpu = matches!(record.worker, WorkerId::Cpu(_));
            if is_of_cpu && record.key.engine.counts_all() && !kernels.contains(record.backend) {
                kernels.insert(record.backend.to_owned());
            }
        })?;
        let kernel = match kernels.len() {
            // Devices counted everything.
            0 => last.facts.isa.clone(),
            1 => kernels.into_iter().collect(),
            _ => "mixed".to_owned(),
        };
        Ok(Some(Self {
            kernel,
            workers: last.facts.workers,
        }))
    }
}
