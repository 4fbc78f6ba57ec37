use super::{Half, Partition};
use crate::board::bits;

/// The number of ways to complete a partition: both lists of half boards, every pair compared. For
/// small boards; all other tests of the join rely on it.
pub fn completions(partition: &Partition) -> u64 {
    let [top, bottom] = [&partition.top, &partition.bottom].map(keys);
    top.iter()
        .map(|key| bottom.iter().filter(|other| key & **other == 0).count() as u64)
        .sum()
}

/// The keys of all ways to fill a half board, by a search row by row.
fn keys(half: &Half) -> Vec<u64> {
    let mut keys = Vec::new();
    fill(half, 0, half.columns(), [0, 0], 0, &mut keys);
    keys
}

fn fill(
    half: &Half,
    row: u32,
    columns: u32,
    [rising, falling]: [u64; 2],
    key: u64,
    keys: &mut Vec<u64>,
) {
    let Some(allowed) = half.allowed().get(row as usize) else {
        return keys.push(key);
    };
    for column in bits(columns & allowed & !((rising | falling) as u32)) {
        let queen = 1u64 << column;
        fill(
            half,
            row + 1,
            columns & !(1 << column),
            [(rising | queen) << 1, (falling | queen) >> 1],
            key | half.key(row, column),
            keys,
        );
    }
}
