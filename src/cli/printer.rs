//! Prints the result of each board, as a row of the table or as JSON.

use super::exit::Failure;
use super::output::print;
use super::result_json::ResultJson;
use super::result_table::ResultTable;
use crate::board::Size;
use crate::job::JobResult;

/// Prints each result as soon as it is available: rows of a table, or lines of JSON.
pub struct Printer {
    table: ResultTable,
    json: bool,
    /// The line above the first row, until it is printed.
    header: Option<String>,
}

impl Printer {
    /// For boards up to `last`.
    pub fn new(last: Size, json: bool) -> Self {
        let table = ResultTable::new(last);
        Self {
            table,
            json,
            header: (!json).then(|| table.header()),
        }
    }

    /// Prints a result.
    ///
    /// # Errors
    /// stdout cannot be written.
    pub fn print(&mut self, result: &JobResult) -> Result<(), Failure> {
        // Only with the first row, so that a failed run prints nothing.
        if let Some(header) = self.header.take() {
            print(&header)?;
        }
        print(&if self.json {
            ResultJson::new(result).to_json()?
        } else {
            self.table
                .row(&result.outcome, result.checked, result.elapsed)
        })
    }
}
