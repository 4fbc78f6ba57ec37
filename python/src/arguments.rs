//! What Python gives, as the library takes it.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use queenfold::board::{GivenBoard, Size};
use queenfold::engine::Engine;
use queenfold::job::{DeviceChoice, limits};

/// Names of squares: `"c3,a7"` or `["c3", "a7"]`.
pub enum Squares {
    Text(String),
    Names(Vec<String>),
}

impl<'py> FromPyObject<'_, 'py> for Squares {
    type Error = PyErr;

    fn extract(squares: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(text) = squares.extract() {
            return Ok(Self::Text(text));
        }
        // What a derived implementation says has three lines, with names of Rust.
        squares
            .extract()
            .map(Self::Names)
            .map_err(|_| PyTypeError::new_err("expected squares as \"c3,a7\" or [\"c3\", \"a7\"]"))
    }
}

impl Squares {
    fn text(squares: Option<Self>) -> String {
        match squares {
            Some(Self::Text(text)) => text,
            Some(Self::Names(names)) => names.join(","),
            None => String::new(),
        }
    }
}

/// A whole number, in decimal digits: one that no integer of Rust holds is refused like any other outside its
/// range, and the error names what was given.
pub struct Whole(String);

impl From<i64> for Whole {
    fn from(number: i64) -> Self {
        Self(number.to_string())
    }
}

impl<'py> FromPyObject<'_, 'py> for Whole {
    type Error = PyErr;

    fn extract(number: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match number.extract::<i64>() {
            Ok(number) => Ok(number.into()),
            Err(error) if error.is_instance_of::<PyOverflowError>(number.py()) => {
                Ok(Self(number.str()?.to_string()))
            }
            Err(error) => Err(error),
        }
    }
}

fn wrong(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The board of n × n squares with what is given on it.
pub fn board(n: &Whole, queens: Option<Squares>, holes: Option<Squares>) -> PyResult<GivenBoard> {
    let size = n.0.parse::<Size>().map_err(wrong)?;
    GivenBoard::parse(size, &Squares::text(queens), &Squares::text(holes)).map_err(wrong)
}

/// The engine with this name; `None` for `"auto"`.
pub fn engine(name: &str) -> PyResult<Option<Engine>> {
    match name {
        "auto" => Ok(None),
        "chain" => Ok(Some(Engine::Chain)),
        "colour" => Ok(Some(Engine::Colour)),
        _ => Err(wrong(format!(
            "engine: expected 'auto', 'chain' or 'colour', not '{name}'"
        ))),
    }
}

/// Which GPUs take part.
pub fn devices(name: &str) -> PyResult<DeviceChoice> {
    match name {
        "auto" => Ok(DeviceChoice::Auto),
        "off" => Ok(DeviceChoice::Off),
        "cuda" => Ok(DeviceChoice::Cuda),
        _ => Err(wrong(format!(
            "gpu: expected 'auto', 'off' or 'cuda', not '{name}'"
        ))),
    }
}

/// The number of workers.
pub fn workers(workers: &Whole) -> PyResult<usize> {
    within("workers", workers, limits::WORKERS)
}

/// The number of tasks in a sample.
pub fn sample(tasks: &Whole) -> PyResult<usize> {
    within("sample", tasks, 8..=1_000_000)
}

/// The seed of a sample.
pub fn seed(seed: &Whole) -> PyResult<u64> {
    within("seed", seed, 0..=u64::MAX)
}

/// The number, if it is in `range`; `name` is that of the argument.
fn within<T>(name: &str, number: &Whole, range: RangeInclusive<T>) -> PyResult<T>
where
    T: Copy + Display + FromStr + PartialOrd,
{
    let given = number.0.parse().ok();
    given.filter(|given| range.contains(given)).ok_or_else(|| {
        let (least, most) = (range.start(), range.end());
        wrong(format!(
            "{name}: expected a number from {least} to {most}, not {}",
            number.0
        ))
    })
}
