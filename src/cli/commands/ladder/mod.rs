//! The command `ladder`: runs methods and prints a row for each.

mod args;
mod boards;
mod lines;
mod menu;
mod page;
mod picture;
mod saved_rows;
mod steps;
mod table;

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use console::Term;
use parking_lot::Mutex;

pub use self::args::Args;
use self::args::{DRAWN, Which};
use self::boards::BoardPrinter;
use self::lines::LinePrinter;
use self::picture::Picture;
use self::steps::StepViewer;
use self::table::LadderTable;
use crate::cli::commands::explain;
use crate::cli::control::signals;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::{print, print_json, say};
use crate::cli::print::csv::Columns;
use crate::config::{Sizes, Value};
use crate::ladder::{
    About, Audience, METHODS, Method, MethodRequest, StopReason, Style, TableRow, run_method,
};

/// Runs the methods and prints one row for each as soon as it is done.
pub fn run(args: &Args) -> Result<(), Failure> {
    if *args != Args::default() {
        return run_with(args);
    }
    if io::stdin().is_terminal() && io::stdout().is_terminal() {
        let columns = Term::stdout().size().1.into();
        let answers = menu::ask(&mut io::stdin().lock(), &mut io::stdout(), columns)?;
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
        Some(path) => saved_rows::read(path).map(|read| rows = read),
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

/// The columns of `--csv`.
const COLUMNS: Columns = Columns(&[
    ("n", "/n"),
    ("method", "/method"),
    ("style", "/style"),
    ("total", "/total"),
    ("unique", "/unique"),
    ("nodes", "/nodes"),
    ("seconds", "/seconds"),
]);

/// A method in one of its styles.
type Rung = (&'static dyn Method, Style);

/// Runs what the flags ask for. `rows` gets the finished rows, even if a later one fails.
fn climb_all(args: &Args, rows: &mut Vec<TableRow>) -> Result<(), Failure> {
    let sizes = match args.n {
        Some(sizes) => sizes,
        None => Sizes::parse("8").map_err(Failure::usage)?,
    };
    args.check_settings()?;
    let mut rungs = rungs(args)?;
    check_audience(args, sizes, &rungs)?;
    let interrupt = Arc::new(AtomicBool::new(false));
    let interrupted = Arc::clone(&interrupt);
    // The search waits for a key, and does not look at the flag.
    let waits = args.step && steps::is_interactive();
    let stop = move || match waits {
        true => signals::end_at_once(Exit::Interrupted),
        false => interrupted.store(true, Ordering::Relaxed),
    };
    signals::listen(stop, None)?;
    let table = LadderTable::new(sizes.last(), rungs.iter().map(|(method, _)| method.about()));
    let mut header = match (args.json, args.csv) {
        (true, _) => None,
        (false, true) => Some(COLUMNS.header()),
        (false, false) => Some(table.header()),
    };
    let mut notes = Notes::default();
    for n in sizes.iter() {
        let mut first = None;
        let mut index = 0;
        while let Some(&(method, style)) = rungs.get(index) {
            let about = method.about();
            let request = MethodRequest {
                n,
                style,
                settings: args.settings(),
            };
            match watched(args, method, &request, &interrupt) {
                Ok(row) => {
                    row.check()?;
                    if let Some(note) = &row.note {
                        notes.add(&format!("{note} for n = {n}"), about.name);
                    }
                    if let Some(header) = header.take() {
                        print(&header)?;
                    }
                    match (args.json, args.csv) {
                        (true, _) => print_json(&row)?,
                        (false, true) => print(&COLUMNS.row(&row)?)?,
                        (false, false) => {
                            print(&table.row(&row, *first.get_or_insert(row.seconds)))?;
                        }
                    }
                    rows.push(row);
                    index += 1;
                }
                Err(NoRow::Limit(limit)) => {
                    let why = format!("stopped at --limit {limit} on n = {n}");
                    notes.add(&why, &title(about, style));
                    index += 1;
                }
                Err(NoRow::Stopped(why @ StopReason::NoDevice(_))) => {
                    let message = format!("{}: {why}", title(about, style));
                    if args.style_asked_for() == Some(style) {
                        return Err(Failure::new(Exit::Unavailable, message));
                    }
                    notes.add(&why.to_string(), &title(about, style));
                    rungs.remove(index);
                }
                Err(NoRow::Stopped(why @ StopReason::Failed(_))) => {
                    let message = format!("{}: {why} on n = {n}", title(about, style));
                    return Err(Failure::new(Exit::Error, message));
                }
                Err(NoRow::Stopped(why @ StopReason::TimeLimit)) => {
                    notes.add(&format!("{why} on n = {n}"), &title(about, style));
                    // Larger boards would take longer.
                    rungs.remove(index);
                }
                Err(NoRow::Stopped(StopReason::AudienceLeft)) => return Ok(()),
                Err(NoRow::Stopped(why @ StopReason::Interrupted)) => {
                    return Err(Failure::new(Exit::Stopped, format!("{why} on n = {n}")));
                }
                Err(NoRow::Stopped(why @ StopReason::Refused(_))) => {
                    return Err(Failure::usage(format!("{}: {why}", title(about, style))));
                }
                Err(NoRow::Failure(failure)) => return Err(failure),
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

/// What is said about methods after the table. It is said when this is dropped, also if a later row
/// fails.
#[derive(Default)]
struct Notes(Vec<(String, Vec<String>)>);

impl Notes {
    /// Adds what holds for the method `of`. What holds for several is said once.
    fn add(&mut self, note: &str, of: &str) {
        let known = self.0.iter().position(|(known, _)| known == note);
        let place = known.unwrap_or_else(|| {
            self.0.push((note.to_owned(), Vec::new()));
            self.0.len() - 1
        });
        let methods = &mut self.0[place].1;
        if !methods.iter().any(|method| method == of) {
            methods.push(of.to_owned());
        }
    }
}

impl Drop for Notes {
    fn drop(&mut self) {
        for (note, methods) in &self.0 {
            say(&format!("{}: {note}", methods.join("; ")));
        }
    }
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
    let wanted = match (args.style, args.style_asked_for()) {
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

/// Why there is no row.
enum NoRow {
    Stopped(StopReason),
    /// This many boards or lines are printed, as `--limit` asks.
    Limit(u64),
    Failure(Failure),
}

/// Runs a method and shows it to the audience that the flags ask for.
fn watched(
    args: &Args,
    method: &dyn Method,
    request: &MethodRequest,
    interrupt: &AtomicBool,
) -> Result<TableRow, NoRow> {
    let run = |audience: Option<&Mutex<dyn Audience>>| {
        // A signal between two rows: the shortest searches end before they check the flag.
        if interrupt.load(Ordering::Relaxed) {
            return Err(StopReason::Interrupted);
        }
        let limit = args.time_limit.map(|limit| limit.0);
        run_method(method, request, limit, interrupt, audience)
    };
    let limit = args.limit.unwrap_or(u64::MAX);
    let (row, end) = if let Some(which) = args.boards {
        let boards = Mutex::new(BoardPrinter::new(which == Which::Unique, limit));
        (run(Some(&boards)), end(boards, BoardPrinter::finish))
    } else if let (true, Some(listed)) = (args.lines, method.about().lines) {
        let lines = Mutex::new(LinePrinter::new(listed, limit));
        (run(Some(&lines)), end(lines, LinePrinter::finish))
    } else if args.step {
        let steps = Mutex::new(StepViewer::new(request.n));
        let row = run(Some(&steps));
        (row, end(steps, StepViewer::finish).map(|()| false))
    } else {
        (run(None), Ok(false))
    };
    if end.map_err(|error| NoRow::Failure(error.into()))? {
        return Err(NoRow::Limit(limit));
    }
    row.map_err(NoRow::Stopped)
}

/// Lets the audience write the rest, and returns whether its writing succeeded.
fn end<A, T>(audience: Mutex<A>, finish: impl FnOnce(A) -> io::Result<T>) -> io::Result<T> {
    finish(audience.into_inner())
}
