//! What each entry of the table of settings has, and how it is read and written. Files, environment variables, flags,
//! `config` and the pages go through this.

use toml::Value as Toml;

use super::Config;
use super::layers::written;
use super::value::{About, Form};

/// A setting.
#[derive(Debug)]
pub struct Setting {
    /// Section and name, such as `run.workers`.
    pub key: &'static str,
    /// The flag that sets it.
    pub flag: Option<Flag>,
    /// Lines of its documentation.
    pub(super) doc: &'static [&'static str],
    /// Which values its parser allows.
    pub about: fn() -> About,
    pub(super) set: fn(&mut Config, &str) -> Result<(), String>,
    pub(super) get: fn(&Config) -> String,
}

/// A flag that sets a setting.
#[derive(Debug)]
pub struct Flag {
    /// The name with its dashes.
    pub name: &'static str,
    /// What follows it.
    pub takes: Takes,
}

/// What a flag takes. The text is the name of the value in the help.
#[derive(Debug)]
pub enum Takes {
    /// A value.
    Value(&'static str),
    /// Nothing: it sets the key, and the flag of this name takes that back.
    Switch(&'static str),
}

/// A flag, for the table.
pub(super) const fn flag(name: &'static str, takes: Takes) -> Option<Flag> {
    Some(Flag { name, takes })
}

impl Setting {
    /// What it does, in one sentence without a full stop: the help of its flag.
    pub fn help(&self) -> String {
        let first = self.doc.split(|line| line.is_empty()).next();
        let text = joined(first.unwrap_or_default());
        text.trim_end_matches('.').to_owned()
    }

    /// All that is to be said of it, with the values that it takes.
    pub fn text(&self) -> String {
        let (text, about) = (joined(self.doc), (self.about)());
        match about.form {
            Form::Switch => text,
            Form::Text | Form::Number => format!("{text} Allowed: {}.", about.allowed),
        }
    }

    /// The environment variable that sets it.
    pub fn variable(&self) -> String {
        format!("QUEENFOLD_{}", self.key.replace('.', "_").to_uppercase())
    }

    /// The text of the value that `text` means, which is the same however that is written.
    ///
    /// # Errors
    /// The text is not allowed.
    pub fn checked(&self, text: &str) -> Result<String, String> {
        let mut config = Config::default();
        (self.set)(&mut config, text)?;
        Ok((self.get)(&config))
    }

    /// Its value as a file has it: text that is no number or switch stays text.
    pub fn value(&self, config: &Config) -> Toml {
        let text = (self.get)(config);
        match ((self.about)().form, text.parse(), text.parse()) {
            (Form::Number, Ok(number), _) => Toml::Integer(number),
            (Form::Switch, _, Ok(switch)) => Toml::Boolean(switch),
            _ => Toml::String(text),
        }
    }

    /// Takes the value that a file has.
    ///
    /// # Errors
    /// It is not allowed, or has another form.
    pub(super) fn set_value(&self, config: &mut Config, value: &Toml) -> Result<(), String> {
        let text = match value {
            Toml::String(text) => text.clone(),
            Toml::Float(number) => number.to_string(),
            other => written(other),
        };
        self.checked(&text)?;
        let About { form, allowed, .. } = (self.about)();
        match (form, value) {
            (Form::Switch, Toml::Boolean(_)) | (Form::Text | Form::Number, Toml::String(_)) => {}
            (Form::Number, Toml::Integer(_) | Toml::Float(_)) => {}
            (Form::Switch, _) => return Err(format!("expected {allowed}, without quotes")),
            _ => return Err(format!("expected {allowed}, in quotes")),
        }
        (self.set)(config, &text)
    }
}

/// The lines of a documentation comment as one paragraph.
fn joined(lines: &[&str]) -> String {
    let lines = lines.iter().map(|line| line.trim());
    let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
    lines.join(" ")
}

/// Declares the sections of the configuration: the type of each with its fields and their defaults, and the table of all
/// settings.
macro_rules! settings {
    ($(
        #[doc = $of:literal]
        $section:ident: $name:ident {
            $(
                $(#[doc = $doc:literal])*
                $field:ident: $type:ty = $default:expr, $parser:expr, $flag:expr;
            )*
        }
    )*) => {
        /// The value of every setting.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Config {
            $(
                #[doc = $of]
                pub $section: $name,
            )*
        }

        $(
            #[doc = $of]
            #[derive(Clone, Debug, PartialEq)]
            pub struct $name {
                $(
                    $(#[doc = $doc])*
                    pub $field: $type,
                )*
            }

            impl Default for $name {
                fn default() -> Self {
                    Self { $($field: $default,)* }
                }
            }
        )*

        /// Every setting, in the order in which files have them.
        pub const SETTINGS: &[Setting] = &[$($(
            Setting {
                key: concat!(stringify!($section), ".", stringify!($field)),
                flag: $flag,
                doc: &[$($doc),*],
                about: || $parser.about,
                set: |config, text| {
                    config.$section.$field = $parser.parse(text)?;
                    Ok(())
                },
                get: |config| $parser.write(&config.$section.$field),
            },
        )*)*];
    };
}

pub(super) use settings;
