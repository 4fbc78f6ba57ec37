//! What an owner does when its device fails: a lost context, a hang, an error.

use std::time::Duration;

use super::DeviceError;
use super::opening::{DeviceTrouble, open_tested};
use super::owner::Owner;
use super::owner_event::{OwnerEvent, ReturnReason};
use crate::engine::Task;

/// How long launches may take to end that were asked to: a job takes some milliseconds.
const HALT_PATIENCE: Duration = Duration::from_secs(5);

impl Owner {
    /// For how long the oldest launch has been under way, if that is too long.
    pub(super) fn overdue(&self) -> Option<Duration> {
        let oldest = self.in_flight.iter().min_by_key(|flight| flight.since)?;
        // Of the first launch it is known only that it was meant to be short.
        let tasks = self.in_flight.iter().flat_map(|flight| &flight.tasks);
        let cost: f64 = tasks.map(|task| task.cost).sum();
        let expected = self.speed().map_or(0.0, |speed| cost / speed);
        let waited = oldest.since.elapsed();
        let patience = self.settings.least_patience;
        let too_long = waited.as_secs_f64() > patience.as_secs_f64().max(10.0 * expected);
        let asked_to_end = self.halting.map(|since| since.elapsed());
        let does_not_end = asked_to_end.is_some_and(|since| since > patience.min(HALT_PATIENCE));
        (too_long || does_not_end).then_some(waited)
    }

    pub(super) fn fail(&mut self, error: &DeviceError, events: &mut Vec<OwnerEvent>) {
        match error {
            // There is no launch that it could wait for.
            DeviceError::Lost(_) | DeviceError::Busy => self.lose(error.to_string(), events),
            DeviceError::OutOfMemory | DeviceError::NoKernel(_) => {
                self.give_up(error.to_string(), events);
            }
        }
    }

    /// The device is lost. Its tasks come back at once; to close the device and to open it again takes long,
    /// and is left to the next [`work`](Self::work).
    pub(super) fn lose(&mut self, reason: String, events: &mut Vec<OwnerEvent>) {
        events.push(OwnerEvent::Returned {
            tasks: self.take_back(),
            reason: ReturnReason::Failed(reason.clone()),
        });
        self.failed = Some(reason);
    }

    pub(super) fn give_up(&mut self, reason: String, events: &mut Vec<OwnerEvent>) {
        self.restarts_left = 0;
        self.lose(reason, events);
    }

    /// Closes the device, which failed for this `reason`, and opens it again.
    pub(super) fn start_again(&mut self, mut reason: String, events: &mut Vec<OwnerEvent>) {
        self.device = None;
        while self.restarts_left > 0 {
            self.restarts_left -= 1;
            match open_tested(&mut self.open, &mut self.launcher) {
                Ok(device) => {
                    self.device = Some(device);
                    self.pace.restart();
                    return events.push(OwnerEvent::Restarted(reason));
                }
                Err(DeviceTrouble::Wrong(why)) => {
                    self.restarts_left = 0;
                    return events.push(OwnerEvent::Mismatch(why));
                }
                Err(DeviceTrouble::Failed(why)) if reason.ends_with(&why) => {}
                Err(DeviceTrouble::Failed(why)) => reason = format!("{reason}; {why}"),
            }
        }
        // Those that were offered since.
        let tasks = self.take_back();
        if !tasks.is_empty() {
            events.push(OwnerEvent::Returned {
                tasks,
                reason: ReturnReason::Failed(reason.clone()),
            });
        }
        events.push(OwnerEvent::GivenUp(reason));
    }

    pub(super) fn take_back(&mut self) -> Vec<Task> {
        self.halting = None;
        self.full = false;
        let in_flight = self.in_flight.drain(..).map(|flight| flight.tasks);
        in_flight.chain(self.pending.drain(..)).flatten().collect()
    }
}
