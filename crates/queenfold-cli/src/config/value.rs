//! How a value is written as text, and the simple kinds of values: whole numbers, switches, names, log filters.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::Arc;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use tracing_subscriber::filter::Targets;

use queenfold::engine::Engine;

type Read<T> = dyn Fn(&str) -> Option<T> + Send + Sync;

/// Reads and writes the values of one kind: in flags, environment variables and files alike.
#[derive(Clone)]
pub struct Parser<T> {
    /// What is known of it whatever its type is.
    pub about: About,
    read: Arc<Read<T>>,
    write: Arc<dyn Fn(&T) -> String + Send + Sync>,
    hint: fn(&str) -> Option<String>,
}

/// Which values a parser allows.
#[derive(Clone)]
pub struct About {
    /// How files write them.
    pub form: Form,
    /// What is allowed, in words that follow "expected".
    pub allowed: String,
    /// All values, if help and completions list them.
    pub names: Vec<PossibleValue>,
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

impl<T: 'static> Parser<T> {
    pub(super) fn new(
        form: Form,
        allowed: impl Into<String>,
        read: impl Fn(&str) -> Option<T> + Send + Sync + 'static,
        write: impl Fn(&T) -> String + Send + Sync + 'static,
    ) -> Self {
        let (allowed, names) = (allowed.into(), Vec::new());
        Self {
            about: About {
                form,
                allowed,
                names,
            },
            read: Arc::new(read),
            write: Arc::new(write),
            hint: |_| None,
        }
    }

    /// The same; `hint` says what the user probably meant by a text that is not allowed, as an instruction.
    pub(super) fn hinting(self, hint: fn(&str) -> Option<String>) -> Self {
        Self { hint, ..self }
    }

    /// Reads also `word`, which means that there is no value.
    pub fn or(self, word: &'static str) -> Parser<Option<T>> {
        let Self {
            mut about,
            read,
            write,
            hint,
        } = self;
        // "auto, portable or avx2" where the rest is itself a choice, "auto or a number" where not.
        let link = if about.allowed.contains(" or ") {
            ","
        } else {
            " or"
        };
        about.allowed = format!("{word}{link} {}", about.allowed);
        about.names.insert(0, word.into());
        Parser {
            about,
            read: Arc::new(move |text| {
                if text == word {
                    Some(None)
                } else {
                    read(text).map(Some)
                }
            }),
            write: Arc::new(move |value| {
                value
                    .as_ref()
                    .map_or_else(|| word.to_owned(), |value| write(value))
            }),
            hint,
        }
    }

    /// The value that `text` means; `None` if it is not allowed.
    pub fn read(&self, text: &str) -> Option<T> {
        (self.read)(text)
    }

    /// The text that [`read`](Self::read) reads as this value.
    pub fn write(&self, value: &T) -> String {
        (self.write)(value)
    }

    /// Like [`read`](Self::read), with an error that says which values are allowed.
    ///
    /// # Errors
    /// The text is not allowed.
    pub fn parse(&self, text: &str) -> Result<T, String> {
        self.read(text).ok_or_else(|| {
            let hint = (self.hint)(text).map_or_else(String::new, |hint| format!("; {hint}"));
            format!("expected {}{hint}", self.about.allowed)
        })
    }
}

/// The parser of a flag. Help and completions list the values of a choice.
impl<T: Clone + Send + Sync + 'static> From<Parser<T>> for ValueParser {
    fn from(parser: Parser<T>) -> Self {
        if parser.about.names.len() < 2 {
            return Self::new(move |text: &str| parser.parse(text));
        }
        let names = PossibleValuesParser::new(parser.about.names.clone());
        Self::new(names.try_map(move |text| parser.parse(&text)))
    }
}

/// A whole number within limits.
pub fn whole<T>(limits: RangeInclusive<T>) -> Parser<T>
where
    T: FromStr + PartialOrd + Display + Send + Sync + 'static,
{
    let allowed = format!("a whole number from {} to {}", limits.start(), limits.end());
    let read = move |text: &str| text.parse().ok().filter(|number| limits.contains(number));
    Parser::new(Form::Number, allowed, read, T::to_string)
}

