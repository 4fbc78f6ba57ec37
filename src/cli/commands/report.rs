use std::fmt::Display;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

use crate::cli::exit::{Exit, Failure};
use crate::cli::output::{print_json, say, stdout};
use crate::cli::shell::resume_command;
use crate::report::RunReport;
use crate::telemetry::printable;

/// Flags of `report`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  queenfold report n20                    write report.html
  queenfold report n20 -o twenty.html
  queenfold report n20 --json

The page is one file that loads nothing from elsewhere: the result and how it was verified, speed, who counted \
when, its ETA over time, what tasks cost, hosts, and the configuration. The run need not be finished. \
--json prints the same facts, with a row for docs/RECORDS.md.")]
pub struct Args {
    /// The directory of the run
    dir: PathBuf,

    /// The file to write, or - for stdout; an existing one is replaced
    #[arg(
        short,
        long,
        value_name = "FILE",
        default_value = "report.html",
        conflicts_with = "json"
    )]
    output: PathBuf,

    /// Print one JSON object on a line, and write no page
    #[arg(long)]
    json: bool,
}

/// Writes the report of a run.
pub fn run(args: &Args) -> Result<(), Failure> {
    let report = RunReport::read(&args.dir)?;
    if args.json {
        return print_json(&report.json());
    }
    let file = &args.output;
    let failed = |error: &dyn Display| {
        Failure::new(Exit::Error, format!("report {}: {error}", file.display()))
    };
    let html = report
        .html(&resume_command(&args.dir))
        .map_err(|error| failed(&error))?;
    if file.as_os_str() == "-" {
        return Ok(stdout().write_all(html.as_bytes())?);
    }
    fs::write(file, html).map_err(|error| failed(&error))?;
    say(&printable(&format!("wrote {}", file.display())));
    Ok(())
}
