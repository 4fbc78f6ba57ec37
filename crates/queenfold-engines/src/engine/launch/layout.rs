//! How kernels read the words of a launch, and which words they must not be given.

use std::ops::RangeInclusive;

/// How a kernel reads the words of a launch.
///
/// [`Launch::new`](super::Launch::new) refuses words that do not fit, because kernels index memory
/// by them without checks of their own.
#[derive(Clone, Copy)]
pub struct Layout {
    /// Words of a job, by those of the tables.
    pub job_words: fn(&[u32]) -> usize,
    /// Which word of a job is the index of its group. `None`: there is one group, and all jobs
    /// belong to it.
    pub group_word: Option<usize>,
    /// Words that the jobs of a group share. The groups come one after the other.
    pub group_words: usize,
    /// Sums that a group gives.
    pub group_sums: usize,
    /// What else has to hold so that the kernel stays within its memory and ends.
    pub check: fn(&LaunchWords<'_>) -> Result<(), LaunchError>,
}

/// Words that no kernel must be given. The text says which word, and what it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LaunchError(pub String);

/// The words of a launch that a kernel's own check looks at. Sizes and groups are right.
pub struct LaunchWords<'a> {
    /// The variant of the program; 0 where there is one alone.
    pub variant: u32,
    /// The words of all jobs.
    pub jobs: &'a [u32],
    /// Words of a job.
    pub job_words: usize,
    /// The words of all tables.
    pub tables: &'a [u32],
}

impl LaunchError {
    /// Refuses what a word of the tables says if it is not in this range.
    ///
    /// # Errors
    /// It is not.
    pub fn unless_within(word: usize, value: u32, range: RangeInclusive<u32>) -> Result<(), Self> {
        if range.contains(&value) {
            return Ok(());
        }
        let (least, most) = range.into_inner();
        Err(Self(format!(
            "word {word} of the tables says {value}, not {least} to {most}"
        )))
    }
}

impl Layout {
    /// Whether a kernel may be given these words. If so: the number of jobs, and of sums.
    pub(super) fn check(
        &self,
        variant: u32,
        jobs: &[u32],
        tables: &[u32],
    ) -> Result<(u32, usize), LaunchError> {
        let (words, group_words) = (tables.len(), self.group_words);
        let groups = words / group_words;
        if !words.is_multiple_of(group_words) || (self.group_word.is_none() && groups != 1) {
            let groups = self.group_word.map_or("one group", |_| "groups");
            return Err(LaunchError(format!(
                "{words} words are no table of {groups} of {group_words} words"
            )));
        }
        let job_words = (self.job_words)(tables);
        let job_count = job_count(jobs.len(), job_words)?;
        if let Some(word) = self.group_word {
            check_groups(jobs, job_words, word, groups)?;
        }
        (self.check)(&LaunchWords {
            variant,
            jobs,
            job_words,
            tables,
        })?;
        Ok((job_count, groups * self.group_sums))
    }
}

fn job_count(words: usize, job_words: usize) -> Result<u32, LaunchError> {
    if !words.is_multiple_of(job_words) {
        return Err(LaunchError(format!(
            "{words} words are no whole number of jobs of {job_words} words"
        )));
    }
    let jobs = words / job_words;
    // A host that ends a launch early writes 2³¹ into the number of the next job.
    let counted = u32::try_from(jobs).ok().filter(|jobs| *jobs < 1 << 31);
    counted.ok_or_else(|| LaunchError(format!("{jobs} jobs in one launch; at most 2^31 - 1 fit")))
}

fn check_groups(
    jobs: &[u32],
    job_words: usize,
    word: usize,
    groups: usize,
) -> Result<(), LaunchError> {
    let of_jobs = || jobs.chunks_exact(job_words).map(|job| job[word]);
    // The maximum first: a loop without exits is the fastest, and there are millions of jobs.
    let largest = of_jobs().max().unwrap_or(0);
    if jobs.is_empty() || (largest as usize) < groups {
        return Ok(());
    }
    let beyond = of_jobs().position(|group| group as usize >= groups);
    let job = beyond.unwrap_or_default();
    Err(LaunchError(format!(
        "job {job} is of group {}, and there are {groups} groups",
        jobs[job * job_words + word]
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Jobs of three words, the last of which is the group; a group has two words and four sums.
    const GROUPED: Layout = Layout {
        job_words: |_| 3,
        group_word: Some(2),
        group_words: 2,
        group_sums: 4,
        check: |words| match words
            .jobs
            .chunks(words.job_words)
            .position(|job| job[0] == 9)
        {
            Some(job) => Err(LaunchError(format!("job {job}: nine"))),
            None => Ok(()),
        },
    };

    /// Jobs of one word and as many more as the table says; one group, of one word.
    const ALONE: Layout = Layout {
        job_words: |tables| 1_usize.saturating_add(tables[0] as usize),
        group_word: None,
        group_words: 1,
        group_sums: 4,
        check: |_| Ok(()),
    };

    #[test]
    fn jobs_and_sums_follow_from_the_words() {
        let checked = GROUPED.check(0, &[1, 1, 0, 1, 1, 1], &[7; 4]);
        assert_eq!(checked, Ok((2, 8)));
        assert_eq!(ALONE.check(0, &[1; 12], &[3]), Ok((3, 4)));
        assert_eq!(GROUPED.check(0, &[], &[]), Ok((0, 0)));
    }

    fn refused(layout: &Layout, jobs: &[u32], tables: &[u32]) -> String {
        layout.check(0, jobs, tables).unwrap_err().0
    }

    #[test]
    fn a_job_that_is_cut_off_is_refused() {
        let said = "5 words are no whole number of jobs of";
        assert_eq!(
            refused(&GROUPED, &[0; 5], &[7; 4]),
            format!("{said} 3 words")
        );
        assert_eq!(refused(&ALONE, &[0; 5], &[3]), format!("{said} 4 words"));
        // A table that asks for jobs longer than memory.
        assert!(ALONE.check(0, &[0; 5], &[u32::MAX]).is_err());
    }

    #[test]
    fn a_group_that_is_cut_off_is_refused() {
        let said = "3 words are no table of groups of 2 words";
        assert_eq!(refused(&GROUPED, &[0; 3], &[7; 3]), said);
    }

    #[test]
    fn a_kernel_without_groups_has_one_table() {
        for tables in [&[][..], &[3, 3]] {
            let said = refused(&ALONE, &[0; 4], tables);
            assert!(said.ends_with("no table of one group of 1 words"), "{said}");
        }
    }

    #[test]
    fn a_job_of_a_group_that_is_not_there_is_refused() {
        for (job, group, groups) in [(1, 2, 2), (1, u32::MAX, 2), (0, 0, 0)] {
            let said = refused(&GROUPED, &[1, 1, 0, 1, 1, group], &vec![7; 2 * groups]);
            let expected = format!("job {job} is of group {group}, and there are {groups} groups");
            assert_eq!(said, expected);
        }
    }

    #[test]
    fn more_jobs_than_a_kernel_numbers_are_refused() {
        assert_eq!(job_count((1 << 31) - 1, 1), Ok((1 << 31) - 1));
        for jobs in [1 << 31, 1 << 32, usize::MAX] {
            assert!(job_count(jobs, 1).is_err(), "{jobs}");
        }
    }

    #[test]
    fn the_kernel_has_a_check_of_its_own() {
        assert_eq!(
            refused(&GROUPED, &[1, 1, 0, 9, 1, 0], &[7; 2]),
            "job 1: nine"
        );
    }
}
