//! What the machine does at the moment.

use serde::{Deserialize, Serialize};

#[cfg(not(target_os = "linux"))]
use super::elsewhere::clock;
#[cfg(target_os = "linux")]
use super::linux::clock;
use super::load::{CpuShares, LoadWatch};
use super::temperature::believed_temperatures;

/// What the machine does; `None` is what the system does not tell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Activity {
    /// The temperature of its hottest processor or GPU, in °C.
    pub celsius: Option<f64>,
    /// The mean clock of its processors, in MHz.
    pub mhz: Option<f64>,
    /// Who had its processors lately.
    pub shares: Option<CpuShares>,
}

/// Looks at the machine now and then.
#[derive(Debug)]
pub struct ActivityWatch(LoadWatch);

impl ActivityWatch {
    /// From now on.
    pub fn begin() -> Self {
        Self(LoadWatch::begin())
    }

    /// What the machine did since the last look.
    pub fn look(&mut self) -> Activity {
        let shares = std::mem::replace(&mut self.0, LoadWatch::begin()).shares();
        let warm = believed_temperatures().into_iter();
        Activity {
            celsius: warm.map(|of| of.celsius).max_by(f64::total_cmp),
            mhz: clock(),
            shares,
        }
    }
}
