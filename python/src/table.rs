//! `read_ledger`.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use queenfold_ledger::ledger::{RecordedTask, Store};

use crate::errors;

/// Defines the columns of the table, in their order: name, type, and value of a record.
macro_rules! columns {
    ($task:ident, $ranks:ident: $($name:ident: $type:ty = $value:expr;)*) => {
        #[derive(Default)]
        struct Columns {
            $($name: Vec<$type>,)*
        }

        impl Columns {
            fn push(&mut self, $task: RecordedTask, $ranks: [u64; 2]) {
                $(self.$name.push($value);)*
            }

            fn into_dict(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
                let dict = PyDict::new(py);
                $(dict.set_item(stringify!($name), self.$name)?;)*
                Ok(dict)
            }
        }
    };
}

columns! { task, ranks:
    engine: &'static str = task.record.result.key.engine.name();
    task: u64 = task.record.result.key.index;
    first_rank: u64 = ranks[0];
    end_rank: u64 = ranks[1];
    solutions: u128 = task.record.result.tally.completions.solutions();
    r180: u128 = task.record.result.tally.r180;
    r90: u128 = task.record.result.tally.r90;
    partitions: u64 = task.record.result.tally.partitions;
    nodes: u64 = task.record.result.tally.nodes;
    worker: String = task.record.result.origin.worker.to_string();
    counted_by: String = task.record.result.origin.counted_by.name().to_owned();
    audited_by: Option<String> = task.record.result.audited_by.as_deref().map(str::to_owned);
    session: String = task.record.session.clone();
    seconds: f64 = task.record.result.duration.as_secs_f64();
    recorded_at: i64 = task.record.recorded_at;
    counted_twice: bool = task.second.is_some();
}

/// Reads the ledger of the run directory `dir` as a table: a dict from the name of each column to a list with a
/// value for each recorded task. `pandas.DataFrame` and `polars.DataFrame` take it as it is.
///
/// Every record is checked against its digest. Raises LedgerError if the directory holds no run, or if one of its
/// records is damaged.
#[pyfunction]
pub fn read_ledger(py: Python<'_>, dir: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let columns = py.detach(|| {
        let store = Store::open_to_read(&dir)?;
        let plans = store.plans()?;
        let mut columns = Columns::default();
        store.for_each_task(|task| {
            let key = task.record.result.key;
            let plan = plans.iter().find(|plan| plan.engine() == key.engine);
            let ranks = plan.map_or(0..0, |plan| plan.ranks_of(key.index));
            columns.push(task, [ranks.start, ranks.end]);
        })?;
        Ok(columns)
    });
    columns
        .map_err(|error| errors::of_ledger(&error))?
        .into_dict(py)
}
