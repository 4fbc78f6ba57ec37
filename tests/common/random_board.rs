//! Random boards on which queens and holes are given.

use queenfold::board::{GivenBoard, Size, Square, Symmetry};

/// A random board: some queens that do not attack each other, and some holes, in `symmetric` boards with the
/// images of all of them under some group of symmetries.
pub fn random_board(n: Size, random: &mut fastrand::Rng, symmetric: bool) -> GivenBoard {
    let groups: [&[Symmetry]; 6] = [
        &[Symmetry::MirrorColumns],
        &[Symmetry::MirrorRows],
        &[Symmetry::HalfTurn],
        &[Symmetry::Transpose],
        &[
            Symmetry::QuarterTurn,
            Symmetry::HalfTurn,
            Symmetry::ThreeQuarterTurn,
        ],
        &Symmetry::ALL,
    ];
    let group = if symmetric {
        groups[random.usize(..groups.len())]
    } else {
        &[]
    };
    let last = n.get() as u8;
    let mut board = GivenBoard::free(n);
    let [queens, holes] = [random.u32(..3), random.u32(..n.get())];
    for at in 0..queens + holes {
        let square = Square::new(random.u8(..last), random.u8(..last));
        let mut images: Vec<_> = group.iter().map(|s| s.apply(n, square)).collect();
        images.push(square);
        images.sort_unstable();
        images.dedup();
        let [mut queens_now, mut holes_now]: [Vec<Square>; 2] =
            [board.queens(), board.holes()].map(|squares| squares.iter().collect());
        if at < queens {
            &mut queens_now
        } else {
            &mut holes_now
        }
        .extend(images);
        // What cannot be given is left out.
        board = GivenBoard::new(n, queens_now, holes_now).unwrap_or(board);
    }
    board
}
