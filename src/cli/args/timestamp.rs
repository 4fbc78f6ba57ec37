//! Moments that a user names: a date, a time of a day, or how long ago.

use toml::value::{Datetime, Offset};

use crate::config::{HumanDuration, Value};
use crate::ledger::unix_time;

/// A moment, in seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Reads `2026-11-23`, `2026-11-23T18:30` (UTC), or how long ago it was: `3h`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let refused = || {
            "expected a day or a minute in UTC such as 2026-11-23 or 2026-11-23T18:30, or how long ago \
             such as 3h"
                .to_owned()
        };
        // Nobody means by `18:30:00` how long ago it was.
        if !text.contains([':', '-'])
            && let Some(HumanDuration(ago)) = HumanDuration::read(text)
        {
            let ago = i64::try_from(ago.as_secs()).map_err(|_| refused())?;
            return Ok(Self(unix_time().saturating_sub(ago)));
        }
        Self::of_day(text).ok_or_else(refused)
    }

    fn of_day(text: &str) -> Option<Self> {
        let at: Datetime = text.parse().ok()?;
        let day = at.date.filter(|day| day.year >= 1970)?;
        if !matches!(at.offset, None | Some(Offset::Z)) {
            return None;
        }
        let time = at.time.map_or(0, |time| {
            let minutes = 60 * i64::from(time.hour) + i64::from(time.minute);
            60 * minutes + i64::from(time.second.unwrap_or(0))
        });
        let [year, month, day] = [day.year, day.month.into(), day.day.into()].map(i64::from);
        // Years begin in March, so that the day that some lack is their last.
        let (year, month) = if month > 2 {
            (year, month - 3)
        } else {
            (year - 1, month + 9)
        };
        let days =
            365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 719_469;
        Some(Self(86_400 * days + time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_times_are_counted_from_1970() {
        for (text, seconds) in [
            ("1970-01-01", 0),
            ("1970-01-02T00:01", 86_460),
            ("2000-02-29", 951_782_400),
            ("2000-03-01", 951_868_800),
            ("2026-11-23T18:30", 1_795_458_600),
            ("2026-11-23 18:30", 1_795_458_600),
            ("2026-11-23T18:30:07Z", 1_795_458_607),
        ] {
            assert_eq!(Timestamp::parse(text), Ok(Timestamp(seconds)), "{text}");
        }
        let ago = unix_time() - Timestamp::parse("3h").unwrap().0;
        assert!((3 * 3600..3 * 3600 + 60).contains(&ago), "{ago}");
        for text in [
            "",
            "yesterday",
            "2026-13-01",
            "2026-02-29",
            "1969-12-31",
            "18:30",
            "18:30:00",
            "2026-11-23T18:30:00+01:00",
            "2026-11-23T25:00",
            "2026-11",
            "26-11-23",
        ] {
            assert!(Timestamp::parse(text).is_err(), "{text}");
        }
    }
}
