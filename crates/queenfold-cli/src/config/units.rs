//! Settings with units as text: board sizes, durations, bytes, shares.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::{Form, Value};
use queenfold::board::Size;
use queenfold::job::limits::{AUDIT, CANARY};

/// Board sizes, at least one: `8`, a range with both ends such as `4..=10`, `4..10` or `4-10`, or several of
/// these with commas between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Bit n is set for size n.
    set: u64,
    last: Size,
}

impl Sizes {
    /// What may stand between the ends of a range. The first one is how ranges are written. A part that another one begins
    /// with comes later.
    const BETWEEN: [&str; 5] = ["..=", "...", "..", "-", ":"];

    /// The sizes in ascending order.
    pub fn iter(self) -> impl Iterator<Item = Size> {
        Size::all().filter(move |n| self.set >> n.get() & 1 == 1)
    }

    /// The largest.
    pub const fn last(self) -> Size {
        self.last
    }

    fn range(first: Size, last: Size) -> Option<Self> {
        (first <= last).then(|| Self {
            set: (2 << last.get()) - (1 << first.get()),
            last,
        })
    }

    fn with(self, other: Self) -> Self {
        Self {
            set: self.set | other.set,
            last: self.last.max(other.last),
        }
    }

    /// The ends of a range, or a size twice.
    fn ends(part: &str) -> Option<[Size; 2]> {
        let found = Self::BETWEEN
            .into_iter()
            .find_map(|between| part.split_once(between));
        let (first, last) = found.unwrap_or((part, part));
        Some([first.trim().parse().ok()?, last.trim().parse().ok()?])
    }

    /// The ranges without gaps, from the smallest.
    fn ranges(self) -> Vec<(Size, Size)> {
        let mut ranges: Vec<(Size, Size)> = Vec::new();
        for n in self.iter() {
            match ranges.last_mut() {
                Some((_, last)) if last.get() + 1 == n.get() => *last = n,
                _ => ranges.push((n, n)),
            }
        }
        ranges
    }
}

/// One size.
impl From<Size> for Sizes {
    fn from(n: Size) -> Self {
        Self {
            set: 1 << n.get(),
            last: n,
        }
    }
}

impl Value for Sizes {
    const FORM: Form = Form::Number;

    fn read(text: &str) -> Option<Self> {
        let mut parts = text.split(',').map(|part| {
            let [first, last] = Self::ends(part)?;
            Self::range(first, last)
        });
        let first = parts.next()?;
        parts.fold(first, |all, part| Some(all?.with(part?)))
    }

    fn write(&self) -> String {
        let parts = self
            .ranges()
            .into_iter()
            .map(|(first, last)| match first == last {
                true => first.to_string(),
                false => format!("{first}..={last}"),
            });
        parts.collect::<Vec<_>>().join(",")
    }

    fn allowed() -> String {
        let max = Size::MAX;
        format!("a board size from 1 to {max}, or ranges A..=B of them")
    }

    /// A range from its larger end.
    fn hint(text: &str) -> Option<String> {
        let [first, last] = Self::ends(text)?;
        Some(format!("write {}", Self::range(last, first)?.write()))
    }
}

/// A length of time: `90s`, `1h 30m`, `5min`, `250ms`, or as Slurm writes it `01:30:00`, `1-12`; a number without a
/// unit means seconds. From 1 ms to 3650 days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HumanDuration(pub Duration);

impl HumanDuration {
    /// Milliseconds in each unit, the longest first. A unit is written as the letters before the blank, or as three
    /// letters or more of the word.
    const UNITS: [(&str, &str, u64); 6] = [
        ("w", "weeks", 604_800_000),
        ("d", "days", 86_400_000),
        ("h", "hours", 3_600_000),
        ("m", "minutes", 60_000),
        ("s", "seconds", 1000),
        ("ms", "milliseconds", 1),
    ];

    /// The milliseconds of `HH:MM:SS`, or of `D-HH`, `D-HH:MM` and `D-HH:MM:SS`. `MM:SS` could be hours.
    fn clock(text: &str) -> Option<f64> {
        let whole = |part: &str| part.parse::<u32>().ok().map(f64::from);
        let (days, time) = text.split_once('-').unwrap_or(("0", text));
        let parts: Option<Vec<_>> = time.split(':').map(whole).collect();
        let [hours, minutes, seconds] = match parts?[..] {
            [hours, minutes, seconds] => [hours, minutes, seconds],
            [hours, minutes] if time != text => [hours, minutes, 0.0],
            [hours] if time != text => [hours, 0.0, 0.0],
            _ => return None,
        };
        Some((((whole(days)? * 24.0 + hours) * 60.0 + minutes) * 60.0 + seconds) * 1000.0)
    }
}

