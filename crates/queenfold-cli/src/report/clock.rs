//! The axis of time of the drawings: when processes worked, and bins in which nothing interrupts them.

use super::{DoneTask, RunReport};
use queenfold::words::TimeUnit;
use queenfold_ledger::ledger::Session;

/// The most bins.
const MOST_BINS: usize = 240;

/// The shortest bin, in seconds: tasks are recorded to the second.
const SHORTEST_BIN: f64 = 1.5;

/// The shortest time that is drawn, in seconds: two bins.
const SHORTEST: f64 = 2.0 * SHORTEST_BIN;

/// The shortest time without a process that is shown: sessions begin at a whole second.
const SHORTEST_STOP: f64 = 1.0;

/// The shortest interruption that a drawing shows, as a share of its width: less than a pixel.
const VISIBLE: f64 = 1e-3;

/// From when to when, in seconds since 1970.
pub type Span = (f64, f64);

/// When a run was counted, for the first time: second counts after its end are not shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Clock {
    /// When the first process began, in seconds since 1970.
    pub start: f64,
    /// When the last process ended, in seconds since 1970.
    pub end: f64,
    /// The unit of the axis.
    pub unit: TimeUnit,
    /// Times in which some process worked, in order.
    worked: Vec<Span>,
    /// Pauses, in order.
    paused: Vec<Span>,
    /// When each session began and ended.
    sessions: Vec<Span>,
}

impl Clock {
    /// The clock of a run.
    pub fn new(report: &RunReport) -> Self {
        let began = &report.timeline.began;
        let span = |session: &Session| {
            let started = session.facts.started as f64;
            // A history says it more exactly than to a second.
            let exact = began.iter().copied().find(|at| at.floor() == started);
            let start = exact.unwrap_or(started);
            (start, start + session.elapsed.as_secs_f64())
        };
        let sessions: Vec<Span> = report.sessions.iter().map(span).collect();
        let first_counts = report.sessions.iter().filter(|of| !of.facts.again);
        let counting: Vec<Span> = first_counts.map(span).collect();
        let worked = union(&counting, 0.0);
        let (start, end) = match (worked.first(), worked.last()) {
            (Some((start, _)), Some((_, end))) => (*start, end.max(start + 1e-3)),
            _ => (report.read_at as f64, report.read_at as f64 + 1.0),
        };
        let pauses = report.timeline.pauses.iter();
        let pauses = pauses.map(|(from, to, _)| (from.max(start), to.min(end)));
        let pauses: Vec<_> = pauses.filter(|(from, to)| from < to).collect();
        Self {
            start,
            end,
            unit: TimeUnit::of_wall(end - start),
            worked,
            paused: union(&pauses, 0.0),
            sessions,
        }
    }

    /// Whether it is long enough to show what happened when.
    pub fn is_drawn(&self) -> bool {
        self.end - self.start >= SHORTEST
    }

    /// Where a time is on the axis.
    pub fn at(&self, time: f64) -> f64 {
        (time.clamp(self.start, self.end) - self.start) / self.unit.seconds
    }

    /// Seconds in which some process worked and the run was not paused.
    pub fn working(&self) -> f64 {
        let active = active(&self.worked, &self.paused);
        active.iter().map(|(from, to)| to - from).sum()
    }

    /// Pauses that can be seen, in order.
    pub fn paused(&self) -> Vec<Span> {
        let visible = VISIBLE * (self.end - self.start);
        let pauses = self.paused.iter().copied();
        pauses.filter(|(from, to)| to - from >= visible).collect()
    }

    /// Times in which no process worked on the run, in order, if they can be seen.
    pub fn stopped(&self) -> Vec<Span> {
        let worked = self.visibly_worked();
        worked.windows(2).map(|two| (two[0].1, two[1].0)).collect()
    }

    /// Times in which some process worked, or only such a short time did none that nobody sees it, in order.
    fn visibly_worked(&self) -> Vec<Span> {
        let visible = SHORTEST_STOP.max(VISIBLE * (self.end - self.start));
        union(&self.worked, visible)
    }

    /// Divides the time in which the run was counted into many bins, so that none has a pause or a stop in it.
    pub fn bins(&self) -> Bins {
        self.bins_of(MOST_BINS)
    }

    fn bins_of(&self, most: usize) -> Bins {
        let active = active(&self.visibly_worked(), &self.paused());
        let working: f64 = active.iter().map(|(from, to)| to - from).sum();
        let width = (working / most as f64).max(SHORTEST_BIN);
        let mut bins = Vec::new();
        for (from, to) in active {
            let parts = ((to - from) / width).floor().max(1.0) as usize;
            let each = (to - from) / parts as f64;
            bins.extend((0..parts).map(|part| {
                let from = from + part as f64 * each;
                (from, from + each)
            }));
        }
        Bins(bins)
    }

    /// When a task was counted, as well as that is known: seconds are rounded down when they are recorded, and no process
    /// counts before it begins or after it ends.
    fn when(&self, task: &DoneTask) -> Span {
        let (from, to) = (task.end as f64 - task.seconds, task.end as f64 + 1.0);
        match task.session.and_then(|at| self.sessions.get(at)) {
            Some((start, stop)) => (from.clamp(*start, stop.max(*start)), to.min(*stop)),
            None => (from, to),
        }
    }
}

