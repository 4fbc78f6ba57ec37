//! What the thread that owns a device does: ask the producer for batches, hand them to the owner of
//! the device, report what comes back.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::Addr;
use crossbeam::channel::RecvTimeoutError;
use tracing::{info, warn};

use crate::actors::{
    Batch, CanaryCounted, CanarySchedule, Costed, CountKind, Counted, DeviceIndex, Ended,
    EventKind, FinishedLaunch, Producer, RunError, ToCollector, ToProducer, Want, WorkerContext,
    panics,
};
use crate::device::{DeviceTrouble, LaunchTiming, Owner, OwnerEvent};
use crate::engine::{CountedBy, DeviceIdentity, DeviceSpan, Origin, Tally, Task, TaskResult};

/// How long to wait for the device before looking whether a batch has come: short against a launch,
/// which takes 50 ms or more.
const GLANCE: Duration = Duration::from_millis(2);

/// How long to wait when there is nothing else to look at. A stopped run waits as long at most.
const NAP: Duration = Duration::from_millis(50);

/// Ask again after this long: if the run paused, the producer took its answer back.
const ASK_AGAIN: Duration = Duration::from_millis(500);

/// The life of the thread of device number `device`: until the queue is closed, the device is given
/// up, or a panic.
pub(crate) fn work(context: &WorkerContext, device: DeviceIndex, producer: &Addr<Producer>) {
    panics::catch_on_this_thread();
    let mut opened = None;
    let end = catch_unwind(AssertUnwindSafe(|| {
        let device_loop = DeviceLoop::open(context.clone(), device, producer.clone())?;
        opened.insert(device_loop).run()
    }));
    // What is not counted goes back in any case, and before the device is closed, which may take long.
    if let Some(device_loop) = &mut opened {
        device_loop.return_all();
    }
    let died = match end {
        // That it is wrong the collector knows.
        Ok(Ok(()) | Err(DeviceTrouble::Wrong(_))) => None,
        Ok(Err(DeviceTrouble::Failed(reason))) => {
            give_up(context, producer, reason);
            None
        }
        Err(payload) => Some(panics::describe(payload.as_ref())),
    };
    drop(opened);
    context.actor.do_send(Ended(died));
}

/// Tells that a device failed for good.
fn give_up(context: &WorkerContext, producer: &Addr<Producer>, reason: String) {
    let (shared, worker) = (&context.shared, context.worker);
    let id = context.id();
    warn!(device = id.to_string(), "not used: {reason}");
    context.tell(EventKind::DeviceGivenUp {
        worker: id,
        reason: reason.clone(),
    });
    // First: what it asks for from here on is given to others.
    if shared.roster.retire(worker) {
        let why = format!("no device is left, and no CPU workers count instead: {reason}");
        producer.do_send(ToProducer::Leave(worker, RunError::Runtime(why)));
    }
}

struct DeviceLoop {
    context: WorkerContext,
    producer: Addr<Producer>,
    owner: Owner,
    /// The device.
    counted_by: CountedBy,
    /// Batches drawn and not settled.
    open: Vec<Open>,
    /// When a batch was asked for that has not come yet.
    asked: Option<Instant>,
    /// When it began to wait for a batch, if it waits.
    waiting: Option<Instant>,
    /// When the device began what it will report next.
    since: Instant,
    canary_schedule: CanarySchedule,
}

impl DeviceLoop {
    /// Opens the device, which tests it.
    ///
    /// # Errors
    /// It cannot be used.
    fn open(
        context: WorkerContext,
        device: DeviceIndex,
        producer: Addr<Producer>,
    ) -> Result<Self, DeviceTrouble> {
        let shared = Arc::clone(&context.shared);
        let spec = &shared.devices.devices[device.0];
        let Some((_, launcher)) = shared.devices.launcher.clone() else {
            return Err(DeviceTrouble::Failed("no plan has a kernel".to_owned()));
        };
        let kernel = launcher.kernel();
        let owner = Owner::new((spec.open)()?, launcher, spec.settings.clone());
        let owner = owner.map_err(|trouble| match trouble {
            // What the thread before this one counted with it is in the sums.
            trouble if context.is_restarted => told(&context, trouble),
            trouble => DeviceTrouble::Failed(trouble.into_words()),
        })?;
        let (worker, identity) = (context.id(), owner.properties().identity.clone());
        let device = DeviceIdentity { kernel, ..identity };
        info!(device = worker.to_string(), "{}", device.name);
        let counted_by = CountedBy::Device(device.clone());
        context.tell(EventKind::DeviceReady { worker, device });
        Ok(Self {
            open: Vec::new(),
            asked: None,
            waiting: None,
            since: Instant::now(),
            canary_schedule: CanarySchedule::new(context.is_restarted, true),
            counted_by,
            owner,
            context,
            producer,
        })
    }

