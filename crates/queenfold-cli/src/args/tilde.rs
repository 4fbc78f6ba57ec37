//! Paths that begin with `~`: a shell replaces it at the beginning of a word, but not in quotes or after `--dir=`, and a
//! folder of this name is nobody's wish.

use clap::ArgMatches;
use clap::error::{Error, ErrorKind};

use crate::config::{TILDE, has_tilde};

/// Refuses a command line with such a path. The command of `--on-event` is for a shell.
///
/// # Errors
/// There is one.
pub fn refuse(matches: &ArgMatches) -> Result<(), Error> {
    for id in matches.ids().filter(|id| *id != "on-event") {
        let given = matches.try_get_raw(id.as_str()).ok().flatten();
        if let Some(path) = given.into_iter().flatten().find(|path| has_tilde(path)) {
            let what = format!("{}: {TILDE}\n", path.display());
            return Err(Error::raw(ErrorKind::ValueValidation, what));
        }
    }
    matches
        .subcommand()
        .map_or(Ok(()), |(_, matches)| refuse(matches))
}
