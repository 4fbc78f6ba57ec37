//! Times that passed, in words.

use std::time::Duration;

use super::TimeUnit;

/// A time to read at a glance: `0.4 s`, `3:07`, `2:03:07`, `5 d 02:03`, `5300 years`.
pub fn duration(time: Duration) -> String {
    if time < Duration::from_millis(9_950) {
        return format!("{:.1} s", time.as_secs_f64());
    }
    // Rounded, as above.
    let seconds = time.as_secs() + u64::from(time.subsec_millis() >= 500);
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{minutes}:{:02}", seconds % 60),
        3600..86_400 => format!("{hours}:{:02}:{:02}", minutes % 60, seconds % 60),
        _ if days <= 1000 => format!("{days} d {:02}:{:02}", hours % 24, minutes % 60),
        _ => TimeUnit::of_wall(seconds as f64).of(seconds as f64),
    }
}

/// A measured time in a table: `14 µs`, `3.2 s`, and from ten seconds on as [`duration`] writes it.
pub fn measured(time: Duration) -> String {
    if time >= Duration::from_millis(9_950) {
        return duration(time);
    }
    let seconds = time.as_secs_f64();
    TimeUnit::of_wall(seconds).of(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_grow_with_what_they_measure() {
        for (millis, text) in [
            (0, "0.0 s"),
            (9_949, "9.9 s"),
            (9_950, "10 s"),
            (59_499, "59 s"),
            (59_500, "1:00"),
            (7_387_000, "2:03:07"),
            (439_400_000, "5 d 02:03"),
            (142_000_000_000, "4.5 years"),
            (6_311_520_000_000, "200 years"),
            (67_000_000_000_000_000, "2.1e6 years"),
        ] {
            assert_eq!(duration(Duration::from_millis(millis)), text);
        }
    }
}
