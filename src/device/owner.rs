//! Keeps a device busy with launches, and turns what comes back into tallies.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::opening::{CountedCanary, DeviceTrouble, Opener, count_canary, open_tested};
use super::owner_event::{LaunchTiming, OwnerEvent, ReturnReason};
use super::owner_settings::OwnerSettings;
use super::pace::Pace;
use super::{Device, DeviceError, Properties};
use crate::engine::{Completed, LaunchBatch, Launcher, Task, Ticket};

/// Keeps one device busy with tasks of one plan. Nothing else talks to that device.
///
/// Every task given to [`offer`](Self::offer) comes back exactly once, as a tally or as a task, by
/// [`work`](Self::work) or [`halt`](Self::halt), unless [`Mismatch`](OwnerEvent::Mismatch) ends all.
///
/// | failure | response |
/// |---|---|
/// | The device does not open, or miscounts its first canary. | It is not used. |
/// | It has no kernel, or a launch does not fit its program. | It is given up. |
/// | It is out of memory. | Batches are halved, down to one task; then it is given up. |
/// | It is lost, hangs, or returns fewer jobs than it was sent, also of a canary. | Its tasks are returned at once; it is opened and tested again, up to [`restarts`](OwnerSettings::restarts) times; then it is given up. |
/// | A sampled part of a launch has another count on the CPU, or it miscounts its canary when it is opened again. | [`Mismatch`](OwnerEvent::Mismatch): earlier counts may be wrong too. |
pub struct Owner {
    pub(super) open: Opener,
    pub(super) device: Option<Box<dyn Device>>,
    pub(super) properties: Properties,
    pub(super) launcher: Arc<dyn Launcher>,
    pub(super) settings: OwnerSettings,
    pub(super) restarts_left: u32,
    /// The most jobs a launch may have; falls when memory is short.
    pub(super) most_jobs: u32,
    /// What is not submitted yet.
    pub(super) pending: VecDeque<Vec<Task>>,
    pub(super) in_flight: Vec<InFlight>,
    pub(super) batches: u64,
    pub(super) pace: Pace,
    /// Since when the launches under way are asked to end early.
    pub(super) halting: Option<Instant>,
    /// Whether nothing can be submitted before a launch has ended.
    pub(super) full: bool,
    /// Why the device failed, until it is closed and opened again.
    pub(super) failed: Option<String>,
}

pub(super) struct InFlight {
    pub(super) ticket: Ticket,
    pub(super) tasks: Vec<Task>,
    pub(super) batch: Box<dyn LaunchBatch>,
    pub(super) since: Instant,
}

impl Owner {
    /// Opens the device, and lets it count its canary with the program of `launcher`.
    ///
    /// # Errors
    /// It cannot be used, and why.
    pub fn open(
        mut open: Opener,
        mut launcher: Arc<dyn Launcher>,
        mut settings: OwnerSettings,
    ) -> Result<Self, DeviceTrouble> {
        let device = open_tested(&mut open, &mut launcher)?;
        settings.batch_time = settings.batch_time_on(device.properties());
        Ok(Self {
            open,
            properties: device.properties().clone(),
            device: Some(device),
            launcher,
            restarts_left: settings.restarts,
            most_jobs: settings.most_jobs,
            settings,
            pending: VecDeque::new(),
            in_flight: Vec::new(),
            batches: 0,
            pace: Pace::default(),
            halting: None,
            full: false,
            failed: None,
        })
    }

    /// What the device is.
    pub const fn properties(&self) -> &Properties {
        &self.properties
    }

    /// Cost counted per second, once known.
    pub const fn speed(&self) -> Option<f64> {
        self.pace.speed
    }

    /// The cost of the tasks that would make the next launch; `None` if the device has enough, or
    /// was given up.
    pub fn wants(&self) -> Option<f64> {
        let takes_tasks = self.halting.is_none() && self.failed.is_none();
        let slots = self.device.as_ref().filter(|_| takes_tasks)?.slots();
        let room = self.in_flight.len() + self.pending.len() < slots;
        let launch = self.speed().map_or(self.settings.first_cost, |speed| {
            speed * self.settings.batch_time.as_secs_f64()
        });
        room.then_some(launch)
    }

    /// Whether it holds no tasks, and has no failed device to open again: there is nothing to
    /// [`work`](Self::work) on.
    pub fn is_idle(&self) -> bool {
        self.in_flight.is_empty() && self.pending.is_empty() && self.failed.is_none()
    }

    /// Lets the device count its canary. It must be [idle](Self::is_idle).
    ///
    /// # Errors
    /// It did not count it, and why. If it failed, the next [`work`](Self::work) opens it again.
    pub fn count_canary(&mut self) -> Result<CountedCanary, DeviceTrouble> {
        let Some(device) = &mut self.device else {
            return Err(DeviceTrouble::Failed("it was given up".to_owned()));
        };
        let counted = count_canary(device.as_mut(), self.launcher.as_ref());
        if let Err(DeviceTrouble::Failed(why)) = &counted {
            self.failed = Some(format!("it did not count its canary: {why}"));
        }
        counted
    }

    /// Takes tasks, to be one launch or a few.
    pub fn offer(&mut self, tasks: Vec<Task>) {
        if !tasks.is_empty() {
            self.pending.push_back(tasks);
        }
    }