impl Value for HumanDuration {
    const FORM: Form = Form::Number;

    fn read(text: &str) -> Option<Self> {
        let clock = Self::clock(text.trim());
        let mut rest = if clock.is_none() { text.trim() } else { "" };
        let mut millis = clock.unwrap_or_default();
        while !rest.is_empty() {
            let (number, unit, after) = quantity(rest);
            let alone = unit.is_empty() && after.is_empty() && rest == text.trim();
            let unit = if alone { "s" } else { unit };
            let (.., scale) = Self::UNITS.into_iter().find(|(name, word, _)| {
                *name == unit || unit.len() > 2 && word.starts_with(unit)
            })?;
            millis += number? * scale as f64;
            rest = after;
        }
        // Before it is rounded, or half a millisecond would pass for one.
        let [least, most] = [CANARY.start(), CANARY.end()].map(|time| time.as_millis() as f64);
        (least..=most)
            .contains(&millis)
            .then(|| Self(Duration::from_millis(millis.round() as u64)))
    }

    fn write(&self) -> String {
        let mut rest = self.0.as_millis() as u64;
        let mut parts = Vec::new();
        for (name, _, scale) in &Self::UNITS[1..] {
            if rest >= *scale {
                parts.push(format!("{}{name}", rest / scale));
                rest %= scale;
            }
        }
        parts.join(" ")
    }

    fn allowed() -> String {
        "a duration from 1ms to 3650d such as `1h 30m` or `01:30:00` (units w, d, h, m, s, ms), or a \
         number of seconds"
            .into()
    }
}

/// An amount of memory in bytes: `512 MiB`, `4G`, `4 GB`. From 1 MiB to 1024 TiB.
///
/// Units are those of the GNU tools, in capitals or not: `GiB` and `G` are 2^30 bytes, `GB` is 10^9.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes(pub u64);

impl Bytes {
    const UNITS: [(&str, u64); 4] = [
        ("TiB", 1 << 40),
        ("GiB", 1 << 30),
        ("MiB", 1 << 20),
        ("KiB", 1 << 10),
    ];

    const ALLOWED: RangeInclusive<u64> = 1 << 20..=1 << 50;

    const DECIMAL: [(&str, u64); 4] = [
        ("TB", 1_000_000_000_000),
        ("GB", 1_000_000_000),
        ("MB", 1_000_000),
        ("KB", 1000),
    ];

    /// The bytes in a unit.
    fn scale(unit: &str) -> Option<u64> {
        let is_named = |name: &str| unit.eq_ignore_ascii_case(name);
        let binary = Self::UNITS
            .into_iter()
            .find(|(name, _)| is_named(name) || is_named(&name[..1]));
        let decimal = || Self::DECIMAL.into_iter().find(|(name, _)| is_named(name));
        binary.or_else(decimal).map(|(_, scale)| scale)
    }

    /// For people: one decimal of the largest unit that is filled.
    pub fn rounded(self) -> String {
        let (unit, scale) = Self::UNITS
            .into_iter()
            .find(|(_, scale)| self.0 >= *scale)
            .unwrap_or(("B", 1));
        format!("{:.1} {unit}", self.0 as f64 / scale as f64)
    }

    /// The amount that `text` means.
    ///
    /// # Errors
    /// It means none that is allowed.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        Self::read(text).ok_or(
            "expected an amount of memory from 1 MiB to 1024 TiB such as `512 MiB` (units K, M, G, T or KiB, MiB, \
             GiB, TiB: powers of 1024; KB, MB, GB, TB: powers of 1000)",
        )
    }

    fn read(text: &str) -> Option<Self> {
        let (number, unit, after) = quantity(text.trim());
        let bytes = (number? * Self::scale(unit)? as f64).round() as u64;
        (after.is_empty() && Self::ALLOWED.contains(&bytes)).then_some(Self(bytes))
    }
}

/// The number and the unit that `text` begins with, and what follows them. Blanks are allowed between
/// the two and behind them.
fn quantity(text: &str) -> (Option<f64>, &str, &str) {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, rest) = text.split_at(digits.unwrap_or(text.len()));
    let rest = rest.trim_start();
    let letters = rest
        .find(|c: char| !c.is_ascii_alphabetic())
        .unwrap_or(rest.len());
    let (unit, after) = rest.split_at(letters);
    (number.parse().ok(), unit, after.trim_start())
}

