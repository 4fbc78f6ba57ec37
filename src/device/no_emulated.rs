//! In place of [`emulated`](super::emulated) in a build without it.

use super::{Device, OpenError, needs_feature};

/// Says what is missing.
///
/// # Errors
/// As said.
pub fn open_emulated(_: usize) -> Result<Box<dyn Device>, OpenError> {
    Err(OpenError(needs_feature(
        "the emulated device",
        "emulated-gpu",
    )))
}
