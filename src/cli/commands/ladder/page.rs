//! Numbered output up to `--limit`, for `--boards` and `--lines`.

use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;

use crate::cli::output::{Stdout, stdout};

/// Numbered entries on stdout, up to a limit.
pub struct Page {
    out: BufWriter<Stdout>,
    limit: u64,
    printed: u64,
    /// The first failure of writing.
    written: io::Result<()>,
}

impl Page {
    /// Has room for `limit` entries.
    pub fn new(limit: u64) -> Self {
        Self {
            out: BufWriter::new(stdout()),
            limit,
            printed: 0,
            written: Ok(()),
        }
    }

    /// Whether the limit is reached.
    pub const fn is_full(&self) -> bool {
        self.printed == self.limit
    }

    /// Writes the number of the next entry. The caller writes the rest to what is returned.
    pub fn begin(&mut self) -> io::Result<&mut impl Write> {
        self.printed += 1;
        write!(self.out, "{}:", self.printed)?;
        Ok(&mut self.out)
    }

    /// Whether the search may go on, after an attempt to write.
    pub fn after(&mut self, written: io::Result<()>) -> ControlFlow<()> {
        match written {
            Ok(()) if self.is_full() => ControlFlow::Break(()),
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.written = Err(error);
                ControlFlow::Break(())
            }
        }
    }

    /// Writes what is left. Returns whether the limit was reached, or why writing failed.
    pub fn finish(mut self) -> io::Result<bool> {
        self.written?;
        self.out.flush()?;
        Ok(self.printed == self.limit)
    }
}
