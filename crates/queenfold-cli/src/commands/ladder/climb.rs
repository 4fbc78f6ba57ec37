//! Runs the methods on the boards, and prints a row for each.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use console::Term;

use super::args::Args;
use super::notes::Notes;
use super::rung::{Rung, check_audience, rungs};
use super::show::{NoRow, watched};
use super::steps;
use super::table::{LadderTable, TooLong};
use super::waiting::Waiting;
use crate::config::{Sizes, Value};
use crate::control::signals;
use crate::exit::{Exit, Failure};
use crate::ladder::{MethodRequest, StopReason, TableRow};
use crate::output::{print, print_json};
use queenfold::board::Size;

/// A terminal with fewer columns has no room for the wall time: the rows would be broken.
const WIDE: u16 = 90;

/// Prints rows in the form that the flags ask for.
struct Rows {
    json: bool,
    table: LadderTable,
    /// The line above the first row, until it is printed.
    header: Option<String>,
}

impl Rows {
    fn new(args: &Args, last: Size, rungs: &[Rung]) -> Self {
        let methods = rungs.iter().map(|rung| rung.method);
        let narrow = Term::stdout()
            .size_checked()
            .is_some_and(|(_, columns)| columns < WIDE);
        let table = LadderTable::new(last, methods, narrow);
        Self {
            json: args.json,
            table,
            header: (!args.json).then(|| table.header()),
        }
    }

    /// A row; `first` is the cost of the row that its speed is relative to.
    fn print(&mut self, row: &TableRow, first: f64) -> Result<(), Failure> {
        self.print_header()?;
        match self.json {
            true => print_json(row),
            false => print(&self.table.row(row, first)),
        }
    }

    /// A count that takes too long: a row of the table, but no JSON, whose rows are results. Returns
    /// whether it is printed.
    fn print_too_long(&mut self, too_long: TooLong, title: &str) -> Result<bool, Failure> {
        if self.json {
            return Ok(false);
        }
        self.print_header()?;
        print(&self.table.too_long(too_long, title)).map(|()| true)
    }

    fn print_header(&mut self) -> Result<(), Failure> {
        self.header.take().map_or(Ok(()), |header| print(&header))
    }
}

/// Runs what the flags ask for. `rows` gets the finished rows, even if a later one fails.
pub fn climb_all(args: &Args, rows: &mut Vec<TableRow>) -> Result<(), Failure> {
    let sizes = match args.n {
        Some(sizes) => sizes,
        None => Sizes::parse("8").map_err(Failure::usage)?,
    };
    let mut rungs = rungs(args)?;
    check_audience(args, &rungs)?;
    let interrupt = listen(args.step && steps::is_interactive())?;
    let mut printed = Rows::new(args, sizes.last(), &rungs);
    let mut notes = Notes::default();
    let waiting = Waiting::new();
    for n in sizes.iter() {
        let mut first = None;
        let mut index = 0;
        while let Some(rung) = rungs.get_mut(index) {
            let title = rung.title();
            let climbed = climb(args, rung, n, &interrupt, &waiting);
            waiting.done();
            match climbed {
                Ok(row) => {
                    row.check()?;
                    if let Some(note) = &row.note {
                        notes.add(&format!("{note} for n = {n}"), rung.method.about().name);
                    }
                    printed.print(&row, *first.get_or_insert(row.cost()))?;
                    rows.push(row);
                    index += 1;
                }
                Err(NoRow::Stopped(StopReason::TimeLimit)) => {
                    let limit = args.limit_of_time().unwrap_or_default();
                    let too_long = rung.too_long(n, limit);
                    if printed.print_too_long(too_long, &title)? {
                        rung.stop();
                        index += 1;
                    } else {
                        notes.add(&format!("{} on n = {n}", too_long.text()), &title);
                        // Larger boards would take longer.
                        rungs.remove(index);
                    }
                }
                Err(NoRow::Stopped(why @ StopReason::NoDevice(_))) => {
                    if args.style_asked_for() == Some(rung.style) {
                        return Err(Failure::new(Exit::Unavailable, format!("{title}: {why}")));
                    }
                    notes.add(&why.to_string(), &title);
                    rungs.remove(index);
                }
                Err(NoRow::Stopped(why @ StopReason::Failed(_))) => {
                    let message = format!("{title}: {why} on n = {n}");
                    return Err(Failure::new(Exit::Error, message));
                }
                Err(NoRow::Stopped(StopReason::AudienceLeft)) => return Ok(()),
                Err(NoRow::Stopped(why @ StopReason::Interrupted)) => {
                    let message = format!("{why} in {}, n = {n}", rung.method.about().name);
                    return Err(Failure::new(Exit::Stopped, message));
                }
                Err(NoRow::Stopped(why @ StopReason::Refused(_))) => {
                    return Err(Failure::usage(format!("{title}: {why}")));
                }
                Err(NoRow::Failure(failure)) => return Err(failure),
            }
        }
    }
    Ok(())
}

/// Listens for signals until the program ends; what is returned is then set. Where the program `waits_for_keys` nobody
/// would look at that, so a signal ends it at once.
fn listen(waits_for_keys: bool) -> Result<Arc<AtomicBool>, Failure> {
    let asked = Arc::new(AtomicBool::new(false));
    let ask = Arc::clone(&asked);
    let stop = move || match waits_for_keys {
        true => signals::end_at_once(Exit::Interrupted),
        false => ask.store(true, Ordering::Relaxed),
    };
    signals::listen(stop, None)?;
    Ok(asked)
}

fn request(rung: &Rung, n: Size) -> MethodRequest {
    MethodRequest {
        n,
        style: rung.style,
    }
}

/// Runs a method on a board, unless smaller boards say that there is no point in it.
fn climb(
    args: &Args,
    rung: &mut Rung,
    n: Size,
    interrupt: &AtomicBool,
    waiting: &Waiting,
) -> Result<TableRow, NoRow> {
    let request = request(rung, n);
    let limit = args.limit_of_time();
    if let Some(limit) = limit.filter(|_| !args.has_audience()) {
        waiting.say(&format!("n = {n}: {}", rung.title()));
        probe(args, rung, &request, limit, interrupt)?;
        if rung.is_hopeless(n, limit) {
            return Err(NoRow::Stopped(StopReason::TimeLimit));
        }
    }
    let row = watched(args, rung.method, &request, interrupt)?;
    rung.keep(&row);
    Ok(row)
}

/// Counts smaller boards, until they say how long the requested one takes.
fn probe(
    args: &Args,
    rung: &mut Rung,
    request: &MethodRequest,
    limit: Duration,
    interrupt: &AtomicBool,
) -> Result<(), NoRow> {
    while let Some(n) = rung.probe(request.n, limit) {
        match watched(
            args,
            rung.method,
            &MethodRequest { n, ..*request },
            interrupt,
        ) {
            Ok(row) => rung.keep(&row),
            Err(why @ NoRow::Stopped(StopReason::Interrupted)) => return Err(why),
            // The board that was asked for says the same.
            Err(_) => break,
        }
    }
    Ok(())
}
