use serde_json::json;

use crate::board::{KNOWN, Known, Size};
use crate::cli::exit::Failure;
use crate::cli::output::{print, print_json, say};
use crate::cli::print::csv::Columns;
use crate::config::{Sizes, Value};

/// Flags of `known`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  queenfold known
  queenfold known -n 26
  queenfold known -n 4..=27 --csv > known.csv

Every result is compared with these counts. r180 are the solutions that a half turn fixes, r90 those that a quarter turn \
fixes. Beyond 27 queens, none is known.")]
pub struct Args {
    /// Board sizes: one, or ranges and lists of them; all of them unless given
    #[arg(short, value_name = "N|A..=B", value_parser = Sizes::parse, allow_hyphen_values = true)]
    n: Option<Sizes>,

    /// Print each board as JSON, one object on each line
    #[arg(long)]
    json: bool,

    /// Print comma-separated values
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

/// Where the counts are from.
const SOURCES: &str = "sources: OEIS A000170 (total), A002562 (unique), A032522 (r180), A033148 (r90); the total of 27 queens \
                       is that of Preußer and Engelhardt, 2016";

const COLUMNS: Columns = Columns(&[
    ("n", "/n"),
    ("total", "/total"),
    ("unique", "/unique"),
    ("r180", "/r180"),
    ("r90", "/r90"),
]);

/// Prints the known counts.
pub fn run(args: &Args) -> Result<(), Failure> {
    let sizes: Vec<Size> = match &args.n {
        Some(sizes) => sizes.iter().collect(),
        None => Size::all().take(KNOWN.len()).collect(),
    };
    let rows: Vec<_> = sizes.into_iter().map(row).collect::<Result<_, _>>()?;
    if args.csv {
        print(&COLUMNS.header())?;
    }
    if args.json || args.csv {
        return rows.iter().try_for_each(|(n, known)| {
            let [total, unique, r180, r90] = counts(known);
            let json = json!({"n": n, "total": total, "unique": unique, "r180": r180, "r90": r90});
            match args.json {
                true => print_json(&json),
                false => print(&COLUMNS.row(&json)?),
            }
        });
    }
    let names = ["Total", "Unique", "R180", "R90"];
    let widths: [usize; 4] = std::array::from_fn(|column| {
        let largest = rows.iter().map(|(_, known)| counts(known)[column].len());
        largest.max().unwrap_or(0).max(names[column].len())
    });
    let line = |n: &str, cells: [String; 4]| {
        let cells = cells.iter().zip(widths);
        let cells = cells.map(|(cell, width)| format!("{cell:>width$}"));
        print(&format!("{n:>2}: {}", cells.collect::<Vec<_>>().join("  ")))
    };
    line("N", names.map(str::to_owned))?;
    rows.iter()
        .try_for_each(|(n, known)| line(&n.to_string(), counts(known)))?;
    say(SOURCES);
    Ok(())
}

/// The known counts of a board.
fn row(n: Size) -> Result<(Size, &'static Known), Failure> {
    let known = crate::board::known(n);
    known.map(|known| (n, known)).ok_or_else(|| {
        let last = KNOWN.len();
        Failure::usage(format!(
            "no count of {n} queens is known; the largest board with one has {last}"
        ))
    })
}

fn counts(known: &Known) -> [String; 4] {
    [known.total, known.unique, known.r180, known.r90].map(|number| number.to_string())
}
