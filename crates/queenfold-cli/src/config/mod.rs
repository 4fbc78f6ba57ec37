//! Settings of the command line: which there are, which values they allow, and where each value comes
//! from.
//!
//! The first of these sources that names a setting gives its value: a flag, an environment variable,
//! the file given by `--config` or else `./queenfold.toml`, the user's own file, the built-in defaults. The environment
//! variable of a key is `QUEENFOLD_` and the key in capitals with `_` for `.`: `QUEENFOLD_RUN_WORKERS` for
//! `run.workers`.
//!
//! * [`Config`]: every setting, documented.
//! * [`Value`]: how one setting is written, and which values it allows.
//! * [`Layers`]: the sources in their order; each value keeps its [`SettingOrigin`].

mod command_line;
mod device_values;
mod error;
mod file_or_stream;
mod hours;
mod layers;
mod local_file;
mod path_text;
mod schema;
mod setting;
mod square_names;
mod units;
mod value;

pub use command_line::CommandLine;
pub use device_values::Indices;
pub use error::{ConfigError, SettingOrigin};
pub use file_or_stream::FileOrStream;
pub use hours::Hours;
pub use layers::{Layers, variable, written};
pub use local_file::LOCAL_FILE;
pub use path_text::{TILDE, has_tilde, path_text};
pub use schema::{Config, OutputConfig, RunConfig, TraceConfig, Workers};
pub use setting::Setting;
pub use square_names::SquareNames;
pub use units::{Bytes, HumanDuration, Share, Sizes};
pub use value::{Auto, COLOUR_ALIAS, Expected, Form, LogFilter, Optional, Value, Whole};
