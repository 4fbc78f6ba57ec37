//! Settings of the command line: which there are, which values they allow, and where each value comes
//! from.
//!
//! The first of these sources that names a setting gives its value: a flag, an environment variable,
//! the file given by `--config` or else `./queenfold.toml`, the user's own file, the built-in defaults. The environment
//! variable of a key is `QUEENFOLD_` and the key in capitals with `_` for `.`: `QUEENFOLD_RUN_WORKERS` for
//! `run.workers`.
//!
//! * [`SETTINGS`]: the table of all settings. Each has its key, its words, its default, its parser with the limits, and
//!   its flag. [`Config`] has their values.
//! * [`Parser`]: how values of one kind are written, and which are allowed.
//! * [`Layers`]: the sources in their order; each value keeps its [`SettingOrigin`].

mod error;
mod hours;
mod layers;
mod lists;
mod local_file;
mod paths;
mod schema;
mod setting;
mod units;
mod value;

pub use error::SettingOrigin;
pub use hours::Hours;
pub use layers::{Layers, written};
pub use lists::{Gpus, Sizes, gpus, sizes, sizes_text};
pub use local_file::LOCAL_FILE;
pub use paths::{TILDE, has_tilde, is_stream};
pub use schema::{Config, OutputConfig, RunConfig, SETTINGS, TraceConfig};
pub use setting::{Flag, Setting, Takes};
pub use units::{bytes_text, duration, duration_text, share};
pub use value::{Form, Parser, engine, named, whole};
