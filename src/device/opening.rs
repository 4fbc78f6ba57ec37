//! Opening a device: it is used only if it counts its canary correctly.

use std::sync::Arc;
use std::time::Duration;

use super::{Device, OpenError};
use crate::engine::{Canary, DeviceCanary, Launcher, Mismatch, Tally};

/// Opens a device, and opens it again after it was lost.
pub type Opener = Box<dyn FnMut() -> Result<Box<dyn Device>, OpenError>>;

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
    #[cfg(feature = "fault-injection")]
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

/// Opens the device and tests it with the launcher that fits it, which `launcher` becomes.
pub(super) fn open_tested(
    open: &mut Opener,
    launcher: &mut Arc<dyn Launcher>,
) -> Result<Box<dyn Device>, OpenError> {
    let mut device = open()?;
    let properties = device.properties();
    let name = properties.identity.name.clone();
    let shared_memory = properties.shared_memory;
    if let Some(fitted) = shared_memory.and_then(|bytes| launcher.fitted(bytes)) {
        *launcher = fitted;
    }
    let counted = count_canary(device.as_mut(), launcher.as_ref());
    let right = counted.and_then(|counted| counted.compare().map_err(|wrong| wrong.0));
    match right {
        Ok(_) => Ok(device),
        Err(why) => Err(OpenError(format!("{name}: {why}"))),
    }
}

/// Lets the device, which has nothing else to do, count its canary, in as many copies as its multiprocessors need.
///
/// # Errors
/// It cannot, or what was counted again on the CPU is another number; in words.
pub(super) fn count_canary(
    device: &mut dyn Device,
    launcher: &dyn Launcher,
) -> Result<CountedCanary, String> {
    let multiprocessors = device.properties().multiprocessors.max(1);
    let DeviceCanary { canary, batch } = launcher
        .canary(multiprocessors)
        .map_err(|error| error.to_string())?;
    let mut completed = None;
    if let Some(launch) = batch.launch() {
        device.submit(launch).map_err(|error| error.to_string())?;
        let answer = device.poll(PATIENCE).map_err(|error| error.to_string())?;
        completed = Some(answer.ok_or("no answer to its canary")?);
    }
    let tallies = batch
        .tallies(completed.as_ref())
        .map_err(|mismatch| mismatch.0)?;
    Ok(CountedCanary { canary, tallies })
}
