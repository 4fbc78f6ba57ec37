//! How many parts the shards of an array have.
//!
//! Hosts take shards in their order, and whichever is the last to end holds up the whole. So shards are large at
//! first, where it does not matter when one ends, and small at last: batches of equally many shards, each batch of
//! half the size of the one before (Flynn Hummel, Schonberg, Flynn, Factoring: a method for scheduling parallel
//! loops, 1992). The tests say what that gains where hosts differ and vanish.

/// The most batches. The largest shard then is three times the mean, the smallest three sixteenths of it.
const BATCHES: u64 = 6;

/// How many parts an array of so many shards is divided into, of `most` that there can be: as few as
/// [`sizes`] needs.
pub(super) fn parts_for(shards: u64, most: u64) -> u64 {
    weights(shards, BATCHES.min(shards)).sum::<u64>().min(most)
}

/// The sizes of the shards, in parts, of an array or of what is missing of one: `shards` of them, or as many as
/// there are parts. They never rise.
pub(super) fn sizes(parts: u64, shards: u64) -> Vec<u64> {
    let shards = shards.min(parts);
    let fit = |batches: &u64| weights(shards, *batches).sum::<u64>() <= parts;
    let batches = (1..=BATCHES.min(shards)).rfind(fit).unwrap_or(1);
    let total: u64 = weights(shards, batches).sum();
    let shares = weights(shards, batches).map(|weight| parts * weight / total);
    let mut sizes: Vec<u64> = shares.collect();
    let rest = parts - sizes.iter().sum::<u64>();
    sizes
        .iter_mut()
        .zip(0..rest)
        .for_each(|(size, _)| *size += 1);
    sizes
}

/// The sizes relative to the smallest, in so many batches. The last two batches have the same size: each batch
/// is as large as all that follow it.
fn weights(shards: u64, batches: u64) -> impl Iterator<Item = u64> {
    let batch = move |shard| shard * batches / shards;
    (0..shards).map(move |shard| 1 << batches.saturating_sub(2 + batch(shard)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_halved() {
        assert_eq!(parts_for(12, 1000), 64);
        assert_eq!(sizes(64, 12), [16, 16, 8, 8, 4, 4, 2, 2, 1, 1, 1, 1]);
        assert_eq!(sizes(128, 12), [32, 32, 16, 16, 8, 8, 4, 4, 2, 2, 2, 2]);
        // Few parts, or few shards, are halved less often.
        assert_eq!(parts_for(12, 40), 40);
        assert_eq!(sizes(40, 12), [7, 7, 7, 4, 4, 4, 2, 1, 1, 1, 1, 1]);
        assert_eq!(sizes(8, 4), [4, 2, 1, 1]);
        assert_eq!(
            [1, 2, 3, 4, 5, 6].map(|shards| parts_for(shards, 99)),
            [1, 2, 4, 8, 16, 32]
        );
    }

    #[test]
    fn sizes_never_rise_and_add_up() {
        let cases = (1..70).flat_map(|parts| (1..80).map(move |shards| (parts, shards)));
        for (parts, shards) in cases.chain([(1 << 21, 600_000), (1 << 21, 1 << 21), (1 << 21, 3)]) {
            let sizes = sizes(parts, shards);
            assert_eq!(
                sizes.len() as u64,
                shards.min(parts),
                "{parts} parts, {shards} shards"
            );
            assert_eq!(
                sizes.iter().sum::<u64>(),
                parts,
                "{parts} parts, {shards} shards"
            );
            assert!(
                sizes.is_sorted_by(|a, b| a >= b) && sizes.last() >= Some(&1),
                "{sizes:?}"
            );
        }
        for shards in 1..500 {
            let parts = parts_for(shards, u64::MAX);
            assert_eq!(
                sizes(parts, shards),
                weights(shards, BATCHES.min(shards)).collect::<Vec<_>>()
            );
        }
    }
}
