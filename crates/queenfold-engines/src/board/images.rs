//! How a plan uses symmetries that a given board lacks: it counts on images of the board instead.

use std::sync::Arc;

use super::{GivenBoard, Squares, Symmetry};

/// The images of a given board, on which a plan counts instead of using symmetries that the given board
/// lacks.
///
/// A plan for the free board takes one object (a border, a set of columns) of each orbit under some group
/// of symmetries, and multiplies by the size of the orbit. On a given board the objects of an orbit have
/// different numbers of completions. But the completions of the given board with the object `g·x` are as
/// many as those of its image under the inverse of `g` with `x`. So the same objects are counted on each
/// different image of the given board. The symmetries of the group that fix the given board still give a
/// weight.
#[derive(Clone, Debug)]
pub struct Images {
    /// The open squares of the images, each with a symmetry whose inverse makes it.
    images: Vec<(Symmetry, Arc<Squares>)>,
    /// The symmetries of the group that fix the given board.
    kept: Vec<Symmetry>,
    /// The order of the group.
    order: usize,
}

impl Images {
    /// The images of `board` under `group`, the board itself first.
    pub fn new(board: &GivenBoard, group: &[Symmetry]) -> Self {
        let mut boards = Vec::new();
        let mut images = Vec::new();
        let open = board.open();
        for &symmetry in group {
            let inverse = symmetry.inverse();
            let image = board.image(inverse);
            if !boards.contains(&image) {
                boards.push(image);
                images.push((symmetry, Arc::new(open.image(board.size(), inverse))));
            }
        }
        let kept = board.symmetries();
        Self {
            images,
            kept: group
                .iter()
                .copied()
                .filter(|&s| kept.contains(s))
                .collect(),
            order: group.len(),
        }
    }

    /// The number of images: 1 if all symmetries of the group fix the given board.
    pub fn count(&self) -> usize {
        self.images.len()
    }

    /// The symmetry whose inverse makes an image of the board.
    pub fn symmetry(&self, image: usize) -> Symmetry {
        self.images[image].0
    }

    /// The open squares of an image.
    pub fn open(&self, image: usize) -> &Arc<Squares> {
        &self.images[image].1
    }

    /// The number of objects that `x` stands for on an image, where `x` is the only one of its orbit, of
    /// size `orbit`, that is counted. `None` if an earlier image stands for them already, because a
    /// symmetry that the given board lacks fixes `x`.
    pub fn weight<T: PartialEq>(
        &self,
        image: usize,
        x: &T,
        orbit: usize,
        map: impl Fn(&T, Symmetry) -> T,
    ) -> Option<u8> {
        if orbit == self.order {
            return Some(self.kept.len() as u8);
        }
        let own = map(x, self.images[image].0);
        let mut same: Vec<T> = Vec::new();
        for &symmetry in &self.kept {
            let other = map(&own, symmetry);
            if !same.contains(&other) {
                same.push(other);
            }
        }
        let mut earlier = self.images[..image].iter();
        let is_new = earlier.all(|(symmetry, _)| !same.contains(&map(x, *symmetry)));
        is_new.then_some(same.len() as u8)
    }
}
