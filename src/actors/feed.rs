//! Feeding devices: a CPU worker counts a task and leaves parts of it to a device that has room for them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, Sender, unbounded};
use parking_lot::Mutex;

use super::feed_load::{FeedLoad, PartLoad, PartPace};
use crate::engine::{CounterSettings, LaunchBatch, Launcher, PartTaker, Preparer, Tally, Task};

/// A task of which a worker counted some, and left the rest to a device.
pub(super) struct Prepared {
    pub(super) task: Task,
    /// What the worker counted.
    pub(super) tally: Tally,
    /// The number of the worker.
    pub(super) worker: usize,
    /// How long that took.
    pub(super) took: Duration,
    /// The share of the work of the task that the parts are, 0 to 1.
    pub(super) share: f64,
    pub(super) parts: Vec<PreparedPart>,
}

/// A part of a task, which a device is to count.
pub(super) struct PreparedPart {
    pub(super) batch: Box<dyn LaunchBatch>,
    pub(super) load: PartLoad,
}

/// What CPU workers know of a device that they feed, and the way to it. Closed until the device is open, and
/// after it was given up.
#[derive(Default)]
pub(super) struct Feed(Mutex<Option<OpenFeed>>);

struct OpenFeed {
    to_device: Sender<Box<Prepared>>,
    launcher: Arc<dyn Launcher>,
    load: FeedLoad,
}

impl Feed {
    /// Opens it for a device that launches of `launcher` suit. Returns where parts come out.
    pub(super) fn open(
        &self,
        launcher: Arc<dyn Launcher>,
        load: FeedLoad,
    ) -> Receiver<Box<Prepared>> {
        let (to_device, from_workers) = unbounded();
        *self.0.lock() = Some(OpenFeed {
            to_device,
            launcher,
            load,
        });
        from_workers
    }

    /// Nothing more comes out but what was sent before.
    pub(super) fn close(&self) {
        *self.0.lock() = None;
    }

    /// Seconds until the device has counted what it was given, with what makes its launches; `None` if the
    /// feed is closed, or the device is not worth feeding in a run that takes `left` seconds without it.
    fn seconds_held(&self, left: f64) -> Option<(f64, Arc<dyn Launcher>)> {
        let feed = self.0.lock();
        let open = feed.as_ref();
        let OpenFeed { launcher, load, .. } =
            open.filter(|open| open.load.is_worth_feeding(left, Instant::now()))?;
        Some((load.seconds_held(), Arc::clone(launcher)))
    }

    /// Whether the device takes a launch of so many bytes, if all is counted in `left` seconds without it.
    fn has_room(&self, bytes: u64, left: f64) -> bool {
        let feed = self.0.lock();
        feed.as_ref()
            .is_some_and(|feed| feed.load.has_room(bytes, left, Instant::now()))
    }

    /// Notes that a worker holds a part for the device.
    fn reserve(&self, part: PartLoad) {
        self.with_load(|load| load.add(part));
    }

    /// Notes that a worker prepared these parts, and would have taken so many seconds to count them.
    pub(super) fn note_prepared(&self, parts: &[PreparedPart], seconds: f64) {
        let work = parts.iter().map(|part| part.load.work).sum();
        self.with_load(|load| load.note_prepared(parts.len(), work, seconds));
    }

    /// Notes that the device, or the worker, holds a part no more, which is not counted.
    pub(super) fn release(&self, part: PartLoad) {
        self.with_load(|load| load.remove(part));
    }

    /// Notes that the device counted a part.
    pub(super) fn count(&self, part: PartLoad) {
        self.with_load(|load| load.count(part));
    }

    /// Notes how fast the device counts, and the most bytes that a part may have. Returns whether it is too slow:
    /// what it holds should go back to the CPU workers.
    pub(super) fn note(&self, pace: PartPace, most_bytes: u64) -> bool {
        let note = |load: &mut FeedLoad| load.note(pace, most_bytes, Instant::now());
        self.with_load(note).unwrap_or(false)
    }

