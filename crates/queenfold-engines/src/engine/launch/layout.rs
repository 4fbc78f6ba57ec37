//! How kernels read the words of a launch, and which words they must not be given.

/// How a kernel reads the words of a launch.
///
/// [`Launch::new`](super::Launch::new) refuses words that do not fit, because kernels index memory
/// by them without checks of their own.
#[derive(Clone, Copy)]
pub struct Layout {
    /// Words of a job.
    pub job_words: JobWords,
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

/// How many words a job has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobWords {
    /// The same number in every job.
    Fixed(usize),
    /// `fixed`, and one for each row above the one that jobs begin at. The word at `table_word` of
    /// the table says how many rows these are.
    AndRowsAbove {
        /// Words that every job has.
        fixed: usize,
        /// The position of the word of the table.
        table_word: usize,
    },
}

/// Words that no kernel must be given. The text says which word, and what it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LaunchError {
    /// The last job is cut off.
    #[error("{words} words are no whole number of jobs of {job_words} words")]
    JobWords {
        /// Words given.
        words: usize,
        /// Words of a job.
        job_words: usize,
    },
    /// More jobs than a kernel can number.
    #[error("{0} jobs in one launch; at most 2^31 - 1 fit")]
    TooManyJobs(usize),
    /// The last group is cut off, or there is another number of groups than one where jobs name
    /// none.
    #[error("{words} words are no table of {groups} of {group_words} words")]
    TableWords {
        /// Words given.
        words: usize,
        /// Words of a group.
        group_words: usize,
        /// `one group` or `groups`.
        groups: &'static str,
    },
    /// A job is of a group that is not in the table.
    #[error("job {job} is of group {group}, and there are {groups} groups")]
    Group {
        /// The position of the job.
        job: usize,
        /// Its group.
        group: u32,
        /// Groups in the table.
        groups: usize,
    },
    /// The table holds a number that the kernel does not handle.
    #[error("word {word} of the table is {value}, not {least} to {most}")]
    TableValue {
        /// The position of the word.
        word: usize,
        /// What it is.
        value: u32,
        /// The smallest number allowed.
        least: u32,
        /// The largest number allowed.
        most: u32,
    },
    /// A job holds what the kernel does not handle.
    #[error("job {job}: {why}")]
    Job {
        /// The position of the job.
        job: usize,
        /// What is wrong with it.
        why: &'static str,
    },
}

/// The words of a launch that a kernel's own check looks at. Sizes and groups are right.
pub struct LaunchWords<'a> {
    /// What the kernel is compiled for; 0 where there is one variant alone.
    pub specialisation: u32,
    /// The words of all jobs.
    pub jobs: &'a [u32],
    /// Words of a job.
    pub job_words: usize,
    /// The words of all tables.
    pub tables: &'a [u32],
}

impl Layout {
    /// Whether a kernel may be given these words. If so: the number of jobs, and of sums.
    pub(super) fn check(
        &self,
        specialisation: u32,
        jobs: &[u32],
        tables: &[u32],
    ) -> Result<(u32, usize), LaunchError> {
        let groups = self.groups(tables)?;
        let job_words = self.job_words_by(tables);
        let job_count = job_count(jobs.len(), job_words)?;
        if let Some(word) = self.group_word {
            check_groups(jobs, job_words, word, groups)?;
        }
        let words = LaunchWords {
            specialisation,
            jobs,
            job_words,
            tables,
        };
        (self.check)(&words)?;
        Ok((job_count, groups * self.group_sums))
    }

    fn groups(&self, tables: &[u32]) -> Result<usize, LaunchError> {
        let words = tables.len();
        let one = self.group_word.is_none();
        let group_words = self.group_words;
        let groups = words / group_words;
        if !words.is_multiple_of(group_words) || (one && groups != 1) {
            return Err(LaunchError::TableWords {
                words,
                group_words,
                groups: if one { "one group" } else { "groups" },
            });
        }
        Ok(groups)
    }

