//! The commands, one file or folder for each.

pub mod array;
mod array_task;
pub mod bench;
pub mod census;
pub mod certify;
pub mod check;
pub mod completions;
pub mod config;
pub mod devices;
pub mod estimate;
pub mod explain;
pub mod gather;
pub mod known;
pub mod ladder;
pub mod man;
pub mod merge;
pub mod pause;
pub mod report;
pub mod resume;
pub mod run;
pub mod selftest;
pub mod solve;
pub mod status;
pub mod stop;
pub mod verify;
pub mod watch;
