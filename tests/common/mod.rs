//! What tests share.

pub mod cases;
pub mod completions;
#[cfg(feature = "emulated-gpu")]
pub mod emulated_device;
#[cfg(feature = "emulated-gpu")]
pub mod faulty_device;
pub mod help;
#[cfg(feature = "cli")]
pub mod program;
pub mod random_board;
pub mod run_spec;
pub mod skip;
#[cfg(all(unix, feature = "cli"))]
pub mod terminal;
#[cfg(all(unix, feature = "tui"))]
pub mod tmux;
