use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use serde_json::Value as Json;

use crate::cli::exit::Failure;
use crate::cli::output::{say, stdout};
use crate::cli::print::csv::Columns;
use crate::ledger::{self, ExportLine};
use crate::run_directory::open;
use crate::telemetry::{printable, several};

const HELP: &str = "\
Examples:
  queenfold export n20 > n20.jsonl
  queenfold export n20 | tail -n 1    the signature alone
  queenfold export n20 --csv > n20.csv

Prints one line of JSON for each task, sorted by engine and index, with counts as decimal strings. \
The last line is {\"signature\":\"…\"}: a BLAKE3 hash of the board, the plans, the tasks and their \
counts. It covers nothing else, so runs on different machines, with other kernels or in another \
order have the same signature. With --csv, the lines of tasks alone are printed; `count` is 2 for a second count.";

/// Flags of `export`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The directory of the run
    dir: PathBuf,

    /// Print comma-separated values instead of JSON
    #[arg(long)]
    csv: bool,
}

/// The columns of a record.
const COLUMNS: Columns = Columns(&[
    ("n", "/n"),
    ("given", "/given"),
    ("plan", "/plan"),
    ("task", "/task"),
    ("first_rank", "/ranks/0"),
    ("end_rank", "/ranks/1"),
    ("weight1", "/completions/1"),
    ("weight2", "/completions/2"),
    ("weight4", "/completions/4"),
    ("weight8", "/completions/8"),
    ("r180", "/r180"),
    ("r90", "/r90"),
    ("partitions", "/partitions"),
    ("nodes", "/nodes"),
    ("backend", "/backend"),
    ("device", "/device"),
    ("worker", "/worker"),
    ("audited_by", "/audited_by"),
    ("session", "/session"),
    ("seconds", "/seconds"),
    ("recorded_at", "/recorded_at"),
    ("blake3", "/blake3"),
]);

/// Writes the log of a run to stdout.
pub fn run(args: &Args) -> Result<(), Failure> {
    let (store, plans) = open(&args.dir)?;
    let mut out = BufWriter::new(stdout());
    if args.csv {
        writeln!(out, "{},count", COLUMNS.header())?;
    }
    let records = ledger::export(&store, &plans, |line| match args.csv {
        true => write_row(&mut out, line),
        false => line.write_to(&mut out),
    })??;
    out.flush()?;
    let tasks: u64 = plans.iter().map(|plan| plan.tasks()).sum();
    let missing = tasks - records;
    if missing > 0 {
        say(&format!(
            "note: the run is not whole: {} missing",
            several(missing, "task")
        ));
    }
    Ok(())
}

/// Writes the line of a task as comma-separated values.
fn write_row(out: &mut impl Write, line: &ExportLine<'_>) -> io::Result<()> {
    if !line.is_count() {
        return Ok(());
    }
    let json = serde_json::to_value(line)?;
    let (count, object) = match &json["second"] {
        Json::Null => (1, &json),
        second => (2, second),
    };
    writeln!(out, "{},{count}", printable(&COLUMNS.row(object)?))
}
