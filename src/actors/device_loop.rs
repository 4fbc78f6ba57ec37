//! What the thread that owns a device does: ask the producer for batches, hand them to the owner of
//! the device, report what comes back.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice::from_ref;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::{Addr, Recipient};
use tracing::{info, warn};

use super::attempt::{tell_audit, try_task};
use super::audit::recount;
use super::canary_schedule::CanarySchedule;
#[cfg(feature = "fault-injection")]
use super::count_kind::CountKind;
use super::counters::{Counters, by_other_kernel};
use super::cpu_worker::WorkerContext;
use super::events::{EventKind, FinishedLaunch};
use super::index::{DeviceIndex, PlanIndex};
use super::messages::{CanaryCounted, Costed, Counted, Ended, ToProducer, ToRun, Want};
use super::open_batches::OpenBatches;
use super::panics;
use super::producer::Producer;
use super::queue::{Batch, Drawn};
use super::report::RunError;
use super::shared::RunShared;
use crate::device::{DeviceTrouble, LaunchTiming, Owner, OwnerEvent, ReturnReason};
use crate::engine::{CountedBy, DeviceSpan, NotCounted, Origin, Tally, Task, TaskResult, WorkerId};

/// How long to wait for the device before looking whether a batch has come: short against a launch,
/// which takes 50 ms or more.
const GLANCE: Duration = Duration::from_millis(2);

/// How long to wait when there is nothing else to look at. A stopped run waits as long at most.
const NAP: Duration = Duration::from_millis(50);

/// Ask again after this long: if the run paused, the producer took its answer back.
const ASK_AGAIN: Duration = Duration::from_millis(500);

/// The life of the thread of device number `device`: until the queue is closed, the device is given
/// up, or a panic.
pub(super) fn work(
    context: WorkerContext,
    device: DeviceIndex,
    producer: Addr<Producer>,
    run: Recipient<ToRun>,
) {
    panics::catch_on_this_thread();
    let actor = context.actor.clone();
    let mut device_loop = DeviceLoop {
        open: OpenBatches::new(context.worker, context.collector.clone()),
        asked: None,
        counted_by: None,
        waiting: None,
        since: Instant::now(),
        canary_schedule: CanarySchedule::new(context.is_restarted),
        counters: Counters::new(Arc::clone(&context.shared), context.worker),
        counted_here: BTreeSet::new(),
        device,
        context,
        producer,
    };
    let mut owner = None;
    let end = catch_unwind(AssertUnwindSafe(|| device_loop.run(&mut owner)));
    // What is not counted goes back in any case, and before the device is closed, which may take long.
    device_loop.open.return_all();
    let is_given_up = matches!(end, Ok(Err(End::GivenUp(_))));
    let shared = &device_loop.context.shared;
    let is_untested = device_loop.canary_schedule.is_untested(shared);
    if is_given_up && is_untested && !device_loop.counted_here.is_empty() {
        // Of the CPU; the collector hears what comes of it.
        let _ = device_loop.count_canary(None);
    }
    let (context, producer) = (&device_loop.context, &device_loop.producer);
    let (shared, worker) = (&context.shared, context.worker);
    let died = match end {
        Ok(Ok(())) => None,
        Ok(Err(End::Wrong)) => {
            producer.do_send(ToProducer::Leave(worker));
            None
        }
        Ok(Err(End::GivenUp(reason))) => {
            let id = device_loop.id();
            warn!(device = id.to_string(), "not used: {reason}");
            shared.observers.tell(EventKind::DeviceGivenUp {
                worker: id,
                reason: reason.clone(),
            });
            // First: what it asks for from here on is given to others.
            let counted_until_now = shared.roster.retire(worker);
            producer.do_send(ToProducer::Leave(worker));
            if counted_until_now && shared.spec.recorder.is_some() && did_most(shared, id) {
                run.do_send(ToRun::DeviceLost(id));
            } else if counted_until_now && shared.roster.workers_left() == 0 {
                let why = format!("no device is left, and there are no CPU workers: {reason}");
                run.do_send(ToRun::Failed(RunError::Runtime(why)));
            }
            None
        }
        Err(payload) => Some(panics::describe(payload.as_ref())),
    };
    drop(owner);
    actor.do_send(Ended { died, batch: None });
}

