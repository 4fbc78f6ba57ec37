//! The table that `ladder` prints without `--json`.

use std::time::Duration;

use crate::ladder::{Method, TableRow};
use crate::print::result_table::{TIME, digits, most};
use queenfold::board::Size;
use queenfold::words::{TimeUnit, measured};

/// The table of the ladder: the usual columns of the field, then nodes, times, speed and method.
#[derive(Clone, Copy, Debug)]
pub struct LadderTable {
    total: usize,
    unique: usize,
    nodes: usize,
    /// Whether the wall time is left out.
    narrow: bool,
}

/// Ten thousand years, in seconds: longer than that are all the same.
const LONG: f64 = 1e4 * 365.25 * 86_400.0;

/// A count that was given up, or not begun, for its time, in words: `more than 10 s, about 3.0 days`, or `more than 10,000
/// years`. Smaller boards may say how many seconds it would have taken.
pub fn too_long(limit: Duration, extrapolated: Option<f64>) -> String {
    let text = |seconds| TimeUnit::of_wall(seconds).of(seconds);
    // A whole number of seconds is a limit that somebody chose.
    let more = match (limit.subsec_nanos(), limit.as_secs_f64()) {
        (0, limit) if limit < 100.0 => format!("more than {limit} s"),
        (_, limit) => format!("more than {}", text(limit)),
    };
    // What was just seen to be wrong is not said.
    match extrapolated.filter(|seconds| *seconds > limit.as_secs_f64()) {
        Some(seconds) if seconds > LONG => "more than 10,000 years".to_owned(),
        // Two digits: more would look exact.
        Some(seconds) => format!(
            "{more}, about {}",
            TimeUnit::of_wall(seconds).rounded(seconds)
        ),
        None => more,
    }
}

impl LadderTable {
    /// Columns wide enough for these methods on boards up to `last`; without the wall time if it is `narrow`.
    pub fn new(last: Size, methods: impl Iterator<Item = &'static Method>, narrow: bool) -> Self {
        let total = most(last);
        // On small boards dead ends outnumber solutions, later by less than a thousand.
        let usual = 1000 * total.max(100);
        let most_nodes = methods
            .map(|method| (method.boards)(last.get()).map_or(usual, |all| all as u128))
            .max()
            .unwrap_or(0);
        Self {
            total: digits(total).max("Total".len()),
            unique: digits(total / 8 + 1).max("Unique".len()),
            nodes: digits(most_nodes.min(u64::MAX.into()))
                .min(if narrow { 10 } else { usize::MAX })
                .max("Nodes".len()),
            narrow,
        }
    }

    /// The line above the rows.
    pub fn header(self) -> String {
        let times = ["CPU time", "Wall time"];
        self.line(["N", "Total", "Unique", "Nodes"], times, "Speed", "Method")
    }

    /// A row; `–` where the method does not count uniques. `first` is the cost of the row that the
    /// speed is relative to, in seconds; `None` if it took too long.
    pub fn row(self, row: &TableRow, first: Option<f64>) -> String {
        let unique = row.unique.map(|unique| unique.to_string());
        let time = |seconds| measured(Duration::from_secs_f64(seconds));
        let cpu = row.cpu_seconds.map_or_else(|| "–".to_owned(), time);
        // The clock may be too coarse for the smallest boards.
        let speed = first.map(|first| times(first.max(1e-9) / row.cost().max(1e-9)));
        self.line(
            [
                &row.n.to_string(),
                &row.total.to_string(),
                unique.as_deref().unwrap_or("–"),
                &row.nodes.to_string(),
            ],
            [&cpu, &time(row.seconds)],
            speed.as_deref().unwrap_or("–"),
            &row.title(),
        )
    }

    /// The row of a count that takes too long. What is known of it stands in the columns from the nodes to the speed.
    pub fn too_long(self, n: Size, text: &str, title: &str) -> String {
        let times = if self.narrow { 1 } else { 2 };
        let wide = self.nodes + times * (TIME + 2) + 2 + SPEED;
        let counts = self.counts([&n.to_string(), "–", "–"]);
        format!("{counts}  {text:>wide$}  {title}")
    }

