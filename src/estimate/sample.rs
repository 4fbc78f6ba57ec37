//! Counts the drawn tasks and measures their time and memory.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::{fs, panic};

use parking_lot::Mutex;

use super::{Draw, SampleProgress};
use crate::engine::{Counter, CounterSettings, Mismatch, NotCounted, Plan};
use crate::system::ThreadClock;

/// How long counting the tasks of a draw took.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The CPU time of each task in seconds, in the order of the draw: the mean of all passes. `None` if the
    /// sample was given up before the task was counted. Of a task in hand at that moment, it is what the whole task
    /// would take, if a quarter of it was counted.
    pub seconds: Vec<Option<f64>>,
    /// How often the tasks were counted.
    pub passes: usize,
    /// How much the CPU time of the same work varies, as a standard deviation relative to its mean:
    /// what the passes showed if they took two seconds or more, and at least 0.08.
    pub speed: f64,
    /// The largest memory of a thread in bytes, as the mean over the threads; `None` if the system
    /// does not report it. A counter keeps its buffers, so this is what its most demanding task
    /// needed. It is measured as the growth of the process, in which nothing else should run
    /// meanwhile.
    pub memory: Option<u64>,
}

impl Sample {
    /// The number of tasks counted.
    pub fn counted(&self) -> usize {
        self.seconds.iter().flatten().count()
    }
}

/// The CPU seconds above which the growth of a counter's buffers is negligible: it takes milliseconds for the 15 MiB
/// of n = 23.
const LONG: f64 = 0.25;

/// The share of a task that tells how long the rest takes. Counters tell shares that are right within a factor of 2.
pub(super) const TELLS: f64 = 0.25;

/// The CPU seconds that a sample lasts at least: the speed of a machine shared with others changes
/// within tenths of a second.
pub const SHORTEST: f64 = 2.0;

/// The least variation of the CPU time of the same tasks from one run to the next that an interval
/// allows for, as a standard deviation relative to the mean. Its causes are clock rates and other
/// work on the machine. Measured with whole plans of an earlier engine (2026-11-22): 0.05 and 0.06 for n = 20 and
/// 22, counted three times on two shared cores of an AMD Zen 3; 0.12 for n = 18, counted ten times
/// on shared threads of a Zen 5, and 0.02 while nobody else used the cores.
pub(super) const SPEED: f64 = 0.08;

/// The largest number of passes: tasks of microseconds would need thousands for [`SHORTEST`].
const PASSES: usize = 32;

/// Counts the tasks of `draw` on the threads of `progress`, and keeps it up to date. A sample of less than
/// two seconds is counted again, which `progress` does not show, until it has taken two seconds or 32
/// passes. If the sample is [given up](SampleProgress::give_up), what was counted until then is the sample.
///
/// The first task of each thread is counted twice unless it is long, and the second time counts:
/// the first task of a counter is slower than all later ones, because its buffers still grow. As in
/// a run, consecutive tasks are not neighbours in the plan.
///
/// # Errors
/// A counter contradicted itself.
pub fn count_sample(
    plan: &dyn Plan,
    draw: &Draw,
    settings: &CounterSettings,
    progress: &SampleProgress,
) -> Result<Sample, Mismatch> {
    let threads = progress.threads().min(draw.tasks().len()).max(1);
    let before = memory("VmRSS:");
    let mut counters: Vec<_> = (0..threads).map(|_| plan.counter(settings)).collect();
    let first = count_once(plan, draw, &mut counters, progress, true)?;
    let mut passes: Vec<Vec<f64>> = first
        .iter()
        .copied()
        .collect::<Option<_>>()
        .into_iter()
        .collect();
    while (1..PASSES).contains(&passes.len()) && passes.iter().flatten().sum::<f64>() < SHORTEST {
        let pass = count_once(plan, draw, &mut counters, progress, false)?;
        match pass.into_iter().collect() {
            Some(whole) => passes.push(whole),
            // Given up. Its counters are not used again.
            None => break,
        }
    }
    let grown = memory("VmHWM:")
        .zip(before)
        .map(|(peak, before)| peak.saturating_sub(before));
    // Shorter passes show the resolution of the clock rather than the speed of the machine.
    let long_enough = passes.iter().flatten().sum::<f64>() >= SHORTEST;
    let (seconds, spread) = match passes.is_empty() {
        true => (first, 0.0),
        false => {
            let (seconds, spread) = sum_up(&passes);
            (seconds.into_iter().map(Some).collect(), spread)
        }
    };
    Ok(Sample {
        seconds,
        passes: passes.len().max(1),
        speed: if long_enough {
            spread.max(SPEED)
        } else {
            SPEED
        },
        memory: grown.map(|grown| grown / threads as u64),
    })
}

