//! `queenfold known`: prints the published counts of solutions.

use serde_json::json;

use crate::config::{Sizes, sizes};
use crate::exit::Failure;
use crate::output::{print, print_json, say};
use queenfold::board::{Size, known, known_symmetric};

/// Flags of `known`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  queenfold known
  queenfold known -n 26
  queenfold known -n 4..=27 --json

Every result is compared with these counts. r180 are the solutions that a half turn fixes, r90 those that a quarter turn \
fixes. Of 28 to 32 queens, the total is not known.")]
pub struct Args {
    /// Board sizes: one, or ranges and lists of them; all of them unless given
    #[arg(short, value_name = "N|A..=B", value_parser = sizes(), allow_hyphen_values = true)]
    n: Option<Sizes>,

    /// Print each board as JSON, one object on each line
    #[arg(long)]
    json: bool,
}

/// Where the counts are from.
const SOURCES: &str = "sources: OEIS A000170 (total), A002562 (unique), A032522 (r180), A033148 (r90); the total of 27 queens \
                       is that of Preußer and Engelhardt, 2016";

/// Prints the known counts.
pub fn run(args: &Args) -> Result<(), Failure> {
    let sizes = args.n.clone().unwrap_or_else(|| Size::all().collect());
    let rows: Vec<_> = sizes.into_iter().map(|n| (n, counts(n))).collect();
    if args.json {
        return rows.iter().try_for_each(|(n, [total, unique, r180, r90])| {
            print_json(&json!({"n": n, "total": total, "unique": unique, "r180": r180, "r90": r90}))
        });
    }
    let names = ["Total", "Unique", "R180", "R90"].map(str::to_owned);
    let shown = rows.into_iter().map(|(n, counts)| {
        (
            n.to_string(),
            counts.map(|count| count.unwrap_or_else(|| "-".to_owned())),
        )
    });
    let lines: Vec<_> = std::iter::once(("N".to_owned(), names))
        .chain(shown)
        .collect();
    let widths: [usize; 4] = std::array::from_fn(|column| {
        let widths = lines.iter().map(|(_, cells)| cells[column].len());
        widths.max().unwrap_or(0)
    });
    for (n, cells) in &lines {
        let cells = cells.iter().zip(widths);
        let cells = cells.map(|(cell, width)| format!("{cell:>width$}"));
        print(&format!("{n:>2}: {}", cells.collect::<Vec<_>>().join("  ")))?;
    }
    say(SOURCES);
    Ok(())
}

/// Total, unique, R180 and R90 of a board, as far as they are known.
fn counts(n: Size) -> [Option<String>; 4] {
    let known = known(n);
    let [r180, r90] = known_symmetric(n).map(Some);
    let (total, unique) = known.map(|known| (known.total, known.unique)).unzip();
    [total, unique, r180, r90].map(|count| count.map(|count| count.to_string()))
}
