//! Prints the result of each board, as a row of the table, as JSON or as comma-separated values.

use super::board_result::BoardResult;
use super::result_csv;
use super::result_json::ResultJson;
use super::result_table::ResultTable;
use crate::board::Size;
use crate::cli::exit::Failure;
use crate::cli::output::print;
use crate::config::OutputConfig;

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
        let table = ResultTable::new(last);
        let (form, header) = match (output.json, output.csv) {
            (true, _) => (Form::Json, None),
            (false, true) => (Form::Csv, Some(result_csv::HEADER.to_owned())),
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
        print(&match &self.form {
            Form::Table(table) => table.row(&result.outcome, result.checked, result.elapsed),
            Form::Json => ResultJson::new(counted).to_json()?,
            Form::Csv => result_csv::row(result),
        })
    }
}