    /// # Errors
    /// The device takes no more batches.
    fn run(&mut self) -> Result<(), DeviceTrouble> {
        let shared = Arc::clone(&self.context.shared);
        loop {
            if shared.roster.is_retired(self.context.worker) {
                return Err(DeviceTrouble::Wrong("it is retired".to_owned()));
            }
            let busy = !self.owner.is_idle();
            if shared.is_halted() {
                self.asked = None;
                if busy {
                    let uncounted = self.owner.halt();
                    self.give_back(&uncounted);
                }
            } else if !self.canary_schedule.is_due(&shared) {
                self.ask();
            } else if !busy {
                self.count_canary()?;
            }
            if !busy {
                self.waits();
            }
            let patience = if busy { Duration::ZERO } else { NAP };
            match self.context.outlet.draw_own(patience) {
                Ok(batch) => {
                    self.asked = None;
                    self.ends_wait(true);
                    self.take(batch)?;
                }
                Err(RecvTimeoutError::Disconnected) if !busy => {
                    self.ends_wait(false);
                    return self.count_last_canary();
                }
                Err(_) => {}
            }
            if !self.owner.is_idle() {
                // What is to come after this launch should be here when it ends.
                let is_asking = self.owner.speed().is_some() && self.owner.wants().is_some();
                let patience = match self.asked.is_some() || is_asking {
                    true => GLANCE,
                    false => NAP,
                };
                let events = self.owner.work(patience);
                for event in events.map_err(|trouble| told(&self.context, trouble))? {
                    self.note(event);
                }
            }
        }
    }

    /// Lets the device count its canary.
    ///
    /// # Errors
    /// It fails, or it is wrong, which the collector knows then.
    fn count_canary(&mut self) -> Result<(), DeviceTrouble> {
        let begun = Instant::now();
        let (faults, worker) = (&self.context.shared.faults, self.context.id());
        let counts = self.owner.count_canary().and_then(|counted| {
            let counted = counted.map(|tally| faults.tally(worker, CountKind::Canary, tally));
            Ok(counted.compare()?)
        });
        let counts = counts.map_err(|trouble| told(&self.context, trouble))?;
        self.since = Instant::now();
        self.canary_schedule.note_canary();
        self.context
            .collector
            .do_send(ToCollector::Canary(CanaryCounted {
                worker: self.context.worker,
                outcome: Ok(counts),
                took: begun.elapsed(),
            }));
        Ok(())
    }

    /// Counts the canary if anything was counted since the last one.
    ///
    /// # Errors
    /// As [`count_canary`](Self::count_canary).
    fn count_last_canary(&mut self) -> Result<(), DeviceTrouble> {
        match self.canary_schedule.is_untested(&self.context.shared) {
            true => self.count_canary(),
            false => Ok(()),
        }
    }

    /// The device has nothing to do.
    fn waits(&mut self) {
        if self.waiting.is_none() {
            self.waiting = Some(Instant::now());
            let worker = self.context.id();
            self.context.tell(EventKind::Waiting { worker });
        }
    }

    /// Ends the wait, if the device waits, because a batch has come or because the queue is closed.
    fn ends_wait(&mut self, has_batch: bool) {
        if let Some(from) = self.waiting.take() {
            let worker = self.context.worker;
            self.context.shared.tell_waited(worker, from, has_batch);
            self.since = Instant::now();
        }
    }

    /// Asks for a batch if there is room for one.
    fn ask(&mut self) {
        let asked = self.asked.is_some_and(|asked| asked.elapsed() < ASK_AGAIN);
        if let Some(cost) = self.owner.wants().filter(|_| !asked) {
            self.asked = Some(Instant::now());
            self.producer.do_send(ToProducer::Want(Want {
                worker: self.context.worker,
                cost,
                speed: self.owner.speed(),
            }));
        }
    }

    /// # Errors
    /// Its canary was asked for, and it is wrong or fails.
    fn take(&mut self, batch: Batch) -> Result<(), DeviceTrouble> {
        let plan = Arc::clone(self.context.shared.plan(batch.plan));
        let tasks: Vec<Task> = batch.tasks.iter().map(|&task| plan.task(task)).collect();
        self.open.push(Open {
            waiting: batch.tasks.iter().copied().collect(),
            back: Vec::new(),
            batch,
        });
        if tasks.is_empty() {
            // Nothing is under way: all tasks are counted.
            self.count_last_canary()?;
            self.settle();
        } else {
            self.owner.offer(tasks);
        }
        Ok(())
    }

