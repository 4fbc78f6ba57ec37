//! The results of boards, as rows of a table or as JSON.

use std::time::Duration;

use super::board_result::BoardResult;
use super::result_json::result_json;
use crate::args::boards::given_line;
use crate::exit::Failure;
use crate::output::{print, print_json};
use queenfold::board::{KNOWN, Size, known};
use queenfold::outcome::{Checked, Outcome};
use queenfold::words::measured;

/// A table of results, right-aligned: `N: Total Unique Time`.
#[derive(Clone, Copy, Debug)]
pub struct ResultTable {
    total: usize,
    unique: usize,
    /// What is above the times.
    time: &'static str,
}

/// The width of a column of times, at least.
pub const TIME: usize = 10;

impl ResultTable {
    /// Columns wide enough for boards up to `last`; `time` is above the times.
    pub fn new(last: Size, time: &'static str) -> Self {
        let total = most(last);
        Self {
            total: digits(total).max("Total".len()),
            unique: digits(total / 8 + 1).max("Unique".len()),
            time,
        }
    }

    /// The line above the rows.
    pub fn header(self) -> String {
        self.line("N", "Total", "Unique", self.time)
    }

    /// The row of one board; `-` where the unique count was not asked for, or the time is not known. Where no count is known, how this one was
    /// checked follows, and what is given on the board.
    pub fn row(self, outcome: &Outcome, checked: Checked, took: Option<Duration>) -> String {
        let unique = outcome.unique().map(|unique| unique.to_string());
        let given = given_line(&outcome.given).map(|given| format!("  {given}"));
        let row = self.line(
            &outcome.n.to_string(),
            &outcome.total.to_string(),
            unique.as_deref().unwrap_or("-"),
            &took.map_or_else(|| "-".to_owned(), measured),
        );
        let checked = match checked {
            Checked::Known => String::new(),
            checked => format!("  checked: {checked}"),
        };
        row + &checked + &given.unwrap_or_default()
    }

    fn line(self, n: &str, total: &str, unique: &str, time: &str) -> String {
        let (wide, narrow) = (self.total, self.unique);
        let clock = TIME.max(self.time.len() + 1);
        format!("{n:>2}: {total:>wide$}  {unique:>narrow$}  {time:>clock$}")
    }
}

/// At least the number of solutions on boards up to `last`. Beyond the known ones the number grows
/// less than 13-fold with each row (from 26 to 27 it is 10.5-fold, and it gains about 0.4 a row).
pub fn most(last: Size) -> u128 {
    let beyond = last.get().saturating_sub(KNOWN.len() as u32);
    let largest = known(last).unwrap_or(&KNOWN[KNOWN.len() - 1]);
    largest.total * 13_u128.pow(beyond)
}

/// How many digits a number has.
pub fn digits(number: u128) -> usize {
    number.to_string().len()
}

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
            Some(table) => print(&table.row(&result.outcome, result.checked, Some(result.elapsed))),
            None => print_json(&result_json(counted)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_wide_enough_for_every_board() {
        let widest = |n| ResultTable::new(Size::new(n).unwrap(), "Time");
        assert_eq!(widest(1).header(), " N: Total  Unique        Time");
        let sessions = ResultTable::new(Size::new(1).unwrap(), "All sessions");
        assert_eq!(sessions.header(), " N: Total  Unique   All sessions");
        assert_eq!((widest(27).total, widest(27).unique), (18, 17));
        assert_eq!(widest(32).total, 23);
    }
}
