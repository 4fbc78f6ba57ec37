//! Times as seconds in JSON, exact to the nanosecond up to 100 days. Use it as
//! `#[serde(with = "seconds")]`.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serializer, de};

/// Writes `time` in seconds.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(time.as_secs_f64())
}

/// Reads a time that [`serialize`] wrote. Times that are too long become the longest one.
///
/// # Errors
/// The number is negative, or there is none.
pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    let seconds = f64::deserialize(from)?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) => Ok(time),
        Err(_) if seconds > 0.0 => Ok(Duration::MAX),
        Err(error) => Err(de::Error::custom(error)),
    }
}

/// The same for times that may not be known: `null` stands for `None`.
pub mod optional {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Seconds(#[serde(with = "super")] Duration);

    /// Writes `time` in seconds, or `null`.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(time: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
        time.map(Seconds).serialize(to)
    }

    /// Reads what [`serialize`] wrote.
    ///
    /// # Errors
    /// The number is negative, or there is none.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
        let time = Option::<Seconds>::deserialize(from)?;
        Ok(time.map(|Seconds(time)| time))
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Timed {
        #[serde(with = "super")]
        took: Duration,
    }

    #[test]
    fn times_are_read_back_to_the_nanosecond() {
        for nanos in [0, 1, 1_234_567_891, 8_000_000_123_456_789] {
            let timed = Timed {
                took: Duration::from_nanos(nanos),
            };
            let text = serde_json::to_string(&timed).unwrap();
            assert_eq!(
                serde_json::from_str::<Timed>(&text).unwrap(),
                timed,
                "{text}"
            );
        }
        let read = serde_json::from_str::<Timed>;
        assert_eq!(
            read("{\"took\":1.5}").unwrap().took,
            Duration::from_millis(1500)
        );
        assert_eq!(read("{\"took\":1e30}").unwrap().took, Duration::MAX);
        assert!(read("{\"took\":-1}").is_err());
    }
}
