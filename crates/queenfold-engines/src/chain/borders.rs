//! Which borders a plan of the chain counts on a given board, and in which order.

use super::{Border, Frame};
use crate::board::{GivenBoard, Images, Size, Squares, Symmetry};

/// The borders of a plan in order: the representatives of the border classes, those that fit what is given
/// on the board.
///
/// On a given board that lacks symmetries, they are counted on each of its [images](Images), one image
/// after the other. So every search starts at the side that makes the smallest tree, as on the free board.
#[derive(Clone, Debug)]
pub struct Borders {
    given: GivenBoard,
    images: Images,
    /// With their weights.
    list: Vec<(Border, u8)>,
    /// For each image, where its borders end in the list.
    ends: Vec<usize>,
}

impl Borders {
    /// The borders of a plan for this board.
    pub fn new(given: GivenBoard) -> Self {
        let n = given.size();
        let images = Images::new(&given, &Symmetry::ALL);
        let all = Border::representatives(n);
        let (list, ends) = if given.is_free() {
            let end = all.len();
            (all, vec![end])
        } else {
            let mut list = Vec::new();
            let mut ends = Vec::new();
            for image in 0..images.count() {
                let open = images.open(image);
                for &(border, orbit) in &all {
                    let fits = || {
                        border
                            .squares(n)
                            .iter()
                            .all(|square| open.contains(*square))
                    };
                    let map = |border: &Border, symmetry| border.image(n, symmetry);
                    if fits()
                        && let Some(weight) = images.weight(image, &border, orbit.into(), map)
                    {
                        list.push((border, weight));
                    }
                }
                ends.push(list.len());
            }
            (list, ends)
        };
        Self {
            given,
            images,
            list,
            ends,
        }
    }

    /// The board.
    pub const fn given(&self) -> GivenBoard {
        self.given
    }

    /// Its size.
    pub const fn size(&self) -> Size {
        self.given.size()
    }

    /// The borders in order, with their weights.
    pub fn list(&self) -> &[(Border, u8)] {
        &self.list
    }

    /// The image of the given board that the border at this place of the list is counted on.
    pub fn image(&self, index: usize) -> usize {
        self.ends.partition_point(|&end| end <= index)
    }

    /// The symmetry whose inverse makes an image of the given board.
    pub fn symmetry(&self, image: usize) -> Symmetry {
        self.images.symmetry(image)
    }

    /// The open squares of an image.
    pub fn open(&self, image: usize) -> &Squares {
        self.images.open(image)
    }

    /// What is left to search after the border at this place of the list.
    pub fn frame(&self, index: usize) -> Frame {
        let open = self.open(self.image(index));
        Frame::new(self.size(), self.list[index].0, open)
    }
}
