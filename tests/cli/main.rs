//! The program as a user runs it.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails"
)]

mod bench;
#[cfg(feature = "fault-injection")]
#[path = "../common/cases.rs"]
mod cases;
#[cfg(unix)]
#[path = "../common/child.rs"]
mod child;
mod commands;
#[cfg(feature = "fault-injection")]
#[path = "../common/completions.rs"]
mod completions;
mod config;
mod counts;
#[cfg(all(unix, feature = "tui"))]
mod dashboard;
mod estimate;
mod events;
#[cfg(feature = "fault-injection")]
mod faults;
#[cfg(unix)]
mod files;
mod first_hour;
mod first_tries;
mod given;
#[path = "../common/help.rs"]
mod help;
#[path = "../common/isolated.rs"]
mod isolated;
mod json;
mod json_schema;
mod missing_parts;
#[cfg(unix)]
mod pipes;
#[path = "../common/program.rs"]
mod program;
#[cfg(feature = "fault-injection")]
#[path = "../common/random_board.rs"]
mod random_board;
mod report;
#[cfg(unix)]
mod schema;
mod signals;
#[path = "../common/skip.rs"]
mod skip;
#[cfg(unix)]
#[path = "../common/terminal.rs"]
mod terminal;
#[cfg(unix)]
mod terminals;
#[cfg(unix)]
mod threads;
#[cfg(unix)]
mod throttle;
#[cfg(all(unix, feature = "tui"))]
#[path = "../common/tmux.rs"]
mod tmux;

#[cfg(not(feature = "fault-injection"))]
#[test]
fn injected_faults_are_skipped() {
    skip::skipped("injected faults need --features fault-injection");
}
