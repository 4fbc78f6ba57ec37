//! Estimated times with two digits, in the unit that a person would use: 29 ms, 3.2 core-hours, 1.3 core-years.

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeUnit {
    /// Its name, as it follows a number.
    pub name: &'static str,
    /// Its length.
    pub seconds: f64,
}

const HOUR: f64 = 3600.0;
const DAY: f64 = 24.0 * HOUR;
/// A Julian year.
const YEAR: f64 = 365.25 * DAY;

/// From which number of seconds on a unit is used, its name, and the seconds of it.
type Row = (f64, &'static str, f64);

const WALL: [Row; 7] = [
    (2.0 * YEAR, "years", YEAR),
    (2.0 * DAY, "days", DAY),
    (100.0 * 60.0, "hours", HOUR),
    (100.0, "minutes", 60.0),
    (1.0, "s", 1.0),
    (1e-3, "ms", 1e-3),
    (0.0, "µs", 1e-6),
];

const CORE: [Row; 6] = [
    (YEAR, "core-years", YEAR),
    (100.0 * 60.0, "core-hours", HOUR),
    (100.0, "core-minutes", 60.0),
    (1.0, "s", 1.0),
    (1e-3, "ms", 1e-3),
    (0.0, "µs", 1e-6),
];

impl TimeUnit {
    /// For a time on the clock.
    pub fn of_wall(seconds: f64) -> Self {
        Self::among(&WALL, seconds)
    }

    /// For the time of cores, added up.
    pub fn of_cores(seconds: f64) -> Self {
        Self::among(&CORE, seconds)
    }

    fn among(rows: &[Row], seconds: f64) -> Self {
        let row = rows.iter().find(|(from, ..)| seconds >= *from);
        let &(_, name, seconds) = row.unwrap_or(&rows[rows.len() - 1]);
        Self { name, seconds }
    }

    /// So many seconds in this unit, without its name.
    pub fn number(self, seconds: f64) -> String {
        two_digits(seconds / self.seconds)
    }

    /// So many seconds in this unit.
    pub fn of(self, seconds: f64) -> String {
        format!("{} {}", self.number(seconds), self.name)
    }

    /// So many seconds in this unit, with two digits and zeros after them.
    pub fn rounded(self, seconds: f64) -> String {
        let value = seconds / self.seconds;
        let rounded = format!("{value:.1e}").parse().unwrap_or(value);
        format!("{} {}", two_digits(rounded), self.name)
    }
}

/// A number that is not negative with two digits, or all before the point.
fn two_digits(value: f64) -> String {
    match value {
        ..=0.0 => "0".to_owned(),
        ..0.0095 => format!("{value:.1e}"),
        ..0.095 => format!("{value:.3}"),
        ..0.95 => format!("{value:.2}"),
        ..9.95 => format!("{value:.1}"),
        ..1e6 => format!("{value:.0}"),
        _ => format!("{value:.1e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_the_unit_of_people() {
        for (seconds, wall, cores) in [
            (0.0, "0 µs", "0 µs"),
            (0.000_294, "294 µs", "294 µs"),
            (0.029, "29 ms", "29 ms"),
            (0.999_9, "1000 ms", "1000 ms"),
            (9.96, "10 s", "10 s"),
            (93.0, "93 s", "93 s"),
            (1080.0, "18 minutes", "18 core-minutes"),
            (11_520.0, "3.2 hours", "3.2 core-hours"),
            (1e6, "12 days", "278 core-hours"),
            (4.1e7, "475 days", "1.3 core-years"),
            (1e14, "3.2e6 years", "3.2e6 core-years"),
        ] {
            assert_eq!(TimeUnit::of_wall(seconds).of(seconds), wall);
            assert_eq!(TimeUnit::of_cores(seconds).of(seconds), cores);
        }
    }

    #[test]
    fn the_ends_of_an_interval_share_a_unit() {
        let unit = TimeUnit::of_cores(29.0e-3);
        assert_eq!(unit.number(24.2e-3), "24");
        assert_eq!(unit.number(1.0), "1000");
        assert_eq!(two_digits(0.000_012), "1.2e-5");
        assert_eq!(two_digits(0.05), "0.050");
    }
}