/// Whether a worker did more of this run's work than all others together. Without it the run would take more than twice as
/// long: a process that begins again may have it back.
fn did_most(shared: &RunShared, id: WorkerId) -> bool {
    let workers = shared.observers.progress().now().workers;
    let nodes = |is_own: bool| -> u64 {
        let of = workers.iter().filter(|worker| (worker.id == id) == is_own);
        of.map(|worker| worker.nodes).sum()
    };
    nodes(true) > nodes(false)
}

/// Why a device takes no more batches before the queue is closed.
enum End {
    /// It is given up, for this reason.
    GivenUp(String),
    /// It counted wrongly, which the collector knows already.
    Wrong,
}

struct DeviceLoop {
    context: WorkerContext,
    producer: Addr<Producer>,
    /// Batches drawn and not settled.
    open: OpenBatches,
    /// When a batch was asked for that has not come yet.
    asked: Option<Instant>,
    /// The device, once it is open.
    counted_by: Option<CountedBy>,
    /// When it began to wait for a batch, if it waits.
    waiting: Option<Instant>,
    /// When the device began what it will report next.
    since: Instant,
    canary_schedule: CanarySchedule,
    /// For plans that the device cannot count.
    counters: Counters,
    /// The plans of which this thread counted tasks on the CPU.
    counted_here: BTreeSet<PlanIndex>,
    /// The number of the device among the devices.
    device: DeviceIndex,
}

impl DeviceLoop {
    /// # Errors
    /// The device takes no more batches.
    fn run(&mut self, owner: &mut Option<Owner>) -> Result<(), End> {
        let shared = Arc::clone(&self.context.shared);
        *owner = self.open()?;
        if self.canary_schedule.is_due(&shared) {
            // The device itself was tested when it was opened.
            self.count_canary(None)?;
        }
        loop {
            if shared.roster.is_retired(self.context.worker) {
                return Err(End::Wrong);
            }
            let busy = owner.as_ref().is_some_and(|owner| !owner.is_idle());
            if shared.is_halted() {
                self.asked = None;
                if let Some(owner) = owner.as_mut().filter(|_| busy) {
                    let uncounted = owner.halt();
                    self.give_back(&uncounted);
                }
            } else if !self.canary_schedule.is_due(&shared) {
                self.ask(owner.as_ref());
            } else if !busy {
                self.count_canary(owner.as_mut())?;
            }
            if !busy {
                self.waits();
            }
            let patience = if busy { Duration::ZERO } else { NAP };
            match self.context.outlet.draw_own(patience) {
                Drawn::Batch(batch) => {
                    self.asked = None;
                    self.ends_wait(true);
                    let mut canary = Ok(());
                    if batch.is_canary() && self.canary_schedule.is_untested(&shared) {
                        // Nothing is under way: all tasks are counted.
                        canary = self.count_last_canary(owner.as_mut());
                    }
                    // It goes back also if the canary is wrong.
                    self.take(batch, owner.as_mut());
                    canary?;
                }
                Drawn::Closed if !busy => {
                    self.ends_wait(false);
                    if self.canary_schedule.is_untested(&shared) {
                        self.count_last_canary(owner.as_mut())?;
                    }
                    return Ok(());
                }
                Drawn::Nothing | Drawn::Closed => {}
            }
            if let Some(owner) = owner.as_mut().filter(|owner| !owner.is_idle()) {
                // What is to come after this launch should be here when it ends.
                let is_asking = owner.speed().is_some() && owner.wants().is_some();
                let patience = match self.asked.is_some() || is_asking {
                    true => GLANCE,
                    false => NAP,
                };
                for event in owner.work(patience) {
                    self.note(event)?;
                }
            }
        }
    }

