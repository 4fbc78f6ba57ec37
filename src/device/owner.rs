//! Keeps a device busy with launches, and turns what comes back into tallies.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::opening::{CountedCanary, DeviceTrouble, count_canary, fitted};
use super::{Device, DeviceError, Properties};
use crate::engine::{
    Completed, DeviceSpan, DeviceSpans, LaunchBatch, Launcher, Tally, Task, Ticket,
};

/// How long launches may take to end that were asked to: a job takes some milliseconds.
const HALT_PATIENCE: Duration = Duration::from_secs(5);

/// Launches of a device that shows a display take this long: the system ends those that take two seconds or
/// more, the exact limit depends on the system, and the cost of a launch is only estimated.
const SHORT_ENOUGH: Duration = Duration::from_millis(400);

/// How many times as large as any before it a launch may be: while one runs, the next is made, which takes up to a seventh
/// of the time that an H100 takes for it.
const GROWTH: f64 = 4.0;

/// How an owner treats its device.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnerSettings {
    /// How long a launch should take, 50 ms to 5 s: long compared with the gap between two launches,
    /// short compared with the run. While the last jobs of a launch are counted, most threads are idle; in
    /// 3 s, the default, that costs 5 % or less (docs/lab/2026-11-24.md).
    pub batch_time: Duration,
    /// The cost of the first launches, before the speed of the device is known, in core-seconds.
    pub first_cost: f64,
    /// The most jobs in a launch of more than one task. An owner lowers it when memory is short.
    pub most_jobs: u32,
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

/// Where and when a launch ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchTiming {
    /// The stream's number, from 0.
    pub stream: usize,
    /// When the device was opened: the moment that `spans` are measured from.
    pub opened: Instant,
    /// Its parts.
    pub spans: DeviceSpans,
}

/// What became of tasks.
#[derive(Clone, Debug, PartialEq)]
pub enum OwnerEvent {
    /// The device was given a launch of so many tasks.
    Launched(usize),
    /// They were counted.
    Counted {
        /// Each with its tally.
        tallies: Vec<(Task, Tally)>,
        /// Where and when the device counted them; `None` if nothing was left for it to do.
        timing: Option<LaunchTiming>,
    },
    /// They were not counted, because [`Owner::halt`] ended their launch early: somebody else has to count them.
    Returned(Vec<Task>),
}

/// Keeps one device busy with tasks of one plan. Nothing else talks to that device.
///
/// Every task given to [`offer`](Self::offer) comes back exactly once, as a tally or as a task, by
/// [`work`](Self::work) or [`halt`](Self::halt), until one of these fails. Then the device is of no more use, and what
/// has not come back is not counted.
///
/// | failure | response |
/// |---|---|
/// | The device miscounts its first canary. | It is not used. |
/// | It is out of memory. | Batches are halved, down to one task; then it has failed. |
/// | It has no kernel, a launch does not fit its program, it is lost, hangs, or returns fewer jobs than it was sent. | [`Failed`](DeviceTrouble::Failed). |
/// | A sampled part of a launch has another count on the CPU. | [`Wrong`](DeviceTrouble::Wrong): earlier counts may be wrong too. |
pub struct Owner {
    device: Box<dyn Device>,
    launcher: Arc<dyn Launcher>,
    settings: OwnerSettings,
    /// What is not submitted yet.
    pending: VecDeque<Vec<Task>>,
    in_flight: Vec<InFlight>,
    batches: u64,
    pace: Pace,
    /// Since when the launches under way are asked to end early.
    halting: Option<Instant>,
    /// Whether nothing can be submitted before a launch has ended.
    full: bool,
}

struct InFlight {
    ticket: Ticket,
    tasks: Vec<Task>,
    batch: Box<dyn LaunchBatch>,
    since: Instant,
}

impl Owner {
    /// Takes the device, and lets it count its canary with the program of `launcher` that fits it.
    ///
    /// # Errors
    /// It cannot be used, and why.
    pub fn new(
        mut device: Box<dyn Device>,
        launcher: Arc<dyn Launcher>,
        mut settings: OwnerSettings,
    ) -> Result<Self, DeviceTrouble> {
        let properties = device.properties();
        let name = properties.identity.name.clone();
        settings.batch_time = settings.batch_time_on(properties);
        let launcher = fitted(launcher, properties);
        let counted = count_canary(device.as_mut(), launcher.as_ref());
        counted
            .and_then(|counted| Ok(counted.compare()?))
            .map_err(|trouble| trouble.of(&name))?;
        Ok(Self {
            device,
            launcher,
            settings,
            pending: VecDeque::new(),
            in_flight: Vec::new(),
            batches: 0,
            pace: Pace::default(),
            halting: None,
            full: false,
        })
    }

