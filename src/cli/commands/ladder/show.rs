//! Runs a method on a board: measured, or shown to somebody.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::args::{Args, Which};
use super::boards::BoardPrinter;
use super::lines::LinePrinter;
use super::steps::StepViewer;
use crate::cli::exit::Failure;
use crate::ladder::{
    Audience, Method, MethodRequest, StopReason, TableRow, measure_method, run_method,
};

/// Why there is no row.
pub enum NoRow {
    /// The method was stopped.
    Stopped(StopReason),
    /// This many boards or lines are printed, as `--limit` asks.
    Limit(u64),
    /// What it shows cannot be written.
    Failure(Failure),
}

/// Runs a method: measures it, or shows it to the audience that the flags ask for.
pub fn watched(
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
        let limit = args.limit_of_time();
        match audience {
            Some(_) => run_method(method, request, limit, interrupt, audience),
            None => measure_method(method, request, limit, interrupt),
        }
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
