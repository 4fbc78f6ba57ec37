//! Queenfold as a module for Python: a thin layer over the library.
//!
//! * `arguments`: what Python gives, as the library takes it.
//! * `waiting`: work on another thread, while Python handles signals and calls the progress callback.
//! * `counting`: `count` and `resume`.
//! * `estimating`: `estimate`.
//! * `facts`: `known` and `census`.
//! * `listing`: `solutions` and `random_solutions`.
//! * `proving`: `verify`, `certify` and `check`.
//! * `records`: results as records that can be compared, hashed and pickled.
//! * `table`: `read_ledger`.
//! * `errors`: the exceptions.
//!
//! `queenfold.pyi` has the types of all of it. A test compares it with the module.

mod arguments;
mod counting;
mod errors;
mod estimating;
mod facts;
mod listing;
mod proving;
mod records;
mod table;
mod waiting;

use pyo3::prelude::*;

/// Counts the solutions of the N-Queens problem, all and unique.
///
/// >>> import queenfold
/// >>> queenfold.count(8).total
/// 92
#[pymodule(name = "queenfold")]
mod module {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::counting::{Count, count, resume};
    #[pymodule_export]
    use crate::errors::{CertificateError, ContradictionError, Error, LedgerError, StoppedError};
    #[pymodule_export]
    use crate::estimating::{Estimate, Interval, estimate};
    #[pymodule_export]
    use crate::facts::{Census, Known, census, known};
    #[pymodule_export]
    use crate::listing::{Solutions, random_solutions, solutions};
    #[pymodule_export]
    use crate::proving::{Certificate, Verified, certify, check, verify};
    #[pymodule_export]
    use crate::table::read_ledger;
    #[pymodule_export]
    use crate::waiting::Progress;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