    /// What the device is.
    pub fn properties(&self) -> &Properties {
        self.device.properties()
    }

    /// Cost counted per second, once known.
    pub const fn speed(&self) -> Option<f64> {
        self.pace.speed
    }

    /// The cost of the tasks that would make the next launch; `None` if the device has enough.
    pub fn wants(&self) -> Option<f64> {
        let room = self.in_flight.len() + self.pending.len() < self.device.slots();
        let launch = self.speed().map_or(self.settings.first_cost, |speed| {
            let batch = speed * self.settings.batch_time.as_secs_f64();
            batch.min(GROWTH * self.pace.largest)
        });
        (room && self.halting.is_none()).then_some(launch)
    }

    /// Whether it holds no tasks: there is nothing to [`work`](Self::work) on.
    pub fn is_idle(&self) -> bool {
        self.in_flight.is_empty() && self.pending.is_empty()
    }

    /// Lets the device count its canary. It must be [idle](Self::is_idle).
    ///
    /// # Errors
    /// It did not count it, and why.
    pub fn count_canary(&mut self) -> Result<CountedCanary, DeviceTrouble> {
        let counted = count_canary(self.device.as_mut(), self.launcher.as_ref());
        counted.map_err(|trouble| match trouble {
            DeviceTrouble::Failed(why) => {
                DeviceTrouble::Failed(format!("it did not count its canary: {why}"))
            }
            wrong => wrong,
        })
    }

    /// Takes tasks, to be one launch or a few.
    pub fn offer(&mut self, tasks: Vec<Task>) {
        if !tasks.is_empty() {
            self.pending.push_back(tasks);
        }
    }

    /// Submits what is pending and waits, at most for `patience`, for something else to report. Returns
    /// at once if there is nothing to wait for.
    ///
    /// # Errors
    /// The device is of no more use, and why.
    pub fn work(&mut self, patience: Duration) -> Result<Vec<OwnerEvent>, DeviceTrouble> {
        let mut events = Vec::new();
        // What is submitted while others are asked to end would not end, and look like a hang.
        while !self.full
            && self.halting.is_none()
            && self.in_flight.len() < self.device.slots()
            && let Some(tasks) = self.pending.pop_front()
        {
            events.extend(self.submit_tasks(tasks)?);
        }
        // To return after a launch was submitted would let the caller ask for the next one before
        // the speed is known, and first launches are large.
        if !self.in_flight.is_empty() {
            match self.device.poll(patience)? {
                Some(completed) => events.push(self.finish(&completed)?),
                None => self.check_overdue()?,
            }
        }
        Ok(events)
    }

    /// Ends launches early. Returns what was not submitted yet; what launches that are not complete were to
    /// count comes back by [`work`](Self::work). When all are back it takes tasks again.
    pub fn halt(&mut self) -> Vec<Task> {
        if !self.in_flight.is_empty() {
            self.device.cancel();
            self.halting.get_or_insert_with(Instant::now);
        }
        self.pending.drain(..).flatten().collect()
    }

    /// Submits tasks, or keeps them for later.
    fn submit_tasks(&mut self, tasks: Vec<Task>) -> Result<Option<OwnerEvent>, DeviceTrouble> {
        let batch = self.launcher.batch(&tasks, self.batches);
        let refused = |error| DeviceTrouble::Failed(format!("a launch was refused: {error}"));
        let batch = batch.map_err(refused)?;
        self.batches += 1;
        let Some(launch) = batch.launch() else {
            let tallies = batch.tallies(None)?;
            return Ok(Some(OwnerEvent::Counted {
                tallies: tasks.into_iter().zip(tallies).collect(),
                timing: None,
            }));
        };
        let jobs = launch.job_count();
        if jobs > self.settings.most_jobs && tasks.len() > 1 {
            self.halve(tasks);
            return Ok(None);
        }
        match self.device.submit(launch) {
            Ok(ticket) => {
                let launched = OwnerEvent::Launched(tasks.len());
                self.in_flight.push(InFlight {
                    ticket,
                    tasks,
                    batch,
                    since: Instant::now(),
                });
                return Ok(Some(launched));
            }
            Err(DeviceError::OutOfMemory) if tasks.len() > 1 => {
                self.settings.most_jobs = jobs / 2;
                self.halve(tasks);
            }
            Err(DeviceError::Busy) if !self.in_flight.is_empty() => {
                self.pending.push_front(tasks);
                self.full = true;
            }
            Err(error) => return Err(error.into()),
        }
        Ok(None)
    }

    fn halve(&mut self, mut tasks: Vec<Task>) {
        let second = tasks.split_off(tasks.len() / 2);
        self.pending.push_front(second);
        self.pending.push_front(tasks);
    }