    /// Opens the device; `None` without a plan that it counts. Its thread counts the other plans where nobody
    /// else does.
    ///
    /// # Errors
    /// It cannot be used.
    fn open(&mut self) -> Result<Option<Owner>, End> {
        let shared = Arc::clone(&self.context.shared);
        let Some((_, launcher)) = shared.devices.launcher.clone() else {
            return Ok(None);
        };
        let spec = &shared.devices.devices[self.device.0];
        let open = Arc::clone(&spec.open);
        let owner = Owner::open(Box::new(move || open()), launcher, spec.settings.clone());
        let owner = match owner {
            Ok(owner) => owner,
            // What the thread before this one counted with it is in the sums.
            Err(DeviceTrouble::Wrong(why)) if self.context.is_restarted => {
                return self.tell_wrong(why).map(|()| None);
            }
            Err(trouble) => return Err(End::GivenUp(trouble.into_words())),
        };
        let properties = owner.properties();
        info!(
            device = self.id().to_string(),
            "{}", properties.identity.name
        );
        shared.observers.tell(EventKind::DeviceReady {
            worker: self.id(),
            device: properties.identity.clone(),
        });
        self.counted_by = Some(CountedBy::Device(properties.identity.clone()));
        Ok(Some(owner))
    }

    /// Counts the canary: on the device, and those of plans that this thread counts for it. Returns whether the device
    /// did: otherwise it has failed, its owner opens it again, and its canary is still due.
    ///
    /// # Errors
    /// It is wrong. The collector knows.
    fn count_canary(&mut self, owner: Option<&mut Owner>) -> Result<bool, End> {
        let shared = Arc::clone(&self.context.shared);
        let begun = Instant::now();
        let on_device = match owner.map(Owner::count_canary) {
            Some(Err(DeviceTrouble::Failed(_))) => return Ok(false),
            Some(Err(DeviceTrouble::Wrong(why))) => Err(why),
            Some(Ok(counted)) => {
                #[cfg(feature = "fault-injection")]
                let counted = counted.map(|tally| {
                    let kind = CountKind::Canary;
                    shared.injector.distort(self.id(), kind, tally)
                });
                counted.compare().map_err(|wrong| wrong.0)
            }
            None => Ok(0),
        };
        let took = begun.elapsed();
        let alone = shared.roster.cpu_workers() == 0;
        let here = |plan: &PlanIndex| {
            self.counted_here.contains(plan) || (alone && !shared.devices.counts(*plan))
        };
        let plans = shared.plan_indices().filter(here);
        let mut counted = self.canary_schedule.count(&self.counters, plans);
        counted.outcome = on_device.and_then(|counts| Ok(counts + counted.outcome?));
        counted.took += took;
        self.since = Instant::now();
        self.tell_canary(counted)?;
        Ok(true)
    }

    /// Counts the canary, and if the device fails meanwhile, opens it again and counts it then.
    ///
    /// # Errors
    /// It is wrong, or the device is given up.
    fn count_last_canary(&mut self, mut owner: Option<&mut Owner>) -> Result<(), End> {
        while !self.count_canary(owner.as_deref_mut())? {
            let events = owner.as_mut().map(|owner| owner.work(NAP));
            for event in events.into_iter().flatten() {
                self.note(event)?;
            }
        }
        Ok(())
    }

    /// # Errors
    /// The canary is wrong.
    fn tell_canary(&self, counted: CanaryCounted) -> Result<(), End> {
        let wrong = counted.outcome.is_err();
        if wrong {
            self.context.shared.roster.retire(self.context.worker);
        }
        self.context.collector.do_send(counted);
        if wrong { Err(End::Wrong) } else { Ok(()) }
    }

    /// Tells that the device counts wrongly.
    ///
    /// # Errors
    /// Always.
    fn tell_wrong(&self, why: String) -> Result<(), End> {
        self.tell_canary(CanaryCounted {
            worker: self.context.worker,
            outcome: Err(why),
            took: Duration::ZERO,
        })
    }