/// A share of a whole, 0 to 1: `0.001`, `1/1000`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share(pub f64);

impl Value for Share {
    const FORM: Form = Form::Number;

    fn read(text: &str) -> Option<Self> {
        let number = |text: &str| text.parse::<f64>().ok();
        let share = match text.split_once('/') {
            Some((part, whole)) => number(part)? / number(whole)?,
            None => number(text)?,
        };
        // NaN is in no range.
        AUDIT.contains(&share).then_some(Self(share))
    }

    fn write(&self) -> String {
        self.0.to_string()
    }

    fn allowed() -> String {
        "a share from 0 to 1 such as 0.001 or 1/1000".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_boards_and_rising_ranges() {
        let sizes =
            |text| Sizes::read(text).map(|sizes| sizes.iter().map(Size::get).collect::<Vec<_>>());
        for (text, meant, written) in [
            ("8", vec![8], "8"),
            ("4..=6", vec![4, 5, 6], "4..=6"),
            ("4..6", vec![4, 5, 6], "4..=6"),
            ("4...6", vec![4, 5, 6], "4..=6"),
            ("4-6", vec![4, 5, 6], "4..=6"),
            ("4:6", vec![4, 5, 6], "4..=6"),
            ("8-8", vec![8], "8"),
            ("32..=32", vec![32], "32"),
            ("8,10,12", vec![8, 10, 12], "8,10,12"),
            ("8,4", vec![4, 8], "4,8"),
            ("4-6, 6, 7,12", vec![4, 5, 6, 7, 12], "4..=7,12"),
        ] {
            assert_eq!(sizes(text), Some(meant), "{text}");
            assert_eq!(Sizes::read(text).unwrap().write(), written);
        }
        assert_eq!(sizes("1..=32").unwrap().len(), 32);
        for text in
            " 0 33 abc -3 9..=5 1..=33 0..=3 ..=5 4..= 1..=2..=3 8.0 + 8, ,8 8,,9 8,33 4-6-8"
                .split(' ')
        {
            assert_eq!(sizes(text), None, "{text}");
        }
    }

    #[test]
    fn a_range_from_its_larger_end_is_corrected() {
        assert_eq!(Sizes::hint("14-8").as_deref(), Some("write 8..=14"));
        assert_eq!(Sizes::hint("33"), None);
    }

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
            let span = HumanDuration::read(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(span.0.as_millis(), millis);
            assert_eq!(span.write(), written);
            assert_eq!(HumanDuration::read(&span.write()), Some(span));
        }
        for text in "|0s|0.5ms|0.9999ms|3650d 0.4ms|1h 30|30 1h|s|-1s|4000d|4000-00|5 mi|5 minutess|02:00|1:00:00:00|-1-00|1-|1-2-3|::|1..2s|1e9s|∞".split('|') {
            assert_eq!(HumanDuration::read(text), None, "{text}");
        }
    }

    #[test]
    fn amounts_of_memory_are_read() {
        for (text, bytes) in [
            ("512 MiB", 512 << 20),
            ("4GiB", 4 << 30),
            ("1.5 GiB", 1536 << 20),
            ("2048 KiB", 2 << 20),
            ("64M", 64 << 20),
            ("4g", 4 << 30),
            ("2 gib", 2 << 30),
            ("4GB", 4_000_000_000),
            ("1500kb", 1_500_000),
        ] {
            assert_eq!(Bytes::read(text), Some(Bytes(bytes)), "{text}");
        }
        for text in "|0 MiB|512|-1 MiB|1 KiB|2000 TiB|1 Gi|1 B|1 GiB 2 MiB".split('|') {
            assert_eq!(Bytes::read(text), None, "{text}");
        }
        assert_eq!(Bytes(3 << 29).rounded(), "1.5 GiB");
    }

    #[test]
    fn shares_are_decimals_or_fractions_up_to_one() {
        for (text, share) in [("0", 0.0), ("1", 1.0), ("0.001", 1e-3), ("1/1000", 1e-3)] {
            assert_eq!(Share::read(text), Some(Share(share)));
            assert_eq!(Share::read(&Share(share).write()), Some(Share(share)));
        }
        for text in ["-0.1", "1.1", "nan", "1/0", "0/0", "", "1/", "2/1", "1 %"] {
            assert_eq!(Share::read(text), None, "{text}");
        }
    }
}
