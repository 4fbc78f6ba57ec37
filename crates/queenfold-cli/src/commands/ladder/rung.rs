//! What runs, in order: methods in their styles, and how long each took.

use std::time::Duration;

use super::args::Args;
use crate::exit::Failure;
use crate::ladder::{Method, Style, TableRow, extrapolated};
use queenfold::board::Size;

/// A count is not begun if it would take so many times its limit: the extrapolation is not off by that much.
const HOPELESS: f64 = 10.0;

/// The share of the limit that a board may take from which a larger one is extrapolated.
const PROBED: f64 = 0.02;

/// A method in one of its styles.
pub struct Rung {
    /// The method.
    pub method: &'static Method,
    /// The style.
    pub style: Style,
    /// Boards that it has counted and the seconds that they took, by ascending size.
    times: Vec<(u32, f64)>,
    /// Whether it was stopped at its limit.
    pub stopped: bool,
}

impl Rung {
    /// Method and style for readers.
    pub fn title(&self) -> String {
        let name = self.method.name;
        match self.style.name() {
            Some(style) => format!("{name}, {style}"),
            None => name.to_owned(),
        }
    }

    /// Keeps what a board took, for larger ones.
    pub fn keep(&mut self, row: &TableRow) {
        self.times.push((row.n.get(), row.cost()));
    }

    /// The wall time that a board would take on an idle machine, in seconds, if smaller boards say.
    pub fn extrapolated(&self, n: Size) -> Option<f64> {
        let seconds = extrapolated(&self.times, |n| (self.method.boards)(n), n.get())?;
        // The cost of a row is that of all threads.
        let on_all_cores = !self.style.needs_device() && self.method.is_parallel;
        let threads = if on_all_cores { num_cpus::get() } else { 1 };
        Some(seconds / threads as f64)
    }

    /// The board to count before one of `n` queens, so that its time can be extrapolated; `None` if enough is known.
    pub fn probe(&self, n: Size, limit: Duration) -> Option<Size> {
        let reach = self.method.reach;
        if n.get() <= reach {
            return None;
        }
        let next = match self.times.last() {
            Some((_, seconds)) if *seconds > PROBED * limit.as_secs_f64() => return None,
            Some((last, _)) => (last + 1).max(reach - 2),
            None => reach - 2,
        };
        Size::new(next).ok().filter(|probe| *probe < n)
    }

    /// Whether there is no point in beginning a board.
    pub fn is_hopeless(&self, n: Size, limit: Duration) -> bool {
        let limit = limit.as_secs_f64();
        match self.extrapolated(n) {
            Some(seconds) if self.stopped => seconds > limit,
            Some(seconds) => seconds > HOPELESS * limit,
            None => self.stopped,
        }
    }
}

/// What to run, in order.
pub fn rungs(args: &Args) -> Result<Vec<Rung>, Failure> {
    let mut rungs = Vec::new();
    for method in args.methods() {
        let styles = styles(method, args);
        if styles.is_empty() && !args.runs_all() {
            let name = method.name;
            return Err(Failure::usage(format!("{name} has no such style")));
        }
        rungs.extend(styles.into_iter().map(|style| Rung {
            method,
            style,
            times: Vec::new(),
            stopped: false,
        }));
    }
    // An audience is shown one search, not the same search again in another style.
    if args.style.is_none() && args.has_audience() {
        let shows = |rung: &Rung| !rung.style.needs_device();
        let shown = rungs.iter().position(shows).unwrap_or(0);
        return Ok(vec![rungs.swap_remove(shown)]);
    }
    Ok(rungs)
}

/// The styles of a method that the flags select. A method without a choice runs in its only style,
/// unless the flags ask for a device.
fn styles(method: &Method, args: &Args) -> Vec<Style> {
    let is_wanted = |style: &Style| match (args.style, style) {
        (Some(wanted), Style::Only) => wanted != Style::Gpu,
        (Some(wanted), style) => wanted == *style,
        (None, _) => true,
    };
    method.styles.iter().copied().filter(is_wanted).collect()
}

/// Refuses to show what cannot be shown.
pub fn check_audience(args: &Args, rungs: &[Rung]) -> Result<(), Failure> {
    let what = match args.boards {
        Some(_) => "--boards",
        None if args.step => "--step",
        None => return Ok(()),
    };
    if args.methods().len() != 1 {
        return Err(Failure::usage(format!("{what} needs one --method NAME")));
    }
    let Some(rung) = rungs.first() else {
        return Ok(());
    };
    if args.boards.is_some() && rung.style.needs_device() {
        return Err(Failure::usage(format!(
            "{}: a device counts solutions and lists none; --boards goes with other methods and \
             styles",
            rung.title()
        )));
    }
    if args.step && rung.method.is_parallel {
        return Err(Failure::usage(format!(
            "{} searches in many places at once: --step has no one search to show",
            rung.method.name
        )));
    }
    Ok(())
}
