//! How are speeds, times and numbers written, for people to read at a glance?

mod durations;
mod estimated_times;

use std::time::Duration;

use crate::board::GivenBoard;

pub use durations::{duration, measured};
pub use estimated_times::TimeUnit;

/// Nodes per second with three digits and a prefix: `3.61 Gnode/s`; `-` if no time is known.
pub fn rate(nodes: u64, time: Duration) -> String {
    match time.is_zero() {
        true => "-".to_owned(),
        false => speed(nodes as f64 / time.as_secs_f64()),
    }
}

/// So many nodes per second, as [`rate`] writes them.
pub fn speed(nodes_per_second: f64) -> String {
    let (scale, unit) = speed_unit(nodes_per_second);
    let rate = nodes_per_second / scale;
    let digits = match rate {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{rate:.digits$} {unit}")
}

/// The unit for such a speed: its nodes per second, and its name.
pub fn speed_unit(nodes_per_second: f64) -> (f64, &'static str) {
    let units = [
        (1e12, "Tnode/s"),
        (1e9, "Gnode/s"),
        (1e6, "Mnode/s"),
        (1e3, "knode/s"),
    ];
    // What would be rounded to 1000 belongs to the next prefix.
    let of = units
        .into_iter()
        .find(|(scale, _)| nodes_per_second >= 0.9995 * scale);
    of.unwrap_or((1.0, "node/s"))
}

/// A share in percent, rounded down, so that 100 % means all.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", (share * 1000.0).floor() / 10.0)
}

/// The flags of the program that ask for a board: `-n 8 --queens c3`.
pub fn board_flags(board: &GivenBoard) -> String {
    let [queens, holes] = board.names();
    let flag = |name: &str, squares: String| match squares.is_empty() {
        true => squares,
        false => format!(" --{name} {squares}"),
    };
    format!(
        "-n {}{}{}",
        board.size(),
        flag("queens", queens),
        flag("holes", holes)
    )
}

/// A count with a comma after each three digits.
pub fn grouped(count: impl Into<u128>) -> String {
    let digits = count.into().to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with its noun, which gets an s unless the number is 1.
pub fn several(number: u64, of: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {of}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_keep_three_digits() {
        let second = Duration::from_secs(1);
        for (nodes, text) in [
            (7, "7.00 node/s"),
            (999, "999 node/s"),
            (99_960, "100 knode/s"),
            (999_600, "1.00 Mnode/s"),
            (12_340_000_000, "12.3 Gnode/s"),
        ] {
            assert_eq!(rate(nodes, second), text);
        }
    }

    #[test]
    fn counts_have_a_comma_after_three_digits() {
        let counts: [u64; 4] = [0, 999, 1000, 39_029_188_884];
        assert_eq!(counts.map(grouped), ["0", "999", "1,000", "39,029,188,884"]);
    }

    #[test]
    fn measured_times_have_two_digits_or_whole_seconds() {
        for (nanos, text) in [
            (0, "0 µs"),
            (294, "0.29 µs"),
            (14_200, "14 µs"),
            (3_210_000, "3.2 ms"),
            (3_210_000_000, "3.2 s"),
            (9_949_000_000, "9.9 s"),
            (9_950_000_000, "10 s"),
            (86_183_000_000, "1:26"),
        ] {
            assert_eq!(measured(Duration::from_nanos(nanos)), text);
        }
    }
}
