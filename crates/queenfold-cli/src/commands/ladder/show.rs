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

/// A row, or why there is none.
pub type Climbed = Result<TableRow, StopReason>;

/// What of a search is printed.
pub trait Shows: Send {
    /// Prints a scene. Breaks if nobody wants to see more.
    fn show(&mut self, scene: Scene, out: &mut BufWriter<Stdout>) -> io::Result<ControlFlow<()>>;
}

/// An audience that prints what it sees, until that fails.
struct Screen {
    shows: Box<dyn Shows>,
    wants_squares: bool,
    out: BufWriter<Stdout>,
    written: io::Result<()>,
}

impl Audience for Screen {
    fn wants_squares(&self) -> bool {
        self.wants_squares
    }

    fn see(&mut self, scene: Scene) -> ControlFlow<()> {
        let shown = self.shows.show(scene, &mut self.out);
        shown.unwrap_or_else(|error| {
            self.written = Err(error);
            ControlFlow::Break(())
        })
    }
}

/// Runs a method: measures it, or shows it to the audience that the flags ask for.
///
/// # Errors
/// What it shows cannot be written.
pub fn watched(
    args: &Args,
    rung: &Rung,
    n: Size,
    interrupt: &AtomicBool,
) -> Result<Climbed, Failure> {
    // A signal between two rows: the shortest searches end before they check the flag.
    if interrupt.load(Ordering::Relaxed) {
        return Ok(Err(StopReason::Interrupted));
    }
    let (limit, style) = (args.limit_of_time(), rung.style);
    let request = MethodRequest { n, style };
    let shows: Box<dyn Shows> = match args.boards {
        Some(which) => Box::new(BoardPrinter::new(which == Which::Unique)),
        None if args.step => Box::new(StepViewer::new(n)),
        None => return Ok(measure_method(rung.method, &request, limit, interrupt)),
    };
    let screen = Mutex::new(Screen {
        shows,
        wants_squares: args.step,
        out: BufWriter::new(stdout()),
        written: Ok(()),
    });
    let row = run_method(rung.method, &request, limit, interrupt, Some(&screen));
    let mut screen = screen.into_inner();
    screen.written?;
    screen.out.flush()?;
    Ok(row)
}
