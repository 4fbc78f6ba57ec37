//! A sample while it is counted: what is shown of it, and when it ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::question::Question;
use crate::output::bar;
use queenfold::estimate::{Draw, SampleProgress};
use queenfold::words::duration;

/// How long a sample may take unless the user says.
pub const BUDGET: Duration = Duration::from_secs(10);

/// How often it is looked how much of the sample is counted, and whether it should end.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// When it is known how long the sample will take. Tasks of the chain with equal costs differ by a factor of 2.
const SOON: Duration = Duration::from_secs(2);

/// Why a sample ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CutShort {
    Signal,
    Time,
}

/// A sample that is counted.
pub struct ShownSample<'a> {
    pub question: &'a Question,
    pub draw: &'a Draw,
    pub progress: &'a SampleProgress,
    /// Whether a signal came.
    pub stop: &'a AtomicBool,
    /// How long it may take.
    pub budget: Duration,
    pub quiet: bool,
}

impl ShownSample<'_> {
    /// Shows on a terminal how much of the sample is counted, until `ended` is closed. Gives the sample up when it is to
    /// end, and returns why.
    pub fn watch(&self, ended: &Receiver<()>) -> Option<CutShort> {
        let n = self.question.plan.size();
        let template = format!("n = {n}: {{percent}} % of the sample · {{msg}}");
        let bar = (!self.quiet).then(|| bar(Some(STEPS as u64), &template));
        let begun = Instant::now();
        let mut cut = None;
        loop {
            let share = self.progress.share(self.draw);
            cut = match self.stop.load(Ordering::Relaxed) {
                _ if cut.is_some() => cut,
                true => Some(CutShort::Signal),
                false => (begun.elapsed() >= self.budget).then_some(CutShort::Time),
            };
            if cut.is_some() {
                self.progress.give_up();
            }
            if let Some(bar) = &bar {
                bar.set_position((share * STEPS) as u64);
                bar.set_message(times(begun.elapsed(), share, self.budget));
            }
            if ended.recv_timeout(LOOK_EVERY) != Err(RecvTimeoutError::Timeout) {
                break;
            }
        }
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
        cut
    }
}

/// Steps of the progress bar.
const STEPS: f64 = 1000.0;

/// The end of the bar's line: the time `elapsed`, and how much is left if that counted this share of a sample, which takes
/// `most` at most. At first, that says too little.
fn times(elapsed: Duration, share: f64, most: Duration) -> String {
    if share <= 0.0 || elapsed < SOON {
        return duration(elapsed);
    }
    let all = Duration::try_from_secs_f64(elapsed.as_secs_f64() / share);
    let left = all
        .map_or(most, |all| all.min(most))
        .saturating_sub(elapsed);
    format!("{} · left {}", duration(elapsed), duration(left))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_shown_once_it_is_known() {
        let elapsed = Duration::from_secs(60);
        let most = Duration::MAX;
        assert_eq!(times(elapsed, 0.0, most), "1:00");
        assert_eq!(times(Duration::from_secs(1), 0.2, most), "1.0 s");
        assert_eq!(times(elapsed, 0.25, most), "1:00 · left 3:00");
        assert_eq!(times(elapsed, 0.25, 2 * elapsed), "1:00 · left 1:00");
    }
}
