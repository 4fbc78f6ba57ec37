//! `--boards`: prints every solution as a board.

use std::io::{self, Write};
use std::ops::ControlFlow;

use super::page::Page;
use crate::board::{Drawing, Symmetry};
use crate::ladder::{Audience, Images, Scene};

/// Prints solutions as boards: all of them, even if the method finds only some, or one of each
/// orbit.
pub struct BoardPrinter {
    page: Page,
    unique: bool,
}

impl BoardPrinter {
    /// Prints up to `limit` boards.
    pub fn new(unique: bool, limit: u64) -> Self {
        Self {
            page: Page::new(limit),
            unique,
        }
    }

    /// Writes what is left. Returns whether the limit was reached, or why writing failed.
    pub fn finish(self) -> io::Result<bool> {
        self.page.finish()
    }

    fn solution(&mut self, found: &[u8], images: Images) -> io::Result<()> {
        if self.unique {
            return match smallest_if_meant(found, images) {
                Some((smallest, size)) => self.board(&filled(&smallest), Some(size)),
                None => Ok(()),
            };
        }
        for image in images_of(found, images) {
            self.board(&filled(&image), None)?;
        }
        Ok(())
    }

    fn board(&mut self, rows: &[Option<u8>], orbit: Option<u8>) -> io::Result<()> {
        // More boards of the same orbit, or from other threads, are not wanted any more.
        if self.page.is_full() {
            return Ok(());
        }
        let out = self.page.begin()?;
        for row in rows {
            match row {
                Some(column) => write!(out, " {column}")?,
                None => write!(out, " -")?,
            }
        }
        if let Some(size) = orbit {
            write!(out, "   orbit of {size}")?;
        }
        writeln!(out, "\n{}", Drawing(rows))
    }
}

impl Audience for BoardPrinter {
    fn wants_squares(&self) -> bool {
        false
    }

    fn see(&mut self, scene: Scene) -> ControlFlow<()> {
        let written = match scene {
            Scene::Solution { rows, images } => {
                let found: Vec<_> = rows.into_iter().flatten().collect();
                self.solution(&found, images)
            }
            Scene::Border { rows, size } => self.board(&rows, Some(size)),
            _ => Ok(()),
        };
        self.page.after(written)
    }
}

fn filled(columns: &[u8]) -> Vec<Option<u8>> {
    columns.iter().copied().map(Some).collect()
}

/// The solutions that a found one stands for, the found one first.
fn images_of(found: &[u8], images: Images) -> Vec<Vec<u8>> {
    let symmetries = match images {
        Images::Itself => &[Symmetry::Identity][..],
        Images::Mirrored => &[Symmetry::Identity, Symmetry::MirrorColumns],
        Images::Orbit(_) => &Symmetry::ALL,
    };
    distinct(found, symmetries)
}

fn distinct(found: &[u8], symmetries: &[Symmetry]) -> Vec<Vec<u8>> {
    let mut images = Vec::new();
    for symmetry in symmetries {
        let image = symmetry.apply_to_placement(found);
        if !images.contains(&image) {
            images.push(image);
        }
    }
    images
}

/// The smallest image of a found solution and the size of its orbit, if the found one stands for
/// this image. That holds once for each orbit, however often the method finds it.
fn smallest_if_meant(found: &[u8], images: Images) -> Option<(Vec<u8>, u8)> {
    let orbit = distinct(found, &Symmetry::ALL);
    let size = orbit.len() as u8;
    let smallest = orbit.into_iter().min()?;
    images_of(found, images)
        .contains(&smallest)
        .then_some((smallest, size))
}
