//! How a setting is written as text, and the simple kinds of settings.

use std::path::PathBuf;

use tracing_subscriber::filter::Targets;

use super::path_text::{TILDE, has_tilde, path_of, path_text};
use queenfold::engine::Engine;
use queenfold::simd::Isa;

/// One setting's value: how it is written in flags, environment variables and files alike, and what
/// is allowed.
pub trait Value: Sized {
    /// How files write it, if not as text in quotes.
    const FORM: Form = Form::Text;

    /// The value that `text` means; `None` if it is not allowed.
    fn read(text: &str) -> Option<Self>;

    /// The text that [`read`](Self::read) reads as this value.
    fn write(&self) -> String;

    /// What is allowed, in words that follow "expected".
    fn allowed() -> String;

    /// What the user probably meant by a text that is not allowed, as an instruction: "write 4..=8".
    fn hint(_text: &str) -> Option<String> {
        None
    }

    /// Like [`read`](Self::read), with an error that says which values are allowed.
    ///
    /// # Errors
    /// The text is not allowed.
    fn parse(text: &str) -> Result<Self, Expected> {
        Self::read(text).ok_or_else(|| {
            let hint = Self::hint(text).map_or_else(String::new, |hint| format!("; {hint}"));
            Expected(Self::allowed() + &hint)
        })
    }
}

/// How a value is written in a file. Flags and environment variables have only text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Text in quotes.
    Text,
    /// A number, or text in quotes for values that are no number, such as `auto` or `4..=8`.
    Number,
    /// `true` or `false`, without quotes.
    Switch,
}

/// What would have been allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {0}")]
pub struct Expected(pub String);

/// `auto`, or a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Auto<T>(pub Option<T>);

/// `none`, or a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Optional<T>(pub Option<T>);

impl<T> Default for Optional<T> {
    fn default() -> Self {
        Self(None)
    }
}

/// Which log lines to print, as levels and targets like those of `RUST_LOG`: `warn`,
/// `queenfold::actors=debug`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFilter(pub String);

impl Default for LogFilter {
    fn default() -> Self {
        Self("warn".into())
    }
}

/// A whole number from `MIN` to `MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole<const MIN: usize, const MAX: usize>(pub usize);

impl<T: Value> Value for Auto<T> {
    const FORM: Form = T::FORM;

    fn read(text: &str) -> Option<Self> {
        match text {
            "auto" => Some(Self(None)),
            _ => T::read(text).map(|value| Self(Some(value))),
        }
    }

    fn write(&self) -> String {
        self.0.as_ref().map_or_else(|| "auto".into(), T::write)
    }

    fn allowed() -> String {
        or("auto", T::allowed())
    }

    fn hint(text: &str) -> Option<String> {
        T::hint(text)
    }
}

impl<T: Value> Value for Optional<T> {
    const FORM: Form = T::FORM;

    fn read(text: &str) -> Option<Self> {
        match text {
            "none" => Some(Self(None)),
            _ => T::read(text).map(|value| Self(Some(value))),
        }
    }

    fn write(&self) -> String {
        self.0.as_ref().map_or_else(|| "none".into(), T::write)
    }

    fn allowed() -> String {
        or("none", T::allowed())
    }

    fn hint(text: &str) -> Option<String> {
        T::hint(text)
    }
}

/// "auto, portable or avx2" where the rest is itself a choice, "auto or a number" where not.
fn or(word: &str, rest: String) -> String {
    let link = if rest.contains(" or ") { "," } else { " or" };
    format!("{word}{link} {rest}")
}

