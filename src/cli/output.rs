//! Lines for the user: results to stdout, everything else to stderr.

use std::io::{self, Write};

use console::Term;

use super::exit::Failure;
use crate::telemetry::printable;

/// Writes lines of a result to stdout, at once. Some of them contain what a file says, perhaps the file
/// of a stranger, so characters that are not printable are escaped.
pub fn print(lines: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    for line in lines.split('\n') {
        writeln!(out, "{}", printable(line))?;
    }
    Ok(out.flush()?)
}

/// Writes a line to stderr, in place of a progress line that stands there. A failure is ignored: there is
/// nowhere to report it.
pub fn say(line: &str) {
    let terminal = Term::stderr();
    if terminal.is_term() {
        let _ = terminal.clear_line();
    }
    let _ = writeln!(io::stderr(), "{line}");
}
