mod boards;
mod lines;
mod menu;
mod picture;
mod rows;
mod steps;
mod table;

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use parking_lot::Mutex;
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};
use signal_hook::flag;

use self::boards::Boards;
use self::lines::Lines;
use self::picture::Picture;
use self::steps::Steps;
use self::table::Table;
use crate::cli::commands::explain;
use crate::cli::exit::{Exit, Failure};
use crate::cli::print;
use crate::cli::usage::say;
use crate::config::{Sizes, Span, Value};
use crate::ladder::{
    About, Audience, METHODS, Method, Request, Settings, StopReason, Style, TableRow, run_method,
};

const HELP: &str = "\
Examples:
  queenfold ladder --method all -n 4..=8
  queenfold ladder --method bitmap -n 12 --style iterative
  queenfold ladder --method symmetry -n 8 --boards unique
  queenfold ladder --method tuples -n 4 --lines
  queenfold ladder --method backtrack -n 5 --step
  queenfold ladder --method all -n 6..=14 --time-limit 10 --json > rows.json
  queenfold ladder --plot picture.svg --from rows.json

Without arguments it asks on a terminal what to run; without a terminal it lists the methods. The
speed of a row is relative to the first row of the same board. A method that reaches its time limit
is stopped, and left out on larger boards. Ctrl-C stops at once; the rows printed are complete.";

/// Flags of `ladder`.
#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
#[command(after_help = HELP, allow_negative_numbers = true)]
pub struct Args {
    /// The method, or `all`; `queenfold explain METHOD` says what it does
    #[arg(long, value_name = "NAME", value_parser = method_or_all())]
    method: Option<String>,

    /// Board size, 1 to 32, or a range with both ends included; 8 by default
    #[arg(short, value_name = "N|A..=B", value_parser = Sizes::parse, allow_hyphen_values = true)]
    n: Option<Sizes>,

    /// The style, for methods that have a choice; every style by default
    #[arg(long, value_enum)]
    style: Option<Choice>,

    /// Stop a method on a board after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    time_limit: Option<Duration>,

    /// Print each solution as a board, or one of each orbit with its size; the carry chain prints
    /// its borders, one of each class
    #[arg(long, value_name = "WHICH", num_args = 0..=1, default_missing_value = "all")]
    boards: Option<Which>,

    /// Print what the method enumerates, numbered
    #[arg(long, conflicts_with = "boards")]
    lines: bool,

    /// Show the search square by square: arrow or space to continue, q to quit; without a terminal
    /// all of it at once
    #[arg(long, conflicts_with_all = ["boards", "lines"])]
    step: bool,

    /// Stop after this many boards or lines; also prints boards larger than 10 × 10
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,

    /// Print rows as JSON, one object on each line
    #[arg(long, conflicts_with_all = ["boards", "lines", "step"])]
    json: bool,

    /// Draw time against board size for each method, as SVG; with --from, `-` is stdout
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    /// Draw the rows of an earlier `--json` and run nothing; `-` is stdin
    #[arg(long, value_name = "ROWS", requires = "plot",
          conflicts_with_all = ["method", "n", "style", "time_limit", "boards", "lines", "step",
                                "limit", "json", "mark", "steps", "layer", "block"])]
    from: Option<PathBuf>,

    /// bit-board: the row at which the search is cut, 1 to 31
    #[arg(long, value_name = "ROW", value_parser = range(Settings::MARK))]
    mark: Option<u32>,

    /// bit-board: nodes in a batch, 1 to 262144; 24576 by default
    #[arg(long, value_name = "NODES", value_parser = range(Settings::STEPS))]
    steps: Option<u32>,

    /// node-layer: queens placed breadth first, 1 to 8; 5 by default
    #[arg(long, value_name = "K", value_parser = range(Settings::LAYER))]
    layer: Option<u32>,

    /// bit-board, node-layer: threads in a block of a GPU, 1 to 1024; 96 by default
    #[arg(long, value_name = "THREADS", value_parser = range(Settings::BLOCK))]
    block: Option<u32>,
}

/// The styles to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Choice {
    Recursive,
    Iterative,
    Both,
    Gpu,
    Emulated,
}