    /// Sends a task to the device; back if it takes no more.
    pub(super) fn send(&self, prepared: Box<Prepared>) -> Result<(), Box<Prepared>> {
        // The lock is held, so that a task is either sent before the feed is closed, or comes back.
        match &*self.0.lock() {
            Some(feed) => feed.to_device.send(prepared).map_err(|back| back.0),
            None => Err(prepared),
        }
    }

    /// Does nothing if the feed is closed.
    fn with_load<T>(&self, then: impl FnOnce(&mut FeedLoad) -> T) -> Option<T> {
        self.0.lock().as_mut().map(|feed| then(&mut feed.load))
    }
}

/// What a worker prepares launches with: one for each launcher of the devices it feeds.
#[derive(Default)]
pub(super) struct Preparers(Vec<(Arc<dyn Launcher>, Box<dyn Preparer>)>);

impl Preparers {
    /// The preparer for a launcher, made when first needed.
    pub(super) fn of(
        &mut self,
        launcher: &Arc<dyn Launcher>,
        settings: &CounterSettings,
    ) -> Option<&mut dyn Preparer> {
        let known = |(of, _): &(Arc<dyn Launcher>, _)| Arc::ptr_eq(of, launcher);
        let at = match self.0.iter().position(known) {
            Some(at) => at,
            None => {
                let preparer = launcher.preparer(settings)?;
                self.0.push((Arc::clone(launcher), preparer));
                self.0.len() - 1
            }
        };
        Some(self.0[at].1.as_mut())
    }

    /// Frees their memory.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// The device that will have counted first what it was given, with what makes its launches; `None` if none is to
/// be fed in a run that takes `left` seconds without it.
pub(super) fn choose(feeds: &[Feed], left: f64) -> Option<(usize, Arc<dyn Launcher>)> {
    let open = feeds.iter().enumerate();
    let open = open.filter_map(|(device, feed)| Some((device, feed.seconds_held(left)?)));
    let first = open.min_by(|(_, (one, _)), (_, (other, _))| one.total_cmp(other));
    first.map(|(device, (_, launcher))| (device, launcher))
}

/// Collects the parts of one task for one device. Dropped, it gives up the room it holds for them.
pub(super) struct Parts<'a> {
    feed: &'a Feed,
    /// Seconds until all is counted without the device.
    left: f64,
    parts: Vec<PreparedPart>,
    /// Work that the worker kept.
    kept: f64,
}

impl<'a> Parts<'a> {
    pub(super) const fn new(feed: &'a Feed, left: f64) -> Self {
        Self {
            feed,
            left,
            parts: Vec::new(),
            kept: 0.0,
        }
    }

    /// The share of the work that the parts are.
    pub(super) fn share(&self) -> f64 {
        let given: f64 = self.parts.iter().map(|part| part.load.work).sum();
        if given > 0.0 {
            given / (given + self.kept)
        } else {
            0.0
        }
    }

    /// The parts, whose room the device gives up when it has counted them.
    pub(super) fn take(mut self) -> Vec<PreparedPart> {
        std::mem::take(&mut self.parts)
    }
}

impl PartTaker for Parts<'_> {
    fn has_room(&self, bytes: u64) -> bool {
        self.feed.has_room(bytes, self.left)
    }

    fn take(&mut self, batch: Box<dyn LaunchBatch>, work: f64) {
        let bytes = batch.launch().map_or(0, |launch| launch.bytes());
        let load = PartLoad { bytes, work };
        self.feed.reserve(load);
        self.parts.push(PreparedPart { batch, load });
    }

    fn keep(&mut self, work: f64) {
        self.kept += work;
    }
}

impl Drop for Parts<'_> {
    fn drop(&mut self) {
        for part in &self.parts {
            self.feed.release(part.load);
        }
    }
}