    fn finish(&mut self, completed: &Completed) -> Result<OwnerEvent, DeviceTrouble> {
        self.full = false;
        let mut flights = self.in_flight.iter();
        let at = flights.position(|flight| flight.ticket == completed.ticket);
        let unknown = "it reported a launch it did not have".to_owned();
        let at = at.ok_or(DeviceTrouble::Failed(unknown))?;
        let InFlight { tasks, batch, .. } = self.in_flight.swap_remove(at);
        let was_halting = self.halting.is_some();
        self.halting = self.halting.filter(|_| !self.in_flight.is_empty());
        let sent = batch.launch().map_or(0, |launch| launch.job_count());
        let done = completed.jobs_done;
        if done != sent && was_halting {
            return Ok(OwnerEvent::Returned(tasks));
        }
        if done != sent {
            let why = format!("it counted {done} jobs of {sent}");
            return Err(DeviceTrouble::Failed(why));
        }
        let tallies = batch.tallies(Some(completed))?;
        let cost = tasks.iter().map(|task| task.cost).sum();
        self.pace.note(cost, completed.spans.kernel);
        Ok(OwnerEvent::Counted {
            tallies: tasks.into_iter().zip(tallies).collect(),
            timing: Some(LaunchTiming {
                stream: completed.stream,
                opened: self.device.opened(),
                spans: completed.spans,
            }),
        })
    }

    /// Checks whether the oldest launch has been under way for too long.
    fn check_overdue(&self) -> Result<(), DeviceTrouble> {
        let since = self.in_flight.iter().map(|flight| flight.since).min();
        let waited = since.map_or(Duration::ZERO, |since| since.elapsed());
        // Of the first launch it is known only that it was meant to be short.
        let tasks = self.in_flight.iter().flat_map(|flight| &flight.tasks);
        let cost: f64 = tasks.map(|task| task.cost).sum();
        let expected = self.speed().map_or(0.0, |speed| cost / speed);
        let patience = self.settings.least_patience;
        let too_long = waited.as_secs_f64() > patience.as_secs_f64().max(10.0 * expected);
        let asked_to_end = self.halting.map(|since| since.elapsed());
        let does_not_end = asked_to_end.is_some_and(|since| since > patience.min(HALT_PATIENCE));
        if too_long || does_not_end {
            let why = format!("no answer for {waited:.1?}");
            return Err(DeviceTrouble::Failed(why));
        }
        Ok(())
    }
}

/// How fast a device counts.
#[derive(Debug, Default)]
struct Pace {
    /// Cost per second in which a kernel ran, smoothed; `None` until the first launch has ended.
    speed: Option<f64>,
    /// Up to when the device's time is accounted for, measured from when it was opened.
    until: Duration,
    /// Cost of launches that ended within that time.
    cost: f64,
    /// The largest cost of a launch.
    largest: f64,
}

impl Pace {
    /// Notes a launch of this cost, whose kernel ran in `kernel`.
    ///
    /// Kernels of several streams share the device: only the time counts in which none of the
    /// launches noted before ran.
    fn note(&mut self, cost: f64, kernel: DeviceSpan) {
        self.cost += cost;
        self.largest = self.largest.max(cost);
        let took = kernel.end.saturating_sub(kernel.start.max(self.until));
        if took.is_zero() {
            return;
        }
        let speed = std::mem::take(&mut self.cost) / took.as_secs_f64().max(1e-6);
        self.speed = Some(self.speed.map_or(speed, |known| 0.7 * known + 0.3 * speed));
        self.until = kernel.end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{DeviceIdentity, DeviceKernel};

    #[test]
    fn launches_are_short_on_a_device_that_shows_a_display() {
        let mut device = Properties {
            identity: DeviceIdentity {
                kernel: DeviceKernel::Cuda,
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

    fn span(start: u64, end: u64) -> DeviceSpan {
        DeviceSpan {
            start: Duration::from_secs(start),
            end: Duration::from_secs(end),
        }
    }

    #[test]
    fn kernels_that_overlap_are_not_taken_for_slow_ones() {
        let mut pace = Pace::default();
        // Two streams: each kernel waits for the one before it, so that each seems to take two
        // seconds, and a launch ends every second.
        for launch in 0..20 {
            pace.note(7.0, span(launch, launch + 2));
        }
        let speed = pace.speed.unwrap();
        assert!((speed / 7.0 - 1.0).abs() < 0.01, "{speed}");
    }

    #[test]
    fn a_kernel_that_ran_within_another_adds_its_cost_to_the_next() {
        let mut pace = Pace::default();
        pace.note(4.0, span(0, 4));
        pace.note(2.0, span(1, 3));
        assert_eq!(pace.speed, Some(1.0));
        pace.note(2.0, span(4, 8));
        assert_eq!(pace.speed, Some(1.0));
    }
}
