//! How much a fed device holds, how fast it counts, and whether it is worth more.

use std::time::{Duration, Instant};

/// Parts may wait for a device as long as this, so that it always has some while the workers make others.
const AHEAD: f64 = 5.0;

/// While a device is not known to be fast enough, it gets one part at a time: a slow device would end last with more.
const BEFORE_SPEED: usize = 1;

/// The part of the time that is left in which a device must have counted all it holds: how long parts take differs.
const IN_TIME: f64 = 0.7;

/// So many parts may wait however long they take, so that a device need not wait between two.
const LEAST_AHEAD: usize = 2;

/// The least speed that is worth the parts of a device, in CPU workers. What is slower saves less than one more
/// worker would, and may count on the cores of the workers: the emulated device does.
const LEAST_SPEED: f64 = 1.0;

/// A device is judged when its parts have taken it so long: on shorter ones, what a launch costs besides would
/// count as slowness.
const JUDGED_AFTER: f64 = 0.03;

/// After a device was found too slow, it gets the next part after this time. So its trials take 1 or 2 % of a
/// core, even if it counts on the cores of the workers, and one that was slow for a while counts again.
const REST: Duration = Duration::from_secs(10);

/// A device is not tried if the CPU workers alone need less than this for the rest, in seconds: its trial would be
/// more than 5 % of that, and to open a GPU takes as long.
pub(super) const WORTH_A_TRIAL: f64 = 3.0;

/// What a part takes of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PartLoad {
    /// Bytes of its launch.
    pub(super) bytes: u64,
    /// Work, in the unit of the preparer.
    pub(super) work: f64,
}

/// How fast a device counts parts, as far as its launches tell.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PartPace {
    /// Work per second, once known.
    pub(super) speed: Option<f64>,
    /// The work of all parts that it counts now, and how many seconds it has counted none of them.
    pub(super) under_way: (f64, f64),
}

/// How much a device has been given and not counted yet, and how fast it counts.
#[derive(Debug)]
pub(super) struct FeedLoad {
    parts: usize,
    held: PartLoad,
    /// All parts so far.
    parts_so_far: usize,
    work_so_far: f64,
    /// What a CPU worker would have taken for these, in seconds.
    worker_seconds: f64,
    /// Work that it has counted since it rested last.
    work_counted: f64,
    pace: PartPace,
    /// The most bytes of a part.
    most_bytes: u64,
    /// The most bytes of all parts together.
    budget: u64,
    /// Whether it is fed however slow it is.
    at_any_speed: bool,
    /// Until when it gets nothing, because it was too slow.
    rests_until: Option<Instant>,
}

impl FeedLoad {
    /// Nothing yet.
    pub(super) const fn new(budget: u64, at_any_speed: bool) -> Self {
        Self {
            parts: 0,
            held: PartLoad {
                bytes: 0,
                work: 0.0,
            },
            parts_so_far: 0,
            work_so_far: 0.0,
            worker_seconds: 0.0,
            work_counted: 0.0,
            pace: PartPace {
                speed: None,
                under_way: (0.0, 0.0),
            },
            most_bytes: u64::MAX,
            budget,
            at_any_speed,
            rests_until: None,
        }
    }

    /// Whether the device may get parts at all, if all is counted in `left` seconds without it.
    pub(super) fn is_worth_feeding(&self, left: f64, now: Instant) -> bool {
        let is_known = self.pace.speed.is_some();
        let rests = self.rests_until.is_some_and(|until| now < until);
        self.at_any_speed || (!rests && (is_known || left >= WORTH_A_TRIAL))
    }

    /// Seconds until the device has counted what it was given.
    pub(super) fn seconds_held(&self) -> f64 {
        if self.parts == 0 {
            return 0.0;
        }
        let speed = self.pace.speed;
        speed.map_or(f64::INFINITY, |speed| self.held.work / speed)
    }

    /// Whether the device takes a launch of so many bytes, if all is counted in `left` seconds without it.
    pub(super) fn has_room(&self, bytes: u64, left: f64, now: Instant) -> bool {
        if bytes > self.most_bytes || self.held.bytes.saturating_add(bytes) > self.budget {
            return false;
        }
        if !self.is_worth_feeding(left, now) {
            return false;
        }
        let is_enough = |speed: &f64| self.at_any_speed || *speed >= self.least_speed();
        let Some(speed) = self.pace.speed.filter(is_enough) else {
            return self.parts < BEFORE_SPEED;
        };
        let next = self.work_so_far / self.parts_so_far.max(1) as f64;
        let is_ahead = self.parts >= LEAST_AHEAD && self.held.work / speed > AHEAD;
        !is_ahead && (self.held.work + next) / speed <= IN_TIME * left
    }

