//! How much of a sample is counted, seen while it is counted.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::Draw;
use crate::engine::TaskWatch;

/// How much of a sample is counted. Another thread may ask while [`count_sample`](super::count_sample)
/// counts.
#[derive(Debug)]
pub struct SampleProgress {
    hands: Vec<Hand>,
    given_up: Arc<AtomicBool>,
}

/// What one thread counted.
#[derive(Debug, Default)]
pub(super) struct Hand {
    pub(super) watch: TaskWatch,
    account: Mutex<Account>,
}

/// Costs are in core-seconds by the plan's estimate.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    /// Tasks counted.
    tasks: usize,
    /// The cost of these.
    done: f64,
    /// The cost of the task in hand.
    in_hand: f64,
}

impl SampleProgress {
    /// Of a sample that is counted on so many threads.
    pub fn new(threads: NonZeroUsize) -> Self {
        let given_up = Arc::<AtomicBool>::default();
        let hand = |_| Hand {
            watch: TaskWatch::new(Arc::clone(&given_up)),
            ..Hand::default()
        };
        Self {
            hands: (0..threads.get()).map(hand).collect(),
            given_up,
        }
    }

    /// Gives up what is not counted yet: [`count_sample`](super::count_sample) ends soon, with the tasks counted
    /// until then.
    pub fn give_up(&self) {
        self.given_up.store(true, Ordering::Relaxed);
    }

    /// A watch over a counter that gives its task up with the sample, and whose progress nobody sees.
    pub(super) fn unseen(&self) -> TaskWatch {
        TaskWatch::new(Arc::clone(&self.given_up))
    }

    /// The threads.
    pub fn threads(&self) -> usize {
        self.hands.len()
    }

    /// Tasks counted.
    pub fn tasks(&self) -> usize {
        self.hands
            .iter()
            .map(|hand| hand.account.lock().tasks)
            .sum()
    }

    /// The share of the work that is done, 0 to 1, parts of tasks included.
    pub fn share(&self, draw: &Draw) -> f64 {
        let all: f64 = draw.tasks().iter().map(|drawn| drawn.cost).sum();
        let mut done = 0.0;
        for hand in &self.hands {
            let account = *hand.account.lock();
            done += account.done + account.in_hand * hand.watch.progress().share;
        }
        if all > 0.0 {
            (done / all).min(1.0)
        } else {
            1.0
        }
    }

    pub(super) fn hand(&self, thread: usize) -> &Hand {
        &self.hands[thread]
    }
}

impl Hand {
    /// Notes that a task of this cost is begun.
    pub(super) fn begin(&self, cost: f64) {
        self.account.lock().in_hand = cost;
        self.watch.note(Default::default());
    }

    /// Notes that the task in hand is counted.
    pub(super) fn end(&self) {
        let mut account = self.account.lock();
        account.done += std::mem::take(&mut account.in_hand);
        account.tasks += 1;
        self.watch.note(Default::default());
    }
}
