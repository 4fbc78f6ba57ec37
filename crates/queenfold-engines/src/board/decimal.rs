//! Whole numbers as decimal strings in JSON: counts may exceed what a reader of JSON takes for a
//! number. Binary formats have the number itself. Use it as `#[serde(with = "decimal")]`.

use std::fmt::Display;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Writes `number`, as a decimal string in a format for people.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<T: Display + Serialize, S: Serializer>(
    number: &T,
    to: S,
) -> Result<S::Ok, S::Error> {
    match to.is_human_readable() {
        true => to.collect_str(number),
        false => number.serialize(to),
    }
}

/// The number that `text` stands for; `None` unless it is written as [`serialize`] writes it. So a number has one
/// form: `7`, but neither `007` nor `+7`.
pub fn read<T: FromStr + Display>(text: &str) -> Option<T> {
    let number: T = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

/// Reads a number that [`serialize`] wrote.
///
/// # Errors
/// The text is not a number of this type, or is written in another way.
pub fn deserialize<'de, T, D>(from: D) -> Result<T, D::Error>
where
    T: FromStr + Display + Deserialize<'de>,
    D: Deserializer<'de>,
{
    if !from.is_human_readable() {
        return T::deserialize(from);
    }
    let text = String::deserialize(from)?;
    read(&text).ok_or_else(|| refused(&text))
}

fn refused<E: de::Error>(text: &str) -> E {
    E::invalid_value(
        de::Unexpected::Str(text),
        &"a whole number in decimal digits, without a sign or leading zeros",
    )
}

/// The same for numbers that may be absent: `null` stands for `None`.
pub mod optional {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::{Deserialize, Deserializer, Serializer};

    use super::{read, refused};

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
    /// The text is not a number of this type, or is written in another way.
    pub fn deserialize<'de, T, D>(from: D) -> Result<Option<T>, D::Error>
    where
        T: FromStr + Display,
        D: Deserializer<'de>,
    {
        let text = Option::<String>::deserialize(from)?;
        text.map(|text| read(&text).ok_or_else(|| refused(&text)))
            .transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn a_number_has_one_form() {
        for text in ["0", "7", "340282366920938463463374607431768211455"] {
            assert_eq!(
                read::<u128>(text)
                    .map(|number| number.to_string())
                    .as_deref(),
                Some(text)
            );
        }
        for text in [
            "007",
            "+5",
            "-0",
            "",
            " 1",
            "1 ",
            "1.0",
            "0x1",
            "340282366920938463463374607431768211456",
        ] {
            assert_eq!(read::<u128>(text), None, "{text:?}");
        }
    }
}
