//! `--boards`: prints every solution as a board.

use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;

use crate::ladder::{Audience, Images, Scene};
use crate::output::{Stdout, stdout};
use queenfold::board::{Drawing, Symmetry};

/// Prints solutions as boards: all of them, even if the method finds only some, or one of each
/// orbit.
pub struct BoardPrinter {
    out: BufWriter<Stdout>,
    printed: u64,
    unique: bool,
    /// The first failure of writing.
    written: io::Result<()>,
}

impl BoardPrinter {
    /// Nothing is printed so far.
    pub fn new(unique: bool) -> Self {
        Self {
            out: BufWriter::new(stdout()),
            printed: 0,
            unique,
            written: Ok(()),
        }
    }

    /// Writes what is left. Fails if writing failed before.
    pub fn finish(mut self) -> io::Result<()> {
        self.written?;
        self.out.flush()
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
        self.printed += 1;
        let out = &mut self.out;
        write!(out, "{}:", self.printed)?;
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
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.written = Err(error);
                ControlFlow::Break(())
            }
        }
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