    /// Notes that a worker holds a part for the device.
    pub(super) fn add(&mut self, part: PartLoad) {
        self.parts += 1;
        self.held.bytes += part.bytes;
        self.held.work += part.work;
    }

    /// Notes that a worker prepared parts of so much work, and would have taken so many seconds to count them.
    pub(super) fn note_prepared(&mut self, parts: usize, work: f64, seconds: f64) {
        self.parts_so_far += parts;
        self.work_so_far += work;
        self.worker_seconds += seconds;
    }

    /// Notes that the device counted a part.
    pub(super) fn count(&mut self, part: PartLoad) {
        self.work_counted += part.work;
        self.remove(part);
    }

    /// Notes that the device, or the worker, holds a part no more.
    pub(super) fn remove(&mut self, part: PartLoad) {
        self.parts = self.parts.saturating_sub(1);
        self.held.bytes = self.held.bytes.saturating_sub(part.bytes);
        // Without parts there is no work: rounding errors must not add up.
        let is_some = self.parts > 0;
        self.held.work = (self.held.work - part.work).max(0.0) * f64::from(u8::from(is_some));
    }

    /// Notes how fast the device counts, and the most bytes that a part may have. Returns whether it is too slow: it
    /// then rests, and what it holds should go back to the CPU workers.
    #[must_use]
    pub(super) fn note(&mut self, pace: PartPace, most_bytes: u64, now: Instant) -> bool {
        self.pace = PartPace {
            // What was measured before it rested is no measure of what it does now.
            speed: pace.speed.filter(|_| self.work_counted > 0.0),
            ..pace
        };
        self.most_bytes = most_bytes;
        let is_slow = !self.at_any_speed && self.is_slow();
        if is_slow {
            self.rests_until = Some(now + REST);
            self.work_counted = 0.0;
            self.pace = PartPace::default();
        }
        is_slow
    }

    /// The least speed that is worth feeding, in work per second; nothing is known of workers before the first task
    /// is prepared.
    fn least_speed(&self) -> f64 {
        if self.worker_seconds > 0.0 {
            LEAST_SPEED * self.work_so_far / self.worker_seconds
        } else {
            0.0
        }
    }

