//! Prints the result of each board, as a row of the table, as JSON or as comma-separated values.

use super::board_result::BoardResult;
use super::csv::Columns;
use super::result_json::ResultJson;
use super::result_table::{ResultTable, TimeColumn};
use crate::board::Size;
use crate::cli::exit::Failure;
use crate::cli::output::{print, print_json};
use crate::config::OutputConfig;

/// The columns of `--csv`.
const COLUMNS: Columns = Columns(&[
    ("n", "/n"),
    ("queens", "/given/queens"),
    ("holes", "/given/holes"),
    ("total", "/total"),
    ("unique", "/unique"),
    ("r180", "/r180"),
    ("r90", "/r90"),
    ("engine", "/engine"),
    ("isa", "/isa"),
    ("workers", "/workers"),
    ("nodes", "/nodes"),
    ("seconds", "/seconds"),
    ("cpu_seconds", "/cpu_seconds"),
    ("checked", "/checked"),
    ("version", "/version"),
]);

/// Prints each result as soon as it is available.
pub struct Printer {
    form: Form,
    /// The line above the first row, until it is printed.
    header: Option<String>,
}

/// How a result is written.
enum Form {
    Table(ResultTable),
    Json,
    Csv,
}

impl Printer {
    /// For boards up to `last`.
    pub fn new(last: Size, output: &OutputConfig) -> Self {
        let table = ResultTable::new(last, TimeColumn::classic(output.classic));
        let (form, header) = match (output.json, output.csv) {
            (true, _) => (Form::Json, None),
            (false, true) => (Form::Csv, Some(COLUMNS.header())),
            (false, false) => (Form::Table(table), Some(table.header())),
        };
        Self { form, header }
    }

    /// Prints a result.
    ///
    /// # Errors
    /// stdout cannot be written.
    pub fn print(&mut self, counted: &BoardResult) -> Result<(), Failure> {
        // Only with the first row, so that a failed run prints nothing.
        if let Some(header) = self.header.take() {
            print(&header)?;
        }
        let result = &counted.result;
        match &self.form {
            Form::Table(table) => {
                print(&table.row(&result.outcome, result.checked, result.elapsed))
            }
            Form::Json => print_json(&ResultJson::new(counted)),
            Form::Csv => print(&COLUMNS.row(&ResultJson::new(counted))?),
        }
    }
}
