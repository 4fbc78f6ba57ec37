//! Moments that a user names: a date, a time of a day, or how long ago.

use jiff::tz::TimeZone;

use crate::config::duration;
use queenfold_ledger::ledger::unix_time;

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
            && let Some(ago) = duration().read(text)
        {
            let ago = i64::try_from(ago.as_secs()).map_err(|_| refused())?;
            return Ok(Self(unix_time().saturating_sub(ago)));
        }
        let in_utc = |_| TimeZone::UTC.to_timestamp(text.parse()?);
        let at: Result<jiff::Timestamp, _> = text.parse();
        let at = at.or_else(in_utc).map_err(|_: jiff::Error| refused())?;
        Ok(Self(at.as_second()))
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
            ("2026-11-23T19:30:07+01:00", 1_795_458_607),
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
            "18:30",
            "18:30:00",
            "2026-11-23T25:00",
            "2026-11",
            "26-11-23",
        ] {
            assert!(Timestamp::parse(text).is_err(), "{text}");
        }
    }
}
