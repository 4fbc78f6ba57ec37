//! The queens on the edge of the board: which placements there are, and one of each symmetry class.

use crate::board::{Size, Square, Symmetry};

/// A placement on the first and last row and column of the board: three queens (one of them in a
/// corner) or four, none of which attacks another. On the 1×1 board it is the one queen.
///
/// The derived order is not the plan's: see [`representatives`](Self::representatives).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Border {
    /// Column of the queen in the first row.
    pub top: u8,
    /// Column of the queen in the last row.
    pub bottom: u8,
    /// Row of the queen in the first column.
    pub left: u8,
    /// Row of the queen in the last column.
    pub right: u8,
}

impl Border {
    /// The squares of its queens; a corner is listed once for each of the two sides it is on.
    pub fn squares(self, n: Size) -> [Square; 4] {
        let last = n.get() as u8 - 1;
        [
            Square::new(0, self.top),
            Square::new(last, self.bottom),
            Square::new(self.left, 0),
            Square::new(self.right, last),
        ]
    }

    /// Whether each side has exactly one queen and no queen attacks another.
    pub fn is_legal(self, n: Size) -> bool {
        let last = n.get() as u8 - 1;
        let squares = self.squares(n);
        // A queen in a corner is on two sides: both must name it.
        let corners_agree = [
            (self.top == 0, self.left == 0),
            (self.top == last, self.right == 0),
            (self.bottom == 0, self.left == last),
            (self.bottom == last, self.right == last),
        ]
        .iter()
        .all(|(row, column)| row == column);
        corners_agree
            && squares
                .iter()
                .enumerate()
                .all(|(i, a)| squares[..i].iter().all(|b| !a.attacks(*b)))
    }

    /// The border's image under `symmetry`.
    pub fn image(self, n: Size, symmetry: Symmetry) -> Self {
        let last = n.get() as u8 - 1;
        let mut image = self;
        for square in self.squares(n) {
            let Square { row, column } = symmetry.apply(n, square);
            if row == 0 {
                image.top = column;
            }
            if row == last {
                image.bottom = column;
            }
            if column == 0 {
                image.left = row;
            }
            if column == last {
                image.right = row;
            }
        }
        image
    }

    /// The order that decides which image represents a class: smallest bottom column, then top
    /// column, left row, right row. It puts the queen nearest a corner at the bottom, and the more
    /// central ones at the top, where the search starts. Of the orders tried, this one gives the
    /// smallest tree (n = 14: 5.3 million nodes; smallest top column first: 8.4 million).
    fn key(self) -> (u8, u8, u8, u8) {
        (self.bottom, self.top, self.left, self.right)
    }

    /// The size of its orbit under the eight symmetries if it is the smallest of its images, `None`
    /// if another image represents it. 2, 4 or 8 for n ≥ 2, and 1 for n = 1.
    pub fn weight(self, n: Size) -> Option<u8> {
        let images = Symmetry::ALL.map(|symmetry| self.image(n, symmetry).key());
        if images.iter().any(|image| *image < self.key()) {
            return None;
        }
        let stabiliser = images.iter().filter(|image| **image == self.key()).count();
        Some((images.len() / stabiliser) as u8)
    }

    /// The representatives of all classes of legal borders with their weights, ascending by
    /// (bottom column, left row, right row, top column).
    ///
    /// The queen at the top comes last, because the search treats its diagonals like those of the
    /// queens that it places. The other three border queens ban squares in the rows to search.
    /// Neighbours in this order share their bans, so a vector kernel can search them together.
    pub fn representatives(n: Size) -> Vec<(Self, u8)> {
        let last = n.get() as u8 - 1;
        let mut found = Vec::new();
        // In the smallest image no queen is nearer to a corner than the bottom one, because each
        // side is the bottom of some image, in both directions.
        for bottom in 0..=last / 2 {
            let side = bottom..=last - bottom;
            for left in side.clone() {
                if (bottom == 0) != (left == last) {
                    continue;
                }
                for right in side.clone() {
                    for top in side.clone() {
                        let border = Self {
                            top,
                            bottom,
                            left,
                            right,
                        };
                        if border.is_legal(n)
                            && let Some(weight) = border.weight(n)
                        {
                            found.push((border, weight));
                        }
                    }
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(n: u32) -> Size {
        Size::new(n).unwrap()
    }

    fn legal(n: Size) -> impl Iterator<Item = Border> {
        let n = n.get() as u8;
        (0..n)
            .flat_map(move |top| {
                (0..n).flat_map(move |bottom| {
                    (0..n).flat_map(move |left| {
                        (0..n).map(move |right| Border {
                            top,
                            bottom,
                            left,
                            right,
                        })
                    })
                })
            })
            .filter(move |border| border.is_legal(Size::new(n.into()).unwrap()))
    }

    #[test]
    fn weights_add_up_to_all_borders() {
        for n in 1..=12 {
            let n = size(n);
            let weights: usize = Border::representatives(n)
                .iter()
                .map(|&(_, weight)| usize::from(weight))
                .sum();
            assert_eq!(weights, legal(n).count(), "n = {n}");
        }
    }

    #[test]
    fn images_are_legal_and_each_class_has_one_representative() {
        let n = size(8);
        for border in legal(n) {
            let images = Symmetry::ALL.map(|symmetry| border.image(n, symmetry));
            assert!(images.iter().all(|image| image.is_legal(n)));
            let mut representatives: Vec<_> = images
                .into_iter()
                .filter(|image| image.weight(n).is_some())
                .collect();
            representatives.dedup();
            assert_eq!(representatives.len(), 1, "{border:?}");
        }
    }

    /// Partition counts measured independently with another program.
    #[test]
    fn their_number_is_that_of_another_program() {
        for (n, borders) in [(16, 3_206), (20, 9_522), (22, 14_960)] {
            assert_eq!(Border::representatives(size(n)).len(), borders, "n = {n}");
        }
    }

    #[test]
    fn the_table_stays_small() {
        assert!(Border::representatives(size(32)).len() <= 100_000);
    }

    #[test]
    fn weight_one_belongs_to_the_single_queen() {
        let one = Border {
            top: 0,
            bottom: 0,
            left: 0,
            right: 0,
        };
        assert_eq!(Border::representatives(size(1)), [(one, 1)]);
        for n in 2..=16 {
            let all = Border::representatives(size(n));
            assert!(
                all.iter().all(|&(_, weight)| [2, 4, 8].contains(&weight)),
                "n = {n}"
            );
        }
    }
}
