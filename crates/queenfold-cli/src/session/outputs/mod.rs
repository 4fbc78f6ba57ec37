//! Which files and programs hear of a run while it counts?

pub mod event_command;
pub(super) mod event_stream;
pub(super) mod live_files;
pub(super) mod metrics_file;
pub(super) mod output_files;
