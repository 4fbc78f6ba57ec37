//! The command `ladder`: runs methods and prints a row for each.

mod args;
mod boards;
mod climb;
mod interrupt;
mod lines;
mod menu;
mod notes;
mod page;
mod picture;
mod rung;
mod saved_rows;
mod show;
mod steps;
mod table;
mod waiting;

use std::io::{self, IsTerminal};

pub use self::args::Args;
use self::interrupt::Interrupt;
use crate::cli::exit::Failure;
use crate::cli::output::print;
use crate::ladder::METHODS;

/// Runs the methods and prints one row for each as soon as it is done.
pub fn run(args: &Args) -> Result<(), Failure> {
    if *args != Args::default() {
        return run_with(args, None);
    }
    if io::stdin().is_terminal() && io::stdout().is_terminal() {
        let interrupt = Interrupt::listen(true)?;
        return menu::ask()?.map_or(Ok(()), |args| run_with(&args, Some(interrupt)));
    }
    METHODS
        .into_iter()
        .try_for_each(|method| print(&menu::entry(method.about())))
}

/// `interrupt` listens already where the user was asked.
fn run_with(args: &Args, interrupt: Option<Interrupt>) -> Result<(), Failure> {
    if args.from.is_none() && args.plot.as_deref().is_some_and(picture::is_stdout) {
        let message = "--plot - goes with --from: the rows of a run are on stdout already";
        return Err(Failure::usage(message));
    }
    args.plot.as_deref().map_or(Ok(()), picture::check)?;
    let mut rows = Vec::new();
    let ended = match &args.from {
        Some(path) => saved_rows::read(path).map(|read| rows = read),
        None => climb::climb_all(args, interrupt, &mut rows),
    };
    let Some(path) = &args.plot else {
        return ended;
    };
    // A run that ended early gets a picture of the rows that it finished.
    if ended.is_err() && rows.is_empty() {
        return ended;
    }
    let drawn = picture::draw(path, &rows);
    ended.and(drawn)
}
