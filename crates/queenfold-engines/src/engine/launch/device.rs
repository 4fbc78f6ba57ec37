//! What a device is, what it is asked to do, and what it answers.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::layout::LaunchError;
use super::program::DeviceProgram;
use crate::board::decimal;
use crate::engine::DeviceIdentity;
use crate::engine::mismatch::Mismatch;

/// What is known of a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Properties {
    /// Which device it is.
    #[serde(flatten)]
    pub identity: DeviceIdentity,
    /// Major and minor compute capability; `None` if it is no GPU.
    pub compute: Option<(u32, u32)>,
    /// Bytes of its memory; a decimal string in JSON, as all numbers of bytes.
    #[serde(with = "decimal")]
    pub memory: u64,
    /// Multiprocessors, or host threads.
    pub multiprocessors: u32,
    /// Bytes of memory that the threads of a multiprocessor share; `None` if it is no GPU.
    pub shared_memory: Option<u32>,
    /// Whether the system ends a launch that takes some seconds, because the device also shows a display.
    pub watchdog: bool,
    /// The version of its driver; empty if it has none.
    pub driver: String,
}

/// A device, owned by one thread.
///
/// Launches of different streams may overlap and end in any order. After [`DeviceError::Lost`] a device
/// cannot be used any more.
pub trait Device {
    /// What it is.
    fn properties(&self) -> &Properties;

    /// When it was opened: the moment that [`DeviceSpan`]s are measured from.
    fn opened(&self) -> Instant;

    /// How many launches it can hold at a time, running and waiting.
    fn slots(&self) -> usize;

    /// Takes a launch. There must be a slot for it.
    ///
    /// # Errors
    /// The launch was not taken; see [`DeviceError`].
    fn submit(&mut self, launch: &Launch) -> Result<Ticket, DeviceError>;

    /// Waits for a launch to end, for at most `patience` and without using the CPU. `None` if none
    /// ended.
    ///
    /// # Errors
    /// The device failed; the state of its launches is unknown.
    fn poll(&mut self, patience: Duration) -> Result<Option<Completed>, DeviceError>;

    /// Ends every launch as soon as the jobs under way are done.
    fn cancel(&mut self);
}

/// A device could not do what it was asked to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// The device has to get more memory for the launch, and that would stop the launches under way: submit
    /// it again when they have ended. Only while there are some.
    #[error("the device has to end its launches first")]
    Busy,
    /// Not enough memory for the launch: a smaller one may fit.
    #[error("out of device memory")]
    OutOfMemory,
    /// No kernel that the device can run could be made.
    #[error("no kernel for this device: {0}")]
    NoKernel(String),
    /// The device, or what connects it, failed.
    #[error("the device failed: {0}")]
    Lost(String),
}

/// A device could not be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct OpenError(pub String);

impl From<String> for OpenError {
    fn from(why: String) -> Self {
        Self(why)
    }
}

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// A launch that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceSpans {
    /// Copying jobs to the device.
    pub upload: DeviceSpan,
    /// Counting.
    pub kernel: DeviceSpan,
    /// Copying sums back.
    pub download: DeviceSpan,
}

/// A stretch of time, measured from when the device was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceSpan {
    /// Its beginning.
    pub start: Duration,
    /// Its end, not before the beginning.
    pub end: Duration,
}
