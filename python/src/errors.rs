//! The exceptions of the module.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use queenfold::job::JobError;
use queenfold_ledger::ledger;
use queenfold_ledger::run_directory::RunDirectoryError;

create_exception!(
    queenfold,
    Error,
    PyException,
    "Why there is no result. The base of all exceptions of this module."
);
create_exception!(
    queenfold,
    ContradictionError,
    Error,
    "The counts contradict each other or a known count, so they are no result."
);
create_exception!(
    queenfold,
    LedgerError,
    Error,
    "The directory of a run cannot be used."
);
create_exception!(
    queenfold,
    CertificateError,
    Error,
    "There is no certificate, or it has a defect."
);
create_exception!(
    queenfold,
    StoppedError,
    Error,
    "The time limit ended the run. With a directory, `resume` continues it."
);

/// The exception for a job that has no result. A wrong argument is a `ValueError`, as in Python's own library.
pub fn of_job(error: JobError) -> PyErr {
    let message = error.to_string();
    match error {
        JobError::Setting { .. }
        | JobError::NoWorkers
        | JobError::NoTotal(_)
        | JobError::BoardNotForDevices { .. }
        | JobError::EngineNotForDevices(_) => PyValueError::new_err(message),
        JobError::Contradiction(_) => ContradictionError::new_err(message),
        JobError::Stopped(_) => StoppedError::new_err(message),
        _ => Error::new_err(message),
    }
}

/// The exception for a run in a directory that has no result.
pub fn of_run(error: RunDirectoryError) -> PyErr {
    match error {
        RunDirectoryError::Job(error) => of_job(error),
        RunDirectoryError::Ledger(error) => of_ledger(&error),
        _ => Error::new_err(error.to_string()),
    }
}

/// The exception for a ledger that cannot be used.
pub fn of_ledger(error: &ledger::LedgerError) -> PyErr {
    LedgerError::new_err(match error {
        ledger::LedgerError::Exists(_) => {
            format!("{error}; give resume=True to continue it, or name another directory")
        }
        _ => error.to_string(),
    })
}
