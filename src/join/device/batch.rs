//! A launch of pairs, and what its sums mean.

use super::planner::SubProblem;
use super::program::{GROUP_SUMS, groups};
use crate::engine::{Completed, Launch, LaunchBatch, Mismatch, Tally};
use crate::join::counter::LeftPairs;

/// The pairs of some sets as a launch, and what else was counted of the tasks that these belong to.
pub(super) struct JoinBatch {
    /// `None` if there is no pair to count.
    pub(super) launch: Option<Launch>,
    /// What was counted on the CPU, for each task.
    pub(super) tallies: Vec<Tally>,
    /// One for each group of the launch; the last group is that of the sample alone.
    pub(super) sets: Vec<LeftSet>,
    pub(super) sample: Option<SampledPart>,
    /// What went wrong while the launch was made.
    pub(super) wrong: Option<Mismatch>,
}

/// A set whose pairs were left to a device.
pub(super) struct LeftSet {
    /// The position of its task.
    pub(super) task: usize,
    /// What its pairs stand for.
    pub(super) stands_for: LeftPairs,
    /// Pairs that the device has to test or to discard, those of the sample included.
    pub(super) pairs: u64,
}

/// A part of the pairs of a set that has a group of its own, because it is counted again on the CPU.
///
/// One part of a launch is enough to notice a device that counts wrongly now and then, because launches are many, and
/// takes milliseconds. To count a whole set again would take a core as long as to count it first, and a launch of a
/// large board has one or two sets: the device would save nothing. What a part cannot show is seen otherwise: that
/// the parts of a set are all of its pairs, by their number, for each set; that lists were sorted and divided
/// rightly, by the audit, which counts whole tasks with another kernel.
pub(super) struct SampledPart {
    /// The set.
    pub(super) set: usize,
    pub(super) part: SubProblem,
}

/// What the kernel returns of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sums {
    tested: u64,
    discarded: u64,
    found: u64,
}

impl SampledPart {
    /// The number of disjoint pairs, by comparing all.
    fn recount(&self, launch: &Launch) -> u64 {
        let tables = launch.tables();
        let Some(lists) = groups(tables).last() else {
            return 0;
        };
        let [top, bottom] = [0, 1].map(|side| self.part.keys(side, lists, tables));
        let disjoint = |key: &u32| {
            bottom
                .iter()
                .map(|other| u64::from(key & other == 0))
                .sum::<u64>()
        };
        top.iter().map(disjoint).sum()
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
        let mut sums = vec![Sums::default(); self.sets.len()];
        if let (Some(launch), Some(sample)) = (&self.launch, &self.sample) {
            let mut of_groups = counted(launch, completed)?;
            let of_sample = of_groups.pop().unwrap_or_default();
            let found = sample.recount(launch);
            if of_sample.found != found {
                return Err(Mismatch(format!(
                    "a sampled part of the pairs of a set has {} that fit on the device, {found} on the CPU",
                    of_sample.found
                )));
            }
            sums = of_groups;
            let of_set = &mut sums[sample.set];
            of_set.tested += of_sample.tested;
            of_set.discarded += of_sample.discarded;
            of_set.found += of_sample.found;
        }
        let mut tallies = self.tallies;
        for (set, sums) in self.sets.iter().zip(sums) {
            let counted = sums.tested.checked_add(sums.discarded);
            if counted != Some(set.pairs) {
                return Err(Mismatch(format!(
                    "the device tested {} pairs of a set and discarded {}, which is not the {} there are",
                    sums.tested, sums.discarded, set.pairs
                )));
            }
            let LeftPairs {
                weight,
                completions,
                less,
            } = set.stands_for;
            let all = u128::from(sums.found) * u128::from(completions);
            let right = all
                .checked_sub(less.into())
                .filter(|_| sums.found <= sums.tested);
            let Some(right) = right else {
                return Err(Mismatch(format!(
                    "the device found {} pairs of a set among {}, of which {less} completions of ties count less",
                    sums.found, sums.tested
                )));
            };
            tallies[set.task].completions.add(weight, right);
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
    let (groups, _) = sums.as_chunks::<GROUP_SUMS>();
    let sums = groups.iter().map(|&[tested, discarded, found]| Sums {
        tested,
        discarded,
        found,
    });
    Ok(sums.collect())
}
