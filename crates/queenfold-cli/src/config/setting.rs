//! The settings as data: what the documentation of their fields says is what help, files and pages say.

use super::{Form, Value};

/// A setting: its key, what it does, and which values it takes.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Section and name, such as `run.workers`.
    pub key: &'static str,
    /// Lines of the documentation of its field.
    doc: &'static [&'static str],
    form: Form,
    allowed: fn() -> String,
}

impl Setting {
    pub(super) const fn new<T: Value>(key: &'static str, doc: &'static [&'static str]) -> Self {
        Self {
            key,
            doc,
            form: T::FORM,
            allowed: T::allowed,
        }
    }

    /// What it does, in one sentence without a full stop: the help of its flag.
    pub fn help(&self) -> String {
        let first = self.doc.split(|line| line.is_empty()).next();
        let text = joined(first.unwrap_or_default());
        text.trim_end_matches('.').to_owned()
    }

    /// All that is to be said of it, with the values that it takes.
    pub fn text(&self) -> String {
        let text = joined(self.doc);
        match self.form {
            Form::Switch => text,
            Form::Text | Form::Number => format!("{text} Allowed: {}.", (self.allowed)()),
        }
    }
}

/// The lines of a documentation comment as one paragraph.
fn joined(lines: &[&str]) -> String {
    let lines = lines.iter().map(|line| line.trim());
    let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
    lines.join(" ")
}

/// Declares a section of the configuration: the type with its fields and their defaults, and the table of its
/// settings.
macro_rules! section {
    (
        $(#[doc = $of:literal])*
        $name:ident $section:literal {
            $(
                $(#[doc = $doc:literal])*
                $field:ident: $type:ty = $default:expr,
            )*
        }
    ) => {
        $(#[doc = $of])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $(
                $(#[doc = $doc])*
                #[serde(with = "text")]
                pub $field: $type,
            )*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl $name {
            const SETTINGS: &[Setting] = &[
                $(
                    Setting::new::<$type>(
                        concat!($section, ".", stringify!($field)),
                        &[$($doc),*],
                    ),
                )*
            ];
        }
    };
}

pub(super) use section;
