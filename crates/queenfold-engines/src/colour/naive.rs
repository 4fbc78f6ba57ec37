//! A simple count of the placements of one colour, for tests: pairs from two lists.

use super::Partition;
use super::oracle::Colour;
use crate::board::{Square, bits};

/// W(R, C) or K(other rows, other columns): the placements of queens of one colour on the squares of a
/// partition that fill exactly its rows of that colour and `columns`. Lists the placements on even and on
/// odd rows, and compares them pair by pair.
pub fn cell(n: u32, partition: &Partition, colour: Colour, columns: u32) -> u64 {
    let rows = colour.rows(n, partition);
    let list = |parity: u32| {
        let own: Vec<_> = rows.iter().filter(|(row, _)| row % 2 == parity).collect();
        let mut placements = vec![Vec::new()];
        for &&(row, open) in &own {
            let squares = bits(open & columns).map(|column| Square::new(row as u8, column as u8));
            let squares: Vec<_> = squares.collect();
            placements = placements
                .iter()
                .flat_map(|queens: &Vec<Square>| {
                    let fitting = squares.iter().filter(|square| is_safe(queens, **square));
                    fitting.map(|&square| [&queens[..], &[square]].concat())
                })
                .collect();
        }
        placements
    };
    let [even, odd] = [list(0), list(1)];
    let fills = |queens: usize| queens == columns.count_ones() as usize;
    even.iter()
        .map(|one| {
            let fitting = odd.iter().filter(|other| {
                fills(one.len() + other.len()) && other.iter().all(|&queen| is_safe(one, queen))
            });
            fitting.count() as u64
        })
        .sum()
}

fn is_safe(queens: &[Square], square: Square) -> bool {
    queens.iter().all(|queen| !queen.attacks(square))
}
