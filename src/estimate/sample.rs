//! Counts the drawn tasks and measures their time and memory.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::{fs, panic};

use parking_lot::Mutex;

use super::{Draw, SampleProgress};
use crate::engine::{Counter, CounterSettings, Mismatch, Plan, TaskWatch};
use crate::system::ThreadClock;

/// How long counting the tasks of a draw took.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The CPU time of each task in seconds, in the order of the draw: the mean of all passes.
    pub seconds: Vec<f64>,
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

/// The CPU seconds above which the growth of a counter's buffers is negligible: it takes some tens
/// of milliseconds for the hundreds of MiB of n = 26.
const LONG: f64 = 5.0;

/// The CPU seconds that a sample should last: the speed of a machine shared with others changes
/// within tenths of a second.
const LEAST: f64 = 2.0;

/// The least variation of the CPU time of the same tasks from one run to the next that an interval
/// allows for, as a standard deviation relative to the mean. Its causes are clock rates and other
/// work on the machine. Measured with whole plans of an earlier engine (2026-11-22): 0.05 and 0.06 for n = 20 and
/// 22, counted three times on two shared cores of an AMD Zen 3; 0.12 for n = 18, counted ten times
/// on shared threads of a Zen 5, and 0.02 while nobody else used the cores.
pub(super) const SPEED: f64 = 0.08;

/// The largest number of passes: tasks of microseconds would need thousands for [`LEAST`].
const PASSES: usize = 32;

/// Counts the tasks of `draw` on the threads of `progress`, and keeps it up to date. A sample of less than
/// two seconds is counted again, which `progress` does not show, until it has taken two seconds or 32
/// passes.
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
    let mut passes = vec![count_once(plan, draw, &mut counters, Some(progress))?];
    while passes.len() < PASSES && passes.iter().flatten().sum::<f64>() < LEAST {
        passes.push(count_once(plan, draw, &mut counters, None)?);
    }
    let grown = memory("VmHWM:")
        .zip(before)
        .map(|(peak, before)| peak.saturating_sub(before));
    let (seconds, spread) = sum_up(&passes);
    // Shorter passes show the resolution of the clock rather than the speed of the machine.
    let long_enough = passes.iter().flatten().sum::<f64>() >= LEAST;
    Ok(Sample {
        seconds,
        passes: passes.len(),
        speed: if long_enough {
            spread.max(SPEED)
        } else {
            SPEED
        },
        memory: grown.map(|grown| grown / threads as u64),
    })
}

/// Counts each task of `draw` with one of the counters. Returns the CPU seconds of each task.
///
/// Only the first pass has `progress`; the counters are new in that pass.
fn count_once(
    plan: &dyn Plan,
    draw: &Draw,
    counters: &mut [Box<dyn Counter>],
    progress: Option<&SampleProgress>,
) -> Result<Vec<f64>, Mismatch> {
    let next = AtomicUsize::new(0);
    let seconds = Mutex::new(vec![0.0; draw.tasks().len()]);
    let work = |thread: usize, counter: &mut Box<dyn Counter>| -> Result<(), Mismatch> {
        let hand = progress.map(|progress| progress.hand(thread));
        let unwatched = TaskWatch::default();
        let watch = hand.map_or(&unwatched, |hand| &hand.watch);
        let mut new = progress.is_some();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(drawn) = draw.tasks().get(place) else {
                return Ok(());
            };
            let task = plan.task(drawn.index);
            let mut count = |again: bool| {
                if let Some(hand) = hand {
                    hand.begin(drawn.cost, again);
                }
                let begun = ThreadClock::now();
                counter.count_watched(&task, watch)?;
                let took = begun.elapsed().as_secs_f64();
                let is_last = !new || again || took >= LONG;
                if let Some(hand) = hand {
                    hand.end(is_last);
                }
                Ok::<_, Mismatch>((took, is_last))
            };
            let (mut took, is_last) = count(false)?;
            if !is_last {
                (took, _) = count(true)?;
            }
            new = false;
            seconds.lock()[place] = took;
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = counters
            .iter_mut()
            .enumerate()
            .map(|(thread, counter)| {
                let work = &work;
                scope.spawn(move || work(thread, counter))
            })
            .collect();
        workers.into_iter().try_for_each(|worker| {
            worker
                .join()
                .unwrap_or_else(|payload| panic::resume_unwind(payload))
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
