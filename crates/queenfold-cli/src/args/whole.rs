//! Whole numbers of flags that have no key in the configuration.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Reads a whole number in `allowed`, and says what is allowed if it is none.
pub fn whole<T>(
    allowed: RangeInclusive<T>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: FromStr + PartialOrd + Display + Clone + Send + Sync + 'static,
{
    move |text| {
        let number = text.parse().ok().filter(|number| allowed.contains(number));
        number.ok_or_else(|| {
            format!(
                "expected a whole number from {} to {}",
                allowed.start(),
                allowed.end()
            )
        })
    }
}