/// What is left of `worked` without what is `paused`; both are in order.
fn active(worked: &[Span], paused: &[Span]) -> Vec<Span> {
    let mut active = Vec::new();
    for &(from, to) in worked {
        let mut since = from;
        let first = paused.partition_point(|(_, end)| *end <= from);
        for &(pause, end) in paused[first..].iter().take_while(|(pause, _)| *pause < to) {
            if pause > since {
                active.push((since, pause));
            }
            since = since.max(end);
        }
        if since < to {
            active.push((since, to));
        }
    }
    active
}

/// Times that overlap, or have less than `apart` between them, put together, in order.
fn union(spans: &[Span], apart: f64) -> Vec<Span> {
    let mut spans = spans.to_vec();
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut together: Vec<Span> = Vec::new();
    for (from, to) in spans {
        match together.last_mut() {
            Some((_, until)) if from <= *until || from - *until < apart => *until = until.max(to),
            _ => together.push((from, to)),
        }
    }
    together
}

/// Parts of the time in which a run was counted, in order: from when to when, in seconds since 1970.
#[derive(Clone, Debug, PartialEq)]
pub struct Bins(pub Vec<Span>);

impl Bins {
    /// Calls `each` with every bin in which the task was counted, and the share of it that lies there. The shares of a task
    /// are 1 in all.
    pub fn spread(&self, task: &DoneTask, clock: &Clock, mut each: impl FnMut(usize, f64)) {
        let (start, end) = clock.when(task);
        let first = self.0.partition_point(|(_, to)| *to <= start);
        let inside = |&(from, to): &Span| (end.min(to) - start.max(from)).max(0.0);
        let touched = self.0[first..].iter().take_while(|(from, _)| *from < end);
        let shares: Vec<f64> = touched.map(inside).collect();
        let all: f64 = shares.iter().sum();
        if all > 0.0 {
            for (at, share) in shares.iter().enumerate() {
                each(first + at, share / all);
            }
        } else if let Some(last) = self.0.len().checked_sub(1) {
            each(first.min(last), 1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use queenfold::engine::Engine;

    fn clock(worked: &[Span], paused: &[Span]) -> Clock {
        let (start, end) = (worked[0].0, worked[worked.len() - 1].1);
        Clock {
            start,
            end,
            unit: TimeUnit::of_wall(end - start),
            worked: worked.to_vec(),
            paused: paused.to_vec(),
            sessions: worked.to_vec(),
        }
    }

    fn task(end: i64, seconds: f64) -> DoneTask {
        DoneTask {
            engine: Engine::Chain,
            index: 0,
            lane: 0,
            kernel: 0,
            session: None,
            end,
            seconds,
            nodes: 1,
        }
    }

    #[test]
    fn no_bin_has_a_pause_or_a_stop_in_it() {
        let clock = clock(&[(100.0, 120.0), (150.0, 160.0)], &[(105.0, 110.0)]);
        assert_eq!(
            active(&clock.worked, &clock.paused),
            [(100.0, 105.0), (110.0, 120.0), (150.0, 160.0)]
        );
        assert_eq!((clock.working(), clock.at(clock.end)), (25.0, 60.0));
        assert_eq!(clock.stopped(), [(120.0, 150.0)]);
        let bins = clock.bins_of(5);
        assert_eq!(
            bins.0,
            [
                (100.0, 105.0),
                (110.0, 115.0),
                (115.0, 120.0),
                (150.0, 155.0),
                (155.0, 160.0)
            ]
        );
        // A bin is not shorter than records are exact.
        assert!(
            clock
                .bins_of(1000)
                .0
                .iter()
                .all(|(from, to)| to - from >= 1.5)
        );
    }

    #[test]
    fn a_task_is_spread_over_the_time_in_which_it_was_counted() {
        let clock = clock(&[(100.0, 110.0), (200.0, 210.0)], &[]);
        let bins = clock.bins_of(4);
        let spread = |task: DoneTask| {
            let mut shares = vec![0.0; bins.0.len()];
            bins.spread(&task, &clock, |bin, share| shares[bin] += share);
            shares
        };
        assert_eq!(spread(task(107, 5.0)), [0.5, 0.5, 0.0, 0.0]);
        // Nothing of it lies in the time in which nobody worked, nor is anything lost.
        assert_eq!(spread(task(202, 95.0)), [0.0, 0.5, 0.5, 0.0]);
        assert_eq!(spread(task(150, 1.0)), [0.0, 0.0, 1.0, 0.0]);
        assert_eq!(spread(task(900, 1.0)), [0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn times_that_overlap_are_one() {
        let spans = [(5.0, 6.0), (0.0, 2.0), (1.0, 3.0), (3.0, 4.0)];
        assert_eq!(union(&spans, 0.0), [(0.0, 4.0), (5.0, 6.0)]);
        assert_eq!(union(&spans, 1.5), [(0.0, 6.0)]);
    }
}
