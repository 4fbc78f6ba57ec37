use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::{fs, panic};

use cpu_time::ThreadTime;

use super::{Draw, Drawn};
use crate::engine::{CounterSettings, Mismatch, Plan};

/// What counting the tasks of a draw took.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// CPU time of each task, in the order of the draw, in seconds: the mean of all passes.
    pub seconds: Vec<f64>,
    /// How often the tasks were counted.
    pub passes: usize,
    /// How much the CPU time of the same work differs from one time to another, as a standard
    /// deviation in parts of its mean: what the passes showed, or more where they are too few to
    /// tell.
    pub speed: f64,
    /// Bytes that a thread came to hold, the mean over the threads; `None` where the system does
    /// not tell. A counter keeps its buffers, so this is what its most demanding task needed. It
    /// is the growth of the process, so that nothing else should be going on in it.
    pub memory: Option<u64>,
}

/// The CPU seconds of a task beside which the growth of a counter's buffers is nothing.
const LONG: f64 = 5.0;

/// The CPU seconds that a sample should last: a machine that others use too changes its speed within
/// tenths of a second.
const LEAST: f64 = 2.0;

/// How much the CPU time of the same tasks differs from one run to the next at least, as a standard
/// deviation: clock rates, and what else runs on the machine. Whole join plans of n = 20 and 22,
/// counted three times on two shared cores of an AMD Zen 3, differed by 0.05 and 0.06; of n = 18,
/// counted ten times on shared threads of a Zen 5, by 0.12, and by 0.02 while nobody else used the
/// cores (2026-11-22).
pub(super) const SPEED: f64 = 0.08;

/// Passes over the tasks of a draw, whose places are handed out one by one.
struct Passes {
    tasks: usize,
    /// Places handed out.
    handed: usize,
    /// CPU time of each task in each pass, 0 as long as it is counted.
    seconds: Vec<Vec<f64>>,
}

impl Passes {
    /// The next pass and place: another pass is begun as long as those before were short.
    fn next(&mut self) -> Option<[usize; 2]> {
        if self.handed == self.seconds.len() * self.tasks {
            let spent: f64 = self.seconds.iter().flatten().sum();
            if self.tasks == 0 || !self.seconds.is_empty() && spent >= LEAST {
                return None;
            }
            self.seconds.push(vec![0.0; self.tasks]);
        }
        self.handed += 1;
        let place = (self.handed - 1) % self.tasks;
        Some([self.seconds.len() - 1, place])
    }

    /// The mean time of each task, and how much the passes differ.
    fn sum_up(&self) -> (Vec<f64>, f64) {
        let passes = self.seconds.len() as f64;
        let mean = |place| {
            self.seconds
                .iter()
                .map(|pass: &Vec<f64>| pass[place])
                .sum::<f64>()
                / passes
        };
        let seconds: Vec<f64> = (0..self.tasks).map(mean).collect();
        let total: f64 = seconds.iter().sum();
        let squares: f64 = self
            .seconds
            .iter()
            .map(|pass| (pass.iter().sum::<f64>() / total - 1.0).powi(2))
            .sum();
        let spread = (squares / (passes - 1.0).max(1.0)).sqrt();
        (seconds, spread)
    }
}

/// Counts the tasks of `draw` on so many threads at once, and tells `progress` of each. What takes
/// less than two seconds is counted again, untold, until it has taken as much.
///
/// The first task of each thread is counted twice unless it is long, and the second time is taken:
/// a counter's first task is slower than all that follow, because its buffers have yet to grow. As
/// in a run, tasks that follow one another are no neighbours in the plan.
///
/// # Errors
/// A counter contradicted itself.
pub fn count_sample(
    plan: &dyn Plan,
    draw: &Draw,
    settings: &CounterSettings,
    threads: NonZeroUsize,
    progress: &(dyn Fn(&Drawn) + Sync),
) -> Result<Sample, Mismatch> {
    let threads = threads.get().min(draw.tasks().len()).max(1);
    let before = memory("VmRSS:");
    let passes = Mutex::new(Passes {
        tasks: draw.tasks().len(),
        handed: 0,
        seconds: Vec::new(),
    });
    let work = || -> Result<(), Mismatch> {
        let mut counter = plan.counter(settings);
        let mut first = true;
        loop {
            let Some([pass, place]) = locked(&passes).next() else {
                return Ok(());
            };
            let drawn = &draw.tasks()[place];
            let task = plan.task(drawn.index);
            let mut count = || {
                let begun = ThreadTime::now();
                counter.count(&task)?;
                Ok(begun.elapsed().as_secs_f64())
            };
            let mut took = count()?;
            if first && took < LONG {
                took = count()?;
            }
            first = false;
            locked(&passes).seconds[pass][place] = took;
            if pass == 0 {
                progress(drawn);
            }
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| {
            worker
                .join()
                .unwrap_or_else(|payload| panic::resume_unwind(payload))
        })
    })?;
    let grown = memory("VmHWM:")
        .zip(before)
        .map(|(peak, before)| peak.saturating_sub(before));
    let passes = locked(&passes);
    let (seconds, spread) = passes.sum_up();
    Ok(Sample {
        seconds,
        passes: passes.seconds.len(),
        speed: spread.max(SPEED),
        memory: grown.map(|grown| grown / threads as u64),
    })
}

fn locked(passes: &Mutex<Passes>) -> MutexGuard<'_, Passes> {
    passes.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A figure of the memory of this process, in bytes.
fn memory(name: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let figure = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = figure.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(seconds: Vec<Vec<f64>>) -> Passes {
        Passes {
            tasks: seconds[0].len(),
            handed: seconds.len() * seconds[0].len(),
            seconds,
        }
    }

    #[test]
    fn a_short_sample_is_counted_again() {
        let mut short = passes(vec![vec![0.4, 0.5]]);
        assert_eq!(short.next(), Some([1, 0]));
        assert_eq!(short.next(), Some([1, 1]));
        short.seconds[1] = vec![0.6, 0.6];
        assert_eq!(short.next(), None);
    }

    #[test]
    fn passes_tell_how_speed_differs() {
        let (seconds, spread) = passes(vec![vec![1.0, 3.0], vec![2.0, 6.0]]).sum_up();
        assert_eq!(seconds, [1.5, 4.5]);
        // Totals 4 and 8 of a mean of 6.
        assert!((spread - 2.0_f64.sqrt() / 3.0).abs() < 1e-12);
        let (seconds, spread) = passes(vec![vec![1.0, 3.0]]).sum_up();
        assert_eq!((seconds, spread), (vec![1.0, 3.0], 0.0));
    }
}
