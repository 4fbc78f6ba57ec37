//! `queenfold report`: the report of a run, as a page or as JSON.

use std::path::PathBuf;

use crate::config::is_stream;
use crate::exit::Failure;
use crate::output::{check_file, print_json, say, write_file};
use crate::report::RunReport;
use crate::shell::{again_command, resume_command};
use crate::telemetry::printable;
use queenfold_ledger::system::file_kind::FileKind;

/// The name of the page in the directory of its run.
const PAGE: &str = "report.html";

/// Flags of `report`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  queenfold report n20                    write n20/report.html
  queenfold report n20 -o twenty.html
  queenfold report n20 --json

The page is one file that loads nothing from elsewhere: the result, its time and how it was checked, a solution, how \
the run went, a map of its tasks, who counted when, and the configuration. The run need not be finished. A file is replaced if it is \
a page of the same run; any other is kept. --json prints the same facts, with \
a row for docs/RECORDS.md.")]
pub struct Args {
    /// The directory of the run
    dir: PathBuf,

    /// The file to write, or - for stdout; otherwise report.html in the directory
    #[arg(short, long, value_name = "FILE", conflicts_with = "json")]
    output: Option<PathBuf>,

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
    let file = args.output.clone();
    let file = file.unwrap_or_else(|| args.dir.join(PAGE));
    let marks = report.beginnings();
    let marks: Vec<_> = marks.iter().map(String::as_str).collect();
    let kind = FileKind {
        name: "report of this run",
        marks: &marks,
        // The directory may be that of a stranger.
        streams: args.output.is_some(),
        is_replaced: true,
    };
    check_file("report", &kind, &file)?;
    let page = report.html(&resume_command(&args.dir), &again_command(&args.dir));
    write_file("report", &kind, &file, page.as_bytes())?;
    if !is_stream(&file) {
        say(&printable(&format!("wrote {}", file.display())));
    }
    Ok(())
}
