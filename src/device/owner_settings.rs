//! How an owner treats its device.

use std::time::Duration;

use super::Properties;

/// How an owner treats its device.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnerSettings {
    /// How long a launch should take, 50 ms to 5 s: long compared with the gap between two launches,
    /// short compared with the run. While the last jobs of a launch are counted, most threads are idle; in
    /// 3 s, the default, that costs 5 % or less (docs/lab/2026-11-24.md).
    pub batch_time: Duration,
    /// The cost of the first launches, before the speed of the device is known, in core-seconds.
    pub first_cost: f64,
    /// The most jobs in a launch of more than one task.
    pub most_jobs: u32,
    /// How often to open a lost device again.
    pub restarts: u32,
    /// A launch is lost if it takes this long and also ten times as long as its cost predicts.
    pub least_patience: Duration,
}

impl Default for OwnerSettings {
    fn default() -> Self {
        Self {
            batch_time: Duration::from_secs(3),
            // A tenth of a second on an H100, some seconds on a slow device.
            first_cost: 12.0,
            most_jobs: 8 << 20,
            restarts: 2,
            least_patience: Duration::from_secs(20),
        }
    }
}

impl OwnerSettings {
    /// How long a launch should take on this device: less than [`batch_time`](Self::batch_time) if it shows a
    /// display.
    pub fn batch_time_on(&self, device: &Properties) -> Duration {
        match device.watchdog {
            true => self.batch_time.min(SHORT_ENOUGH),
            false => self.batch_time,
        }
    }
}

/// Launches of a device that shows a display take this long: the system ends those that take two seconds or
/// more, the exact limit depends on the system, and the cost of a launch is only estimated.
const SHORT_ENOUGH: Duration = Duration::from_millis(400);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{DeviceIdentity, DeviceKind};

    #[test]
    fn launches_are_short_on_a_device_that_shows_a_display() {
        let mut device = Properties {
            identity: DeviceIdentity {
                kind: DeviceKind::Emulated,
                index: 0,
                name: String::new(),
            },
            compute: None,
            memory: 0,
            multiprocessors: 1,
            shared_memory: None,
            watchdog: false,
            driver: String::new(),
        };
        let mut settings = OwnerSettings::default();
        assert_eq!(settings.batch_time_on(&device), settings.batch_time);
        device.watchdog = true;
        assert_eq!(settings.batch_time_on(&device), SHORT_ENOUGH);
        settings.batch_time = SHORT_ENOUGH / 2;
        assert_eq!(settings.batch_time_on(&device), settings.batch_time);
    }
}
