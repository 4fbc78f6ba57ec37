//! Runs over a real NATS server, where there is one.

mod accidents;
mod liars;
mod overhead;
mod process;
mod proxy;
mod raw;
mod runs;
mod server;
mod thousand;
mod users;
#[cfg(feature = "tui")]
mod watch;
