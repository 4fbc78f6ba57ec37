//! `count` and `resume`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use queenfold::board::{GivenBoard, Orbits};
use queenfold::job::{self, HardwareSettings, Job, JobResult, RunSettings};
use queenfold_ledger::run_directory::{RunDirectory, RunDirectoryError};

use crate::arguments::{self, Picture, Squares, Whole};
use crate::errors;
use crate::records::record;
use crate::waiting::{Progress, wait};

record! {
    /// The counts of a board, checked against every identity and known count. Equal to another of the same board with the
    /// same counts, however they were counted.
    Count(n, given, total, unique) {
        /// The size of the board.
        n: u32,
        /// What is given on it, as in "queens d5,b4 and holes a8"; None of a free board.
        given: Option<String>,
        /// All solutions; on a board with given queens or holes, all completions.
        total: u128,
        /// Solutions that differ by more than a symmetry of the board; None without the census.
        unique: Option<u128>,
        /// The numbers of orbits by size, "c1", "c2", "c4" and "c8"; None without the census.
        classes: Option<Classes>,
        /// Solutions that the half turn fixes; None without the census.
        r180: Option<u128>,
        /// Solutions that the quarter turn fixes; None without the census.
        r90: Option<u128>,
    } beside {
        /// How the counts were checked: "known" if they equal published ones; otherwise "twice" if every task was counted
        /// twice, "sampled 1/1000" if one in so many was, and "once".
        checked: String,
        /// The engine that counted all solutions: "chain" or "colour".
        engine: String,
        /// The number of CPU workers.
        workers: usize,
        /// Wall time in seconds, of all processes that worked on the run.
        seconds: f64,
        /// CPU time in seconds, of all of them; None if a part of the run was counted by a version that did not record it.
        cpu_seconds: Option<f64>,
    }
}

/// What is given on a board.
pub fn given(board: &GivenBoard) -> Option<String> {
    (!board.is_free()).then(|| board.to_string())
}

/// Orbits by size: a dict in Python.
#[derive(Clone, Copy, PartialEq, FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
pub struct Classes {
    c1: u128,
    c2: u128,
    c4: u128,
    c8: u128,
}

impl From<Orbits> for Classes {
    fn from(Orbits { c1, c2, c4, c8 }: Orbits) -> Self {
        Self { c1, c2, c4, c8 }
    }
}

impl From<JobResult> for Count {
    fn from(result: JobResult) -> Self {
        let outcome = &result.outcome;
        let symmetric = outcome.symmetric;
        Self {
            n: outcome.n.get(),
            given: given(&outcome.given),
            total: outcome.total,
            unique: outcome.unique(),
            classes: symmetric.map(|of| of.orbits.into()),
            r180: symmetric.map(|of| of.r180),
            r90: symmetric.map(|of| of.r90),
            checked: result.checked.to_string(),
            engine: result.plan.engine().name().to_owned(),
            workers: result.workers,
            seconds: result.elapsed.as_secs_f64(),
            cpu_seconds: result.cpu.map(|cpu| cpu.as_secs_f64()),
        }
    }
}