    fn counts(self, [n, total, unique]: [&str; 3]) -> String {
        let (t, u) = (self.total, self.unique);
        format!("{n:>2}: {total:>t$}  {unique:>u$}")
    }

    fn line(self, counts: [&str; 4], [cpu, wall]: [&str; 2], speed: &str, method: &str) -> String {
        let k = self.nodes;
        let [n, total, unique, nodes] = counts;
        let counts = self.counts([n, total, unique]);
        let wall = match self.narrow {
            true => String::new(),
            false => format!("{wall:>TIME$}  "),
        };
        format!("{counts}  {nodes:>k$}  {cpu:>TIME$}  {wall}{speed:>SPEED$}  {method}")
    }
}

/// The width of the speed.
const SPEED: usize = 9;

/// A speed with three digits, because times differ by more than a thousandth; in powers of ten from a million on.
fn times(speed: f64) -> String {
    let rounded: f64 = format!("{speed:.2e}").parse().unwrap_or(speed);
    match rounded {
        ..10.0 => format!("{rounded:.2}x"),
        ..100.0 => format!("{rounded:.1}x"),
        ..1e6 => format!("{rounded:.0}x"),
        _ => format!("{rounded:.2e}x"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder::METHODS;

    #[test]
    fn a_speed_fits_its_column_whatever_it_is() {
        assert_eq!(times(1.0), "1.00x");
        assert_eq!(times(60.549), "60.5x");
        assert_eq!(times(4900.51), "4900x");
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
            cpu_seconds: Some(99.0 * 86_400.0),
            note: None,
        };
        let table = LadderTable::new(n, METHODS.into_iter(), false);
        let method = |line: &str| {
            line.chars().count() - line.trim_end().split("  ").last().unwrap().chars().count()
        };
        let (header, line) = (table.header(), table.row(&row, Some(99.0 * 86_400.0)));
        assert_eq!(method(&header), method(&line), "\n{header}\n{line}");
        let without = TableRow {
            unique: None,
            total: 0,
            nodes: 0,
            seconds: 0.0,
            cpu_seconds: None,
            ..row.clone()
        };
        let line = table.row(&without, None);
        assert_eq!(method(&header), method(&line), "\n{header}\n{line}");
        // The fastest that can be after the slowest.
        let line = table.row(&without, Some(99.0 * 86_400.0));
        assert_eq!(method(&header), method(&line), "\n{header}\n{line}");
        let too_long = too_long(Duration::from_secs(10), Some(2.9 * 86_400.0));
        let line = table.too_long(n, &too_long, "symmetry, recursive");
        assert!(
            line.contains("more than 10 s, about 2.9 days  symmetry"),
            "{line}"
        );
        assert_eq!(method(&header), method(&line), "\n{header}\n{line}");
    }

    #[test]
    fn a_narrow_table_fits_eighty_columns_up_to_fifteen_queens() {
        let n = Size::new(15).unwrap();
        let table = LadderTable::new(n, METHODS.into_iter(), true);
        let too_long = too_long(Duration::from_secs(10), Some(2.9 * 86_400.0));
        let line = table.too_long(n, &too_long, "permutations, recursive");
        assert!(line.chars().count() <= 80, "{line}");
        let method = |line: &str| line.chars().count() - line.split("  ").last().unwrap().len();
        assert_eq!(method(&table.header()), method(&line));
        assert!(!table.header().contains("Wall time"));
    }

    #[test]
    fn what_takes_too_long_says_how_long_unless_that_was_seen_to_be_wrong() {
        let text = |millis, extrapolated| too_long(Duration::from_millis(millis), extrapolated);
        assert_eq!(text(10_000, Some(1e6)), "more than 10 s, about 12 days");
        assert_eq!(text(10_000, Some(4.1e7)), "more than 10 s, about 470 days");
        assert_eq!(text(10_000, Some(4e11)), "more than 10,000 years");
        assert_eq!(text(10_000, Some(9.0)), "more than 10 s");
        assert_eq!(text(500, None), "more than 500 ms");
        assert_eq!(text(3_600_000, None), "more than 60 minutes");
    }
}
