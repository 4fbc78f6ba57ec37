//! Feeding devices: a CPU worker counts a task and leaves parts of it to a device that has room for them.

use std::sync::Arc;
use std::time::Duration;

use crossbeam::channel::{Receiver, Sender, unbounded};
use parking_lot::Mutex;

use crate::engine::{CounterSettings, LaunchBatch, Launcher, PartTaker, Preparer, Tally, Task};

/// Parts may wait for a device as long as this, so that it always has some while the workers make others.
const AHEAD: f64 = 5.0;

/// While the speed of a device is not known, it gets one part: a slow device would end last with more.
const BEFORE_SPEED: usize = 1;

/// The part of the time that is left in which a device must have counted all it holds: how long parts take differs.
const IN_TIME: f64 = 0.7;

/// So many parts may wait however long they take, so that a device need not wait between two.
const LEAST_AHEAD: usize = 2;

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

/// What a part takes of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PartLoad {
    /// Bytes of its launch.
    pub(super) bytes: u64,
    /// Work, in the unit of the preparer.
    pub(super) work: f64,
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

/// How much a device has been given and not counted yet, and how fast it counts.
#[derive(Debug)]
struct FeedLoad {
    parts: usize,
    held: PartLoad,
    /// All parts so far.
    parts_so_far: usize,
    work_so_far: f64,
    /// Work per second, once known.
    speed: Option<f64>,
    /// The most bytes of a part.
    most_bytes: u64,
    /// The most bytes of all parts together.
    budget: u64,
}

impl Feed {
    /// Opens it for a device that launches of `launcher` suit, and that may be given so many bytes at a time.
    /// Returns where parts come out.
    pub(super) fn open(&self, launcher: Arc<dyn Launcher>, budget: u64) -> Receiver<Box<Prepared>> {
        let (to_device, from_workers) = unbounded();
        *self.0.lock() = Some(OpenFeed {
            to_device,
            launcher,
            load: FeedLoad::new(budget),
        });
        from_workers
    }

    /// Nothing more comes out but what was sent before.
    pub(super) fn close(&self) {
        *self.0.lock() = None;
    }

    /// Seconds until the device has counted what it was given, with what makes its launches; `None` if the
    /// feed is closed.
    fn seconds_held(&self) -> Option<(f64, Arc<dyn Launcher>)> {
        let feed = self.0.lock();
        let OpenFeed { launcher, load, .. } = feed.as_ref()?;
        let seconds = load
            .speed
            .map_or(f64::INFINITY, |speed| load.held.work / speed);
        let seconds = if load.parts == 0 { 0.0 } else { seconds };
        Some((seconds, Arc::clone(launcher)))
    }

    /// Whether the device takes a launch of so many bytes, if all is counted in `left` seconds without it.
    fn has_room(&self, bytes: u64, left: f64) -> bool {
        let feed = self.0.lock();
        feed.as_ref()
            .is_some_and(|feed| feed.load.has_room(bytes, left))
    }

    /// Notes that a worker holds a part for the device.
    fn reserve(&self, part: PartLoad) {
        self.with_load(|load| load.add(part));
    }

    /// Notes that the device, or the worker, holds a part no more.
    pub(super) fn release(&self, part: PartLoad) {
        self.with_load(|load| load.remove(part));
    }

    /// Notes how fast the device counts, and the most bytes that a part may have.
    pub(super) fn note(&self, speed: Option<f64>, most_bytes: u64) {
        self.with_load(|load| {
            load.speed = speed;
            load.most_bytes = most_bytes;
        });
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
    fn with_load(&self, then: impl FnOnce(&mut FeedLoad)) {
        if let Some(feed) = self.0.lock().as_mut() {
            then(&mut feed.load);
        }
    }
}

impl FeedLoad {
    /// Nothing yet.
    const fn new(budget: u64) -> Self {
        Self {
            parts: 0,
            held: PartLoad {
                bytes: 0,
                work: 0.0,
            },
            parts_so_far: 0,
            work_so_far: 0.0,
            speed: None,
            most_bytes: u64::MAX,
            budget,
        }
    }

