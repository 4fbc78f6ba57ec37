//! The command line: one file for each command, the flags, and how the program ends.
//!
//! Results go to stdout, everything else to stderr.

mod census;
mod completions;
mod config;
mod devices;
mod engines;
mod exit;
mod explain;
mod flags;
mod ladder;
mod progress;
mod record;
mod run;
mod selftest;
mod session;
mod signals;
mod table;
mod usage;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use exit::Exit;

use exit::Failure;

/// Counts every solution of the N-Queens problem, all and unique.
#[derive(Debug, Parser)]
#[command(
    name = "queenfold",
    version,
    arg_required_else_help = true,
    max_term_width = 100,
    after_help = concat!(
        "Examples:\n",
        "  queenfold run -n 8            count the boards of 8 × 8 squares\n",
        "  queenfold run -n 4..=14       a table of them\n",
        "  queenfold run -n 16 --json    for other programs\n",
        "  queenfold config show         every setting, and where it comes from\n",
        "\n",
        "Exit codes:\n",
        "  0    done\n",
        "  1    error\n",
        "  2    wrong usage or configuration\n",
        "  3    a count contradicts a known one: no result is printed\n",
        "  4    stopped by a signal or by the time limit\n",
        "  5    self-test failed\n",
        "  6    the instruction set or device asked for is not available\n",
        "  130  second interrupt",
    )
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Count the solutions of one board size, or of a range of them
    Run(run::Args),
    /// Count the symmetric solutions alone: those fixed by a half turn, by a quarter turn
    Census(census::Args),
    /// Count by the historical methods, side by side
    Ladder(Box<ladder::Args>),
    /// Explain a method of the ladder
    Explain(explain::Args),
    /// Show what this machine has and what would be used
    Devices(devices::Args),
    /// Count small boards in every way there is and compare with the known counts
    Selftest,
    /// Show the settings
    Config(config::Args),
    /// Print a completion script for a shell
    Completions(completions::Args),
}

/// Runs the program on the arguments of the process.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage::report(&error),
    };
    let done = match cli.command {
        Command::Run(args) => run::run(&args),
        Command::Census(args) => census::run(&args),
        Command::Ladder(args) => ladder::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Devices(args) => devices::run(&args),
        Command::Selftest => selftest::run(),
        Command::Config(args) => config::run(&args),
        Command::Completions(args) => completions::run(&args),
    };
    match done {
        Ok(()) => Exit::Done.into(),
        Err(failure) => {
            match failure.exit {
                Exit::Done => {}
                Exit::Stopped => usage::say(&failure.message),
                _ => usage::say(&format!("error: {}", failure.message)),
            }
            failure.exit.into()
        }
    }
}

/// Writes a line of a result to stdout, at once.
fn print(line: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}
