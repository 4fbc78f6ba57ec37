//! A sample while it is counted: what is shown of it, and when it ends.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::question::Question;
use super::stop::{CutShort, Stop};
use crate::cli::output::say;
use crate::estimate::{Draw, SampleProgress};
use crate::telemetry::{duration, several};

/// How long a sample may take unless the user says.
pub const BUDGET: Duration = Duration::from_secs(10);

/// How often it is looked how much of the sample is counted, and whether it should end.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A sample that takes no longer is not announced.
const WORTH_SAYING: Duration = Duration::from_secs(10);

/// A sample that takes longer is announced at once, roughly.
const LONG: Duration = Duration::from_secs(60);

/// When it is known how long the sample will take: after this time, if so many tasks and some of each
/// thread are counted by then; otherwise after the longer time. Tasks of the chain with equal costs
/// differ by a factor of 2, so 8 tasks of 64 were too few (Zen 3, n = 22: 16 to 40 s announced, 24 s
/// taken).
const SOON: Duration = Duration::from_secs(2);
const ENOUGH_TASKS: usize = 16;
const LATER: Duration = Duration::from_secs(60);

/// A sample that is counted.
pub struct ShownSample<'a> {
    pub question: &'a Question,
    pub draw: &'a Draw,
    pub progress: &'a SampleProgress,
    pub stop: &'a Stop,
    /// How long it may take.
    pub budget: Option<Duration>,
    pub quiet: bool,
}

impl ShownSample<'_> {
    /// Shows on a terminal how much of the sample is counted, until `ended` is closed. Prints a line as
    /// soon as it is known how long the sample takes, if that is long. Gives the sample up when it is to end, and
    /// returns why.
    pub fn watch(&self, ended: &Receiver<()>) -> Option<CutShort> {
        let n = self.question.plan.size();
        let all = several(self.draw.tasks().len() as u64, "task");
        if !self.quiet {
            self.tell_roughly();
        }
        let bar = (!self.quiet).then(|| self.bar());
        let begun = Instant::now();
        let mut announced = self.quiet;
        let mut cut = None;
        loop {
            let (tasks, share) = (self.progress.tasks(), self.progress.share(self.draw));
            let budget = allowed(self.budget, tasks == self.draw.tasks().len());
            cut = cut.or_else(|| self.stop.cut(begun, budget));
            if cut.is_some() {
                self.progress.give_up();
            }
            if let Some(bar) = &bar {
                bar.set_position((share * STEPS) as u64);
                let elapsed = begun.elapsed();
                let time = expected(elapsed, share, tasks, self.question.threads);
                let time = time.map(|time| self.within_budget(time));
                bar.set_message(times(time, elapsed));
                if let Some(time) = time.filter(|_| !announced) {
                    announced = true;
                    if time > WORTH_SAYING {
                        let threads = several(self.question.threads as u64, "thread");
                        let time = duration(time);
                        bar.suspend(|| {
                            say(&format!("n = {n}: {all} on {threads} take about {time}"));
                        });
                    }
                }
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

    fn within_budget(&self, time: Duration) -> Duration {
        time.min(self.budget.unwrap_or(Duration::MAX))
    }

    /// Prints what a long sample takes by the costs of the plan alone.
    fn tell_roughly(&self) {
        let seconds = self.question.sample_seconds(self.draw);
        let time = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        if self.within_budget(time) >= LONG {
            say(&format!(
                "n = {}: {} on {}, some {} (within a factor of 3; more exactly in {} seconds)",
                self.question.plan.size(),
                several(self.draw.tasks().len() as u64, "task"),
                several(self.question.threads as u64, "thread"),
                duration(self.within_budget(time)),
                LATER.as_secs()
            ));
        }
    }

    fn bar(&self) -> ProgressBar {
        let template = format!(
            "n = {}: {{percent}} % of the sample · {{msg}}",
            self.question.plan.size()
        );
        let target = ProgressDrawTarget::stderr();
        ProgressBar::with_draw_target(Some(STEPS as u64), target).with_style(
            ProgressStyle::with_template(&template)
                .unwrap_or_else(|_| ProgressStyle::default_bar()),
        )
    }
}

/// How long a sample may take: without a budget, until all of its tasks are counted; only the default budget lets short ones
/// be counted again.
fn allowed(budget: Option<Duration>, is_counted: bool) -> Option<Duration> {
    budget.or(is_counted.then_some(BUDGET))
}

/// Steps of the progress bar.
const STEPS: f64 = 1000.0;

/// The end of the bar's line: the time `elapsed`, and how much of the time `all` is left, if that is
/// known.
fn times(all: Option<Duration>, elapsed: Duration) -> String {
    let left = all.map_or_else(String::new, |all| {
        format!(" · left {}", duration(all.saturating_sub(elapsed)))
    });
    duration(elapsed) + &left
}

/// How long the sample takes in all, if this share of it took `elapsed`. `None` while that says too
/// little. Tasks in hand are on average half counted.
fn expected(elapsed: Duration, share: f64, tasks: usize, threads: usize) -> Option<Duration> {
    let soon = elapsed >= SOON && tasks >= ENOUGH_TASKS.max(4 * threads);
    let known = share > 0.0 && (soon || elapsed >= LATER);
    known.then(|| {
        let in_hand = threads as f64 / 2.0;
        let counted = (share * (1.0 + in_hand / tasks.max(1) as f64)).min(1.0);
        Duration::try_from_secs_f64(elapsed.as_secs_f64() / counted).unwrap_or(Duration::MAX)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_shown_once_it_is_known() {
        let elapsed = Duration::from_secs(60);
        assert_eq!(times(None, elapsed), "1:00");
        let all = expected(elapsed, 0.2, 4, 2);
        assert_eq!(times(all, elapsed), "1:00 · left 3:00");
    }

    #[test]
    fn all_tasks_are_counted_without_a_budget_but_not_again_and_again() {
        assert_eq!(allowed(None, false), None);
        assert_eq!(allowed(None, true), Some(BUDGET));
        let longer = Some(2 * BUDGET);
        assert_eq!([true, false].map(|all| allowed(longer, all)), [longer; 2]);
    }

    #[test]
    fn a_sample_is_announced_as_soon_as_enough_is_counted() {
        let at = |seconds, share, tasks| {
            expected(Duration::from_secs(seconds), share, tasks, 2).map(|time| time.as_secs())
        };
        assert_eq!(at(1, 0.1, 20), None);
        assert_eq!(at(2, 0.125, 15), None);
        assert_eq!(at(17, 0.25, 16), Some(64));
        assert_eq!(at(60, 0.5, 1), Some(60));
        assert_eq!(at(60, 0.0, 0), None);
    }
}
