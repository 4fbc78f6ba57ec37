use super::{ColumnSet, Partition};
use crate::board::{GivenBoard, Images, Size, Symmetry};

/// The symmetries that map the rows of a half board to rows of a half board. A column set stands for its
/// images under those of them that fix the given board.
pub const OF_SETS: [Symmetry; 4] = [
    Symmetry::Identity,
    Symmetry::MirrorColumns,
    Symmetry::MirrorRows,
    Symmetry::HalfTurn,
];

/// The board of a plan: what is given on it, and which symmetries that leaves to the plan.
///
/// Column sets are those of the free board, whatever is given. On a given board that lacks one of the
/// symmetries by which a set stands for others, they are counted on each of its [images](Images), one
/// after the other; so neighbouring sets share boards of quadrants as on the free board. Where no symmetry
/// that exchanges rows and columns fixes the given board, each solution is counted where it stands instead
/// of in one of two orientations.
#[derive(Clone, Debug)]
pub struct JoinBoard {
    given: GivenBoard,
    images: Images,
    is_free: bool,
    /// Whether solutions are counted in one orientation, twice: see `word_order.rs`.
    oriented: bool,
}

impl JoinBoard {
    /// Its size.
    pub const fn size(&self) -> Size {
        self.given.size()
    }

    /// What is given on it.
    pub const fn given(&self) -> GivenBoard {
        self.given
    }

    /// The number of ranks, empty ones included.
    pub fn ranks(&self) -> u64 {
        self.images.len() as u64 * Partition::ranks(self.size())
    }

    /// The work of counting pairs, as a share of that for the free board: for each image that of a set, twice
    /// as much where each solution is counted where it stands. A given queen makes the lists of her half
    /// shorter, and leaves one half of the sets. One queen on a board of 18 took 0.95 times as long as the
    /// free board, two on one of 20 took 0.1 times as long (docs/GIVEN.md); the exponent 3/4 gives 0.92 and
    /// 0.1. Only square roots, which are the same on every machine, because the tasks follow from it.
    pub fn work(&self) -> f64 {
        let root = self.given.share().sqrt();
        let orientations = if self.oriented { 1.0 } else { 2.0 };
        self.images.len() as f64 * orientations * root * root.sqrt()
    }

    /// What a given board costs besides, in core-seconds of the machine of
    /// [`core_seconds`](crate::engine::core_seconds): half a microsecond for each rank, and three for each
    /// set that the given queens leave, to make its lists. Measured with 2 to 8 queens on boards of 18 to 22
    /// (docs/GIVEN.md).
    pub fn overhead(&self) -> f64 {
        if self.is_free {
            return 0.0;
        }
        let sets = 0.5_f64.powi(self.given.queens().len() as i32);
        self.ranks() as f64 * (0.5e-6 + 3e-6 * sets)
    }

    /// The column set of `rank` on the given board itself: that of the partition, which may be counted on an
    /// image of the board. `None` where the rank is empty.
    pub fn own_set(&self, rank: u64) -> Option<ColumnSet> {
        let n = self.size();
        if self.is_free {
            return ColumnSet::unrank(n, rank / Partition::slices(n));
        }
        let image = (rank / Partition::ranks(n)) as usize;
        let set = self.partition(rank)?.set;
        Some(set.image(n, self.images.symmetry(image)))
    }

    /// The partition of `rank`, which must be below [`ranks`](Self::ranks); `None` where the rank is empty:
    /// on the free board [`Partition::of_rank`], and the same order on each image of a given board.
    pub fn partition(&self, rank: u64) -> Option<Partition> {
        let n = self.size();
        if self.is_free {
            return Partition::of_rank(n, rank);
        }
        let each = Partition::ranks(n);
        let image = (rank / each) as usize;
        let mut partition = Partition::on(n, rank % each, Some(self.images.open(image)))?;
        let set = &mut partition.set;
        set.weight = self
            .images
            .weight(image, &*set, set.weight.into(), |set, symmetry| {
                set.image(n, symmetry)
            })?;
        partition.oriented = self.oriented;
        Some(partition)
    }
}

impl From<GivenBoard> for JoinBoard {
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
            is_free: given.is_free(),
            oriented: exchanging
                .into_iter()
                .any(|symmetry| kept.contains(symmetry)),
        }
    }
}

impl From<Size> for JoinBoard {
    fn from(n: Size) -> Self {
        GivenBoard::free(n).into()
    }
}