/// "a, b or c".
fn any_of(names: impl IntoIterator<Item = &'static str>) -> String {
    let names: Vec<_> = names.into_iter().collect();
    match names.split_last() {
        Some((last, [])) => (*last).into(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

impl<const MIN: usize, const MAX: usize> Value for Whole<MIN, MAX> {
    const FORM: Form = Form::Number;

    fn read(text: &str) -> Option<Self> {
        let number = text.parse().ok()?;
        (MIN..=MAX).contains(&number).then_some(Self(number))
    }

    fn write(&self) -> String {
        self.0.to_string()
    }

    fn allowed() -> String {
        format!("a whole number from {MIN} to {MAX}")
    }
}

impl Value for LogFilter {
    fn read(text: &str) -> Option<Self> {
        // The parser takes any text as the name of a target.
        let is_path = |target: &str| {
            target
                .chars()
                .all(|c| c.is_alphanumeric() || "_-:".contains(c))
        };
        let targets = text.parse::<Targets>().ok()?;
        let known = !text.trim().is_empty() && targets.iter().all(|(target, _)| is_path(target));
        known.then(|| Self(text.into()))
    }

    fn write(&self) -> String {
        self.0.clone()
    }

    fn allowed() -> String {
        "a log filter such as `off`, `info` or `queenfold::actors=debug`".into()
    }
}

impl Value for bool {
    const FORM: Form = Form::Switch;

    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn write(&self) -> String {
        self.to_string()
    }

    fn allowed() -> String {
        "true or false".into()
    }
}

impl Value for PathBuf {
    fn read(text: &str) -> Option<Self> {
        let is_file = !text.is_empty() && text != "-" && !has_tilde(text.as_ref());
        is_file.then(|| path_of(text))
    }

    fn write(&self) -> String {
        path_text(self)
    }

    fn allowed() -> String {
        "the path of a file".into()
    }

    /// Elsewhere `-` means standard output, which belongs to the counts here.
    fn hint(text: &str) -> Option<String> {
        match text {
            "-" => Some("only results go to standard output".into()),
            _ => has_tilde(text.as_ref()).then(|| TILDE.into()),
        }
    }
}

/// The engines that count all solutions. The census has a command of its own.
fn engines() -> impl Iterator<Item = Engine> {
    Engine::ALL.into_iter().filter(|engine| engine.counts_all())
}

/// What scripts call the engine that took the place of the join of half boards: `colour` is a join, too.
pub const COLOUR_ALIAS: &str = "join";

impl Value for Engine {
    fn read(text: &str) -> Option<Self> {
        match text {
            COLOUR_ALIAS => Some(Self::Colour),
            _ => engines().find(|engine| engine.name() == text),
        }
    }

    fn write(&self) -> String {
        self.name().into()
    }

    fn allowed() -> String {
        any_of(engines().map(Self::name))
    }
}

impl Value for Isa {
    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn write(&self) -> String {
        self.name().into()
    }

    fn allowed() -> String {
        any_of(Self::ALL.map(Self::name))
    }
}

/// Reads and writes a [`Value`] with serde, in its [`Form`].
pub(super) mod text {
    use std::fmt;
    use std::marker::PhantomData;

    use serde::de::{self, Deserializer, Visitor};
    use serde::ser::Serializer;

    use super::{Form, Value};

    pub(in crate::config) fn serialize<T: Value, S: Serializer>(
        value: &T,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let text = value.write();
        // Text that is no number or switch stays text.
        match (T::FORM, text.parse(), text.parse()) {
            (Form::Number, Ok(number), _) => serializer.serialize_i64(number),
            (Form::Switch, _, Ok(switch)) => serializer.serialize_bool(switch),
            _ => serializer.serialize_str(&text),
        }
    }

    pub(in crate::config) fn deserialize<'de, T: Value, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        deserializer.deserialize_any(Text(PhantomData))
    }

    struct Text<T>(PhantomData<T>);

    impl<T: Value> Text<T> {
        /// Reads `text`, which stands in a form that fits or does not; `quotes` says what to do
        /// about the form where that is all that is wrong.
        fn read<E: de::Error>(text: &str, fits: bool, quotes: &str) -> Result<T, E> {
            let value = T::parse(text).map_err(E::custom)?;
            let misfit = || E::custom(format!("expected {}, {quotes}", T::allowed()));
            fits.then_some(value).ok_or_else(misfit)
        }
    }

    impl<'de, T: Value> Visitor<'de> for Text<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(&T::allowed())
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
            Self::read(text, T::FORM != Form::Switch, "without quotes")
        }

        fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
            Self::read(&number.to_string(), T::FORM == Form::Number, "in quotes")
        }

        fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
            Self::read(&number.to_string(), T::FORM == Form::Number, "in quotes")
        }

        fn visit_bool<E: de::Error>(self, switch: bool) -> Result<T, E> {
            Self::read(&switch.to_string(), T::FORM == Form::Switch, "in quotes")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_allowed_reads_as_a_sentence() {
        type Workers = Auto<Whole<1, 1024>>;
        assert_eq!(
            Workers::parse("0").unwrap_err().to_string(),
            "expected auto or a whole number from 1 to 1024"
        );
        assert_eq!(
            Auto::<Isa>::parse("sse2").unwrap_err().to_string(),
            "expected auto, portable, neon, avx2 or avx512"
        );
    }

    #[test]
    fn whole_numbers_keep_to_their_range() {
        type Small = Whole<1, 64>;
        assert_eq!(Small::read("1"), Some(Whole(1)));
        assert_eq!(Small::read("64"), Some(Whole(64)));
        for text in ["0", "65", "-1", "", " 1", "1.0", "99999999999999999999"] {
            assert_eq!(Small::read(text), None, "{text}");
        }
    }

    #[test]
    fn the_census_is_no_engine_to_choose() {
        assert_eq!(Engine::read("census"), None);
        assert_eq!(Engine::read("chain"), Some(Engine::Chain));
    }
}
