use std::time::Duration;

use crate::board::{KNOWN, Size, known};
use crate::cli::args::boards::given_line;
use crate::outcome::{Checked, Outcome};
use crate::telemetry::measured;

/// A table of results, right-aligned: `N: Total Unique Time`.
#[derive(Clone, Copy, Debug)]
pub struct ResultTable {
    total: usize,
    unique: usize,
    time: TimeColumn,
}

/// How a column of times is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeColumn {
    /// `14 µs`, `3.2 s`.
    Short,
    /// As the historical programs print it: `dd:hh:mm:ss.ms`.
    Classic,
    /// As the short one, of a run that many processes counted: their times, added up.
    Sessions,
}

impl TimeColumn {
    /// The classic one, if that is asked for.
    pub const fn classic(asked: bool) -> Self {
        match asked {
            true => Self::Classic,
            false => Self::Short,
        }
    }

    /// What is above it where it is the only column of times.
    pub const fn header(self) -> &'static str {
        match self {
            Self::Short => "Time",
            Self::Classic => "dd:hh:mm:ss.ms",
            Self::Sessions => "All sessions",
        }
    }

    /// Its width.
    pub const fn width(self) -> usize {
        match self {
            Self::Short => 10,
            Self::Classic => 15,
            Self::Sessions => 13,
        }
    }

    /// A time.
    pub fn of(self, time: Duration) -> String {
        match self {
            Self::Short | Self::Sessions => measured(time),
            Self::Classic => clock(time),
        }
    }
}

impl ResultTable {
    /// Columns wide enough for boards up to `last`.
    pub fn new(last: Size, time: TimeColumn) -> Self {
        let total = most(last);
        Self {
            total: digits(total).max("Total".len()),
            unique: digits(total / 8 + 1).max("Unique".len()),
            time,
        }
    }

    /// The line above the rows.
    pub fn header(self) -> String {
        self.line("N", "Total", "Unique", self.time.header())
    }

    /// The row of one board; `-` where the unique count was not asked for. Where no count is known, how this one was
    /// checked follows, and what is given on the board.
    pub fn row(self, outcome: &Outcome, checked: Checked, took: Duration) -> String {
        let unique = outcome.unique().map(|unique| unique.to_string());
        let given = given_line(&outcome.given).map(|given| format!("  {given}"));
        let row = self.line(
            &outcome.n.to_string(),
            &outcome.total.to_string(),
            unique.as_deref().unwrap_or("-"),
            &self.time.of(took),
        );
        let checked = match checked {
            Checked::Known => String::new(),
            checked => format!("  checked: {checked}"),
        };
        row + &checked + &given.unwrap_or_default()
    }

    fn line(self, n: &str, total: &str, unique: &str, time: &str) -> String {
        let Self {
            total: wide,
            unique: narrow,
            time: column,
        } = self;
        let clock = column.width();
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

/// Days, hours, minutes, seconds and milliseconds.
fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    format!(
        "{:02}:{:02}:{:02}:{:02}.{:03}",
        seconds / 86_400,
        seconds / 3600 % 24,
        seconds / 60 % 60,
        seconds % 60,
        time.subsec_millis()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_counts_days() {
        assert_eq!(clock(Duration::from_millis(7)), "00:00:00:00.007");
        let days = 3 * 86_400 + 4 * 3600 + 5 * 60 + 6;
        assert_eq!(clock(Duration::new(days, 999_999_999)), "03:04:05:06.999");
    }

    #[test]
    fn columns_are_wide_enough_for_every_board() {
        let widest = |n| ResultTable::new(Size::new(n).unwrap(), TimeColumn::Short);
        assert_eq!(widest(1).header(), " N: Total  Unique        Time");
        let classic = ResultTable::new(Size::new(1).unwrap(), TimeColumn::Classic);
        assert_eq!(classic.header(), " N: Total  Unique   dd:hh:mm:ss.ms");
        assert_eq!((widest(27).total, widest(27).unique), (18, 17));
        assert_eq!(widest(32).total, 23);
    }
}
