//! `--lines`: prints what a method tries as lines of columns.

use std::io::{self, Write};
use std::ops::ControlFlow;

use super::page::Page;
use crate::ladder::{Audience, Listed, Scene};

/// Prints boards as numbered lines of columns: `83: 6 1 5 2 0 3 7 4`.
pub struct LinePrinter {
    page: Page,
    listed: Listed,
}

impl LinePrinter {
    /// Prints up to `limit` lines.
    pub fn new(listed: Listed, limit: u64) -> Self {
        Self {
            page: Page::new(limit),
            listed,
        }
    }

    /// Writes what is left. Returns whether the limit was reached, or why writing failed.
    pub fn finish(self) -> io::Result<bool> {
        self.page.finish()
    }

    fn line(&mut self, rows: &[Option<u8>]) -> io::Result<()> {
        let out = self.page.begin()?;
        for column in rows.iter().flatten() {
            write!(out, " {column}")?;
        }
        writeln!(out)
    }
}

impl Audience for LinePrinter {
    fn wants_squares(&self) -> bool {
        false
    }

    fn see(&mut self, scene: Scene) -> ControlFlow<()> {
        let written = match (scene, self.listed) {
            (Scene::Candidate { rows }, Listed::Candidates)
            | (Scene::Solution { rows, .. }, Listed::Solutions) => self.line(&rows),
            _ => Ok(()),
        };
        self.page.after(written)
    }
}
