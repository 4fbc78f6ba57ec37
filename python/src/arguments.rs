//! What Python gives, as the library takes it.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use queenfold::board::{GivenBoard, Size, Square};
use queenfold::engine::Engine;
use queenfold::job::{DeviceChoice, limits};

/// Squares: `"c3,a7"`, `["c3", "a7"]`, or pairs of a row and a column.
pub enum Squares {
    Text(String),
    Names(Vec<String>),
    Places(Vec<[i64; 2]>),
}

impl<'py> FromPyObject<'_, 'py> for Squares {
    type Error = PyErr;

    fn extract(squares: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(text) = squares.extract() {
            return Ok(Self::Text(text));
        }
        if let Ok(names) = squares.extract() {
            return Ok(Self::Names(names));
        }
        // What a derived implementation says has three lines, with names of Rust.
        squares.extract().map(Self::Places).map_err(|_| {
            PyTypeError::new_err(
                "expected squares as \"c3,a7\", [\"c3\", \"a7\"] or pairs of row and column, [(5, 2), (1, 0)]",
            )
        })
    }
}

impl Squares {
    /// Their names on a board of this size. `argument` is what they were given as.
    fn names(squares: Option<Self>, n: Size, argument: &str) -> PyResult<String> {
        let places = match squares {
            Some(Self::Text(text)) => return Ok(text),
            Some(Self::Names(names)) => return Ok(names.join(",")),
            Some(Self::Places(places)) => places,
            None => return Ok(String::new()),
        };
        let last = n.get() - 1;
        let name = |[row, column]: &[i64; 2]| {
            let within = |at: &i64| u8::try_from(*at).ok().filter(|at| u32::from(*at) <= last);
            let (Some(row_at), Some(column_at)) = (within(row), within(column)) else {
                return Err(wrong(format!(
                    "{argument}: ({row}, {column}) is no square of n = {n}: rows and columns are 0 to {last}"
                )));
            };
            Ok(Square::new(row_at, column_at).name(n))
        };
        let names = places.iter().map(name).collect::<PyResult<Vec<_>>>()?;
        Ok(names.join(","))
    }
}

/// The picture of a board: text, or a matrix of characters.
pub struct Picture(String);

impl<'py> FromPyObject<'_, 'py> for Picture {
    type Error = PyErr;

    fn extract(picture: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(text) = picture.extract() {
            return Ok(Self(text));
        }
        let read = || -> PyResult<String> {
            let rows = picture.try_iter()?.map(|row| {
                let row = row?;
                if let Ok(text) = row.extract::<String>() {
                    return Ok(text);
                }
                row.try_iter()?
                    .map(|square| square?.extract::<String>())
                    .collect()
            });
            let rows = rows.collect::<PyResult<Vec<String>>>()?;
            Ok(rows.join("\n"))
        };
        read().map(Self).map_err(|_| {
            PyTypeError::new_err(
                "expected a picture as text, or a matrix of the characters \".\", \"Q\" and \"#\"",
            )
        })
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
            Err(_) => {
                let kind = number.get_type().name()?;
                let message = format!("expected a whole number, not '{kind}'");
                Err(PyTypeError::new_err(message))
            }
        }
    }
}

fn wrong(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The board of n × n squares with what is given on it, or that of a picture.
pub fn board(
    n: Option<Whole>,
    queens: Option<Squares>,
    holes: Option<Squares>,
    picture: Option<Picture>,
) -> PyResult<GivenBoard> {
    let n = n.map(|n| size(&n)).transpose()?;
    match (n, picture) {
        (None, None) => Err(PyTypeError::new_err(
            "give n, the size of the board, or board",
        )),
        (Some(n), None) => {
            let queens = Squares::names(queens, n, "queens")?;
            let holes = Squares::names(holes, n, "holes")?;
            GivenBoard::parse(n, &queens, &holes).map_err(wrong)
        }
        (_, Some(_)) if queens.is_some() || holes.is_some() => Err(wrong(
            "board shows all that is given: give it alone, or queens and holes",
        )),
        (n, Some(Picture(text))) => {
            let board = GivenBoard::from_picture(&text);
            let board = board.map_err(|error| wrong(format!("board: {error}")))?;
            match n.filter(|n| *n != board.size()) {
                Some(n) => Err(wrong(format!(
                    "board: this is a picture of n = {}, and n is {n}",
                    board.size()
                ))),
                None => Ok(board),
            }
        }
    }
}

/// The size of a board.
pub fn size(n: &Whole) -> PyResult<Size> {
    n.0.parse::<Size>().map_err(wrong)
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

/// The number of boards to draw.
pub fn boards(number: &Whole) -> PyResult<usize> {
    within("count", number, 1..=1_000_000)
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
