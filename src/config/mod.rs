//! Settings: what there is, what is allowed, and where each value comes from.
//!
//! A value is taken from the first of these that names it: a flag, an environment variable, the
//! file given by `--config`, `./queenfold.toml`, the built-in defaults. The environment variable of
//! a key is the key in capitals with `_` for `.`, after `QUEENFOLD_`: `QUEENFOLD_RUN_WORKERS` for
//! `run.workers`.
//!
//! * [`Config`]: every setting there is, documented.
//! * [`Value`]: how one setting is written, and what is allowed.
//! * [`Layers`]: the sources, laid over each other; each value keeps its [`Origin`].

mod error;
mod gpu;
mod layers;
mod schema;
mod units;
mod value;

pub use error::{ConfigError, Origin, printable};
pub use gpu::{Indices, Threads};
pub use layers::{LOCAL_FILE, Layers, variable};
pub use schema::{Config, GpuConfig, OutputConfig, RunConfig, TraceConfig};
pub use units::{Bytes, Share, Sizes, Span};
pub use value::{Auto, Expected, Filter, Form, Optional, Value, Whole};
