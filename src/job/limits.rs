//! The values that the settings of a job may have. The configuration of the program has the same
//! limits.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use super::{HardwareSettings, JobError, Tuning};

/// CPU workers.
pub const WORKERS: RangeInclusive<usize> = 0..=1024;

/// The number of a device.
pub const DEVICE_INDEX: RangeInclusive<usize> = 0..=63;

/// The share of the tasks that is counted a second time.
pub const AUDIT: RangeInclusive<f64> = 0.0..=1.0;

/// How often canaries are counted: every millisecond to every 3650 days.
pub const CANARY: RangeInclusive<Duration> =
    Duration::from_millis(1)..=Duration::from_secs(3650 * 86_400);

impl HardwareSettings {
    /// Refuses settings of CPU workers that are beyond their limits.
    pub(super) fn check_workers(&self) -> Result<(), JobError> {
        match self.workers {
            Some(workers) => within("workers", workers, &WORKERS),
            None => Ok(()),
        }
    }

    /// Refuses settings of devices that are beyond their limits.
    pub(super) fn check_devices(&self) -> Result<(), JobError> {
        let indices = self.device_indices.as_deref();
        if let Some(indices) = indices {
            let again = |(at, index)| indices[..at].contains(index);
            if indices.is_empty() || indices.iter().enumerate().any(again) {
                return refused("device_indices", "at least one device, and none twice");
            }
            for index in indices {
                within("device_indices", *index, &DEVICE_INDEX)?;
            }
        }
        Ok(())
    }
}

impl Tuning {
    /// Refuses settings that are beyond their limits.
    #[doc(hidden)]
    pub fn check(&self) -> Result<(), JobError> {
        let Self { audit, canary } = *self;
        if let Some(canary) = canary {
            within("canary", canary, &CANARY)?;
        }
        within("audit", audit, &AUDIT)
    }
}

fn within<T: PartialOrd + fmt::Debug>(
    setting: &'static str,
    value: T,
    limits: &RangeInclusive<T>,
) -> Result<(), JobError> {
    if limits.contains(&value) {
        return Ok(());
    }
    let (least, most) = (limits.start(), limits.end());
    refused(setting, format!("{least:?} to {most:?}"))
}

fn refused(setting: &'static str, expected: impl Into<String>) -> Result<(), JobError> {
    let expected = expected.into();
    Err(JobError::Setting { setting, expected })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Size;
    use crate::job::{DeviceChoice, Hardware, Job};

    type Change = fn(&mut HardwareSettings);

    fn find(change: Change) -> Result<Hardware, JobError> {
        let mut settings = HardwareSettings {
            devices: DeviceChoice::Off,
            ..HardwareSettings::default()
        };
        change(&mut settings);
        Hardware::find(&settings)
    }

    #[test]
    fn hardware_beyond_its_limits_is_refused() {
        let refused: [(&str, &[Change]); 2] = [
            ("workers", &[|s| s.workers = Some(1025)]),
            (
                "device_indices",
                &[
                    |s| s.device_indices = Some(vec![]),
                    |s| s.device_indices = Some(vec![2, 0, 2]),
                    |s| s.device_indices = Some(vec![64]),
                ],
            ),
        ];
        for (setting, changes) in refused {
            for (at, change) in changes.iter().enumerate() {
                let error = find(*change).err().map(|error| error.to_string());
                let error = error.unwrap_or_else(|| panic!("{setting} {at} is accepted"));
                assert!(error.starts_with(&format!("{setting}: ")), "{error}");
            }
        }
        assert!(find(|s| s.device_indices = Some(vec![63, 0])).is_ok());
    }

    #[test]
    fn tuning_beyond_its_limits_is_refused() {
        let changes: [fn(&mut Tuning); 5] = [
            |t| t.canary = Some(Duration::ZERO),
            |t| t.canary = Some(Duration::MAX),
            |t| t.audit = -0.1,
            |t| t.audit = 1.1,
            |t| t.audit = f64::NAN,
        ];
        for (at, change) in changes.into_iter().enumerate() {
            let mut tuning = Tuning::default();
            change(&mut tuning);
            let job = Job::new(Size::new(8).unwrap()).devices(DeviceChoice::Off);
            let error = job.tuning(tuning).run().unwrap_err();
            assert!(matches!(error, JobError::Setting { .. }), "{at}: {error}");
        }
    }
}
