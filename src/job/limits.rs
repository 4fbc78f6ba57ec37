//! The values that the settings of a job may have. The configuration of the program has the same
//! limits.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use super::{DeviceSettings, HardwareSettings, JobError, Tuning};
use crate::engine::BLOCK_THREADS;

/// CPU workers.
pub const WORKERS: RangeInclusive<usize> = 0..=1024;

/// The number of a device.
pub const DEVICE_INDEX: RangeInclusive<usize> = 0..=63;

/// Streams of a GPU.
pub const STREAMS: RangeInclusive<usize> = 1..=4;

/// Launches that a stream of a GPU holds.
pub const SLOTS_PER_STREAM: RangeInclusive<usize> = 1..=4;

/// How long a launch should take, in milliseconds.
pub const LAUNCH_MILLIS: RangeInclusive<usize> = 50..=5000;

/// Batches that may wait in the queue for each worker.
pub const QUEUE_PER_WORKER: RangeInclusive<usize> = 1..=64;

/// How long a batch should keep a worker busy: 1 ms to 3650 days.
pub const BATCH_TIME: RangeInclusive<Duration> =
    Duration::from_millis(1)..=Duration::from_secs(3650 * 86_400);

/// The share of the tasks that is counted a second time.
pub const AUDIT: RangeInclusive<f64> = 0.0..=1.0;

/// How often canaries are counted: every millisecond to every 3650 days.
pub const CANARY: RangeInclusive<Duration> =
    Duration::from_millis(1)..=Duration::from_secs(3650 * 86_400);

/// Whether a block of a GPU may have this many threads.
pub fn is_block(threads: u32) -> bool {
    BLOCK_THREADS.contains(&threads) && threads.is_multiple_of(32)
}

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
        let DeviceSettings {
            block,
            streams,
            slots_per_stream,
            batch_time,
        } = &self.device;
        if !is_block(*block) {
            return refused("device.block", "a multiple of 32 from 32 to 256");
        }
        within("device.streams", *streams, &STREAMS)?;
        within(
            "device.slots_per_stream",
            *slots_per_stream,
            &SLOTS_PER_STREAM,
        )?;
        let millis = |limit: &usize| Duration::from_millis(*limit as u64);
        let batch_times = millis(LAUNCH_MILLIS.start())..=millis(LAUNCH_MILLIS.end());
        within("device.batch_time", *batch_time, &batch_times)
    }
}

impl Tuning {
    /// Refuses settings that are beyond their limits.
    pub(crate) fn check(&self) -> Result<(), JobError> {
        let Self {
            queue_per_worker,
            batch_time,
            audit,
            canary,
        } = *self;
        within("queue_per_worker", queue_per_worker, &QUEUE_PER_WORKER)?;
        within("batch_time", batch_time, &BATCH_TIME)?;
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
        let refused: [(&str, &[Change]); 6] = [
            ("workers", &[|s| s.workers = Some(1025)]),
            (
                "device_indices",
                &[
                    |s| s.device_indices = Some(vec![]),
                    |s| s.device_indices = Some(vec![2, 0, 2]),
                    |s| s.device_indices = Some(vec![64]),
                ],
            ),
            (
                "device.block",
                &[
                    |s| s.device.block = 0,
                    |s| s.device.block = 48,
                    |s| s.device.block = 288,
                ],
            ),
            (
                "device.streams",
                &[|s| s.device.streams = 0, |s| s.device.streams = 5],
            ),
            (
                "device.slots_per_stream",
                &[
                    |s| s.device.slots_per_stream = 0,
                    |s| s.device.slots_per_stream = 5,
                ],
            ),
            (
                "device.batch_time",
                &[
                    |s| s.device.batch_time = Duration::from_millis(49),
                    |s| s.device.batch_time = Duration::from_millis(5001),
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
        let allowed: [Change; 3] = [
            |s| s.device_indices = Some(vec![63, 0]),
            |s| s.device.block = 256,
            |s| s.device.batch_time = Duration::from_millis(50),
        ];
        for change in allowed {
            assert!(find(change).is_ok());
        }
    }

    #[test]
    fn tuning_beyond_its_limits_is_refused() {
        let changes: [fn(&mut Tuning); 7] = [
            |t| t.queue_per_worker = 0,
            |t| t.queue_per_worker = 65,
            |t| t.batch_time = Duration::ZERO,
            |t| t.batch_time = Duration::MAX,
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
