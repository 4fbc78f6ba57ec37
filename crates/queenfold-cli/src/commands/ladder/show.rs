//! Runs a method on a board: measured, or shown to somebody.

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::args::{Args, Which};
use super::boards::BoardPrinter;
use super::steps::StepViewer;
use crate::exit::Failure;
use crate::ladder::{
    Audience, Method, MethodRequest, StopReason, TableRow, measure_method, run_method,
};

/// Why there is no row.
pub enum NoRow {
    /// The method was stopped.
    Stopped(StopReason),
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
    let (row, written) = if let Some(which) = args.boards {
        let boards = Mutex::new(BoardPrinter::new(which == Which::Unique));
        let row = run(Some(&boards));
        (row, boards.into_inner().finish())
    } else if args.step {
        let steps = Mutex::new(StepViewer::new(request.n));
        let row = run(Some(&steps));
        (row, steps.into_inner().finish())
    } else {
        (run(None), Ok(()))
    };
    written.map_err(|error| NoRow::Failure(error.into()))?;
    row.map_err(NoRow::Stopped)
}
