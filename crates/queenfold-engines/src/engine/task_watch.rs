//! What a counter tells while it counts a task, and where it hears that it should give the task up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::{GivenUp, Mismatch};

/// How much of a task is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TaskProgress {
    /// Nodes searched.
    pub nodes: u64,
    /// Solutions found: Σ weight × completions.
    pub solutions: u64,
    /// The share of the work that is done, 0 to 1. It is an estimate; 0 while it is not known.
    pub share: f64,
}

/// The watch over one worker: its counter tells here how far it is in its task, and hears whether it
/// should give the task up. Another thread may read and ask at any time.
///
/// A counter should look here a hundred times a second or more, but not so often that it costs time:
/// all it costs is a few unsynchronised loads and stores.
#[derive(Debug, Default)]
pub struct TaskWatch {
    give_up: Arc<AtomicBool>,
    nodes: AtomicU64,
    solutions: AtomicU64,
    /// The bits of a float.
    share: AtomicU64,
}

impl TaskWatch {
    /// Tasks are given up from when `give_up` is set.
    pub fn new(give_up: Arc<AtomicBool>) -> Self {
        Self {
            give_up,
            ..Self::default()
        }
    }

    /// Whether to go on.
    ///
    /// # Errors
    /// The task is to be given up.
    #[inline]
    pub fn check(&self) -> Result<(), GivenUp> {
        if self.give_up.load(Ordering::Relaxed) {
            return Err(GivenUp);
        }
        Ok(())
    }

    /// Tells how much of the task is counted.
    pub fn note(&self, progress: TaskProgress) {
        self.note_counted(progress.nodes, progress.solutions);
        self.note_share(progress.share);
    }

    /// Tells how many nodes of the task are searched and how many solutions are found.
    #[inline]
    pub fn note_counted(&self, nodes: u64, solutions: u64) {
        self.nodes.store(nodes, Ordering::Relaxed);
        self.solutions.store(solutions, Ordering::Relaxed);
    }

    #[inline]
    fn note_share(&self, share: f64) {
        self.share.store(share.to_bits(), Ordering::Relaxed);
    }

    /// How much of the task is counted, as it was reported last.
    pub fn progress(&self) -> TaskProgress {
        TaskProgress {
            nodes: self.nodes.load(Ordering::Relaxed),
            solutions: self.solutions.load(Ordering::Relaxed),
            share: f64::from_bits(self.share.load(Ordering::Relaxed)),
        }
    }

    /// The whole task, as a stretch.
    pub const fn whole(&self) -> Stretch<'_> {
        Stretch {
            watch: self,
            from: 0.0,
            length: 1.0,
        }
    }
}

/// A stretch of the work of a task that is counted step by step.
#[derive(Clone, Copy, Debug)]
pub struct Stretch<'a> {
    watch: &'a TaskWatch,
    /// The share of the task that lies before it.
    from: f64,
    /// The share of the task that it is.
    length: f64,
}

impl<'a> Stretch<'a> {
    /// Part `index` of `parts` equal ones.
    pub fn part(self, index: u64, parts: u64) -> Self {
        let length = self.length / parts.max(1) as f64;
        Self {
            from: self.from + index as f64 * length,
            length,
            ..self
        }
    }

    /// The watch over the whole task.
    pub const fn watch(self) -> &'a TaskWatch {
        self.watch
    }

    /// Tells that so many steps of `steps` equal ones are done, and asks whether to go on.
    ///
    /// # Errors
    /// The task is to be given up.
    #[inline]
    pub fn step(self, done: u64, steps: u64) -> Result<(), GivenUp> {
        let done = done as f64 / steps.max(1) as f64;
        self.watch.note_share(self.from + done * self.length);
        self.watch.check()
    }
}

/// Why a counter did not count a task.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotCounted {
    /// A check inside the counter found a contradiction: nothing it counted can be trusted.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// The task was given up before its end.
    #[error(transparent)]
    GivenUp(#[from] GivenUp),
}

/// Of a counter that nobody asked to give up: then to give up contradicts what it was asked.
impl From<NotCounted> for Mismatch {
    fn from(error: NotCounted) -> Self {
        match error {
            NotCounted::Mismatch(mismatch) => mismatch,
            NotCounted::GivenUp(given_up) => Self(given_up.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_parts_add_up_to_the_whole() {
        let watch = TaskWatch::default();
        let share = || watch.progress().share;
        watch.whole().part(1, 4).step(0, 10).unwrap();
        assert!((share() - 0.25).abs() < 1e-12);
        watch.whole().part(1, 4).part(1, 2).step(5, 10).unwrap();
        assert!((share() - 0.4375).abs() < 1e-12);
        watch.whole().part(3, 4).step(10, 10).unwrap();
        assert!((share() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_task_is_given_up_from_when_that_is_asked_for() {
        let give_up = Arc::new(AtomicBool::new(false));
        let watch = TaskWatch::new(Arc::clone(&give_up));
        assert_eq!(watch.whole().step(1, 2), Ok(()));
        give_up.store(true, Ordering::Relaxed);
        assert_eq!(watch.check(), Err(GivenUp));
        assert_eq!(watch.whole().step(1, 2), Err(GivenUp));
    }
}
