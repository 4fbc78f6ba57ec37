//! The table that `ladder` prints without `--json`.

use std::time::Duration;

use crate::board::Size;
use crate::cli::print::result_table::{TIME, clock, digits, most};
use crate::ladder::{About, Listed, TableRow};

/// The table of the ladder: the usual columns of the field, then nodes, speed and method.
#[derive(Clone, Copy, Debug)]
pub struct LadderTable {
    total: usize,
    unique: usize,
    nodes: usize,
}

impl LadderTable {
    /// Columns wide enough for these methods on boards up to `last`.
    pub fn new<'a>(last: Size, methods: impl Iterator<Item = &'a About>) -> Self {
        let total = most(last);
        let n = u128::from(last.get());
        let most_nodes = methods
            .map(|about| match about.lines {
                // At worst all n^n tuples.
                Some(Listed::Candidates) => n.saturating_pow(last.get()),
                // On small boards dead ends outnumber solutions, later by less than a thousand.
                _ => 1000 * total.max(100),
            })
            .max()
            .unwrap_or(0);
        Self {
            total: digits(total).max("Total".len()),
            unique: digits(total / 8 + 1).max("Unique".len()),
            nodes: digits(most_nodes.min(u64::MAX.into())).max("Nodes".len()),
        }
    }

    /// The line above the rows.
    pub fn header(self) -> String {
        self.line(["N", "Total", "Unique", "Nodes", TIME, "Speed", "Method"])
    }

    /// A row; `–` where the method does not count uniques. `first` is the time of the row that the
    /// speed is relative to, in seconds.
    pub fn row(self, row: &TableRow, first: f64) -> String {
        let unique = row.unique.map(|unique| unique.to_string());
        // The clock may be too coarse for the smallest boards.
        let speed = first.max(1e-9) / row.seconds.max(1e-9);
        self.line([
            &row.n.to_string(),
            &row.total.to_string(),
            unique.as_deref().unwrap_or("–"),
            &row.nodes.to_string(),
            &clock(Duration::from_secs_f64(row.seconds)),
            &times(speed),
            &row.title(),
        ])
    }

    fn line(self, [n, total, unique, nodes, time, speed, method]: [&str; 7]) -> String {
        let Self {
            total: t,
            unique: u,
            nodes: k,
        } = self;
        format!(
            "{n:>2}: {total:>t$}  {unique:>u$}  {nodes:>k$}  {time:>15}  {speed:>SPEED$}  {method}"
        )
    }
}

/// The width of the speed.
const SPEED: usize = 10;

/// A speed, in powers of ten if it would not fit otherwise.
fn times(speed: f64) -> String {
    let plain = format!("{speed:.2}x");
    if plain.len() <= SPEED {
        plain
    } else {
        format!("{speed:.2e}x")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder::METHODS;

    #[test]
    fn a_speed_fits_its_column_whatever_it_is() {
        assert_eq!(times(60.549), "60.55x");
        assert_eq!(times(1_976_881.36), "1.98e6x");
        for speed in [
            0.0,
            1e-30,
            999_999.99,
            999_999.999,
            1e21,
            9.999e99,
            f64::MAX,
        ] {
            assert!(times(speed).len() <= SPEED, "{}", times(speed));
        }
    }

    #[test]
    fn columns_hold_what_32_queens_may_give() {
        let n = Size::new(32).unwrap();
        let row = TableRow {
            n,
            method: "symmetry".into(),
            style: Some("recursive".into()),
            total: 99_999_999_999_999_999_999_999,
            unique: Some(9_999_999_999_999_999_999_999),
            classes: None,
            nodes: u64::MAX.into(),
            seconds: 99.0 * 86_400.0,
            note: None,
        };
        let table = LadderTable::new(n, METHODS.iter().map(|method| method.about()));
        let method = |line: &str| {
            line.chars().count() - line.trim_end().split("  ").last().unwrap().chars().count()
        };
        let (header, line) = (table.header(), table.row(&row, 99.0 * 86_400.0));
        assert_eq!(method(&header), method(&line), "\n{header}\n{line}");
        let without = TableRow {
            unique: None,
            total: 0,
            nodes: 0,
            seconds: 0.0,
            ..row
        };
        let line = table.row(&without, 0.0);
        assert_eq!(method(&header), method(&line), "\n{header}\n{line}");
        // The fastest that can be after the slowest.
        let line = table.row(&without, 99.0 * 86_400.0);
        assert_eq!(method(&header), method(&line), "\n{header}\n{line}");
    }
}
