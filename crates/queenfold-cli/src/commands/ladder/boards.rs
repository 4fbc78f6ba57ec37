//! `--boards`: prints every solution as a board.

use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;

use super::show::Shows;
use crate::ladder::{Images, Scene};
use crate::output::Stdout;
use queenfold::board::{Drawing, Symmetry};

/// Prints solutions as boards: all of them, even if the method finds only some, or one of each
/// orbit.
pub struct BoardPrinter {
    printed: u64,
    unique: bool,
}

impl BoardPrinter {
    /// Nothing is printed so far.
    pub const fn new(unique: bool) -> Self {
        Self { printed: 0, unique }
    }

    fn board(
        &mut self,
        rows: &[Option<u8>],
        orbit: Option<u8>,
        out: &mut BufWriter<Stdout>,
    ) -> io::Result<()> {
        self.printed += 1;
        let column = |row: &Option<u8>| row.map_or_else(|| "-".to_owned(), |of| of.to_string());
        let columns: Vec<_> = rows.iter().map(column).collect();
        let orbit = orbit.map_or_else(String::new, |size| format!("   orbit of {size}"));
        let (number, columns) = (self.printed, columns.join(" "));
        writeln!(out, "{number}: {columns}{orbit}\n{}", Drawing(rows))
    }
}

impl Shows for BoardPrinter {
    fn show(&mut self, scene: Scene, out: &mut BufWriter<Stdout>) -> io::Result<ControlFlow<()>> {
        match scene {
            Scene::Solution { rows, images } => {
                let found: Vec<_> = rows.into_iter().flatten().collect();
                if self.unique {
                    if let Some((smallest, size)) = smallest_if_meant(&found, images) {
                        self.board(&filled(&smallest), Some(size), out)?;
                    }
                } else {
                    for image in images_of(&found, images) {
                        self.board(&filled(&image), None, out)?;
                    }
                }
            }
            Scene::Border { rows, size } => self.board(&rows, Some(size), out)?,
            _ => {}
        }
        Ok(ControlFlow::Continue(()))
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
