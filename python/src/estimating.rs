//! `estimate`.

use std::num::NonZeroUsize;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use queenfold::estimate::{self as sampling, Draw, SampleProgress, count_sample};
use queenfold::job::{self, HardwareSettings, fastest_on_cpu};
use queenfold::machine::Machine;

use crate::arguments::{self, Picture, Squares, Whole};
use crate::errors::{self, Error};
use crate::records::record;
use crate::waiting::{Progress, wait};

record! {
    /// An expected value, and the interval that contains the true value in 95 of 100 cases.
    Interval(low, expected, high) {
        /// The lower end.
        low: f64,
        /// The expected value.
        expected: f64,
        /// The upper end.
        high: f64,
    }
}

impl From<sampling::Interval> for Interval {
    fn from(interval: sampling::Interval) -> Self {
        let sampling::Interval {
            low,
            expected,
            high,
        } = interval;
        Self {
            low,
            expected,
            high,
        }
    }
}

record! {
    /// What counting a board is expected to take, judged by a sample of its tasks.
    Estimate(n, engine, workers, core_seconds) {
        /// The size of the board.
        n: u32,
        /// The engine: "chain" or "colour".
        engine: String,
        /// The workers that `seconds` is for.
        workers: usize,
        /// CPU time of all workers together, in seconds.
        core_seconds: Interval,
        /// Wall time, in seconds.
        seconds: Interval,
        /// Memory of a worker in bytes; None where the system does not tell.
        memory_per_worker: Option<u64>,
        /// Tasks in the sample.
        tasks: usize,
    }
}

/// Estimates what counting the n-queens board takes on CPU workers, by counting a sample of its tasks.
///
/// n, queens, holes, board, engine, workers, progress: as of `count`; workers from 1. No more threads count the sample
/// than there are cores.
/// sample: tasks to count, from 8; four times as many halve the intervals.
/// seed: of the sample; random by default.
///
/// Ctrl-C ends it with KeyboardInterrupt.
#[pyfunction]
#[pyo3(
    signature = (n=None, *, queens=None, holes=None, board=None, engine="auto", workers=None, sample=Whole::from(64), seed=None, progress=None),
    // Written out, because only a literal is shown as a default.
    text_signature = "(n=None, *, queens=None, holes=None, board=None, engine='auto', workers=None, sample=64, seed=None, progress=None)"
)]
#[expect(clippy::too_many_arguments, reason = "they are keywords of Python")]
pub fn estimate(
    py: Python<'_>,
    n: Option<Whole>,
    queens: Option<Squares>,
    holes: Option<Squares>,
    board: Option<Picture>,
    #[pyo3(from_py_with = arguments::engine_word)] engine: &'static str,
    workers: Option<Whole>,
    sample: Whole,
    seed: Option<Whole>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Estimate> {
    let board = arguments::board(n, queens, holes, board)?;
    let machine = Machine::detect();
    let counter = HardwareSettings::default()
        .counter()
        .map_err(errors::of_job)?;
    let workers = match workers {
        Some(workers) => arguments::workers(&workers)?,
        None => machine.cores,
    };
    let workers = NonZeroUsize::new(workers)
        .ok_or_else(|| PyValueError::new_err("workers: expected a number from 1 to 1024, not 0"))?;
    let tasks = arguments::sample(&sample)?;
    let seed = match seed {
        Some(seed) => arguments::seed(&seed)?,
        None => fastrand::u64(..),
    };
    let engine = arguments::engine(engine).unwrap_or_else(|| fastest_on_cpu(board, counter.isa));
    let plan = job::plan(engine, board);
    let draw = Draw::new(plan.as_ref(), tasks, seed);
    let threads = workers.min(NonZeroUsize::new(machine.cores).unwrap_or(NonZeroUsize::MIN));
    let counted = SampleProgress::new(threads);
    let sample = wait(
        py,
        progress.as_ref(),
        || count_sample(plan.as_ref(), &draw, &counter, &counted),
        || counted.give_up(),
        |elapsed| Progress {
            share: Some(counted.share(&draw)),
            seconds: elapsed.as_secs_f64(),
            seconds_left: None,
            tasks_done: counted.tasks() as u64,
            tasks_total: Some(draw.tasks().len() as u64),
            solutions: 0,
        },
    )?
    .map_err(|mismatch| Error::new_err(mismatch.to_string()))?;
    let total = draw
        .estimate(&sample.seconds, sample.speed)
        .ok_or_else(|| Error::new_err("no task of the sample was counted"))?;
    Ok(Estimate {
        n: board.size().get(),
        engine: engine.name().to_owned(),
        workers: workers.get(),
        core_seconds: total.core_seconds.into(),
        seconds: total.wall_seconds(workers.get()).into(),
        memory_per_worker: sample.memory,
        tasks: draw.tasks().len(),
    })
}