impl Choice {
    /// The choice of this style alone, `None` if it cannot be chosen.
    fn of(style: Style) -> Option<Self> {
        match style {
            Style::Recursive => Some(Self::Recursive),
            Style::Iterative => Some(Self::Iterative),
            Style::Only => None,
            Style::Gpu => Some(Self::Gpu),
            Style::Emulated => Some(Self::Emulated),
        }
    }
}

/// The boards to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Which {
    /// Every solution
    All,
    /// One of each orbit
    Unique,
}

/// The largest boards that are printed without a limit.
const DRAWN: u32 = 10;

fn method_or_all() -> impl TypedValueParser<Value = String> {
    let names = METHODS.map(|method| method.about().name);
    PossibleValuesParser::new(names.into_iter().chain(["all"]))
}

fn range(allowed: std::ops::RangeInclusive<u32>) -> impl TypedValueParser<Value = u32> {
    clap::value_parser!(u32).range(i64::from(*allowed.start())..=i64::from(*allowed.end()))
}

/// Reads seconds as a plain number, or a time with units.
fn seconds(text: &str) -> Result<Duration, String> {
    let plain = text.parse().ok().filter(|seconds: &f64| *seconds > 0.0);
    plain
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .or_else(|| Span::read(text).map(|span| span.0))
        .ok_or_else(|| "expected a number of seconds, such as 10 or 0.5".to_owned())
}

/// Runs the methods and prints one row for each as soon as it is done.
pub fn run(args: &Args) -> Result<(), Failure> {
    if *args != Args::default() {
        return run_with(args);
    }
    if io::stdin().is_terminal() && io::stdout().is_terminal() {
        let answers = menu::ask(&mut io::stdin().lock(), &mut io::stdout())?;
        return answers.map_or(Ok(()), |args| run_with(&args));
    }
    METHODS
        .into_iter()
        .try_for_each(|method| print(&menu::entry(method.about())))
}

fn run_with(args: &Args) -> Result<(), Failure> {
    if args.from.is_none() && args.plot.as_deref().is_some_and(picture::is_stdout) {
        let message = "--plot - goes with --from: the rows of a run are on stdout already";
        return Err(Failure::usage(message));
    }
    let picture = args.plot.as_deref().map(Picture::at).transpose()?;
    let mut rows = Vec::new();
    let ended = match &args.from {
        Some(path) => rows::read(path).map(|read| rows = read),
        None => climb_all(args, &mut rows),
    };
    let Some(picture) = picture else {
        return ended;
    };
    // A run that ended early gets a picture of the rows that it finished.
    if ended.is_err() && rows.is_empty() {
        return ended;
    }
    let drawn = picture.draw(&rows);
    ended.and(drawn)
}