    fn has_room(&self, bytes: u64, left: f64) -> bool {
        if bytes > self.most_bytes || self.held.bytes.saturating_add(bytes) > self.budget {
            return false;
        }
        let Some(speed) = self.speed else {
            return self.parts < BEFORE_SPEED;
        };
        let next = self.work_so_far / self.parts_so_far.max(1) as f64;
        let is_ahead = self.parts >= LEAST_AHEAD && self.held.work / speed > AHEAD;
        !is_ahead && (self.held.work + next) / speed <= IN_TIME * left
    }

    fn add(&mut self, part: PartLoad) {
        self.parts += 1;
        self.held.bytes += part.bytes;
        self.held.work += part.work;
        self.parts_so_far += 1;
        self.work_so_far += part.work;
    }

    fn remove(&mut self, part: PartLoad) {
        self.parts = self.parts.saturating_sub(1);
        self.held.bytes = self.held.bytes.saturating_sub(part.bytes);
        // Without parts there is no work: rounding errors must not add up.
        let is_some = self.parts > 0;
        self.held.work = (self.held.work - part.work).max(0.0) * f64::from(u8::from(is_some));
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

/// The device that will have counted first what it was given, with what makes its launches; `None` if all
/// feeds are closed.
pub(super) fn choose(feeds: &[Feed]) -> Option<(usize, Arc<dyn Launcher>)> {
    let open = feeds.iter().enumerate();
    let open = open.filter_map(|(device, feed)| Some((device, feed.seconds_held()?)));
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

#[cfg(test)]
mod tests {
    use super::*;

    const PART: PartLoad = PartLoad {
        bytes: 100,
        work: 2.0,
    };

    fn load(budget: u64, speed: Option<f64>) -> FeedLoad {
        FeedLoad {
            speed,
            ..FeedLoad::new(budget)
        }
    }

    #[test]
    fn a_device_of_unknown_speed_gets_one_part() {
        let mut load = load(1000, None);
        assert!(load.has_room(100, 0.0));
        load.add(PART);
        assert!(!load.has_room(100, f64::INFINITY));
        load.remove(PART);
        assert!(load.has_room(100, 0.0));
    }

    #[test]
    fn memory_is_a_budget() {
        let mut load = load(250, Some(1e9));
        assert!(load.has_room(250, 100.0) && !load.has_room(251, 100.0));
        load.add(PART);
        load.add(PART);
        assert!(load.has_room(50, 100.0) && !load.has_room(51, 100.0));
        load.most_bytes = 49;
        assert!(load.has_room(49, 100.0) && !load.has_room(50, 100.0));
    }

    #[test]
    fn a_slow_device_gets_no_part_that_would_end_last() {
        let mut load = load(1000, Some(0.5));
        load.add(PART);
        // It has four seconds to go, and would have eight: seven tenths of 11.4.
        assert!(load.has_room(100, 11.5) && !load.has_room(100, 11.3));
    }

    #[test]
    fn parts_wait_for_five_seconds_but_never_less_than_two() {
        let mut slow = load(10_000, Some(0.1));
        slow.add(PART);
        assert!(slow.has_room(100, 1e9));
        slow.add(PART);
        assert!(!slow.has_room(100, 1e9));
        let mut fast = load(10_000, Some(1.0));
        for _ in 0..2 {
            fast.add(PART);
        }
        assert!(fast.has_room(100, 1e9));
        fast.add(PART);
        assert!(!fast.has_room(100, 1e9));
    }

    #[test]
    fn rounding_errors_do_not_add_up() {
        let mut load = load(1000, Some(1.0));
        for work in [0.1, 0.2, 0.3] {
            load.add(PartLoad { bytes: 1, work });
        }
        for work in [0.3, 0.1, 0.2] {
            load.remove(PartLoad { bytes: 1, work });
        }
        assert_eq!((load.parts, load.held), (0, PartLoad::default()));
    }
}