    fn job_words_by(&self, tables: &[u32]) -> usize {
        match self.job_words {
            JobWords::Fixed(words) => words,
            JobWords::AndRowsAbove { fixed, table_word } => {
                fixed.saturating_add(tables[table_word] as usize)
            }
        }
    }
}

fn job_count(words: usize, job_words: usize) -> Result<u32, LaunchError> {
    if !words.is_multiple_of(job_words) {
        return Err(LaunchError::JobWords { words, job_words });
    }
    let jobs = words / job_words;
    // A host that ends a launch early writes 2³¹ into the number of the next job.
    u32::try_from(jobs)
        .ok()
        .filter(|jobs| *jobs < 1 << 31)
        .ok_or(LaunchError::TooManyJobs(jobs))
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
    let beyond = of_jobs().enumerate();
    let mut beyond = beyond.filter(|(_, group)| *group as usize >= groups);
    match beyond.next() {
        Some((job, group)) => Err(LaunchError::Group { job, group, groups }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Jobs of three words, the last of which is the group; a group has two words and four sums.
    const GROUPED: Layout = Layout {
        job_words: JobWords::Fixed(3),
        group_word: Some(2),
        group_words: 2,
        group_sums: 4,
        check: |words| match words
            .jobs
            .chunks(words.job_words)
            .position(|job| job[0] == 9)
        {
            Some(job) => Err(LaunchError::Job { job, why: "nine" }),
            None => Ok(()),
        },
    };

    /// Jobs of one word and as many more as the table says; one group, of one word.
    const ALONE: Layout = Layout {
        job_words: JobWords::AndRowsAbove {
            fixed: 1,
            table_word: 0,
        },
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

    #[test]
    fn a_job_that_is_cut_off_is_refused() {
        let (words, job_words) = (5, 3);
        let error = LaunchError::JobWords { words, job_words };
        assert_eq!(GROUPED.check(0, &[0; 5], &[7; 4]), Err(error));
        let job_words = 4;
        let error = LaunchError::JobWords { words, job_words };
        assert_eq!(ALONE.check(0, &[0; 5], &[3]), Err(error));
        // A table that asks for jobs longer than memory.
        assert!(ALONE.check(0, &[0; 5], &[u32::MAX]).is_err());
    }

    #[test]
    fn a_group_that_is_cut_off_is_refused() {
        let error = GROUPED.check(0, &[0; 3], &[7; 3]).unwrap_err();
        let said = "3 words are no table of groups of 2 words";
        assert_eq!(error.to_string(), said);
    }

    #[test]
    fn a_kernel_without_groups_has_one_table() {
        for tables in [&[][..], &[3, 3]] {
            let error = ALONE.check(0, &[0; 4], tables).unwrap_err();
            assert!(matches!(error, LaunchError::TableWords { .. }), "{error}");
        }
    }

    #[test]
    fn a_job_of_a_group_that_is_not_there_is_refused() {
        for (job, group, groups) in [(1, 2, 2), (1, u32::MAX, 2), (0, 0, 0)] {
            let jobs = [1, 1, 0, 1, 1, group];
            let refused = GROUPED.check(0, &jobs, &vec![7; 2 * groups]);
            assert_eq!(refused, Err(LaunchError::Group { job, group, groups }));
        }
    }

    #[test]
    fn more_jobs_than_a_kernel_numbers_are_refused() {
        assert_eq!(job_count((1 << 31) - 1, 1), Ok((1 << 31) - 1));
        for jobs in [1 << 31, 1 << 32, usize::MAX] {
            assert_eq!(job_count(jobs, 1), Err(LaunchError::TooManyJobs(jobs)));
        }
    }

    #[test]
    fn the_kernel_has_a_check_of_its_own() {
        let refused = GROUPED.check(0, &[1, 1, 0, 9, 1, 0], &[7; 2]).unwrap_err();
        assert_eq!(refused.to_string(), "job 1: nine");
    }
}