/// A method in one of its styles.
type Rung = (&'static dyn Method, Style);

/// Runs what the flags ask for. `rows` gets the finished rows, even if a later one fails.
fn climb_all(args: &Args, rows: &mut Vec<TableRow>) -> Result<(), Failure> {
    let sizes = match args.n {
        Some(sizes) => sizes,
        None => Sizes::parse("8").map_err(Failure::usage)?,
    };
    check_settings(args)?;
    let mut rungs = rungs(args)?;
    check_audience(args, sizes, &rungs)?;
    let interrupt = interrupt()?;
    let table = Table::new(sizes.last(), rungs.iter().map(|(method, _)| method.about()));
    let mut header = (!args.json).then(|| table.header());
    for n in sizes.iter() {
        let mut first = None;
        let mut index = 0;
        while let Some(&(method, style)) = rungs.get(index) {
            let about = method.about();
            let request = Request {
                n,
                style,
                settings: settings(args),
            };
            match watched(args, method, &request, &interrupt) {
                Ok(row) => {
                    row.check()?;
                    let line = if args.json {
                        serde_json::to_string(&row)
                            .map_err(|error| Failure::new(Exit::Error, error))?
                    } else {
                        table.row(&row, *first.get_or_insert(row.seconds))
                    };
                    let note = row.note.as_ref();
                    let note = note.map(|note| format!("{}, n = {n}: {note}", row.title()));
                    rows.push(row);
                    if let Some(header) = header.take() {
                        print(&header)?;
                    }
                    print(&line)?;
                    if let Some(note) = note {
                        say(&note);
                    }
                    index += 1;
                }
                Err(Ended::Limit(limit)) => {
                    let title = title(about, style);
                    say(&format!("{title}: stopped at --limit {limit} on n = {n}"));
                    index += 1;
                }
                Err(Ended::Stopped(why @ StopReason::NoDevice(_))) => {
                    let message = format!("{}: {why}", title(about, style));
                    if style_asked_for(args) == Some(style) {
                        return Err(Failure::new(Exit::Unavailable, message));
                    }
                    say(&message);
                    rungs.remove(index);
                }
                Err(Ended::Stopped(why @ StopReason::Failed(_))) => {
                    let message = format!("{}: {why} on n = {n}", title(about, style));
                    return Err(Failure::new(Exit::Error, message));
                }
                Err(Ended::Stopped(why @ StopReason::TimeLimit)) => {
                    say(&format!("{}: {why} on n = {n}", title(about, style)));
                    // Larger boards would take longer.
                    rungs.remove(index);
                }
                Err(Ended::Stopped(StopReason::AudienceLeft)) => return Ok(()),
                Err(Ended::Stopped(why @ StopReason::Interrupted)) => {
                    return Err(Failure::new(Exit::Stopped, format!("{why} on n = {n}")));
                }
                Err(Ended::Stopped(why @ StopReason::Refused(_))) => {
                    return Err(Failure::usage(format!("{}: {why}", title(about, style))));
                }
                Err(Ended::Failure(failure)) => return Err(failure),
            }
        }
    }
    Ok(())
}

fn title(about: &About, style: Style) -> String {
    match style.name() {
        Some(style) => format!("{}, {style}", about.name),
        None => about.name.to_owned(),
    }
}

/// The style that the flags name.
fn style_asked_for(args: &Args) -> Option<Style> {
    match args.style? {
        Choice::Recursive => Some(Style::Recursive),
        Choice::Iterative => Some(Style::Iterative),
        Choice::Both => None,
        Choice::Gpu => Some(Style::Gpu),
        Choice::Emulated => Some(Style::Emulated),
    }
}

fn settings(args: &Args) -> Settings {
    let originals = Settings::default();
    Settings {
        mark: args.mark,
        steps: args.steps.unwrap_or(originals.steps),
        layer: args.layer.unwrap_or(originals.layer),
        block: args.block.unwrap_or(originals.block),
    }
}

/// Refuses a setting that the method does not have.
fn check_settings(args: &Args) -> Result<(), Failure> {
    let Some(name) = args.method.as_deref().filter(|name| *name != "all") else {
        return Ok(());
    };
    for (given, flag, of) in [
        (args.mark, "--mark", &["bit-board"][..]),
        (args.steps, "--steps", &["bit-board"]),
        (args.layer, "--layer", &["node-layer"]),
        (args.block, "--block", &["bit-board", "node-layer"]),
    ] {
        if given.is_some() && !of.contains(&name) {
            let message = format!("{flag} is for {}, not for {name}", of.join(" and "));
            return Err(Failure::usage(message));
        }
    }
    Ok(())
}

/// What to run, in order.
fn rungs(args: &Args) -> Result<Vec<Rung>, Failure> {
    let methods = match args.method.as_deref() {
        None | Some("all") => METHODS.to_vec(),
        Some(name) => vec![explain::named(name)?],
    };
    let rungs: Vec<_> = methods
        .iter()
        .flat_map(|&method| {
            let styles = styles(method.about(), args);
            styles.into_iter().map(move |style| (method, style))
        })
        .collect();
    match rungs.first() {
        None => Err(Failure::usage(format!(
            "{} has no such style",
            args.method.as_deref().unwrap_or_default()
        ))),
        // An audience is shown one search, not the same search again in another style.
        Some(&first)
            if args.style.is_none() && (args.boards.is_some() || args.lines || args.step) =>
        {
            let shows = |(_, style): &&Rung| !style.needs_device();
            Ok(vec![*rungs.iter().find(shows).unwrap_or(&first)])
        }
        Some(_) => Ok(rungs),
    }
}

/// The styles of a method that the flags select. A method without a choice runs in its only style,
/// unless the flags ask for a device.
fn styles(about: &About, args: &Args) -> Vec<Style> {
    let wanted = match (args.style, style_asked_for(args)) {
        (None, _) => return about.styles.to_vec(),
        (Some(_), Some(style)) => vec![style],
        (Some(_), None) => Style::BOTH.to_vec(),
    };
    let has = |style: &Style| about.styles.contains(style);
    if wanted.iter().any(has) {
        wanted.into_iter().filter(has).collect()
    } else if Style::BOTH.contains(&wanted[0]) && about.styles == [Style::Only] {
        vec![Style::Only]
    } else {
        Vec::new()
    }
}

/// Refuses to show what cannot be shown.
fn check_audience(args: &Args, sizes: Sizes, rungs: &[Rung]) -> Result<(), Failure> {
    let what = if args.boards.is_some() {
        "--boards"
    } else if args.lines {
        "--lines"
    } else if args.step {
        "--step"
    } else if args.limit.is_some() {
        return Err(Failure::usage("--limit goes with --boards or --lines"));
    } else {
        return Ok(());
    };
    if args.method.as_deref().is_none_or(|name| name == "all") {
        return Err(Failure::usage(format!("{what} needs one --method NAME")));
    }
    let Some(&(method, style)) = rungs.first() else {
        return Ok(());
    };
    let About {
        name, lines, steps, ..
    } = method.about();
    if args.boards.is_some() && sizes.last().get() > DRAWN && args.limit.is_none() {
        return Err(Failure::usage(format!(
            "boards larger than {DRAWN} × {DRAWN} have too many solutions to print; \
             say how many with --limit K"
        )));
    }
    if args.boards.is_some() && style.needs_device() {
        return Err(Failure::usage(format!(
            "{}: a device counts solutions and lists none; --boards goes with other methods and \
             styles",
            title(method.about(), style)
        )));
    }
    if args.lines && lines.is_none() {
        return Err(Failure::usage(format!(
            "--lines is for tuples, permutations and backtrack, not for {name}"
        )));
    }
    if args.step && !steps {
        return Err(Failure::usage(format!(
            "{name} searches in many places at once: --step has no one search to show"
        )));
    }
    Ok(())
}

/// Set by the first Ctrl-C, SIGTERM or SIGUSR1; a second one ends the program.
fn interrupt() -> Result<Arc<AtomicBool>, Failure> {
    let interrupt = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGUSR1] {
        flag::register_conditional_shutdown(
            signal,
            Exit::Interrupted.code().into(),
            Arc::clone(&interrupt),
        )
        .and_then(|_| flag::register(signal, Arc::clone(&interrupt)))
        .map_err(|error| Failure::new(Exit::Error, format!("cannot catch signals: {error}")))?;
    }
    Ok(interrupt)
}

