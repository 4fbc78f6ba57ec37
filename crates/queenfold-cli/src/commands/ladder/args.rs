//! The flags of `ladder`.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::config::{Parser, Sizes, duration, named, sizes};
use crate::ladder::{METHODS, Method, Style, method};

const HELP: &str = "\
Examples:
  queenfold ladder --method all -n 4..=8
  queenfold ladder --method backtrack,bitmap -n 8..=12
  queenfold ladder --method bitmap -n 12 --style iterative
  queenfold ladder --method symmetry -n 8 --boards unique
  queenfold ladder --method backtrack -n 5 --step
  queenfold ladder --method all -n 6..=14 --json > rows.json
  queenfold ladder --plot picture.svg --from rows.json

Without arguments the command lists the steps of the course with their methods, as `explain` does. A count is repeated until it has spent 20 ms, and the best time is taken. CPU time is that of all threads; \
the speed compares it (on a GPU, the wall time) with that of the first row of the same board, and is `–` if that one takes too long. A terminal \
with fewer than 90 columns gets no wall time. A row that takes more than \
the time limit says so, with the time that it would take on an idle machine: that of a smaller board, by how many boards \
are filled (`tuples`, `permutations`), or by a factor for each queen that grows in proportion to their number. A count that would take more than ten times the limit is not begun. Ctrl-C stops at once; the \
rows printed are complete. Notes on the rows follow the table.";

/// Flags of `ladder`.
#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
#[command(after_help = HELP, allow_negative_numbers = true)]
pub struct Args {
    /// The methods, with commas between them, or `all`; `queenfold explain METHOD` says what one does
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = method_or_all())]
    pub(super) method: Vec<String>,

    /// Board size, 1 to 32, or a range with both ends included; 8 by default
    #[arg(short, value_name = "N|A..=B", value_parser = sizes(), allow_hyphen_values = true)]
    pub(super) n: Option<Sizes>,

    /// The style, for methods that have a choice; every style by default
    #[arg(long, value_parser = styles())]
    pub(super) style: Option<Style>,

    /// Stop a method on a board after this time, such as `90` (seconds), `0.5` or `10m`, or `none`; 10 s by default
    /// where rows are printed
    #[arg(long, value_name = "D", value_parser = duration().or("none"), allow_hyphen_values = true)]
    pub(super) time_limit: Option<Limit>,

    /// Print each solution as a board, or one of each orbit with its size; the carry chain prints
    /// one border of each class
    #[arg(long, value_name = "WHICH", num_args = 0..=1, default_missing_value = "all")]
    pub(super) boards: Option<Which>,

    /// Show the search square by square: arrow or space continues, q quits; without a terminal,
    /// print all of it at once
    #[arg(long, conflicts_with = "boards")]
    pub(super) step: bool,

    /// Print rows as JSON, one object on each line
    #[arg(long, conflicts_with_all = ["boards", "step"])]
    pub(super) json: bool,

    /// Draw time against board size for each method, as SVG; with --from, `-` is stdout
    #[arg(long, value_name = "FILE")]
    pub(super) plot: Option<PathBuf>,

    /// Draw the rows of an earlier `--json`, of `ladder` or of `run`, and run nothing; `-` is stdin
    #[arg(long, value_name = "ROWS", requires = "plot",
          conflicts_with_all = ["method", "n", "style", "time_limit", "boards", "step", "json"])]
    pub(super) from: Option<PathBuf>,
}

/// A time limit, or none.
type Limit = Option<Duration>;

/// The styles by their names.
fn styles() -> Parser<Style> {
    let all = [Style::Recursive, Style::Iterative, Style::Gpu];
    named(all, |style| style.name().unwrap_or_default(), &[])
}

/// The boards to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Which {
    /// Every solution
    All,
    /// One of each orbit
    Unique,
}

/// The time limit of a row where none is given.
const TIME_LIMIT: Duration = Duration::from_secs(10);

fn method_or_all() -> impl TypedValueParser<Value = String> {
    let names = METHODS.map(|method| method.name);
    PossibleValuesParser::new(names.into_iter().chain(["all"]))
}

impl Args {
    /// Whether the search is shown, and not only measured.
    pub(super) const fn has_audience(&self) -> bool {
        self.boards.is_some() || self.step
    }

    /// After which time a method is stopped. Whoever watches a search decides that for himself.
    pub(super) fn limit_of_time(&self) -> Option<Duration> {
        let default = (!self.has_audience()).then_some(TIME_LIMIT);
        self.time_limit.unwrap_or(default)
    }

    /// The methods to run: all of them unless some are named.
    pub(super) fn methods(&self) -> Vec<&'static Method> {
        if self.runs_all() {
            return METHODS.to_vec();
        }
        let mut names: Vec<&String> = Vec::new();
        for name in &self.method {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.into_iter().filter_map(|name| method(name)).collect()
    }

    /// Whether no method is named.
    pub(super) fn runs_all(&self) -> bool {
        self.method.is_empty() || self.method.iter().any(|name| name == "all")
    }
}
