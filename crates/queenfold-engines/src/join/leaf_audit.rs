use fastrand::Rng;

use crate::engine::Mismatch;

/// Counts a share of the leaves again, pair by pair, and keeps the first contradiction.
///
/// The seed and the number of a leaf decide whether it is counted again. A task that is counted
/// twice is therefore audited in the same places both times.
#[derive(Clone, Debug)]
pub struct LeafAudit {
    /// A leaf is counted again if the next random number is at most this.
    share: u64,
    random: Rng,
    contradiction: Option<Mismatch>,
    #[cfg(test)]
    fault: Option<FlippedBit>,
}

/// A bit to flip in a leaf, to test whether the audit notices.
#[cfg(test)]
#[derive(Clone, Copy, Debug)]
pub struct FlippedBit {
    /// The number of leaves before it.
    pub leaf: u64,
    /// Which pattern, and which of its used bits, both modulo how many there are.
    pub place: u64,
}

impl LeafAudit {
    /// By default one leaf of so many is counted again.
    ///
    /// A leaf of 20 queens has 1,110 items and 350 patterns on average, and the tables take about
    /// 3.3 cycles for each item (docs/PERFORMANCE.md, Join, "What limits it"). Comparing every pair
    /// takes at most about a cycle for each pair, which is a hundred times as long. At one leaf in
    /// 65,536 the audit takes some 0.2 % of the time.
    pub const ONE_IN: u64 = 1 << 16;

    /// Counts one leaf of `one_in` again, which must be a power of two.
    pub fn new(one_in: u64) -> Self {
        debug_assert!(one_in.is_power_of_two());
        Self {
            share: u64::MAX / one_in,
            random: Rng::with_seed(0),
            contradiction: None,
            #[cfg(test)]
            fault: None,
        }
    }

    /// Starts a new sequence of random numbers.
    pub fn seed(&mut self, seed: u64) {
        // Tasks have neighbouring seeds, whose first numbers are too evenly spread: of 200 blocks
        // of 1000 seeds the variance was a fifth of a random one. A fork has no such pattern.
        self.random = Rng::with_seed(seed).fork();
    }

    /// Removes and returns the first contradiction found since the last call, if any.
    pub fn take(&mut self) -> Option<Mismatch> {
        self.contradiction.take()
    }

    /// Counts the disjoint pairs of a leaf again if the leaf is due, and compares the number with
    /// `found`.
    #[inline]
    pub fn check(
        &mut self,
        items: impl ExactSizeIterator<Item = u64>,
        patterns: impl ExactSizeIterator<Item = u64> + Clone,
        found: u64,
    ) {
        if self.random.u64(..) <= self.share {
            self.count_again(items, patterns, found);
        }
    }

    #[cold]
    fn count_again(
        &mut self,
        items: impl ExactSizeIterator<Item = u64>,
        patterns: impl ExactSizeIterator<Item = u64> + Clone,
        found: u64,
    ) {
        let lengths = [items.len(), patterns.len()];
        let disjoint = |item| {
            patterns
                .clone()
                .filter(|pattern| item & pattern == 0)
                .count() as u64
        };
        let expected: u64 = items.map(disjoint).sum();
        if found != expected && self.contradiction.is_none() {
            self.contradiction = Some(Mismatch(format!(
                "the audit of a leaf of {} items and {} patterns counts {expected} disjoint pairs \
                 where the kernel found {found}",
                lengths[0], lengths[1],
            )));
        }
    }
}

#[cfg(test)]
impl LeafAudit {
    /// Will flip a bit in the leaf that `fault` names.
    pub fn plant(&mut self, fault: FlippedBit) {
        self.fault = Some(fault);
    }

    /// The patterns with one bit of `used` flipped, if the fault is due in this leaf.
    pub fn flip(&mut self, patterns: impl Iterator<Item = u64>, used: u64) -> Option<Vec<u64>> {
        let fault = self.fault.as_mut()?;
        if fault.leaf > 0 {
            fault.leaf -= 1;
            return None;
        }
        let bits: Vec<u32> = (0..64).filter(|bit| used >> bit & 1 == 1).collect();
        if bits.is_empty() {
            return None;
        }
        let place = fault.place as usize;
        let mut flipped: Vec<u64> = patterns.collect();
        let pattern = place / bits.len() % flipped.len();
        flipped[pattern] ^= 1 << bits[place % bits.len()];
        self.fault = None;
        Some(flipped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of N wrong leaves about N / 2^16 are caught, with a standard deviation of the root of that
    /// number.
    #[test]
    #[cfg_attr(miri, ignore = "millions of leaves")]
    fn the_usual_share_of_wrong_leaves_is_caught() {
        const TASKS: u64 = 1 << 10;
        const LEAVES: u64 = 1 << 12;
        let mut audit = LeafAudit::new(LeafAudit::ONE_IN);
        let mut caught = 0;
        for task in 0..TASKS {
            audit.seed(1000 * task);
            for _ in 0..LEAVES {
                audit.check([1, 2].into_iter(), [4].into_iter(), 1);
                caught += u64::from(audit.take().is_some());
            }
        }
        let expected = (TASKS * LEAVES / LeafAudit::ONE_IN) as f64;
        let off = (caught as f64 - expected).abs();
        assert!(off <= 2.0 * expected.sqrt(), "{caught}, not {expected}");
    }
}