    fn note(&mut self, event: OwnerEvent) {
        match event {
            OwnerEvent::Launched(tasks) => {
                let worker = self.context.id();
                self.context.tell(EventKind::LaunchBegun { worker, tasks });
            }
            OwnerEvent::Counted { tallies, timing } => {
                if let Some(timing) = timing {
                    self.tell_launch(&timing, tallies.len());
                }
                self.counted(&tallies);
            }
            OwnerEvent::Returned(tasks) => {
                self.give_back(&tasks);
                self.tell_given_up(&tasks);
            }
        }
    }

    /// Tells when the device did what for a launch.
    fn tell_launch(&self, timing: &LaunchTiming, tasks: usize) {
        let observers = &self.context.shared.observers;
        let span =
            |span: DeviceSpan| observers.span(timing.opened + span.start, timing.opened + span.end);
        observers.tell(EventKind::LaunchDone(FinishedLaunch {
            worker: self.context.id(),
            device: self.owner.properties().identity.name.clone(),
            stream: timing.stream,
            tasks,
            upload: span(timing.spans.upload),
            kernel: span(timing.spans.kernel),
            download: span(timing.spans.download),
        }));
    }

    /// Reports tasks that the device counted.
    fn counted(&mut self, tallies: &[(Task, Tally)]) {
        let (shared, worker) = (&self.context.shared, self.context.worker);
        let Some(plan) = shared.devices.plan() else {
            return;
        };
        // Launches overlap, so the time that these tasks took is the time since the last report.
        let took = self.since.elapsed();
        self.since = Instant::now();
        self.canary_schedule.note(tallies.len(), took);
        let cost: f64 = tallies.iter().map(|(task, _)| task.cost).sum();
        let mut message = Counted::nothing(worker, plan);
        for (task, tally) in tallies {
            let tally = &shared
                .faults
                .tally(self.context.id(), CountKind::Task, *tally);
            let took = took.mul_f64(if cost > 0.0 {
                task.cost / cost
            } else {
                1.0 / tallies.len() as f64
            });
            let result = TaskResult {
                key: task.key,
                tally: *tally,
                origin: Origin {
                    worker: self.context.id(),
                    counted_by: self.counted_by.clone(),
                },
                audited_by: None,
                duration: took,
            };
            self.context.tell(EventKind::TaskCounted(result.clone()));
            message.results.push(Costed {
                result,
                cost: task.cost,
                audit: shared.audit_of(worker, plan).draw(took, task.cost),
            });
        }
        self.context
            .collector
            .do_send(ToCollector::Counted(message));
        // Not before: after a panic above, what is not noted is counted again.
        for (task, _) in tallies {
            self.end(task.key.index);
        }
        self.settle();
    }

    /// Gives back what was not counted.
    fn give_back(&mut self, tasks: &[Task]) {
        for task in tasks {
            if let Some(open) = self.end(task.key.index) {
                open.back.push(task.key.index);
            }
        }
        self.settle();
    }

    /// Tells that the device gave up the tasks of a launch, and how much of its time was for each.
    fn tell_given_up(&mut self, tasks: &[Task]) {
        let after = self.since.elapsed() / tasks.len().max(1) as u32;
        self.since = Instant::now();
        let worker = self.context.id();
        for task in tasks {
            let key = task.key;
            self.context
                .tell(EventKind::TaskGivenUp { worker, key, after });
        }
    }

    /// The batch that waits for a task, which now waits for it no longer.
    fn end(&mut self, task: u64) -> Option<&mut Open> {
        let mut open = self.open.iter_mut();
        open.find_map(|open| open.waiting.remove(&task).then_some(open))
    }

    /// Reports the batches of which all tasks are counted or given back.
    fn settle(&mut self) {
        for Open { batch, back, .. } in self.open.extract_if(.., |open| open.waiting.is_empty()) {
            let mut message = Counted::nothing(self.context.worker, batch.plan);
            message.left = Some(Batch {
                tasks: back,
                ..batch
            });
            self.context
                .collector
                .do_send(ToCollector::Counted(message));
        }
    }

    /// Gives back whatever is not counted.
    fn return_all(&mut self) {
        for open in &mut self.open {
            open.back.extend(open.waiting.drain());
        }
        self.settle();
    }
}

/// Retires a device that counts wrongly, and tells the collector why.
fn told(context: &WorkerContext, trouble: DeviceTrouble) -> DeviceTrouble {
    if let DeviceTrouble::Wrong(why) = &trouble {
        let (worker, outcome) = (context.worker, Err(why.clone()));
        context.shared.roster.retire(worker);
        context
            .collector
            .do_send(ToCollector::Canary(CanaryCounted {
                worker,
                outcome,
                took: Duration::ZERO,
            }));
    }
    trouble
}

/// A batch, with its tasks that are not counted yet, and those to be given back.
struct Open {
    batch: Batch,
    waiting: HashSet<u64>,
    back: Vec<u64>,
}
