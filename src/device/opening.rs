//! Opening a device: it is used only if it counts a small board correctly.

use std::time::Duration;

use super::{Device, OpenError};
use crate::engine::{Launcher, SelfTest, Tally};

/// Opens a device, and opens it again after it was lost.
pub type Opener = Box<dyn FnMut() -> Result<Box<dyn Device>, OpenError>>;

/// How long a device may take for its self-test, without the compilation of its kernel.
const SELF_TEST: Duration = Duration::from_secs(30);

/// Opens the device and tests it.
pub(super) fn open_tested(
    open: &mut Opener,
    launcher: &dyn Launcher,
) -> Result<Box<dyn Device>, OpenError> {
    let mut device = open()?;
    let name = device.properties().identity.name.clone();
    match self_test(device.as_mut(), launcher) {
        Ok(()) => Ok(device),
        Err(why) => Err(OpenError(format!("{name}: {why}"))),
    }
}

/// Lets the device count a small board.
///
/// # Errors
/// It cannot, or it counts wrongly; in words.
fn self_test(device: &mut dyn Device, launcher: &dyn Launcher) -> Result<(), String> {
    let SelfTest {
        n,
        batch,
        solutions,
    } = launcher.self_test().map_err(|error| error.to_string())?;
    let mut completed = None;
    if let Some(launch) = batch.launch() {
        device.submit(launch).map_err(|error| error.to_string())?;
        let answer = device.poll(SELF_TEST).map_err(|error| error.to_string())?;
        completed = Some(answer.ok_or("no answer to its self-test")?);
    }
    let tallies = batch
        .tallies(completed.as_ref())
        .map_err(|mismatch| mismatch.0)?;
    let sum: Tally = tallies.into_iter().sum();
    let counted = sum.completions.solutions();
    if counted == solutions {
        return Ok(());
    }
    Err(format!(
        "it counts {counted} solutions of {n} queens, not {solutions}"
    ))
}
