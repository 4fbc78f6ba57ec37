use std::io::{self, BufWriter, Stdout, Write};
use std::ops::ControlFlow;

use crate::ladder::{Audience, Listed, Scene};

/// Prints boards as numbered lines of columns: `83: 6 1 5 2 0 3 7 4`.
pub struct Lines {
    out: BufWriter<Stdout>,
    listed: Listed,
    limit: u64,
    printed: u64,
    written: io::Result<()>,
}

impl Lines {
    /// Prints up to `limit` lines.
    pub fn new(listed: Listed, limit: u64) -> Self {
        Self {
            out: BufWriter::new(io::stdout()),
            listed,
            limit,
            printed: 0,
            written: Ok(()),
        }
    }

    /// Writes what is left. Returns whether the limit was reached, or why writing failed.
    pub fn finish(mut self) -> io::Result<bool> {
        self.written?;
        self.out.flush()?;
        Ok(self.printed == self.limit)
    }

    fn line(&mut self, rows: &[Option<u8>]) -> io::Result<()> {
        self.printed += 1;
        write!(self.out, "{}:", self.printed)?;
        for column in rows.iter().flatten() {
            write!(self.out, " {column}")?;
        }
        writeln!(self.out)
    }
}

impl Audience for Lines {
    fn wants_squares(&self) -> bool {
        false
    }

    fn see(&mut self, scene: Scene) -> ControlFlow<()> {
        let written = match (scene, self.listed) {
            (Scene::Candidate { rows }, Listed::Candidates)
            | (Scene::Solution { rows, .. }, Listed::Solutions) => self.line(&rows),
            _ => Ok(()),
        };
        match written {
            Ok(()) if self.printed == self.limit => ControlFlow::Break(()),
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.written = Err(error);
                ControlFlow::Break(())
            }
        }
    }
}
