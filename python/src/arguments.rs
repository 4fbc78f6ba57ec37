//! What Python gives, as the library takes it.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use queenfold::board::{GivenBoard, Size};
use queenfold::engine::Engine;
use queenfold::job::DeviceChoice;

/// Names of squares: `"c3,a7"` or `["c3", "a7"]`.
#[derive(FromPyObject)]
pub enum Squares {
    Text(String),
    Names(Vec<String>),
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

fn wrong(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The board of n × n squares with what is given on it.
pub fn board(n: i64, queens: Option<Squares>, holes: Option<Squares>) -> PyResult<GivenBoard> {
    // Numbers that are no `u32` are no size either, and the error names what was given.
    let size = n.to_string().parse::<Size>().map_err(wrong)?;
    GivenBoard::parse(size, &Squares::text(queens), &Squares::text(holes)).map_err(wrong)
}

/// The engine with this name; `None` for `"auto"`.
pub fn engine(name: &str) -> PyResult<Option<Engine>> {
    match name {
        "auto" => Ok(None),
        "chain" => Ok(Some(Engine::Chain)),
        "join" => Ok(Some(Engine::Join)),
        _ => Err(wrong(format!(
            "engine: expected 'auto', 'chain' or 'join', not '{name}'"
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

/// The number of workers; `None` stays `None`.
pub fn workers(workers: Option<i64>) -> PyResult<Option<usize>> {
    let Some(workers) = workers else {
        return Ok(None);
    };
    let number = usize::try_from(workers).ok();
    number
        .filter(|number| *number <= 1024)
        .map(Some)
        .ok_or_else(|| {
            wrong(format!(
                "workers: expected a number from 0 to 1024, not {workers}"
            ))
        })
}
