//! The program, of which each run goes wrong by the faults that `FAULTS` names, and every disk is of the kind that
//! `FILE_SYSTEM` says. Only tests start it.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails"
)]

use std::env;
use std::process::ExitCode;

mod faults;

fn main() -> ExitCode {
    if let Ok(faults) = env::var("FAULTS") {
        queenfold::actors::inject_everywhere(faults::Faults::of(&faults));
    }
    if let Ok(kind) = env::var("FILE_SYSTEM") {
        queenfold_ledger::ledger::assume_file_system(kind.parse().expect("a number"));
    }
    queenfold_cli::main()
}
