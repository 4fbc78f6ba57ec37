//! What a device is asked to do, and what it answers.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::layout::LaunchError;
use super::program::DeviceProgram;
use crate::engine::mismatch::Mismatch;

/// What a device is asked to do at once: count jobs with a program, and return sums.
///
/// The words are those of the program's own layout. A launch can only be made by
/// [`Launch::new`], which checks them against it: a kernel finds memory by these words and does
/// not check them again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    program: DeviceProgram,
    jobs: Vec<u32>,
    job_count: u32,
    tables: Vec<u32>,
    sums: usize,
}

impl Launch {
    /// A launch of `program` on `jobs`, which share `tables`.
    ///
    /// # Errors
    /// The words do not fit the program's layout.
    pub fn new(
        program: DeviceProgram,
        jobs: Vec<u32>,
        tables: Vec<u32>,
    ) -> Result<Self, LaunchError> {
        let (job_count, sums) = program.layout.check(program.variant(), &jobs, &tables)?;
        Ok(Self {
            program,
            jobs,
            job_count,
            tables,
            sums,
        })
    }

    /// What to run.
    pub const fn program(&self) -> DeviceProgram {
        self.program
    }

    /// The jobs, one after the other.
    pub fn jobs(&self) -> &[u32] {
        &self.jobs
    }

    /// How many jobs there are, below 2³¹.
    pub const fn job_count(&self) -> u32 {
        self.job_count
    }

    /// What the jobs of each group share, one group after the other.
    pub fn tables(&self) -> &[u32] {
        &self.tables
    }

    /// Bytes of its jobs and tables, which go up to the device.
    pub fn bytes(&self) -> u64 {
        ((self.jobs.len() + self.tables.len()) * size_of::<u32>()) as u64
    }

    /// How many 64-bit sums come back: those of each group, one group after the other.
    pub const fn sums(&self) -> usize {
        self.sums
    }

    /// The sums that came back; `None` stands for a device that returned nothing.
    ///
    /// # Errors
    /// Not every job was counted, or there are more or fewer sums than [`sums`](Self::sums).
    pub fn returned<'a>(&self, completed: Option<&'a Completed>) -> Result<&'a [u64], Mismatch> {
        let (done, sums) = completed.map_or((0, &[][..]), |completed| {
            (completed.jobs_done, &completed.sums[..])
        });
        let sent = self.job_count();
        if done != sent {
            return Err(Mismatch(format!(
                "the device counted {done} jobs of {sent}"
            )));
        }
        if sums.len() != self.sums {
            return Err(Mismatch(format!(
                "the device returned {} sums, not {}",
                sums.len(),
                self.sums
            )));
        }
        Ok(sums)
    }
}

/// Names a launch on the device it was submitted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ticket(pub u64);

/// A launch that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completed {
    /// Which.
    pub ticket: Ticket,
    /// The sums, in the kernel's order.
    pub sums: Vec<u64>,
    /// Jobs counted: all of them, or fewer if the launch was cancelled.
    pub jobs_done: u32,
    /// Where it ran: the stream's number, from 0.
    pub stream: usize,
    /// When its parts ran.
    pub spans: DeviceSpans,
}

/// The three parts of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceSpans {
    /// Copying jobs to the device.
    pub upload: DeviceSpan,
    /// Counting.
    pub kernel: DeviceSpan,
    /// Copying sums back.
    pub download: DeviceSpan,
}

/// A stretch of time, measured from when the device was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceSpan {
    /// Its beginning.
    pub start: Duration,
    /// Its end, not before the beginning.
    pub end: Duration,
}