/// Counts the solutions of the n-queens board.
///
/// n: the size of the board, 1 to 32; it may be left out where `board` is given.
/// queens, holes: squares that have a queen in every solution, and squares that have none: "c3,a7", a list of such names, or
///     a list of pairs (row, column) from 0 at the top left, as `enumerate` makes them of a solution.
/// board: a picture of what is given instead: text with a line for each row, or a matrix of characters; "." is an empty
///     square, "Q" a queen, "#" a hole.
/// engine: "auto", "chain" or "colour".
/// workers: CPU workers, 0 to 1024; by default one for each core.
/// gpu: "auto", "off" or "cuda".
/// unique: whether to count the solutions up to symmetry, too.
/// dir: a new directory that keeps every finished task, so that `resume` can continue the run.
/// resume: whether to go on where there is a run in `dir`, and to begin one where there is none. The board must be the same;
///     engine and unique are those that the run began with.
/// time_limit: seconds after which the run stops with the exception StoppedError.
/// progress: called with a Progress a few times a second. If it raises, the run stops.
///
/// Ctrl-C stops the run in order: finished tasks are kept in `dir`, then KeyboardInterrupt is raised. Other
/// threads run meanwhile. Raises ValueError for a wrong argument, and a subclass of Error if there is no result.
#[pyfunction]
#[pyo3(signature = (n=None, *, queens=None, holes=None, board=None, engine="auto", workers=None, gpu="auto", unique=true, dir=None, resume=false, time_limit=None, progress=None))]
#[expect(clippy::too_many_arguments, reason = "they are keywords of Python")]
pub fn count(
    py: Python<'_>,
    n: Option<Whole>,
    queens: Option<Squares>,
    holes: Option<Squares>,
    board: Option<Picture>,
    #[pyo3(from_py_with = arguments::engine_word)] engine: &'static str,
    workers: Option<Whole>,
    #[pyo3(from_py_with = arguments::gpu_word)] gpu: &'static str,
    #[pyo3(from_py_with = arguments::unique)] unique: bool,
    dir: Option<PathBuf>,
    #[pyo3(from_py_with = arguments::resume)] resume: bool,
    #[pyo3(from_py_with = arguments::time_limit)] time_limit: Option<Duration>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Count> {
    let board = arguments::board(n, queens, holes, board)?;
    if resume && dir.is_none() {
        return Err(PyTypeError::new_err("resume: give dir, too"));
    }
    if let Some(dir) = dir.as_ref().filter(|dir| resume && holds_run(dir)) {
        let kept = RunDirectory::resume(dir).map_err(|error| errors::of_ledger(&error))?;
        if kept.job().board() != board {
            return Err(PyValueError::new_err(format!(
                "dir: {} holds a run of {}, not of {}",
                dir.display(),
                kept.job().board().in_words(),
                board.in_words()
            )));
        }
        return run(py, (workers, gpu), time_limit, progress, |settings| {
            Ok(kept.settings(settings).run()?.result)
        });
    }
    let job = match arguments::engine(engine) {
        Some(engine) => Job::of(job::plan(engine, board)),
        None => Job::new(board),
    };
    let job = job.unique(unique);
    run(py, (workers, gpu), time_limit, progress, |settings| {
        let job = job.settings(settings);
        match dir {
            Some(dir) => Ok(RunDirectory::create(dir, &job).run()?.result),
            None => Ok(job.run()?),
        }
    })
}

/// Whether there is anything in a directory. In one that is empty, a run is begun.
fn holds_run(dir: &Path) -> bool {
    fs::read_dir(dir).is_ok_and(|mut files| files.next().is_some())
}

/// Continues the run in the directory `dir`, or gives the result of a finished one again.
///
/// workers, gpu, time_limit, progress: as of `count`. Board, engine and unique are those the run began with.
#[pyfunction]
#[pyo3(signature = (dir, *, workers=None, gpu="auto", time_limit=None, progress=None))]
pub fn resume(
    py: Python<'_>,
    dir: PathBuf,
    workers: Option<Whole>,
    #[pyo3(from_py_with = arguments::gpu_word)] gpu: &'static str,
    #[pyo3(from_py_with = arguments::time_limit)] time_limit: Option<Duration>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Count> {
    let kept = RunDirectory::resume(dir).map_err(|error| errors::of_ledger(&error))?;
    run(py, (workers, gpu), time_limit, progress, |settings| {
        Ok(kept.settings(settings).run()?.result)
    })
}

/// Counts on this hardware: so many workers, and the GPUs of this name.
fn run(
    py: Python<'_>,
    (workers, gpu): (Option<Whole>, &str),
    time_limit: Option<Duration>,
    callback: Option<Bound<'_, PyAny>>,
    count: impl FnOnce(RunSettings) -> Result<JobResult, RunDirectoryError> + Send,
) -> PyResult<Count> {
    let hardware = HardwareSettings {
        devices: arguments::devices(gpu),
        workers: workers
            .map(|workers| arguments::workers(&workers))
            .transpose()?,
        ..HardwareSettings::default()
    };
    let settings = RunSettings {
        hardware,
        time_limit,
        ..RunSettings::default()
    };
    let control = settings.control.clone();
    let result = wait(
        py,
        callback.as_ref(),
        || count(settings),
        || control.drain(),
        |elapsed| {
            let now = control.progress();
            Progress {
                share: now.share,
                seconds: elapsed.as_secs_f64(),
                seconds_left: now.eta.map(|eta| eta.left.as_secs_f64()),
                tasks_done: now.tasks_done,
                tasks_total: now.tasks_total,
                solutions: now.solutions,
            }
        },
    )?;
    result.map(Count::from).map_err(errors::of_run)
}
