use std::sync::Arc;

use super::exit::{Exit, Failure};
use super::print;
use super::result_json::ResultJson;
use super::session::Session;
use super::table::Table;
use crate::actors::Report;
use crate::board::Size;
use crate::engine::{Engine, Plan, Tally};
use crate::outcome::Outcome;

/// Prints results, each as soon as it is there: rows of a table, or lines of JSON.
pub struct Printer {
    table: Table,
    json: bool,
    /// The line above the first row, until that is printed.
    header: Option<String>,
}

impl Printer {
    /// For boards up to `last`.
    pub fn new(last: Size, json: bool) -> Self {
        let table = Table::new(last);
        Self {
            table,
            json,
            header: (!json).then(|| table.header()),
        }
    }

    /// Checks what a run of `plans`, the counting engine first, has counted, and prints it.
    ///
    /// # Errors
    /// The counts are wrong, and nothing is printed; or stdout cannot be written.
    pub fn print(
        &mut self,
        plans: &[Arc<dyn Plan>],
        session: &Session,
        report: &Report,
    ) -> Result<(), Failure> {
        let Some(plan) = plans.first() else {
            return Ok(());
        };
        let outcome = outcome(plan.as_ref(), |engine| report.tallies.get(&engine))?;
        // Not before there is a row to stand above.
        if let Some(header) = self.header.take() {
            print(&header)?;
        }
        print(&if self.json {
            ResultJson::new(&outcome, plan.as_ref(), session, report).to_json()?
        } else {
            self.table.row(&outcome, report.elapsed)
        })
    }
}

/// The checked result of the tallies of `plan` and, if it was run, the census.
///
/// # Errors
/// The counts are wrong.
pub fn outcome<'a>(
    plan: &dyn Plan,
    tally: impl Fn(Engine) -> Option<&'a Tally>,
) -> Result<Outcome, Failure> {
    let none = Tally::default();
    let all = tally(plan.engine()).unwrap_or(&none);
    Outcome::new(plan.size(), all, tally(Engine::Census))
        .map_err(|contradiction| Failure::new(Exit::Mismatch, contradiction))
}
