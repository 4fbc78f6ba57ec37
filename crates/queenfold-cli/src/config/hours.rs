//! A setting that is a part of each day, such as `20:00-07:30`.

use std::fmt;

use jiff::civil::Time;

use super::{Form, Parser};

/// A part of each day, by the clock of the wall: from a time to another one, perhaps of the next day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hours {
    from: Time,
    to: Time,
}

impl Hours {
    /// Whether a time lies in it: the beginning does, the end does not.
    pub fn contains(self, time: Time) -> bool {
        if self.from < self.to {
            (self.from..self.to).contains(&time)
        } else {
            time >= self.from || time < self.to
        }
    }

    /// When it begins.
    pub const fn from(self) -> Time {
        self.from
    }
}

impl fmt::Display for Hours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = self.from.strftime("%H:%M");
        match self.to == Time::midnight() {
            true => write!(f, "{from}-24:00"),
            false => write!(f, "{from}-{}", self.to.strftime("%H:%M")),
        }
    }
}

/// Hours such as `22:00-07:00`.
pub(super) fn hours() -> Parser<Hours> {
    let time = |text: &str| {
        // `7` and `07:30`, but no seconds.
        let (hour, minute) = text.split_once(':').unwrap_or((text, "0"));
        let digits = |part: &str| {
            let digits = part.bytes().all(|byte| byte.is_ascii_digit());
            (digits && (1..=2).contains(&part.len())).then(|| part.parse().ok())?
        };
        Time::new(digits(hour)?, digits(minute)?, 0, 0).ok()
    };
    let read = move |text: &str| {
        let (from, to) = text.split_once('-')?;
        let (from, to) = (time(from.trim())?, to.trim());
        // The whole day is from midnight to midnight.
        let to_midnight = to == "24:00" || to == "24";
        let to = time(if to_midnight { "0" } else { to })?;
        (from != to || to_midnight && from == Time::midnight()).then_some(Hours { from, to })
    };
    Parser::new(
        Form::Text,
        "hours of the day such as 22:00-07:00",
        read,
        Hours::to_string,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_may_pass_midnight() {
        let at = |hour, minute| Time::new(hour, minute, 0, 0).unwrap();
        let night = hours().read("22:00-7").unwrap();
        assert_eq!(hours().write(&night), "22:00-07:00");
        for (hour, minute, inside) in [
            (21, 59, false),
            (22, 0, true),
            (0, 0, true),
            (6, 59, true),
            (7, 0, false),
            (12, 0, false),
        ] {
            assert_eq!(night.contains(at(hour, minute)), inside, "{hour}:{minute}");
        }
        let day = hours().read("9:30 - 17:00").unwrap();
        assert!(day.contains(at(9, 30)) && !day.contains(at(17, 0)) && !day.contains(at(3, 0)));
        for whole in ["00:00-24:00", "0-24"] {
            let day = hours().read(whole).unwrap();
            assert!(day.contains(at(0, 0)) && day.contains(at(12, 0)) && day.contains(at(23, 59)));
            assert_eq!(hours().write(&day), "00:00-24:00");
        }
        let evening = hours().read("18-24:00").unwrap();
        assert!(evening.contains(at(23, 59)) && !evening.contains(at(0, 0)));
        for refused in [
            "",
            "22:00",
            "22:00-22:00",
            "0-0",
            "0:00-24:01",
            "24:00-7:00",
            "7-8-9",
            "a-b",
            "7:60-8",
            "+7-8",
        ] {
            assert_eq!(hours().read(refused), None, "{refused}");
        }
    }
}
