//! The jobs of a launch in groups, each of one task; and the job that is counted again on the CPU.

use std::mem::replace;

use super::device::{Completed, Launch};
use super::layout::LaunchError;
use super::program::DeviceProgram;
use crate::engine::mismatch::Mismatch;

/// Words of a job, of which each engine has as many.
pub const JOB_WORDS: usize = 4;

/// What the jobs of a group have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobGroup {
    /// The position of their task in the batch.
    pub task: usize,
    /// The number of solutions that each completion stands for.
    pub weight: u8,
}

/// Jobs, and the words that those of a group share. A launch returns sums for each group.
#[derive(Default)]
pub struct Jobs {
    pub words: Vec<u32>,
    pub tables: Vec<u32>,
    pub groups: Vec<JobGroup>,
}

impl Jobs {
    /// Adds a job.
    pub fn add(&mut self, job: [u32; JOB_WORDS]) {
        self.words.extend(job);
    }

    /// A launch of `program`, in which a job that `seed` picks has a copy of its group for itself, so that the sums of
    /// that are those of the job. `None` without jobs.
    ///
    /// # Errors
    /// They do not fit the program.
    pub fn into_launch(
        mut self,
        program: DeviceProgram,
        seed: u64,
    ) -> Result<Option<SampledLaunch>, LaunchError> {
        let layout = &program.layout;
        let (jobs, _) = self.words.as_chunks_mut::<JOB_WORDS>();
        // The constant is 2⁶⁴ divided by the golden ratio: neighbouring seeds pick jobs far apart.
        let share = u128::from(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let picked = (share * jobs.len() as u128) >> 64;
        let Some(job) = jobs.get_mut(picked as usize) else {
            return Ok(None);
        };
        let group = layout.group_word.and_then(|word| job.get_mut(word));
        let group = group.ok_or_else(|| LaunchError("jobs that name no group".to_owned()))?;
        let from = replace(group, self.groups.len() as u32) as usize;
        let sampled = *job;
        let words = layout.group_words;
        self.tables
            .extend_from_within(from * words..(from + 1) * words);
        Ok(Some(SampledLaunch {
            launch: Launch::new(program, self.words, self.tables)?,
            groups: self.groups,
            from,
            sampled,
        }))
    }
}

/// A launch, and the job of it that is counted again on the CPU: that of its last group.
pub struct SampledLaunch {
    pub launch: Launch,
    /// All but the last, which is a part of the one at `from`.
    groups: Vec<JobGroup>,
    from: usize,
    sampled: [u32; JOB_WORDS],
}

impl SampledLaunch {
    /// What the launch gave, by groups, if `recount` of the sampled job gives the same sums as the device, which it is told.
    ///
    /// # Errors
    /// Something is missing, or the sampled job has other sums.
    pub fn sums<const SUMS: usize>(
        &self,
        completed: Option<&Completed>,
        recount: impl FnOnce(&Launch, [u32; JOB_WORDS], [u64; SUMS]) -> [u64; SUMS],
    ) -> Result<impl Iterator<Item = (JobGroup, [u64; SUMS])>, Mismatch> {
        let (sums, _) = self.launch.returned(completed)?.as_chunks::<SUMS>();
        let mut sums = sums.to_vec();
        let given = sums.pop().unwrap_or([0; SUMS]);
        let expected = recount(&self.launch, self.sampled, given);
        if given != expected {
            return Err(Mismatch(format!(
                "a sampled job gave the sums {given:?} on the device, and {expected:?} on the CPU"
            )));
        }
        if let Some(of_group) = sums.get_mut(self.from) {
            for (sum, given) in of_group.iter_mut().zip(given) {
                *sum = sum.saturating_add(given);
            }
        }
        Ok(self.groups.iter().copied().zip(sums))
    }
}

/// What a device that makes no mistake returns of a launch of an engine, by the recount of its jobs.
#[cfg(test)]
pub fn exact<const SUMS: usize>(
    launch: &Launch,
    recount: impl Fn(&Launch, [u32; JOB_WORDS]) -> [u64; SUMS],
) -> Completed {
    let group_word = launch.program().layout.group_word.unwrap();
    let mut sums = vec![0; launch.sums()];
    let (jobs, _) = launch.jobs().as_chunks::<JOB_WORDS>();
    for &job in jobs {
        let of_group = &mut sums[job[group_word] as usize * SUMS..];
        for (sum, found) in of_group.iter_mut().zip(recount(launch, job)) {
            *sum += found;
        }
    }
    completed(launch.job_count(), sums)
}

#[cfg(test)]
fn completed(jobs_done: u32, sums: Vec<u64>) -> Completed {
    use super::device::{DeviceSpans, Ticket};
    Completed {
        ticket: Ticket(0),
        sums,
        jobs_done,
        stream: 0,
        spans: DeviceSpans::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Layout, ThreadUse};

    /// Jobs whose last word is their group, of two words and one sum.
    fn program() -> DeviceProgram {
        let layout = Layout {
            job_words: |_| JOB_WORDS,
            group_word: Some(3),
            group_words: 2,
            group_sums: 1,
            check: |_| Ok(()),
        };
        #[expect(unsafe_code, reason = "nothing launches it")]
        // SAFETY: nothing launches it.
        unsafe {
            DeviceProgram::new("made_up", ThreadUse::OnePerJob, layout)
        }
    }

    fn jobs() -> Jobs {
        let mut jobs = Jobs {
            tables: vec![10, 11, 20, 21],
            groups: [0, 1].map(|task| JobGroup { task, weight: 8 }).to_vec(),
            ..Jobs::default()
        };
        for job in [[7, 7, 7, 0], [8, 8, 8, 1], [9, 9, 9, 1]] {
            jobs.add(job);
        }
        jobs
    }

    #[test]
    fn every_seed_picks_a_job_and_gives_it_a_group_of_its_own() {
        for seed in [0, 1, 2, u64::MAX / 2, u64::MAX] {
            let made = jobs().into_launch(program(), seed).unwrap().unwrap();
            assert_eq!(made.sampled[3], 2, "seed {seed}");
            let (all, _) = made.launch.jobs().as_chunks::<JOB_WORDS>();
            assert!(all.contains(&made.sampled));
            let of_first = made.sampled[0] == 7;
            assert_eq!(made.from, usize::from(!of_first));
            let table = if of_first { [10, 11] } else { [20, 21] };
            assert_eq!(made.launch.tables()[4..], table);
        }
        let none = Jobs::default().into_launch(program(), 1).unwrap();
        assert!(none.is_none());
    }

    #[test]
    fn what_is_missing_or_wrong_is_noticed() {
        let made = jobs().into_launch(program(), 1).unwrap().unwrap();
        let refused = |jobs_done, sums: &[u64]| {
            let completed = completed(jobs_done, sums.to_vec());
            let sums = made.sums(Some(&completed), |_, _, _| [5]);
            let sums = sums.map(|sums| sums.map(|(_, [sum])| sum).sum::<u64>());
            sums.map_err(|wrong| wrong.0)
        };
        assert_eq!(refused(3, &[1, 2, 5]), Ok(8));
        for (jobs, sums, says) in [
            (2, &[1, 2, 5][..], "jobs of"),
            (3, &[1, 2], "sums, not"),
            (3, &[1, 5, 2], "sampled job"),
        ] {
            let said = refused(jobs, sums).unwrap_err();
            assert!(said.contains(says), "{said}");
        }
    }
}
