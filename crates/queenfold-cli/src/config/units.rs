//! Numbers with units as text: durations, amounts of memory, shares.

use std::time::Duration;

use super::{Form, Parser};
use queenfold::job::limits::{AUDIT, CANARY};

/// The sum of the quantities that stand in a text, each a number and its unit. Blanks are allowed between and behind the two.
/// `scale` says how much a unit is.
fn sum(text: &str, scale: impl Fn(&str) -> Option<f64>) -> Option<f64> {
    let mut rest = text.trim();
    let mut sum = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.');
        let (number, after) = rest.split_at(digits.unwrap_or(rest.len()));
        let after = after.trim_start();
        let letters = after.find(|c: char| !c.is_ascii_alphabetic());
        let (unit, after) = after.split_at(letters.unwrap_or(after.len()));
        sum += number.parse::<f64>().ok()? * scale(unit)?;
        rest = after.trim_start();
    }
    Some(sum)
}

/// Milliseconds in each unit of time, the longest first. A unit is written as the letters of its first name, or as three
/// letters or more of the other.
const TIMES: [(&str, &str, u64); 6] = [
    ("w", "weeks", 604_800_000),
    ("d", "days", 86_400_000),
    ("h", "hours", 3_600_000),
    ("m", "minutes", 60_000),
    ("s", "seconds", 1000),
    ("ms", "milliseconds", 1),
];

/// A length of time: `90s`, `1h 30m`, `5min`, `250ms`, or as Slurm writes it `01:30:00`, `1-12`; a number without a unit
/// means seconds.
pub fn duration() -> Parser<Duration> {
    let scale = |unit: &str| {
        let is_named = |(name, word, _): &(&str, &str, u64)| {
            *name == unit || unit.len() > 2 && word.starts_with(unit)
        };
        TIMES
            .iter()
            .find(|of| is_named(of))
            .map(|(.., scale)| *scale as f64)
    };
    let read = move |text: &str| {
        let text = text.trim();
        let is_number = text.chars().all(|c| c.is_ascii_digit() || c == '.');
        let seconds = if is_number {
            text.parse().ok()
        } else {
            clock(text)
        };
        let millis = seconds.map(|seconds| seconds * 1000.0);
        let millis = millis.or_else(|| sum(text, scale))?;
        // Before it is rounded, or half a millisecond would pass for one.
        let [least, most] = [CANARY.start(), CANARY.end()].map(|time| time.as_millis() as f64);
        (least..=most)
            .contains(&millis)
            .then(|| Duration::from_millis(millis.round() as u64))
    };
    let allowed = "a duration from 1ms to 3650d such as `1h 30m` or `01:30:00` (units w, d, h, m, s, ms), or a number of \
                   seconds";
    Parser::new(Form::Number, allowed, read, |time: &Duration| {
        duration_text(*time)
    })
}

/// The seconds of `HH:MM:SS`, or of `D-HH`, `D-HH:MM` and `D-HH:MM:SS`. `MM:SS` could be hours.
fn clock(text: &str) -> Option<f64> {
    let whole = |part: &str| part.parse::<u32>().ok().map(f64::from);
    let (days, time) = text.split_once('-').unwrap_or(("0", text));
    let parts: Option<Vec<_>> = time.split(':').map(whole).collect();
    let parts = parts?;
    let fits = if time == text {
        parts.len() == 3
    } else {
        parts.len() <= 3
    };
    let units = [3600.0, 60.0, 1.0];
    let seconds: f64 = parts
        .iter()
        .zip(units)
        .map(|(part, unit)| part * unit)
        .sum();
    Some(whole(days)? * 86_400.0 + seconds).filter(|_| fits)
}

/// A length of time as it is read: `1h 30m`.
pub fn duration_text(time: Duration) -> String {
    let mut rest = time.as_millis() as u64;
    let mut parts = Vec::new();
    for (name, _, scale) in &TIMES[1..] {
        if rest >= *scale {
            parts.push(format!("{}{name}", rest / scale));
            rest %= scale;
        }
    }
    parts.join(" ")
}

/// Bytes for people: one decimal of the largest unit that is filled.
pub fn bytes_text(bytes: u64) -> String {
    let units = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let filled = units.into_iter().find(|(_, power)| bytes >> power > 0);
    let (unit, power) = filled.unwrap_or(("B", 0));
    format!("{:.1} {unit}", bytes as f64 / (1_u64 << power) as f64)
}

/// A share of a whole: `0.001`, `1/1000`.
pub fn share() -> Parser<f64> {
    let read = |text: &str| {
        let (part, whole) = text.split_once('/').unwrap_or((text, "1"));
        let share = part.parse::<f64>().ok()? / whole.parse::<f64>().ok()?;
        // NaN is in no range.
        AUDIT.contains(&share).then_some(share)
    };
    Parser::new(
        Form::Number,
        "a share from 0 to 1 such as 0.001 or 1/1000",
        read,
        f64::to_string,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_and_written() {
        for (text, millis, written) in [
            ("90s", 90_000, "1m 30s"),
            ("1h 30m", 5_400_000, "1h 30m"),
            ("1h30m", 5_400_000, "1h 30m"),
            ("250ms", 250, "250ms"),
            ("1.5 s", 1500, "1s 500ms"),
            ("2d", 172_800_000, "2d"),
            ("90", 90_000, "1m 30s"),
            ("0.5", 500, "500ms"),
            ("5min", 300_000, "5m"),
            ("90minutes", 5_400_000, "1h 30m"),
            ("1 hour 2 sec", 3_602_000, "1h 2s"),
            ("1w", 604_800_000, "7d"),
            ("5 weeks", 3_024_000_000, "35d"),
            ("01:30:00", 5_400_000, "1h 30m"),
            ("1-12", 129_600_000, "1d 12h"),
            ("1-00:00", 86_400_000, "1d"),
            ("1-02:03:04", 93_784_000, "1d 2h 3m 4s"),
        ] {
            let span = duration().read(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(span.as_millis(), millis);
            assert_eq!(duration_text(span), written);
            assert_eq!(duration().read(&duration_text(span)), Some(span));
        }
        for text in "|0s|0.5ms|0.9999ms|3650d 0.4ms|1h 30|30 1h|s|-1s|4000d|4000-00|5 mi|5 minutess|02:00|1:00:00:00|-1-00|1-|1-2-3|::|1..2s|1e9s|∞".split('|') {
            assert_eq!(duration().read(text), None, "{text}");
        }
    }

    #[test]
    fn amounts_of_memory_are_written() {
        assert_eq!(bytes_text(3 << 29), "1.5 GiB");
    }

    #[test]
    fn shares_are_decimals_or_fractions_up_to_one() {
        for (text, part) in [("0", 0.0), ("1", 1.0), ("0.001", 1e-3), ("1/1000", 1e-3)] {
            assert_eq!(share().read(text), Some(part));
            assert_eq!(share().read(&share().write(&part)), Some(part));
        }
        for text in ["-0.1", "1.1", "nan", "1/0", "0/0", "", "1/", "2/1", "1 %"] {
            assert_eq!(share().read(text), None, "{text}");
        }
    }
}
