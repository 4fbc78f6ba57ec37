//! `solutions`.

use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use queenfold::solve;

use crate::arguments::{self, Squares, Whole};
use crate::waiting::SIGNALS;

/// Solutions that are found before they are asked for.
const AHEAD: usize = 1024;

/// An iterator over solutions: tuples with the column of the queen of each row from the top, from 0.
#[pyclass(frozen, module = "queenfold")]
pub struct Solutions {
    found: Mutex<Receiver<Vec<u8>>>,
}

#[pymethods]
impl Solutions {
    const fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        loop {
            let next = py.detach(|| {
                let found = self.found.lock().unwrap_or_else(|error| error.into_inner());
                found.recv_timeout(SIGNALS)
            });
            match next {
                Ok(queens) => return PyTuple::new(py, queens).map(Some),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            }
        }
    }
}

/// Lists the solutions of the n-queens board, one after the other, in an order that is always the same.
///
/// n, queens, holes: as of `count`. A few solutions are found ahead, so memory does not grow with their number.
#[pyfunction]
#[pyo3(signature = (n, *, queens=None, holes=None))]
pub fn solutions(n: Whole, queens: Option<Squares>, holes: Option<Squares>) -> PyResult<Solutions> {
    let board = arguments::board(&n, queens, holes)?;
    let (send, found) = mpsc::sync_channel(AHEAD);
    // It ends when nobody receives any more: with the iterator.
    thread::spawn(move || {
        let mut solutions = solve::solutions(&board);
        let _ = solutions.try_for_each(|queens| send.send(queens));
    });
    Ok(Solutions {
        found: Mutex::new(found),
    })
}
