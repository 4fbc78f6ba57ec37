//! Runs the methods on the boards, and prints a row for each.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use console::Term;

use super::args::Args;
use super::notes::Notes;
use super::rung::{Rung, check_audience, rungs};
use super::show::{Climbed, watched};
use super::steps;
use super::table::{LadderTable, too_long};
use crate::control::signals;
use crate::exit::{Exit, Failure};
use crate::ladder::{StopReason, TableRow};
use crate::output::{bar, print, print_json};
use queenfold::board::Size;

/// A terminal with fewer columns has no room for the wall time: the rows would be broken.
const WIDE: u16 = 90;

/// Runs what the flags ask for. `rows` gets the finished rows, even if a later one fails.
pub fn climb_all(args: &Args, rows: &mut Vec<TableRow>) -> Result<(), Failure> {
    let eight = Size::new(8).map_err(Failure::usage)?;
    let sizes = args.n.clone().unwrap_or_else(|| vec![eight]);
    let mut rungs = rungs(args)?;
    check_audience(args, &rungs)?;
    let interrupt = if args.step && steps::is_interactive() {
        // While it waits for a key, nobody would look.
        signals::listen(|| signals::end_at_once(Exit::Interrupted), None)?;
        Arc::default()
    } else {
        signals::stop_flag()?
    };
    let columns = Term::stdout().size_checked().map(|(_, columns)| columns);
    let table = LadderTable::new(
        *sizes.last().unwrap_or(&eight),
        rungs.iter().map(|rung| rung.method),
        columns.is_some_and(|columns| columns < WIDE),
    );
    // It is printed with the first row.
    let mut header = Some(table.header());
    let mut print_row = |row: &str| {
        let header = header.take().map(|header| print(&header));
        header.unwrap_or(Ok(())).and_then(|()| print(row))
    };
    let mut notes = Notes::default();
    for n in sizes {
        let mut first = None;
        let mut index = 0;
        while let Some(rung) = rungs.get_mut(index) {
            let title = rung.title();
            let why = match climb(args, rung, n, &interrupt)? {
                Ok(row) => {
                    row.check()?;
                    if let Some(note) = &row.note {
                        notes.add(&format!("{note} for n = {n}"), rung.method.name);
                    }
                    match args.json {
                        true => print_json(&row)?,
                        // Its speed is relative to the first row.
                        false => {
                            let first = *first.get_or_insert(Some(row.cost()));
                            print_row(&table.row(&row, first))?;
                        }
                    }
                    rows.push(row);
                    index += 1;
                    continue;
                }
                Err(why) => why,
            };
            match why {
                StopReason::TimeLimit => {
                    let limit = args.limit_of_time().unwrap_or_default();
                    let too_long = too_long(limit, rung.extrapolated(n));
                    if !args.json {
                        first.get_or_insert(None);
                        print_row(&table.too_long(n, &too_long, &title))?;
                        rung.stopped = true;
                        index += 1;
                    } else {
                        // The rows of JSON are results.
                        notes.add(&format!("{too_long} on n = {n}"), &title);
                        // Larger boards would take longer.
                        rungs.remove(index);
                    }
                }
                StopReason::NoDevice(_) => {
                    if args.style == Some(rung.style) {
                        return Err(Failure::new(Exit::Unavailable, format!("{title}: {why}")));
                    }
                    notes.add(&why.to_string(), &title);
                    rungs.remove(index);
                }
                StopReason::Failed(_) => {
                    let message = format!("{title}: {why} on n = {n}");
                    return Err(Failure::new(Exit::Error, message));
                }
                StopReason::AudienceLeft => return Ok(()),
                StopReason::Interrupted => {
                    let message = format!("{why} in {}, n = {n}", rung.method.name);
                    return Err(Failure::new(Exit::Stopped, message));
                }
            }
        }
    }
    Ok(())
}

/// Runs a method on a board, unless smaller boards say that there is no point in it.
fn climb(
    args: &Args,
    rung: &mut Rung,
    n: Size,
    interrupt: &AtomicBool,
) -> Result<Climbed, Failure> {
    let waiting = bar(None, "{msg}");
    let limit = args.limit_of_time();
    if let Some(limit) = limit.filter(|_| !args.has_audience()) {
        waiting.set_message(format!("n = {n}: {}", rung.title()));
        // Counts smaller boards, until they say how long one of `n` queens takes.
        while let Some(smaller) = rung.probe(n, limit) {
            match watched(args, rung, smaller, interrupt)? {
                Ok(row) => rung.keep(&row),
                Err(StopReason::Interrupted) => return Ok(Err(StopReason::Interrupted)),
                // The board that was asked for says the same.
                Err(_) => break,
            }
        }
        if rung.is_hopeless(n, limit) {
            return Ok(Err(StopReason::TimeLimit));
        }
    }
    let climbed = watched(args, rung, n, interrupt)?;
    Ok(climbed.inspect(|row| rung.keep(row)))
}
