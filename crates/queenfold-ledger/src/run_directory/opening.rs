//! The ledger of a run directory, with the plans of its run.

use std::path::Path;
use std::sync::Arc;

use crate::ledger::{LedgerError, Store};
use queenfold::engine::Plan;
use queenfold::job::plans;

/// The plan of the run in `directory` that counts all solutions, and whether the run has a census. The run
/// is to be continued, so what a killed writer left half done is undone, and who continues it checks the file.
pub(super) fn counting_plan(directory: &Path) -> Result<(Arc<dyn Plan>, bool), LedgerError> {
    let (_, plans) = match open_to_glance(directory) {
        Err(LedgerError::Interrupted { .. }) => {
            Store::recover(directory)?;
            open_to_glance(directory)?
        }
        opened => opened?,
    };
    let census = plans.len() > 1;
    let first = plans.into_iter().next();
    Ok((
        first.ok_or_else(|| LedgerError::NoRun(directory.to_owned()))?,
        census,
    ))
}

/// Opens the ledger of `directory` to read it, with the plans of its run.
///
/// # Errors
/// There is none, or it is damaged or of other plans.
pub fn open(directory: &Path) -> Result<(Store, Vec<Arc<dyn Plan>>), LedgerError> {
    with_plans(Store::open_to_read(directory)?)
}

/// As [`open`], to [see how far the run is](Store::open_to_glance).
///
/// # Errors
/// There is none, or it is of another format or of other plans.
pub fn open_to_glance(directory: &Path) -> Result<(Store, Vec<Arc<dyn Plan>>), LedgerError> {
    with_plans(Store::open_to_glance(directory)?)
}

fn with_plans(store: Store) -> Result<(Store, Vec<Arc<dyn Plan>>), LedgerError> {
    let plans = plans_of(&store)?;
    Ok((store, plans))
}

/// The plans of the run in a ledger as this program makes them, the counting one first.
///
/// # Errors
/// It is of other plans.
pub fn plans_of(store: &Store) -> Result<Vec<Arc<dyn Plan>>, LedgerError> {
    let info = store.info();
    let plans = plans(info.board, info.plans.iter().map(|plan| plan.engine));
    info.check_plans(store.file(), &plans)?;
    Ok(plans)
}
