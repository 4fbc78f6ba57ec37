//! How runs are paused, continued and stopped: by signals, by keys, and from other processes.

pub mod asking;
pub mod keys;
pub mod live_run;
pub mod signals;
pub mod steering;
pub mod stop_report;
pub mod terminal;
