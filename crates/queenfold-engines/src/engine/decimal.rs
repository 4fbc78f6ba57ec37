//! Whole numbers as decimal strings in JSON: counts may exceed what a reader of JSON takes for a
//! number. Use it as `#[serde(with = "decimal")]`.

use std::fmt::Display;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serializer, de};

/// Writes `number` as a decimal string.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<T: Display, S: Serializer>(number: &T, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(number)
}

/// Reads a number that [`serialize`] wrote.
///
/// # Errors
/// The text is not a number of this type.
pub fn deserialize<'de, T, D>(from: D) -> Result<T, D::Error>
where
    T: FromStr<Err: Display>,
    D: Deserializer<'de>,
{
    let text = String::deserialize(from)?;
    text.parse().map_err(de::Error::custom)
}

/// The same for numbers that may be absent: `null` stands for `None`.
pub mod optional {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::{Deserialize, Deserializer, Serializer, de};

    /// Writes `number` as a decimal string, or `null`.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<T: Display, S: Serializer>(
        number: &Option<T>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match number {
            Some(number) => to.collect_str(number),
            None => to.serialize_none(),
        }
    }

    /// Reads what [`serialize`] wrote.
    ///
    /// # Errors
    /// The text is not a number of this type.
    pub fn deserialize<'de, T, D>(from: D) -> Result<Option<T>, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        let text = Option::<String>::deserialize(from)?;
        text.map(|text| text.parse().map_err(de::Error::custom))
            .transpose()
    }
}
