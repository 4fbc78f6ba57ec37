//! What a device counts that has nothing else to do: its canary, which shows whether it is to be used.

use std::sync::Arc;
use std::time::Duration;

use super::{Device, DeviceError, OpenError, Properties};
use crate::engine::{Canary, DeviceCanary, LaunchBatch, Launcher, Mismatch, Tally};

/// How long a device may take for its canary, without the compilation of its kernel.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a device counted of its canary.
pub struct CountedCanary {
    canary: Canary,
    /// For all its tasks in their order, and again for each copy.
    tallies: Vec<Tally>,
}

impl CountedCanary {
    /// The same with other counts, to inject faults.
    pub fn map(mut self, distort: impl FnMut(Tally) -> Tally) -> Self {
        self.tallies = self.tallies.into_iter().map(distort).collect();
        self
    }

    /// Compares each count with the known one. Returns the number of counts.
    ///
    /// # Errors
    /// One is another.
    pub fn compare(&self) -> Result<u64, Mismatch> {
        let tasks = self.canary.tasks().len();
        for (at, tally) in self.tallies.iter().enumerate() {
            self.canary.compare(at % tasks, tally)?;
        }
        Ok(self.tallies.len() as u64)
    }
}

/// Why a device is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceTrouble {
    /// It failed: what it counted before may be right.
    Failed(String),
    /// It counts wrongly: what it counted since it last counted its canary must be counted again.
    Wrong(String),
}

impl DeviceTrouble {
    /// What happened.
    pub fn into_words(self) -> String {
        match self {
            Self::Failed(why) | Self::Wrong(why) => why,
        }
    }

    /// The same, with the name of the device.
    pub(super) fn of(self, name: &str) -> Self {
        match self {
            Self::Failed(why) => Self::Failed(format!("{name}: {why}")),
            Self::Wrong(why) => Self::Wrong(format!("{name}: {why}")),
        }
    }
}

impl From<OpenError> for DeviceTrouble {
    fn from(OpenError(why): OpenError) -> Self {
        Self::Failed(why)
    }
}

impl From<DeviceError> for DeviceTrouble {
    fn from(error: DeviceError) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<Mismatch> for DeviceTrouble {
    fn from(Mismatch(what): Mismatch) -> Self {
        Self::Wrong(what)
    }
}

/// Lets the device, which has nothing else to do, count its canary, in as many copies as its multiprocessors need.
///
/// # Errors
/// It failed, or what was counted again on the CPU is another number.
pub(super) fn count_canary(
    device: &mut dyn Device,
    launcher: &dyn Launcher,
) -> Result<CountedCanary, DeviceTrouble> {
    let multiprocessors = device.properties().multiprocessors.max(1);
    let canary = launcher.canary(multiprocessors);
    let DeviceCanary { canary, batch } =
        canary.map_err(|error| DeviceTrouble::Failed(error.to_string()))?;
    let (tallies, _) = count_alone(device, batch, PATIENCE)?;
    Ok(CountedCanary { canary, tallies })
}

/// Lets the device, which has nothing else to do, count a batch, and waits for that. Returns the tally of each
/// task, and how long the kernel ran.
pub(super) fn count_alone(
    device: &mut dyn Device,
    batch: Box<dyn LaunchBatch>,
    patience: Duration,
) -> Result<(Vec<Tally>, Duration), DeviceTrouble> {
    let mut completed = None;
    if let Some(launch) = batch.launch() {
        device.submit(launch)?;
        let none = || DeviceTrouble::Failed(format!("no answer for {patience:?}"));
        let answer = device.poll(patience)?.ok_or_else(none)?;
        let (done, sent) = (answer.jobs_done, launch.job_count());
        if done != sent {
            let why = format!("the device counted {done} jobs of {sent}");
            return Err(DeviceTrouble::Failed(why));
        }
        completed = Some(answer);
    }
    let kernel = completed.as_ref().map(|completed| completed.spans.kernel);
    let took = kernel.map_or(Duration::ZERO, |span| span.end.saturating_sub(span.start));
    Ok((batch.tallies(completed.as_ref())?, took))
}

/// The launcher itself, or one whose launches do with the shared memory of the device.
pub fn fitted(launcher: Arc<dyn Launcher>, device: &Properties) -> Arc<dyn Launcher> {
    let shared_memory = device.shared_memory;
    let other = shared_memory.and_then(|bytes| launcher.fitted(bytes));
    other.unwrap_or(launcher)
}
