//! What an owner does when its device fails: a lost context, a hang, an error.

use std::time::Duration;

use super::DeviceError;
use super::opening::open_tested;
use super::owner::{Owner, OwnerEvent, ReturnReason};
use crate::engine::Task;

impl Owner {
    /// For how long the oldest launch has been under way, if that is too long.
    pub(super) fn overdue(&self) -> Option<Duration> {
        let oldest = self.in_flight.iter().min_by_key(|flight| flight.since)?;
        let cost: f64 = self
            .in_flight
            .iter()
            .flat_map(|flight| &flight.tasks)
            .map(|task| task.cost)
            .sum();
        // Of the first launch it is known only that it was meant to be short.
        let expected = self.speed().map_or(0.0, |speed| cost / speed);
        let waited = oldest.since.elapsed();
        let too_long = self
            .settings
            .least_patience
            .as_secs_f64()
            .max(10.0 * expected);
        (waited.as_secs_f64() > too_long).then_some(waited)
    }

    pub(super) fn fail(&mut self, error: &DeviceError, events: &mut Vec<OwnerEvent>) {
        match error {
            DeviceError::Lost(_) => self.lose(error.to_string(), events),
            DeviceError::OutOfMemory | DeviceError::NoKernel(_) => {
                self.give_up(error.to_string(), events);
            }
        }
    }

    /// The device is lost: return its tasks and open it again.
    pub(super) fn lose(&mut self, mut reason: String, events: &mut Vec<OwnerEvent>) {
        let tasks = self.take_back();
        self.device = None;
        while self.restarts_left > 0 && self.device.is_none() {
            self.restarts_left -= 1;
            match open_tested(&mut self.open, self.launcher.as_ref()) {
                Ok(device) => {
                    self.device = Some(device);
                    self.pace.restart();
                }
                Err(error) => reason = format!("{reason}; {error}"),
            }
        }
        let reason = match self.device {
            Some(_) => ReturnReason::Lost(reason),
            None => ReturnReason::GivenUp(reason),
        };
        events.push(OwnerEvent::Returned { tasks, reason });
    }

    pub(super) fn give_up(&mut self, reason: String, events: &mut Vec<OwnerEvent>) {
        let tasks = self.take_back();
        self.device = None;
        let reason = ReturnReason::GivenUp(reason);
        events.push(OwnerEvent::Returned { tasks, reason });
    }

    pub(super) fn take_back(&mut self) -> Vec<Task> {
        self.halting = false;
        let in_flight = self.in_flight.drain(..);
        let mut tasks: Vec<Task> = in_flight.flat_map(|flight| flight.tasks).collect();
        tasks.extend(self.pending.drain(..).flatten());
        tasks
    }
}