    /// The device has nothing to do.
    fn waits(&mut self) {
        if self.waiting.is_none() {
            self.waiting = Some(Instant::now());
            let worker = self.id();
            let observers = &self.context.shared.observers;
            observers.tell(EventKind::Waiting { worker });
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
    fn ask(&mut self, owner: Option<&Owner>) {
        let wanted = match owner {
            Some(owner) => owner.wants(),
            None => self.open.is_empty().then_some(0.0),
        };
        let asked = self.asked.is_some_and(|asked| asked.elapsed() < ASK_AGAIN);
        if let Some(cost) = wanted.filter(|_| !asked) {
            self.asked = Some(Instant::now());
            self.producer.do_send(ToProducer::Want(Want {
                worker: self.context.worker,
                cost,
                speed: owner.and_then(Owner::speed),
            }));
        }
    }

    fn take(&mut self, batch: Batch, owner: Option<&mut Owner>) {
        let plan = Arc::clone(self.context.shared.plan(batch.plan));
        let tasks: Vec<Task> = batch.tasks.iter().map(|&task| plan.task(task)).collect();
        match owner {
            Some(owner)
                if self.context.shared.devices.counts(batch.plan)
                    && !batch.is_canary()
                    && batch.again.as_ref().is_none_or(Vec::is_empty) =>
            {
                self.open.add(batch);
                owner.offer(tasks);
            }
            _ => self.count_here(batch, &tasks),
        }
    }

    /// Counts on this thread what the device cannot count.
    fn count_here(&mut self, batch: Batch, tasks: &[Task]) {
        let shared = Arc::clone(&self.context.shared);
        self.counted_here
            .extend((!tasks.is_empty()).then_some(batch.plan));
        let mut message = self.message(batch.plan);
        let mut left = tasks;
        while let Some((task, rest)) = left.split_first()
            && message.mismatch.is_none()
            && !shared.is_halted()
            && !shared.roster.is_retired(self.context.worker)
        {
            let (counters, canaries) = (&mut self.counters, &mut self.canary_schedule);
            if try_task(counters, canaries, &batch, task, &mut message).is_none() {
                break;
            }
            left = rest;
        }
        message.left = Some(Batch {
            tasks: left.iter().map(|task| task.key.index).collect(),
            ..batch
        });
        self.context.collector.do_send(message);
        self.since = Instant::now();
    }

    /// # Errors
    /// The device takes no more batches.
    fn note(&mut self, event: OwnerEvent) -> Result<(), End> {
        match event {
            OwnerEvent::Launched(tasks) => {
                let worker = self.id();
                let observers = &self.context.shared.observers;
                observers.tell(EventKind::LaunchBegun { worker, tasks });
            }
            OwnerEvent::Counted { tallies, timing } => {
                if let Some(timing) = timing {
                    self.tell_launch(&timing, tallies.len());
                }
                self.counted(&tallies);
            }
            OwnerEvent::Returned { tasks, reason } => {
                self.give_back(&tasks);
                if reason == ReturnReason::Halted {
                    self.tell_given_up(&tasks);
                }
            }
            OwnerEvent::Restarted(reason) => {
                warn!(device = self.id().to_string(), "started again: {reason}");
                let worker = self.id();
                let observers = &self.context.shared.observers;
                observers.tell(EventKind::DeviceLost { worker, reason });
            }
            OwnerEvent::GivenUp(reason) => return Err(End::GivenUp(reason)),
            OwnerEvent::Mismatch(message) => return self.tell_wrong(message),
        }
        Ok(())
    }

    /// Tells when the device did what for a launch.
    fn tell_launch(&self, timing: &LaunchTiming, tasks: usize) {
        let Some(CountedBy::Device(device)) = &self.counted_by else {
            return;
        };
        let observers = &self.context.shared.observers;
        let span =
            |span: DeviceSpan| observers.span(timing.opened + span.start, timing.opened + span.end);
        observers.tell(EventKind::LaunchDone(FinishedLaunch {
            worker: self.id(),
            device: device.name.clone(),
            stream: timing.stream,
            tasks,
            upload: span(timing.spans.upload),
            kernel: span(timing.spans.kernel),
            download: span(timing.spans.download),
        }));
    }

    fn id(&self) -> WorkerId {
        self.context.shared.roster.id(self.context.worker)
    }

    /// Reports tasks that the device counted.
    fn counted(&mut self, tallies: &[(Task, Tally)]) {
        let shared = Arc::clone(&self.context.shared);
        let (Some(plan), Some(counted_by)) = (shared.devices.plan(), self.counted_by.clone())
        else {
            return;
        };
        // Launches overlap, so the time that these tasks took is the time since the last report.
        let took = self.since.elapsed();
        self.since = Instant::now();
        self.canary_schedule.note(tallies.len(), took);
        let cost: f64 = tallies.iter().map(|(task, _)| task.cost).sum();
        let mut message = self.message(plan);
        for (task, tally) in tallies {
            #[cfg(feature = "fault-injection")]
            let tally = &shared.injector.distort(self.id(), CountKind::Task, *tally);
            let took = took.mul_f64(if cost > 0.0 {
                task.cost / cost
            } else {
                1.0 / tallies.len() as f64
            });
            let (mut audited_by, mut recounted) = (None, None);
            let drawn = shared
                .audit_of(self.context.worker, plan)
                .draw(took, task.cost);
            // Here it would be counted on the CPU. If there are CPU workers, one of them does that.
            let mut audit = drawn.filter(|_| shared.roster.cpu_workers_left() > 0);
            if let Some(expected) = drawn.filter(|_| audit.is_none()) {
                // A second count on the CPU takes long. A run that stops does not wait for it, and
                // without it the task is not recorded.
                if shared.is_halted() {
                    self.open.give_back(task.key.index);
                    continue;
                }
                let begun = Instant::now();
                let first = (tally, &counted_by);
                let of = shared.plan(plan).as_ref();
                let watch = shared.in_flight.second_watch();
                let second = by_other_kernel(of, from_ref(&counted_by));
                let again = recount(second, task, first, &watch);
                let recounting = begun.elapsed();
                let mut audit_of = shared.audit_of(self.context.worker, plan);
                audit_of.note(took, expected, recounting);
                drop(audit_of);
                match again {
                    Ok(by) => (audited_by, recounted) = (by, Some(recounting)),
                    Err(NotCounted::GivenUp(_)) => {
                        self.open.give_back(task.key.index);
                        continue;
                    }
                    // The collector has it counted once more, and lets a third count decide.
                    Err(NotCounted::Mismatch(_)) => audit = Some(expected),
                }
            }
            let result = TaskResult {
                key: task.key,
                tally: *tally,
                origin: Origin {
                    worker: shared.roster.id(self.context.worker),
                    counted_by: counted_by.clone(),
                },
                audited_by,
                duration: took,
            };
            if let Some(took) = recounted {
                tell_audit(&shared.observers, &result, took);
            }
            shared
                .observers
                .tell(EventKind::TaskCounted(result.clone()));
            message.results.push(Costed {
                result,
                cost: task.cost,
                audit,
            });
        }
        self.context.collector.do_send(message);
        // Not before: after a panic above, what is not noted is counted again.
        for (task, _) in tallies {
            self.open.note_counted(task.key.index);
        }
        self.open.settle();
    }

    /// Gives back what was not counted.
    fn give_back(&mut self, tasks: &[Task]) {
        for task in tasks {
            self.open.give_back(task.key.index);
        }
        self.open.settle();
    }

    /// Tells that the device gave up the tasks of a launch, and how much of its time was for each.
    fn tell_given_up(&mut self, tasks: &[Task]) {
        let after = self.since.elapsed() / tasks.len().max(1) as u32;
        self.since = Instant::now();
        let worker = self.id();
        for task in tasks {
            self.context.shared.observers.tell(EventKind::TaskGivenUp {
                worker,
                key: task.key,
                after,
            });
        }
    }

    fn message(&self, plan: PlanIndex) -> Counted {
        Counted::nothing(self.context.worker, plan)
    }
}
