//! Prints the result of each board, as a row of the table or as JSON.

use super::board_result::BoardResult;
use super::result_json::result_json;
use super::result_table::ResultTable;
use crate::board::Size;
use crate::cli::exit::Failure;
use crate::cli::output::{print, print_json};

/// Prints each result as soon as it is available.
pub struct Printer {
    /// `None` for JSON.
    table: Option<ResultTable>,
    /// The line above the first row, until it is printed.
    header: Option<String>,
}

impl Printer {
    /// For boards up to `last`.
    pub fn new(last: Size, json: bool) -> Self {
        let table = (!json).then(|| ResultTable::new(last, "Time"));
        let header = table.map(ResultTable::header);
        Self { table, header }
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
        match &self.table {
            Some(table) => print(&table.row(&result.outcome, result.checked, result.elapsed)),
            None => print_json(&result_json(counted)),
        }
    }
}
