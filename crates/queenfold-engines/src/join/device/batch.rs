//! A launch of the join, and what its sums mean.

use super::program::GROUP_SUMS;
use super::sample;
use crate::engine::{Completed, Launch, LaunchBatch, Mismatch, Tally};
use crate::join::counter::LeftPairs;

/// The half boards of some sets as a launch, and what else was counted of the tasks that these belong to.
pub(super) struct JoinBatch {
    /// `None` if nothing was left to a device.
    pub(super) launch: Option<Launch>,
    /// What was counted on the CPU, for each task.
    pub(super) tallies: Vec<Tally>,
    /// Their groups are those of the launch but for the last, which is the sample.
    pub(super) sets: Vec<LeftSet>,
    /// Pairs of boards that the sample is crossed from.
    pub(super) sampled: [u64; 2],
    /// What went wrong while the launch was made.
    pub(super) wrong: Option<Mismatch>,
}

/// A set whose half boards were left to a device.
pub(super) struct LeftSet {
    /// The number of its first group. The others follow.
    pub(super) first: usize,
    /// Its groups: first the whole lists.
    pub(super) parts: Vec<LeftPart>,
    /// The position of its task.
    pub(super) task: usize,
    /// What its pairs stand for.
    pub(super) stands_for: LeftPairs,
}

/// Pairs of half boards that the device counts as a group.
#[derive(Clone, Copy)]
pub(super) struct LeftPart {
    /// Pairs of boards that each list is crossed from.
    pub(super) crossed: [u64; 2],
    /// How many completions each pair stands for.
    pub(super) times: i64,
}

/// What the kernel returns of a group: `PairsSum` of `kernels/pairs.h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) tested: u64,
    pub(super) discarded: u64,
    /// Pairs of boards crossed to count keys, and again to write them.
    pub(super) crossed: [u64; 2],
    pub(super) counted: [u64; 2],
    pub(super) written: [u64; 2],
    pub(super) found: u64,
}

impl Sums {
    pub(super) const fn of(sums: &[u64; GROUP_SUMS]) -> Self {
        Self {
            tested: sums[0],
            discarded: sums[1],
            crossed: [sums[2], sums[3]],
            counted: [sums[4], sums[5]],
            written: [sums[6], sums[7]],
            found: sums[8],
        }
    }

    /// Compares the sums with each other, and with the pairs of boards that there are.
    ///
    /// # Errors
    /// Something was left out or counted twice.
    fn check(&self, crossed: [u64; 2]) -> Result<(), Mismatch> {
        for (side, crossed) in crossed.into_iter().enumerate() {
            if self.crossed[side] != 2 * crossed {
                return Err(Mismatch(format!(
                    "the device crossed {} pairs of boards of a set, not {crossed} twice",
                    self.crossed[side]
                )));
            }
            if self.counted[side] != self.written[side] {
                return Err(Mismatch(format!(
                    "the device counted {} half boards of a set and wrote {}",
                    self.counted[side], self.written[side]
                )));
            }
        }
        let [tops, bottoms] = self.counted;
        let pairs = self.tested.checked_add(self.discarded);
        if pairs.is_none() || pairs != tops.checked_mul(bottoms) {
            return Err(Mismatch(format!(
                "the device tested {} pairs of a set and discarded {}, which is not {tops} times {bottoms}",
                self.tested, self.discarded
            )));
        }
        if self.found > self.tested {
            return Err(Mismatch(format!(
                "the device found {} pairs of a set among {}",
                self.found, self.tested
            )));
        }
        Ok(())
    }
}

impl LaunchBatch for JoinBatch {
    fn launch(&self) -> Option<&Launch> {
        self.launch.as_ref()
    }

    fn tallies(self: Box<Self>, completed: Option<&Completed>) -> Result<Vec<Tally>, Mismatch> {
        if let Some(wrong) = self.wrong {
            return Err(wrong);
        }
        let Some(launch) = &self.launch else {
            return Ok(self.tallies);
        };
        let mut sums = counted(launch, completed)?;
        let of_sample = sums.pop().unwrap_or_default();
        let (keys, found) = sample::count(launch).unwrap_or_default();
        if (of_sample.counted, of_sample.found) != (keys, found) {
            return Err(Mismatch(format!(
                "a sample of {} and {} half boards has {} pairs that fit on the device; {} and {} have {found} on the CPU",
                of_sample.counted[0], of_sample.counted[1], of_sample.found, keys[0], keys[1]
            )));
        }
        of_sample.check(self.sampled)?;
        let mut tallies = self.tallies;
        for set in &self.sets {
            let LeftPairs { weight, less } = set.stands_for;
            let sums = &sums[set.first..][..set.parts.len()];
            let mut all = -i128::from(less);
            for (part, sums) in set.parts.iter().zip(sums) {
                sums.check(part.crossed)?;
                all += i128::from(sums.found) * i128::from(part.times);
            }
            let whole = sums[0];
            let completions = u128::try_from(all).map_err(|_| {
                Mismatch(format!(
                    "the device found {} pairs of a set; pairs of ties count {} completions less",
                    whole.found,
                    all.unsigned_abs()
                ))
            })?;
            let tally = &mut tallies[set.task];
            tally.completions.add(weight, completions);
            // The half boards of the other groups are among those of the first.
            tally.nodes += whole.counted.iter().sum::<u64>();
        }
        Ok(tallies)
    }
}

/// The sums of each group of a launch.
fn counted(launch: &Launch, completed: Option<&Completed>) -> Result<Vec<Sums>, Mismatch> {
    let (done, sums) = completed.map_or((0, &[][..]), |completed| {
        (completed.jobs_done, &completed.sums[..])
    });
    let sent = launch.job_count();
    if done != sent {
        return Err(Mismatch(format!(
            "the device counted {done} jobs of {sent}"
        )));
    }
    if sums.len() != launch.sums() {
        return Err(Mismatch(format!(
            "the device returned {} sums, not {}",
            sums.len(),
            launch.sums()
        )));
    }
    let (groups, _) = sums.as_chunks();
    Ok(groups.iter().map(Sums::of).collect())
}
