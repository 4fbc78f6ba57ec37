//! What ends a sample before all of it is counted: a signal, or the time that it may take.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::control::signals;
use crate::exit::Failure;

/// Why a sample ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutShort {
    Signal,
    Time,
}

impl CutShort {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Signal => "signal",
            Self::Time => "time",
        }
    }
}

/// Whether the first signal came. The second one ends the program.
#[derive(Clone)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// # Errors
    /// The system refuses the handler or the thread.
    pub fn listen() -> Result<Self, Failure> {
        let stop = Self(Arc::default());
        let came = stop.clone();
        signals::listen(move || came.0.store(true, Ordering::Relaxed), None)?;
        Ok(stop)
    }

    pub fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Why a sample that began then is to end now, if it is.
    pub fn cut(&self, begun: Instant, budget: Option<Duration>) -> Option<CutShort> {
        if self.came() {
            return Some(CutShort::Signal);
        }
        let is_over = budget.is_some_and(|budget| begun.elapsed() >= budget);
        is_over.then_some(CutShort::Time)
    }
}
