//! What tests share.

pub mod cases;
pub mod completions;
#[cfg(all(unix, not(target_env = "musl")))]
pub mod emulated_device;
#[cfg(all(unix, not(target_env = "musl")))]
pub mod faulty_device;
pub mod help;
#[cfg(all(unix, not(target_env = "musl")))]
pub mod program;
pub mod random_board;
pub mod run_spec;
pub mod skip;
#[cfg(all(unix, not(target_env = "musl")))]
pub mod terminal;
#[cfg(all(unix, not(target_env = "musl")))]
pub mod tmux;
