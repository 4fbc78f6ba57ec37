//! The job of a launch that is counted again on the CPU.

use super::layout::Layout;

/// Words of a job, of which each engine has as many.
const JOB_WORDS: usize = 4;

/// A job that has its group for itself, so that the sums of the group are those of the job.
pub struct SampledJob {
    pub group: usize,
    pub job: [u32; JOB_WORDS],
}

/// Gives a job that `seed` picks a copy of its group, at the end of the groups and of their tables. `None` without jobs.
pub fn isolate<Group: Copy>(
    layout: &Layout,
    seed: u64,
    jobs: &mut [u32],
    tables: &mut Vec<u32>,
    groups: &mut Vec<Group>,
) -> Option<SampledJob> {
    let (jobs, _) = jobs.as_chunks_mut::<JOB_WORDS>();
    // The constant is 2⁶⁴ divided by the golden ratio: neighbouring seeds pick jobs far apart.
    let share = u128::from(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let picked = (share * jobs.len() as u128) >> 64;
    let job = jobs.get_mut(picked as usize)?;
    let group_of_job = &mut job[layout.group_word?];
    let (from, group) = (*group_of_job as usize, groups.len());
    *group_of_job = group as u32;
    groups.push(groups[from]);
    let words = layout.group_words;
    tables.extend_from_within(from * words..(from + 1) * words);
    Some(SampledJob { group, job: *job })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::JobWords;

    #[test]
    fn every_seed_picks_a_job_and_gives_it_a_group_of_its_own() {
        let layout = Layout {
            job_words: JobWords::Fixed(JOB_WORDS),
            group_word: Some(3),
            group_words: 2,
            group_sums: 1,
            check: |_| Ok(()),
        };
        for seed in [0, 1, 2, u64::MAX / 2, u64::MAX] {
            let mut jobs = [7, 7, 7, 0, 8, 8, 8, 1, 9, 9, 9, 1];
            let (mut tables, mut groups) = (vec![10, 11, 20, 21], vec!["a", "b"]);
            let picked = isolate(&layout, seed, &mut jobs, &mut tables, &mut groups).unwrap();
            assert_eq!((picked.group, picked.job[3]), (2, 2), "seed {seed}");
            let own = jobs.iter().position(|word| *word == 2).unwrap();
            assert_eq!(jobs[own - 3..=own], picked.job);
            let of_first = picked.job[0] == 7;
            assert_eq!(groups[2], if of_first { "a" } else { "b" });
            assert_eq!(tables[4..], if of_first { [10, 11] } else { [20, 21] });
        }
        let (mut tables, mut groups) = (Vec::new(), Vec::<u8>::new());
        assert!(isolate(&layout, 1, &mut [], &mut tables, &mut groups).is_none());
    }
}
