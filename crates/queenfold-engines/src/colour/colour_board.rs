//! What is given on the board of a colour plan, which symmetries that leaves, and what a rank stands for.

use std::sync::Arc;

use super::RowSet;
use super::row_sets::RowSets;
use crate::board::{GivenBoard, Images, Size, Squares, Symmetry};

/// The symmetries that map rows to rows. A row set stands for its images under those of them that fix the
/// given board.
pub const OF_SETS: [Symmetry; 4] = [
    Symmetry::Identity,
    Symmetry::MirrorColumns,
    Symmetry::MirrorRows,
    Symmetry::HalfTurn,
];

/// The board of a plan: what is given on it, and which symmetries that leaves to the plan.
///
/// Row sets are those of the free board, whatever is given. On a given board that lacks one of the
/// symmetries by which a set stands for others, they are counted on each of its [images](Images), one
/// after the other. Where no symmetry that exchanges rows and columns fixes the given board, each solution
/// is counted where it stands instead of in one of two orientations.
#[derive(Clone, Debug)]
pub struct ColourBoard {
    given: GivenBoard,
    images: Images,
    sets: Arc<RowSets>,
    /// Whether solutions are counted in one orientation, twice: see `orientation.rs`. Else each one is counted where
    /// it stands.
    pub(super) is_oriented: bool,
    /// Whether the reflection of columns maps completions to completions.
    pub(super) is_mirrored: bool,
}

/// What a rank of the plan stands for.
#[derive(Clone, Debug)]
pub struct Partition {
    /// The rows whose queen stands on white.
    pub set: RowSet,
    /// The number of the image of the given board.
    pub image: usize,
    /// The squares on which queens may stand.
    pub open: Arc<Squares>,
}

impl ColourBoard {
    /// Its size.
    pub const fn size(&self) -> Size {
        self.given.size()
    }

    /// What is given on it.
    pub const fn given(&self) -> GivenBoard {
        self.given
    }

    /// On how many images of the given board sets are counted.
    pub fn images(&self) -> usize {
        self.images.count()
    }

    /// The number of sets with so many even rows, on each image of the given board.
    pub fn sets_of(&self, even: u32) -> u64 {
        self.sets.of_size(even)
    }

    /// The rows of the partition of `rank` on the given board itself, of which an image may be counted. `None` where
    /// the rank is empty.
    pub fn own_set(&self, rank: u64) -> Option<RowSet> {
        let partition = self.partition(rank)?;
        let symmetry = self.images.symmetry(partition.image);
        Some(partition.set.image(self.size(), symmetry))
    }

    /// The number of ranks, empty ones included.
    pub fn ranks(&self) -> u64 {
        self.images.count() as u64 * self.sets.ranks()
    }

    /// The work as a share of that for the free board: for each image that of a set, twice as much where
    /// each solution is counted where it stands. It grows with the placements of one colour, about the root
    /// of the solutions. Only square roots, which are the same on every machine, because the tasks follow
    /// from it.
    pub fn work(&self) -> f64 {
        let orientations = if self.is_oriented { 1.0 } else { 2.0 };
        self.images.count() as f64 * orientations * self.given.share().sqrt()
    }

    /// The partition of `rank`, which must be below [`ranks`](Self::ranks); `None` where the rank is empty:
    /// on a given board, where an earlier image stands for the set already.
    pub fn partition(&self, rank: u64) -> Option<Partition> {
        let each = self.sets.ranks();
        let image = (rank / each) as usize;
        let mut set = self.sets.unrank(rank % each);
        if !self.given.is_free() {
            let orbit = set.weight.into();
            set.weight = self.images.weight(image, &set, orbit, |set, symmetry| {
                set.image(self.size(), symmetry)
            })?;
        }
        Some(Partition {
            set,
            image,
            open: Arc::clone(self.images.open(image)),
        })
    }
}

impl From<GivenBoard> for ColourBoard {
    fn from(given: GivenBoard) -> Self {
        let kept = given.symmetries();
        let exchanging = [
            Symmetry::QuarterTurn,
            Symmetry::Transpose,
            Symmetry::AntiTranspose,
        ];
        Self {
            given,
            images: Images::new(&given, &OF_SETS),
            sets: Arc::new(RowSets::new(given.size())),
            is_oriented: exchanging
                .into_iter()
                .any(|symmetry| kept.contains(symmetry)),
            is_mirrored: kept.contains(Symmetry::MirrorColumns),
        }
    }
}

impl From<Size> for ColourBoard {
    fn from(n: Size) -> Self {
        GivenBoard::free(n).into()
    }
}
