//! What Python gives, as the library takes it.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use pyo3::PyTypeInfo;
use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBool;
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

/// A whole number in decimal digits, or what was given instead of one: only the function that asks for its value knows what
/// the argument may be.
pub struct Whole {
    text: String,
    is_number: bool,
}

impl From<i64> for Whole {
    fn from(number: i64) -> Self {
        Self {
            text: number.to_string(),
            is_number: true,
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Whole {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        // Python takes True for 1.
        let is_flag = given.is_instance_of::<PyBool>();
        match given.extract::<i64>() {
            Ok(number) if !is_flag => Ok(number.into()),
            read => Ok(Self {
                text: format!("{given:?}"),
                is_number: read
                    .is_err_and(|error| error.is_instance_of::<PyOverflowError>(given.py())),
            }),
        }
    }
}

impl Whole {
    fn wrong(&self, error: impl ToString) -> PyErr {
        match self.is_number {
            true => wrong(error),
            false => PyTypeError::new_err(error.to_string()),
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
    n.text.parse::<Size>().map_err(|error| n.wrong(error))
}

/// That an argument is `given`, which is not what it may be: a wrong type, or a wrong value.
fn unexpected<E: PyTypeInfo>(argument: &str, expected: &str, given: &Bound<'_, PyAny>) -> PyErr {
    PyErr::new::<E, _>(format!("{argument}: expected {expected}, not {given:?}"))
}

/// The argument, if its type is right.
fn typed<'py, T: FromPyObjectOwned<'py>>(
    argument: &str,
    expected: &str,
    given: &Bound<'py, PyAny>,
) -> PyResult<T> {
    let value = given.extract::<T>();
    value.map_err(|_| unexpected::<PyTypeError>(argument, expected, given))
}

/// The argument, if it is one of the words that `expected` has in quotes.
fn word(
    argument: &str,
    expected: &'static str,
    given: &Bound<'_, PyAny>,
) -> PyResult<&'static str> {
    let text = typed::<String>(argument, expected, given)?;
    let mut words = expected.split('\'').skip(1).step_by(2);
    words
        .find(|word| *word == text)
        .ok_or_else(|| unexpected::<PyValueError>(argument, expected, given))
}

/// The argument `engine`. [`engine`] has its meaning.
pub fn engine_word(given: &Bound<'_, PyAny>) -> PyResult<&'static str> {
    word("engine", "'auto', 'chain' or 'colour'", given)
}

/// The engine with this name; `None` for `"auto"`.
pub fn engine(word: &str) -> Option<Engine> {
    word.parse().ok()
}

/// The argument `gpu`. [`devices`] has its meaning.
pub fn gpu_word(given: &Bound<'_, PyAny>) -> PyResult<&'static str> {
    word("gpu", "'auto', 'off' or 'cuda'", given)
}

/// Which GPUs take part.
pub fn devices(word: &str) -> DeviceChoice {
    match word {
        "off" => DeviceChoice::Off,
        "cuda" => DeviceChoice::Cuda,
        _ => DeviceChoice::Auto,
    }
}

/// The argument `order`.
pub fn order_word(given: &Bound<'_, PyAny>) -> PyResult<&'static str> {
    word("order", "'fast' or 'rows'", given)
}

/// The argument `unique`.
pub fn unique(given: &Bound<'_, PyAny>) -> PyResult<bool> {
    typed("unique", "True or False", given)
}

/// The argument `resume`.
pub fn resume(given: &Bound<'_, PyAny>) -> PyResult<bool> {
    typed("resume", "True or False", given)
}

/// The argument `time_limit`, in seconds.
pub fn time_limit(given: &Bound<'_, PyAny>) -> PyResult<Option<Duration>> {
    let (argument, expected) = ("time_limit", "seconds from 0 on");
    let seconds = typed::<Option<f64>>(argument, expected, given)?;
    let limit = seconds.map(Duration::try_from_secs_f64).transpose();
    limit.map_err(|_| unexpected::<PyValueError>(argument, expected, given))
}

/// The argument `share`.
pub fn share(given: &Bound<'_, PyAny>) -> PyResult<f64> {
    let (argument, expected) = ("share", "a number above 0 up to 1");
    let share = typed(argument, expected, given)?;
    match share > 0.0 && share <= 1.0 {
        true => Ok(share),
        false => Err(unexpected::<PyValueError>(argument, expected, given)),
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
    let given = number.text.parse().ok();
    given.filter(|given| range.contains(given)).ok_or_else(|| {
        let (least, most) = (range.start(), range.end());
        number.wrong(format!(
            "{name}: expected a number from {least} to {most}, not {}",
            number.text
        ))
    })
}
