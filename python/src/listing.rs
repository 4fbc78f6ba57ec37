//! `solutions` and `random_solutions`.

use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use queenfold::solve::{self, Choice, is_representative, solutions_by_rows};

use crate::arguments::{self, Picture, Squares, Whole};
use crate::waiting::SIGNALS;

/// Solutions that are found before they are asked for.
const AHEAD: usize = 1024;

/// An iterator over solutions: tuples with the column of the queen of each row from the top, from 0.
#[pyclass(frozen, module = "queenfold")]
pub struct Solutions {
    n: usize,
    found: Mutex<Receiver<Vec<u8>>>,
}

impl Solutions {
    /// The next one; meanwhile other threads of Python run, and signals are handled.
    fn next(&self, py: Python<'_>) -> PyResult<Option<Vec<u8>>> {
        loop {
            let next = py.detach(|| {
                let found = self.found.lock().unwrap_or_else(|error| error.into_inner());
                found.recv_timeout(SIGNALS)
            });
            match next {
                Ok(queens) => return Ok(Some(queens)),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            }
        }
    }
}

#[pymethods]
impl Solutions {
    const fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let next = self.next(py)?;
        next.map(|queens| PyTuple::new(py, queens)).transpose()
    }

    /// The solutions that are left as an array of NumPy, one in each row, of type uint8.
    fn numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut all = Vec::new();
        while let Some(queens) = self.next(py)? {
            all.extend(queens);
        }
        let numpy = py.import("numpy")?;
        let kind = PyDict::new(py);
        kind.set_item("dtype", "uint8")?;
        let flat = numpy.call_method("frombuffer", (PyBytes::new(py, &all),), Some(&kind))?;
        flat.call_method1("reshape", ((all.len() / self.n, self.n),))
    }
}

/// Lists the solutions of the n-queens board, one after the other, in an order that is always the same.
///
/// n, queens, holes, board: as of `count`.
/// order: "fast" finds each soon; "rows" is lexicographic, and takes long on large boards.
/// unique: whether to give only one of those that symmetries of the board turn into each other.
///
/// A few solutions are found ahead, so memory does not grow with their number.
#[pyfunction]
#[pyo3(signature = (n=None, *, queens=None, holes=None, board=None, order="fast", unique=false))]
pub fn solutions(
    n: Option<Whole>,
    queens: Option<Squares>,
    holes: Option<Squares>,
    board: Option<Picture>,
    #[pyo3(from_py_with = arguments::order_word)] order: &'static str,
    #[pyo3(from_py_with = arguments::unique)] unique: bool,
) -> PyResult<Solutions> {
    let board = arguments::board(n, queens, holes, board)?;
    let mut solutions = match order {
        "rows" => solutions_by_rows(&board),
        _ => solve::solutions(&board),
    };
    let (send, found) = mpsc::sync_channel(AHEAD);
    // It ends when nobody receives any more: with the iterator.
    thread::spawn(move || {
        let wanted = |queens: &Vec<u8>| !unique || is_representative(&board, queens);
        let _ = solutions
            .by_ref()
            .filter(wanted)
            .try_for_each(|queens| send.send(queens));
    });
    Ok(Solutions {
        n: board.size().get() as usize,
        found: Mutex::new(found),
    })
}

/// Draws different solutions of the n-queens board at random, as a list of tuples.
///
/// n, queens, holes, board: as of `count`.
/// count: how many; fewer are given if there are no more, or if a search finds the same ones again and again.
/// seed: the same seed draws the same; random by default.
///
/// Up to n = 12 all are equally probable, and on larger boards whose solutions a search lists within a second.
#[pyfunction]
#[pyo3(
    signature = (n=None, count=Whole::from(1), *, queens=None, holes=None, board=None, seed=None),
    text_signature = "(n=None, count=1, *, queens=None, holes=None, board=None, seed=None)"
)]
pub fn random_solutions<'py>(
    py: Python<'py>,
    n: Option<Whole>,
    count: Whole,
    queens: Option<Squares>,
    holes: Option<Squares>,
    board: Option<Picture>,
    seed: Option<Whole>,
) -> PyResult<Vec<Bound<'py, PyTuple>>> {
    let board = arguments::board(n, queens, holes, board)?;
    let count = arguments::boards(&count)?;
    let seed = match seed {
        Some(seed) => arguments::seed(&seed)?,
        None => fastrand::u64(..),
    };
    let solved = py.detach(|| solve::solve(&board, count, Choice::Random { seed }));
    let boards = solved.boards.into_iter();
    boards.map(|queens| PyTuple::new(py, queens)).collect()
}