/// `true` or `false`.
pub(super) fn switch() -> Parser<bool> {
    Parser::new(
        Form::Switch,
        "true or false",
        |text| text.parse().ok(),
        bool::to_string,
    )
}

/// One of `all`, by its name or by another one that scripts have for it.
pub fn named<T>(
    all: impl IntoIterator<Item = T>,
    name: fn(T) -> &'static str,
    others: &'static [(&'static str, T)],
) -> Parser<T>
where
    T: Copy + PartialEq + Send + Sync + 'static,
{
    let own: Vec<_> = all.into_iter().map(|value| (name(value), value)).collect();
    let listed = own.iter().map(|(name, value)| {
        let others = others.iter().filter(|(_, of)| of == value);
        PossibleValue::new(*name).aliases(others.map(|(other, _)| *other))
    });
    let listed = listed.collect();
    let allowed = match own.split_last() {
        Some(((last, _), rest)) if !rest.is_empty() => {
            let rest: Vec<_> = rest.iter().map(|(name, _)| *name).collect();
            format!("{} or {last}", rest.join(", "))
        }
        only => only.map_or("", |((name, _), _)| name).to_owned(),
    };
    let read = move |text: &str| {
        let mut all = own.iter().chain(others);
        all.find(|(name, _)| *name == text).map(|(_, value)| *value)
    };
    let mut parser = Parser::new(Form::Text, allowed, read, move |value| {
        name(*value).to_owned()
    });
    parser.about.names = listed;
    parser
}

/// The engines that count all solutions; the census has a command of its own. Scripts may call the engine `colour` by the name
/// of the join of half boards, whose place it took: it is a join, too.
pub fn engine() -> Parser<Engine> {
    let all = Engine::ALL.into_iter().filter(|engine| engine.counts_all());
    named(all, Engine::name, &[("join", Engine::Colour)])
}

/// Which log lines to print, as levels and targets like those of `RUST_LOG`: `warn`, `queenfold::actors=debug`.
pub(super) fn log_filter() -> Parser<String> {
    // The parser takes any text as the name of a target.
    let is_path = |target: &str| {
        target
            .chars()
            .all(|c| c.is_alphanumeric() || "_-:".contains(c))
    };
    let read = move |text: &str| {
        let targets = text.parse::<Targets>().ok()?;
        let known = !text.trim().is_empty() && targets.iter().all(|(target, _)| is_path(target));
        known.then(|| text.to_owned())
    };
    let allowed = "a log filter such as `off`, `info` or `queenfold::actors=debug`";
    Parser::new(Form::Text, allowed, read, String::clone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use queenfold::simd::Isa;

    #[test]
    fn what_is_allowed_reads_as_a_sentence() {
        let expected = |error: Result<(), String>| error.unwrap_err();
        assert_eq!(
            expected(whole(1..=1024).or("auto").parse("0").map(drop)),
            "expected auto or a whole number from 1 to 1024"
        );
        assert_eq!(
            expected(
                named(Isa::ALL, Isa::name, &[])
                    .or("auto")
                    .parse("sse2")
                    .map(drop)
            ),
            "expected auto, portable, neon, avx2 or avx512"
        );
    }

    #[test]
    fn whole_numbers_keep_to_their_range() {
        let small = whole(1..=64);
        assert_eq!(small.read("1"), Some(1));
        assert_eq!(small.read("64"), Some(64));
        for text in ["0", "65", "-1", "", " 1", "1.0", "99999999999999999999"] {
            assert_eq!(small.read(text), None, "{text}");
        }
    }

    #[test]
    fn names_are_written_as_they_are_read() {
        assert_eq!(engine().read("census"), None);
        assert_eq!(engine().read("chain"), Some(Engine::Chain));
        assert_eq!(engine().read("join"), Some(Engine::Colour));
        assert_eq!(engine().write(&Engine::Colour), "colour");
    }
}
