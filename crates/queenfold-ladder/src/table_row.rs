//! One measured count of a method: a row of the table, and its JSON.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Count, MethodRequest, Style, method};
use queenfold_engines::board::decimal;
use queenfold_engines::board::{Orbits, Size, known};
use queenfold_engines::engine::Mismatch;

/// The longest plausible time of a search, in seconds: thirty thousand years.
const LONGEST: f64 = 1e12;

/// The "method" of a row that one of the program's engines counted: its style is the engine.
pub const PROGRAM: &str = "queenfold run";

/// One row of the ladder's table: what one method in one style counted on one board, and its cost.
///
/// In JSON all counts are decimal strings, and `null` stands for what the method does not count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableRow {
    /// The board.
    pub n: Size,
    /// The method's name.
    pub method: String,
    /// The style's name, `None` for a method without a choice.
    pub style: Option<String>,
    /// All solutions.
    #[serde(with = "decimal")]
    pub total: u128,
    /// Fundamental solutions.
    #[serde(with = "decimal::optional")]
    pub unique: Option<u128>,
    /// Orbits by size.
    pub classes: Option<Orbits>,
    /// Nodes or candidates tried, whichever the method counts as its work.
    #[serde(with = "decimal")]
    pub nodes: u128,
    /// Wall time of the search, in seconds.
    pub seconds: f64,
    /// CPU time of all threads of the search, in seconds. `None` in rows of files that do not say.
    #[serde(default)]
    pub cpu_seconds: Option<f64>,
    /// A remark for readers of the numbers. Not part of the JSON.
    #[serde(skip)]
    pub note: Option<String>,
}

impl TableRow {
    /// The row of a method that has counted the requested board.
    pub(super) fn new(
        method: &str,
        request: &MethodRequest,
        count: Count,
        nodes: u64,
        [wall, cpu]: [Duration; 2],
    ) -> Self {
        Self {
            n: request.n,
            method: method.to_owned(),
            style: request.style.name().map(str::to_owned),
            total: count.total,
            unique: count.classes.map(|classes| classes.unique()),
            classes: count.classes,
            nodes: nodes.into(),
            seconds: wall.as_secs_f64(),
            cpu_seconds: Some(cpu.as_secs_f64()),
            note: count.note,
        }
    }

    /// The seconds by which rows are compared: the CPU time of all threads, or the wall time where a GPU
    /// counted and in rows that have no other.
    pub fn cost(&self) -> f64 {
        let is_gpu = self.style.as_deref() == Style::Gpu.name();
        self.cpu_seconds.filter(|_| !is_gpu).unwrap_or(self.seconds)
    }

    /// Keeps the shorter times of this count and of another one of the same board by the same method.
    pub fn keep_best(&mut self, other: &Self) {
        self.seconds = self.seconds.min(other.seconds);
        self.cpu_seconds = match (self.cpu_seconds, other.cpu_seconds) {
            (Some(own), Some(other)) => Some(own.min(other)),
            (own, other) => own.or(other),
        };
    }

    /// The method and its style for readers: `symmetry, recursive`.
    pub fn title(&self) -> String {
        match &self.style {
            Some(style) => format!("{}, {style}", self.method),
            None => self.method.clone(),
        }
    }

    /// Why the ladder cannot have produced this row, if so. For rows that come from a file.
    pub fn flaw(&self) -> Option<String> {
        for seconds in [Some(self.seconds), self.cpu_seconds].into_iter().flatten() {
            if !(0.0..=LONGEST).contains(&seconds) {
                return Some(format!(
                    "{seconds} seconds is not a time that a search can take"
                ));
            }
        }
        if self.method == PROGRAM {
            return None;
        }
        let Some(method) = method(&self.method) else {
            return Some(format!("no method is called `{}`", self.method));
        };
        let named = |style: &Style| style.name() == self.style.as_deref();
        (!method.styles.iter().any(named)).then(|| format!("{} has no such style", method.name))
    }

    /// Compares the row with the known counts.
    ///
    /// # Errors
    /// It differs, and is no result.
    pub fn check(&self) -> Result<(), Mismatch> {
        let wrong = |differs| Mismatch(format!("{}, n = {}: {differs}", self.title(), self.n));
        self.contradiction()
            .map_or(Ok(()), |differs| Err(wrong(differs)))
    }

    /// How the row differs from the known counts, if it does. It is not a result then.
    pub fn contradiction(&self) -> Option<String> {
        let known = known(self.n)?;
        let counts = [
            ("total", Some(self.total), known.total),
            ("unique", self.unique, known.unique),
        ];
        counts.into_iter().find_map(|(what, counted, known)| {
            let counted = counted.filter(|counted| *counted != known)?;
            Some(format!("{what} {counted}, but {known} is known"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(style: Option<&str>, total: u128, seconds: f64, cpu_seconds: Option<f64>) -> TableRow {
        TableRow {
            n: Size::new(8).unwrap(),
            method: "orbits".into(),
            style: style.map(Into::into),
            total,
            unique: None,
            classes: None,
            nodes: u128::from(u64::MAX),
            seconds,
            cpu_seconds,
            note: None,
        }
    }

    #[test]
    fn json_gives_counts_as_decimal_strings_and_null_for_what_is_not_counted() {
        let row = row(Some("recursive"), 92, 0.5, Some(0.25));
        let json = serde_json::to_string(&TableRow {
            note: Some("not shown".into()),
            ..row.clone()
        });
        let json = json.unwrap();
        assert_eq!(
            json,
            r#"{"n":8,"method":"orbits","style":"recursive","total":"92","unique":null,"classes":null,"nodes":"18446744073709551615","seconds":0.5,"cpu_seconds":0.25}"#
        );
        assert_eq!(serde_json::from_str::<TableRow>(&json).unwrap(), row);
    }

    #[test]
    fn a_time_that_no_search_can_take_is_a_flaw() {
        let flaw = |seconds, cpu| row(Some("recursive"), 92, seconds, cpu).flaw();
        for seconds in [0.0, 1e-9, 1e12] {
            assert_eq!(flaw(seconds, None), None);
        }
        for seconds in [-1e-9, 1.1e12, f64::INFINITY, f64::NAN] {
            assert!(flaw(seconds, None).unwrap().contains("seconds"));
            assert!(flaw(1.0, Some(seconds)).unwrap().contains("seconds"));
        }
    }

    #[test]
    fn rows_are_compared_by_cpu_time_but_by_wall_time_on_a_gpu() {
        let row = |style, seconds, cpu| row(style, 92, seconds, cpu);
        assert_eq!(row(None, 2.0, Some(3.0)).cost(), 3.0);
        assert_eq!(row(None, 2.0, None).cost(), 2.0);
        assert_eq!(row(Some("gpu"), 2.0, Some(0.1)).cost(), 2.0);
        let mut best = row(None, 2.0, Some(3.0));
        best.keep_best(&row(None, 1.0, Some(4.0)));
        assert_eq!((best.seconds, best.cpu_seconds), (1.0, Some(3.0)));
    }

    #[test]
    fn a_row_that_differs_from_the_known_counts_says_so() {
        for (total, unique, says) in [
            (92, Some(12), None),
            (91, None, Some("total 91, but 92 is known")),
            (92, Some(13), Some("unique 13, but 12 is known")),
        ] {
            let row = TableRow {
                unique,
                ..row(None, total, 0.0, None)
            };
            assert_eq!(row.contradiction().as_deref(), says);
        }
    }
}
