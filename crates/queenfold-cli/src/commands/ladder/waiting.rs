//! What the ladder is doing, while nothing is printed.

use std::io::IsTerminal;

use console::Term;

/// A line on stderr that says what runs; only on a terminal, where it is removed again.
pub struct Waiting(Option<Term>);

impl Waiting {
    /// Says nothing yet.
    pub fn new() -> Self {
        Self(std::io::stderr().is_terminal().then(Term::stderr))
    }

    /// Says what runs, in place of what ran before.
    pub fn say(&self, what: &str) {
        self.done();
        if let Some(terminal) = &self.0 {
            // It is only a comfort: if it cannot be written, nothing is missing.
            let _ = terminal.write_str(what);
        }
    }

    /// Removes the line, before something is printed.
    pub fn done(&self) {
        if let Some(terminal) = &self.0 {
            let _ = terminal.clear_line();
        }
    }
}