    /// Whether the device counts too slowly: by what it has counted, or because it has not counted yet what it has
    /// under way.
    fn is_slow(&self) -> bool {
        let least = self.least_speed();
        let (work, seconds) = self.pace.under_way;
        let is_late = seconds >= JUDGED_AFTER && work / seconds < least;
        let judged = |speed: &f64| self.work_counted / speed >= JUDGED_AFTER;
        let was_slow = self.pace.speed.filter(judged);
        is_late || was_slow.is_some_and(|speed| speed < least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PART: PartLoad = PartLoad {
        bytes: 100,
        work: 2.0,
    };

    /// Much time.
    const LONG: f64 = 1e9;

    fn pace(speed: f64) -> PartPace {
        PartPace {
            speed: Some(speed),
            under_way: (0.0, 0.0),
        }
    }

    /// A load that may have so many bytes, of a device with this speed, if that is known.
    fn load(budget: u64, speed: Option<f64>) -> FeedLoad {
        let mut load = FeedLoad::new(budget, false);
        load.pace.speed = speed;
        load
    }

    /// Prepared parts, for which a worker would take a second each.
    fn prepare(load: &mut FeedLoad, parts: usize) {
        for _ in 0..parts {
            load.add(PART);
            load.note_prepared(1, PART.work, 1.0);
        }
    }

    #[test]
    fn a_device_of_unknown_speed_gets_one_part_if_the_run_is_long_enough() {
        let now = Instant::now();
        let mut load = load(1000, None);
        assert!(load.has_room(100, 3.0, now) && !load.has_room(100, 2.9, now));
        load.add(PART);
        assert!(!load.has_room(100, LONG, now));
        load.remove(PART);
        assert!(load.has_room(100, LONG, now));
        load.at_any_speed = true;
        assert!(load.has_room(100, 0.0, now));
    }

    #[test]
    fn memory_is_a_budget() {
        let now = Instant::now();
        let mut load = load(250, Some(1e9));
        assert!(load.has_room(250, LONG, now) && !load.has_room(251, LONG, now));
        prepare(&mut load, 2);
        assert!(load.has_room(50, LONG, now) && !load.has_room(51, LONG, now));
        load.work_counted = 1.0;
        assert!(!load.note(pace(1e9), 49, now));
        assert!(load.has_room(49, LONG, now) && !load.has_room(50, LONG, now));
    }

    #[test]
    fn a_device_gets_no_part_that_would_end_last() {
        let now = Instant::now();
        let mut load = load(1000, Some(2.5));
        prepare(&mut load, 5);
        // It has four seconds to go, and would have 4.8: seven tenths of 6.86.
        assert!(load.has_room(100, 6.9, now) && !load.has_room(100, 6.8, now));
    }

    #[test]
    fn parts_wait_for_five_seconds_but_never_less_than_two() {
        let now = Instant::now();
        let mut slow = FeedLoad::new(10_000, true);
        slow.pace.speed = Some(0.1);
        prepare(&mut slow, 1);
        assert!(slow.has_room(100, LONG, now));
        prepare(&mut slow, 1);
        assert!(!slow.has_room(100, LONG, now));
        let mut fast = load(10_000, Some(3.0));
        prepare(&mut fast, 7);
        assert!(fast.has_room(100, LONG, now));
        prepare(&mut fast, 1);
        assert!(!fast.has_room(100, LONG, now));
    }

    #[test]
    fn a_device_that_counts_more_slowly_than_a_worker_rests() {
        let mut now = Instant::now();
        for (speed, is_slow) in [(2.1, false), (1.9, true)] {
            let mut load = load(1000, None);
            prepare(&mut load, 2);
            load.count(PART);
            assert_eq!(load.note(pace(speed), u64::MAX, now), is_slow, "{speed}");
            assert_eq!(load.has_room(100, LONG, now), !is_slow, "{speed}");
        }
        // Until it is judged it gets one part at a time.
        let mut load = self::load(1000, None);
        load.add(PART);
        load.note_prepared(1, PART.work, 0.02);
        load.count(PART);
        assert!(!load.note(pace(80.0), u64::MAX, now));
        assert!(load.has_room(100, LONG, now));
        load.add(PART);
        load.note_prepared(1, PART.work, 0.02);
        assert!(!load.has_room(100, LONG, now));
        load.count(PART);
        assert!(load.note(pace(80.0), u64::MAX, now));
        // What was begun before is judged with the next part alone.
        let mut load = self::load(1000, None);
        prepare(&mut load, 1);
        load.count(PART);
        assert!(load.note(pace(1.9), u64::MAX, now));
        now += REST;
        assert!(load.has_room(100, LONG, now));
        prepare(&mut load, 1);
        assert!(!load.note(pace(1.9), u64::MAX, now));
        assert!(!load.has_room(100, LONG, now), "one part is a trial");
        load.count(PART);
        assert!(load.note(pace(1.9), u64::MAX, now));
    }

    #[test]
    fn a_device_that_has_not_counted_a_part_in_the_time_of_a_worker_rests() {
        let now = Instant::now();
        let under_way = |work, seconds| PartPace {
            speed: None,
            under_way: (work, seconds),
        };
        let mut load = load(1000, None);
        prepare(&mut load, 1);
        assert!(!load.note(under_way(2.0, 0.9), u64::MAX, now));
        assert!(load.note(under_way(2.0, 1.1), u64::MAX, now));
        load.remove(PART);
        assert!(!load.has_room(100, LONG, now));
        // However short a part is, its launch may take some time.
        let mut load = self::load(1000, None);
        load.add(PART);
        load.note_prepared(1, PART.work, 0.001);
        assert!(!load.note(under_way(2.0, 0.029), u64::MAX, now));
        assert!(load.note(under_way(2.0, 0.031), u64::MAX, now));
    }

    #[test]
    fn a_device_is_fed_at_any_speed_where_that_is_asked_for() {
        let now = Instant::now();
        let mut load = FeedLoad::new(1000, true);
        prepare(&mut load, 1);
        load.count(PART);
        assert!(!load.note(pace(1e-3), u64::MAX, now));
        assert!(load.has_room(100, LONG, now));
    }

    #[test]
    fn trials_of_a_slow_device_take_a_hundredth_of_a_core() {
        let (start, mut now) = (Instant::now(), Instant::now());
        let (step, mut tried) = (Duration::from_millis(2), Duration::ZERO);
        let mut load = load(1000, None);
        let mut since = None;
        while now - start < Duration::from_secs(60) {
            if since.is_none() && load.has_room(100, LONG, now) {
                load.add(PART);
                load.note_prepared(1, PART.work, 0.004);
                since = Some(now);
            }
            let under_way =
                since.map_or((0.0, 0.0), |since| (PART.work, (now - since).as_secs_f64()));
            let pace = PartPace {
                speed: None,
                under_way,
            };
            if load.note(pace, u64::MAX, now) {
                load.remove(PART);
                since = None;
            }
            now += step;
            tried += step * u32::from(since.is_some());
        }
        let share = tried.as_secs_f64() / 60.0;
        assert!(share > 0.002 && share < 0.01, "{share}");
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
