//! What tests share.

pub mod cases;
pub mod completions;
pub mod faulty_device;
pub mod help;
#[cfg(all(unix, not(target_env = "musl")))]
pub mod program;
#[cfg(target_os = "linux")]
pub mod ptx_machine;
pub mod random_board;
pub mod run_spec;
pub mod skip;
#[cfg(all(unix, not(target_env = "musl")))]
pub mod terminal;
pub mod test_device;
#[cfg(all(unix, not(target_env = "musl")))]
pub mod tmux;
