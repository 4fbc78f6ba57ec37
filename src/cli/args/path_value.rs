//! Paths as values of flags that set a key of the configuration.

use std::ffi::OsString;

use clap::builder::{OsStringValueParser, TypedValueParser};

use crate::config::{Value, path_text};

/// Reads a value that is a path, or holds one: its name need not be UTF-8.
pub fn path_value<T: Value + Clone + Send + Sync + 'static>() -> impl TypedValueParser<Value = T> {
    OsStringValueParser::new().try_map(|path: OsString| T::parse(&path_text(path)))
}
