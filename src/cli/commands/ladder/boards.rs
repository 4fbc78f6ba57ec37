use std::io::{self, BufWriter, Stdout, Write};
use std::ops::ControlFlow;

use crate::board::{Drawing, Symmetry};
use crate::ladder::{Audience, Images, Scene};

/// Prints solutions as boards: all of them, even if the method finds only some, or one of each
/// orbit.
pub struct Boards {
    out: BufWriter<Stdout>,
    unique: bool,
    limit: u64,
    printed: u64,
    written: io::Result<()>,
}

impl Boards {
    /// Prints up to `limit` boards.
    pub fn new(unique: bool, limit: u64) -> Self {
        Self {
            out: BufWriter::new(io::stdout()),
            unique,
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
        if self.printed == self.limit {
            return Ok(());
        }
        self.printed += 1;
        write!(self.out, "{}:", self.printed)?;
        for row in rows {
            match row {
                Some(column) => write!(self.out, " {column}")?,
                None => write!(self.out, " -")?,
            }
        }
        if let Some(size) = orbit {
            write!(self.out, "   orbit of {size}")?;
        }
        writeln!(self.out, "\n{}", Drawing(rows))
    }
}

impl Audience for Boards {
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
            Ok(()) if self.printed == self.limit => ControlFlow::Break(()),
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
