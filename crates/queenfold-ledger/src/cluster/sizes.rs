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
///
/// The first shard has the last parts, and so on: where parts are single tasks, those of low numbers are cheap.
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
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    use super::*;
    use crate::cluster::Array;
    use crate::ledger::Division;
    use queenfold::board::Size;
    use queenfold::engine::Engine;

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

    /// What each shard of an array costs, by the costs of its plan.
    fn costs(n: u32, shards: u64) -> Vec<f64> {
        let array = Array::new(Size::new(n).unwrap(), Engine::Colour, shards).unwrap();
        let plans = array.plans();
        let division = Division::new(array.shard(0).unwrap().shard, &plans);
        let mut costs = vec![0.0; array.parts() as usize];
        for task in 0..plans[0].tasks() {
            costs[division.part_of(plans[0].key(task)) as usize] += plans[0].task(task).cost;
        }
        let parts = |index| array.shard(index).unwrap().shard.parts();
        let of_shard = |index| parts(index).map(|part| costs[part as usize]).sum();
        (0..array.shards()).map(of_shard).collect()
    }

    /// The share of their time in which hosts do not count, from first to last, if each takes
    /// the next shard whenever it has none. The speeds of hosts differ by 1:30 (their logarithms are uniform). One
    /// host of twenty vanishes at some time, and the shard that it was counting is the next one from then on.
    fn idle_share(costs: &[f64], hosts: usize, seed: u64) -> f64 {
        /// Units of time that the whole would take if no host vanished or waited.
        const WHOLE: u64 = 1 << 30;
        let mut random = fastrand::Rng::with_seed(seed);
        let speeds: Vec<f64> = (0..hosts).map(|_| 30_f64.powf(random.f64())).collect();
        let unit = WHOLE as f64 * speeds.iter().sum::<f64>() / costs.iter().sum::<f64>();
        let mut vanishes = |_| match random.u32(0..20) {
            0 => random.u64(0..WHOLE),
            _ => u64::MAX,
        };
        let vanishes: Vec<u64> = (0..hosts).map(&mut vanishes).collect();
        let mut shards: Vec<f64> = costs.iter().rev().copied().collect();
        let mut counting = vec![None; hosts];
        let mut free: BinaryHeap<_> = (0..hosts).map(|host| Reverse((0, host))).collect();
        let (mut waiting, mut busy, mut end) = (Vec::new(), 0, 0);
        while let Some(Reverse((now, host))) = free.pop() {
            let shard = counting[host].take();
            if now >= vanishes[host] {
                shards.extend(shard);
                free.extend(waiting.drain(..).map(|host| Reverse((now, host))));
                continue;
            }
            end = if shard.is_some() { now } else { end };
            let Some(shard) = shards.pop() else {
                waiting.push(host);
                continue;
            };
            let until = vanishes[host].min(now + (shard * unit / speeds[host]) as u64);
            busy += until - now;
            counting[host] = Some(shard);
            free.push(Reverse((until, host)));
        }
        let there: u64 = vanishes.iter().map(|vanishes| end.min(*vanishes)).sum();
        1.0 - busy as f64 / there as f64
    }

    /// There are so many shards for each host.
    fn expect_short_tails(n: u32, hosts: usize, shards: u64, seeds: u64) {
        let costs = costs(n, hosts as u64 * shards);
        let idle = (0..seeds).map(|seed| idle_share(&costs, hosts, seed));
        let most = idle.fold(0.0, f64::max);
        assert!(most < 0.03, "n = {n}, {hosts} hosts: {most} idle");
    }

    /// docs/CLUSTER.md, "How many shards", has what other numbers of shards give.
    #[test]
    fn no_hosts_wait_long_at_the_end() {
        expect_short_tails(24, 10, 60, 100);
        expect_short_tails(26, 100, 60, 20);
        // Parts are single tasks here.
        expect_short_tails(25, 100, 100, 20);
    }

    #[test]
    fn ten_thousand_hosts_do_not_wait_long_at_the_end() {
        expect_short_tails(28, 10_000, 100, 3);
    }
}