/// Why there is no row.
enum Ended {
    Stopped(StopReason),
    /// This many boards or lines are printed, as `--limit` asks.
    Limit(u64),
    Failure(Failure),
}

/// Runs a method and shows it to the audience that the flags ask for.
fn watched(
    args: &Args,
    method: &dyn Method,
    request: &Request,
    interrupt: &AtomicBool,
) -> Result<TableRow, Ended> {
    let run = |audience: Option<&Mutex<dyn Audience>>| {
        // A signal between two rows: the shortest searches end before they check the flag.
        if interrupt.load(Ordering::Relaxed) {
            return Err(StopReason::Interrupted);
        }
        run_method(method, request, args.time_limit, interrupt, audience)
    };
    let limit = args.limit.unwrap_or(u64::MAX);
    let (row, end) = if let Some(which) = args.boards {
        let boards = Mutex::new(Boards::new(which == Which::Unique, limit));
        (run(Some(&boards)), end(boards, Boards::finish))
    } else if let (true, Some(listed)) = (args.lines, method.about().lines) {
        let lines = Mutex::new(Lines::new(listed, limit));
        (run(Some(&lines)), end(lines, Lines::finish))
    } else if args.step {
        let steps = Mutex::new(Steps::new(request.n));
        let row = run(Some(&steps));
        (row, end(steps, Steps::finish).map(|()| false))
    } else {
        (run(None), Ok(false))
    };
    if end.map_err(|error| Ended::Failure(error.into()))? {
        return Err(Ended::Limit(limit));
    }
    row.map_err(Ended::Stopped)
}

/// Lets the audience write the rest, and returns whether its writing succeeded.
fn end<A, T>(audience: Mutex<A>, finish: impl FnOnce(A) -> io::Result<T>) -> io::Result<T> {
    finish(audience.into_inner())
}