    /// Submits what is pending and waits, at most for `patience`, for something else to report. Returns
    /// at once if there is nothing to wait for.
    pub fn work(&mut self, patience: Duration) -> Vec<OwnerEvent> {
        let mut events = Vec::new();
        if let Some(reason) = self.failed.take() {
            self.start_again(reason, &mut events);
            return events;
        }
        self.submit(&mut events);
        // To return after a launch was submitted would let the caller ask for the next one before
        // the speed is known, and first launches are large.
        if self.in_flight.is_empty() {
            return events;
        }
        let Some(device) = &mut self.device else {
            return events;
        };
        match device.poll(patience) {
            Ok(Some(completed)) => self.finish(&completed, &mut events),
            Ok(None) => {
                if let Some(waited) = self.overdue() {
                    self.lose(format!("no answer for {waited:.1?}"), &mut events);
                }
            }
            Err(error) => self.fail(&error, &mut events),
        }
        events
    }

    /// Ends launches early. Returns what was not submitted yet; what launches that are not complete were to
    /// count comes back by [`work`](Self::work). When all are back it takes tasks again.
    pub fn halt(&mut self) -> Vec<Task> {
        if let Some(device) = self.device.as_mut().filter(|_| !self.in_flight.is_empty()) {
            device.cancel();
            self.halting.get_or_insert_with(Instant::now);
        }
        self.pending.drain(..).flatten().collect()
    }

    fn submit(&mut self, events: &mut Vec<OwnerEvent>) {
        while let Some(device) = &self.device {
            // What is submitted while others are asked to end would not end, and look like a hang.
            if self.full || self.halting.is_some() || self.in_flight.len() >= device.slots() {
                return;
            }
            let Some(tasks) = self.pending.pop_front() else {
                return;
            };
            if self.submit_tasks(tasks, events).is_err() {
                return;
            }
        }
    }

    /// # Errors
    /// Nothing more can be submitted now.
    fn submit_tasks(&mut self, tasks: Vec<Task>, events: &mut Vec<OwnerEvent>) -> Result<(), Full> {
        let batch = match self.launcher.batch(&tasks, self.batches) {
            Ok(batch) => batch,
            Err(error) => {
                self.pending.push_front(tasks);
                self.give_up(format!("a launch was refused: {error}"), events);
                return Err(Full);
            }
        };
        self.batches += 1;
        let Some(launch) = batch.launch() else {
            match batch.tallies(None) {
                Ok(tallies) => events.push(OwnerEvent::Counted {
                    tallies: tasks.into_iter().zip(tallies).collect(),
                    timing: None,
                }),
                Err(mismatch) => events.push(OwnerEvent::Mismatch(mismatch.0)),
            }
            return Ok(());
        };
        let jobs = launch.job_count();
        if jobs > self.most_jobs && tasks.len() > 1 {
            self.halve(tasks);
            return Ok(());
        }
        let Some(device) = &mut self.device else {
            self.pending.push_front(tasks);
            return Err(Full);
        };
        match device.submit(launch) {
            Ok(ticket) => {
                events.push(OwnerEvent::Launched(tasks.len()));
                self.in_flight.push(InFlight {
                    ticket,
                    tasks,
                    batch,
                    since: Instant::now(),
                });
                Ok(())
            }
            Err(DeviceError::OutOfMemory) if tasks.len() > 1 => {
                self.most_jobs = jobs / 2;
                self.halve(tasks);
                Ok(())
            }
            Err(error) => {
                self.pending.push_front(tasks);
                if error == DeviceError::Busy && !self.in_flight.is_empty() {
                    self.full = true;
                } else {
                    self.fail(&error, events);
                }
                Err(Full)
            }
        }
    }

    fn halve(&mut self, mut tasks: Vec<Task>) {
        let second = tasks.split_off(tasks.len() / 2);
        self.pending.push_front(second);
        self.pending.push_front(tasks);
    }

    fn finish(&mut self, completed: &Completed, events: &mut Vec<OwnerEvent>) {
        self.full = false;
        let Some(at) = self
            .in_flight
            .iter()
            .position(|flight| flight.ticket == completed.ticket)
        else {
            self.lose("it reported a launch it did not have".to_owned(), events);
            return;
        };
        let launch = self.in_flight[at].batch.launch();
        let sent = launch.map_or(0, |launch| launch.job_count());
        if completed.jobs_done != sent && self.halting.is_some() {
            let flight = self.in_flight.swap_remove(at);
            self.halting = self.halting.filter(|_| !self.in_flight.is_empty());
            events.push(OwnerEvent::Returned {
                tasks: flight.tasks,
                reason: ReturnReason::Halted,
            });
            return;
        }
        if completed.jobs_done != sent {
            let done = completed.jobs_done;
            self.lose(format!("it counted {done} jobs of {sent}"), events);
            return;
        }
        let InFlight { tasks, batch, .. } = self.in_flight.swap_remove(at);
        self.halting = self.halting.filter(|_| !self.in_flight.is_empty());
        let tallies = match batch.tallies(Some(completed)) {
            Ok(tallies) => tallies,
            Err(mismatch) => return events.push(OwnerEvent::Mismatch(mismatch.0)),
        };
        let timing = self.device.as_ref().map(|device| LaunchTiming {
            stream: completed.stream,
            opened: device.opened(),
            spans: completed.spans,
        });
        let cost = tasks.iter().map(|task| task.cost).sum();
        self.pace.note(cost, completed.spans.kernel);
        events.push(OwnerEvent::Counted {
            tallies: tasks.into_iter().zip(tallies).collect(),
            timing,
        });
    }
}

/// Nothing more can be submitted now.
struct Full;
