//! The command `ladder`: runs methods and prints a row for each.

mod args;
mod boards;
mod climb;
mod notes;
mod rung;
mod saved_rows;
mod show;
mod steps;
mod table;

pub use self::args::Args;
use crate::config::is_stream;
use crate::exit::{Exit, Failure};
use crate::output::{check_file, print, write_file};
use crate::report::{LADDER_MARK, ladder_picture};
use queenfold_ledger::system::file_kind::FileKind;

/// The file of `--plot`. An existing picture stays until the new one is complete.
const PICTURE: FileKind<'_> = FileKind {
    name: "picture of the ladder",
    marks: &[LADDER_MARK],
    streams: true,
    is_replaced: true,
};

/// Runs the methods and prints one row for each as soon as it is done.
pub fn run(args: &Args) -> Result<(), Failure> {
    if *args == Args::default() {
        return print(&super::explain::list());
    }
    if args.from.is_none() && args.plot.as_deref().is_some_and(is_stream) {
        let message = "--plot - goes with --from: the rows of a run are on stdout already";
        return Err(Failure::usage(message));
    }
    if let Some(path) = &args.plot {
        let has_sizes = args.n.as_ref().is_some_and(|sizes| sizes.len() > 1);
        if args.from.is_none() && !has_sizes {
            let message = "--plot draws time against board size: give several, such as -n 4..=8";
            return Err(Failure::usage(message));
        }
        check_file("picture", &PICTURE, path)?;
    }
    let mut rows = Vec::new();
    let ended = match &args.from {
        Some(path) => saved_rows::read(path).map(|read| rows = read),
        None => climb::climb_all(args, &mut rows),
    };
    let Some(path) = &args.plot else {
        return ended;
    };
    // A run that ended early gets a picture of the rows that it finished.
    let drawn = match rows.iter().all(|row| row.n == rows[0].n) {
        true if ended.is_err() => Ok(()),
        true => {
            let what = format!(
                "there are no rows of several board sizes to draw: {} is not written",
                path.display()
            );
            Err(Failure::new(Exit::Error, what))
        }
        false => write_file("picture", &PICTURE, path, ladder_picture(&rows).as_bytes()),
    };
    ended.and(drawn)
}