/// Counts each task of `draw` with one of the counters, until the sample is given up. Returns the CPU seconds of
/// each task that was counted.
///
/// `progress` shows the `first` pass alone, whose counters are new.
fn count_once(
    plan: &dyn Plan,
    draw: &Draw,
    counters: &mut [Box<dyn Counter>],
    progress: &SampleProgress,
    first: bool,
) -> Result<Vec<Option<f64>>, Mismatch> {
    let next = AtomicUsize::new(0);
    let seconds = Mutex::new(vec![None; draw.tasks().len()]);
    let work = |thread: usize, counter: &mut Box<dyn Counter>| -> Result<(), NotCounted> {
        let hand = first.then(|| progress.hand(thread));
        let unseen = progress.unseen();
        let watch = hand.map_or(&unseen, |hand| &hand.watch);
        let mut new = first;
        loop {
            // Tasks of microseconds end before their counters look there.
            watch.check()?;
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(drawn) = draw.tasks().get(place) else {
                return Ok(());
            };
            let task = plan.task(drawn.index);
            let mut count = || {
                let begun = ThreadClock::now();
                let counted = counter.count_watched(&task, watch);
                (counted, begun.elapsed().as_secs_f64())
            };
            if let Some(hand) = hand {
                hand.begin(drawn.cost);
            }
            let (counted, mut took) = count();
            if let Err(NotCounted::GivenUp(_)) = counted {
                let share = watch.progress().share;
                seconds.lock()[place] = (share >= TELLS).then_some(took / share);
            }
            counted?;
            seconds.lock()[place] = Some(took);
            if new && took < LONG {
                let counted;
                (counted, took) = count();
                counted?;
                seconds.lock()[place] = Some(took);
            }
            if let Some(hand) = hand {
                hand.end();
            }
            new = false;
        }
    };
    thread::scope(|scope| {
        // This thread is the first one. Where the system allows no more of them, fewer do.
        let mut counters = counters.iter_mut().enumerate();
        let first = counters.next();
        let others = counters.filter_map(|(thread, counter)| {
            let work = &work;
            let work = move || work(thread, counter);
            thread::Builder::new().spawn_scoped(scope, work).ok()
        });
        let others: Vec<_> = others.collect();
        let first = first.map(|(thread, counter)| work(thread, counter));
        let others = others.into_iter().map(|worker| {
            let worked = worker.join();
            worked.unwrap_or_else(|payload| panic::resume_unwind(payload))
        });
        first
            .into_iter()
            .chain(others)
            .try_for_each(|worked| match worked {
                Ok(()) | Err(NotCounted::GivenUp(_)) => Ok(()),
                Err(NotCounted::Mismatch(mismatch)) => Err(mismatch),
            })
    })?;
    Ok(seconds.into_inner())
}

/// The mean time of each task, and how much the totals of the passes vary, as a standard deviation
/// relative to their mean.
fn sum_up(passes: &[Vec<f64>]) -> (Vec<f64>, f64) {
    let count = passes.len() as f64;
    let mut seconds = vec![0.0; passes[0].len()];
    for pass in passes {
        for (mean, took) in seconds.iter_mut().zip(pass) {
            *mean += took / count;
        }
    }
    let total: f64 = seconds.iter().sum();
    let off = |pass: &Vec<f64>| pass.iter().sum::<f64>() / total - 1.0;
    let squares: f64 = passes.iter().map(|pass| off(pass).powi(2)).sum();
    (seconds, (squares / (count - 1.0).max(1.0)).sqrt())
}

/// The memory of this process in bytes that the system reports under `name`.
fn memory(name: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let figure = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = figure.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_show_how_speed_varies() {
        let (seconds, spread) = sum_up(&[vec![1.0, 3.0], vec![2.0, 6.0]]);
        assert_eq!(seconds, [1.5, 4.5]);
        // Totals 4 and 8 of a mean of 6.
        assert!((spread - 2.0_f64.sqrt() / 3.0).abs() < 1e-12);
        let (seconds, spread) = sum_up(&[vec![1.0, 3.0]]);
        assert_eq!((seconds, spread), (vec![1.0, 3.0], 0.0));
    }
}
