//! Runs a method on a board: measured, or shown to somebody.

use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::args::{Args, Which};
use super::boards::BoardPrinter;
use super::rung::Rung;
use super::steps::StepViewer;
use crate::exit::Failure;
use crate::ladder::{
    Audience, MethodRequest, Scene, StopReason, TableRow, measure_method, run_method,
};
use crate::output::{Stdout, stdout};
use queenfold::board::Size;

/// Why there is no row.
pub enum NoRow {
    /// The method was stopped.
    Stopped(StopReason),
    /// What it shows cannot be written.
    Failure(Failure),
}

/// What of a search is printed.
pub trait Shows: Send + 'static {
    /// Whether each square is shown.
    const SQUARES: bool;

    /// Prints a scene. Breaks if nobody wants to see more.
    fn show(&mut self, scene: Scene, out: &mut BufWriter<Stdout>) -> io::Result<ControlFlow<()>>;
}

/// An audience that prints what it sees, until that fails.
struct Screen<S> {
    shows: S,
    out: BufWriter<Stdout>,
    written: io::Result<()>,
}

impl<S: Shows> Audience for Screen<S> {
    fn wants_squares(&self) -> bool {
        S::SQUARES
    }

    fn see(&mut self, scene: Scene) -> ControlFlow<()> {
        self.shows
            .show(scene, &mut self.out)
            .unwrap_or_else(|error| {
                self.written = Err(error);
                ControlFlow::Break(())
            })
    }
}

/// Runs a method: measures it, or shows it to the audience that the flags ask for.
pub fn watched(
    args: &Args,
    rung: &Rung,
    n: Size,
    interrupt: &AtomicBool,
) -> Result<TableRow, NoRow> {
    match args.boards {
        Some(which) => shown(
            BoardPrinter::new(which == Which::Unique),
            args,
            rung,
            n,
            interrupt,
        ),
        None if args.step => shown(StepViewer::new(n), args, rung, n, interrupt),
        None => run(args, rung, n, interrupt, None).map_err(NoRow::Stopped),
    }
}

fn shown(
    shows: impl Shows,
    args: &Args,
    rung: &Rung,
    n: Size,
    interrupt: &AtomicBool,
) -> Result<TableRow, NoRow> {
    let (out, written) = (BufWriter::new(stdout()), Ok(()));
    let screen = Mutex::new(Screen {
        shows,
        out,
        written,
    });
    let row = run(args, rung, n, interrupt, Some(&screen));
    let Screen {
        mut out, written, ..
    } = screen.into_inner();
    let written = written.and_then(|()| out.flush());
    written.map_err(|error| NoRow::Failure(error.into()))?;
    row.map_err(NoRow::Stopped)
}

fn run(
    args: &Args,
    rung: &Rung,
    n: Size,
    interrupt: &AtomicBool,
    audience: Option<&Mutex<dyn Audience>>,
) -> Result<TableRow, StopReason> {
    // A signal between two rows: the shortest searches end before they check the flag.
    if interrupt.load(Ordering::Relaxed) {
        return Err(StopReason::Interrupted);
    }
    let (limit, style) = (args.limit_of_time(), rung.style);
    let request = MethodRequest { n, style };
    match audience {
        Some(_) => run_method(rung.method, &request, limit, interrupt, audience),
        None => measure_method(rung.method, &request, limit, interrupt),
    }
}
