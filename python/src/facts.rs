//! `known` and `census`: what is known of boards besides their counts.

use pyo3::prelude::*;
use queenfold::job::{Hardware, HardwareSettings, Job, RunSettings};

use crate::arguments::{self, Picture, Squares, Whole};
use crate::counting::given;
use crate::errors;
use crate::records::record;
use crate::waiting::{Progress, wait};

record! {
    /// The known counts of a board.
    Known(n, total, unique) {
        /// The size of the board.
        n: u32,
        /// All solutions.
        total: u128,
        /// Solutions that differ by more than a rotation or reflection.
        unique: u128,
        /// Solutions that the half turn fixes.
        r180: u128,
        /// Solutions that the quarter turn fixes.
        r90: u128,
    }
}

record! {
    /// The symmetric solutions of a board. Equal as a Count is.
    Census(n, given, r180, r90) {
        /// The size of the board.
        n: u32,
        /// What is given on it, as in a Count.
        given: Option<String>,
        /// Solutions that the half turn fixes.
        r180: u128,
        /// Solutions that the quarter turn fixes.
        r90: u128,
    } beside {
        /// How they were checked, as in a Count.
        checked: String,
        /// Wall time in seconds.
        seconds: f64,
    }
}

/// Gives the known counts of the n-queens board, or None: those of the OEIS (A000170, A002562, A032522, A033148).
#[pyfunction]
pub fn known(n: Whole) -> PyResult<Option<Known>> {
    let size = arguments::size(&n)?;
    Ok(queenfold::known(size).map(|known| Known {
        n: size.get(),
        total: known.total,
        unique: known.unique,
        r180: known.r180,
        r90: known.r90,
    }))
}

/// Counts the solutions of the n-queens board that a half turn and a quarter turn fix.
///
/// n, queens, holes, board, workers: as of `count`.
///
/// Ctrl-C ends it with KeyboardInterrupt.
#[pyfunction]
#[pyo3(signature = (n=None, *, queens=None, holes=None, board=None, workers=None))]
pub fn census(
    py: Python<'_>,
    n: Option<Whole>,
    queens: Option<Squares>,
    holes: Option<Squares>,
    board: Option<Picture>,
    workers: Option<Whole>,
) -> PyResult<Census> {
    let board = arguments::board(n, queens, holes, board)?;
    let hardware = HardwareSettings {
        workers: workers
            .map(|workers| arguments::workers(&workers))
            .transpose()?,
        ..HardwareSettings::default()
    };
    let found = Hardware::find(&hardware).map_err(errors::of_job)?;
    let settings = RunSettings {
        hardware,
        ..RunSettings::default()
    };
    let control = settings.control.clone();
    let job = Job::new(board).settings(settings);
    let counted = wait(
        py,
        None,
        || job.census_on(&found),
        || control.drain(),
        Progress::at,
    )?
    .map_err(errors::of_job)?;
    Ok(Census {
        n: board.size().get(),
        given: given(&board),
        r180: counted.r180,
        r90: counted.r90,
        checked: counted.checked.to_string(),
        seconds: counted.report.elapsed.as_secs_f64(),
    })
}
