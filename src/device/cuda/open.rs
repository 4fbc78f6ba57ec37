//! Which process a device is opened in.

use super::CudaSettings;
use super::in_child::InChild;
use super::poisoned::{Poisoned, any_failed, poisoned};
use super::stream::Cuda;
use crate::device::{Device, OpenError};

/// Opens the device that `settings` name: in this process, or in a child if it has failed in this process.
///
/// # Errors
/// There is no driver or no such device, or it cannot be used.
pub fn open(settings: &CudaSettings) -> Result<Box<dyn Device>, OpenError> {
    let in_child = || InChild::open(settings).map(|device| Box::new(device) as Box<dyn Device>);
    match poisoned(settings.index) {
        Some(Poisoned::Endless) => Err(OpenError("a launch on it does not end".to_owned())),
        Some(Poisoned::Failed) => in_child(),
        None => match Cuda::open(settings.clone()) {
            Ok(device) => Ok(Box::new(device)),
            // The error of another device may stick to all of them.
            Err(_) if any_failed() => in_child(),
            Err(error) => Err(error),
        },
    }
}
