use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::{fs, panic};

use cpu_time::ThreadTime;

use super::{Draw, Drawn};
use crate::engine::{Counter, CounterSettings, Mismatch, Plan};

/// What counting the tasks of a draw took.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// CPU time of each task, in the order of the draw, in seconds: the mean of all passes.
    pub seconds: Vec<f64>,
    /// How often the tasks were counted.
    pub passes: usize,
    /// How much the CPU time of the same work differs from one time to another, as a standard
    /// deviation in parts of its mean: what passes of two seconds showed, but 0.08 at the least.
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

/// The most passes: tasks of microseconds would need thousands.
const PASSES: usize = 32;

/// Counts the tasks of `draw` on so many threads at once, and tells `progress` of each. What takes
/// less than two seconds is counted again, untold, until it has taken as much, or 32 times.
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
    let mut counters: Vec<_> = (0..threads).map(|_| plan.counter(settings)).collect();
    let mut passes = vec![count_once(plan, draw, &mut counters, Some(progress))?];
    while passes.len() < PASSES && passes.iter().flatten().sum::<f64>() < LEAST {
        passes.push(count_once(plan, draw, &mut counters, None)?);
    }
    let grown = memory("VmHWM:")
        .zip(before)
        .map(|(peak, before)| peak.saturating_sub(before));
    let (seconds, spread) = sum_up(&passes);
    // Passes of less say little of the speed, and much of the clock.
    let told = passes.iter().flatten().sum::<f64>() >= LEAST;
    Ok(Sample {
        seconds,
        passes: passes.len(),
        speed: if told { spread.max(SPEED) } else { SPEED },
        memory: grown.map(|grown| grown / threads as u64),
    })
}

/// Counts each task of `draw` with one of the counters. Returns their CPU seconds.
///
/// In the first pass, which is the one that is told of, counters are new.
fn count_once(
    plan: &dyn Plan,
    draw: &Draw,
    counters: &mut [Box<dyn Counter>],
    progress: Option<&(dyn Fn(&Drawn) + Sync)>,
) -> Result<Vec<f64>, Mismatch> {
    let next = AtomicUsize::new(0);
    let seconds = Mutex::new(vec![0.0; draw.tasks().len()]);
    let work = |counter: &mut Box<dyn Counter>| -> Result<(), Mismatch> {
        let mut new = progress.is_some();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(drawn) = draw.tasks().get(place) else {
                return Ok(());
            };
            let task = plan.task(drawn.index);
            let mut count = || {
                let begun = ThreadTime::now();
                counter.count(&task)?;
                Ok(begun.elapsed().as_secs_f64())
            };
            let mut took = count()?;
            if new && took < LONG {
                took = count()?;
            }
            new = false;
            if let Ok(mut seconds) = seconds.lock() {
                seconds[place] = took;
            }
            if let Some(progress) = progress {
                progress(drawn);
            }
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = counters
            .iter_mut()
            .map(|counter| scope.spawn(|| work(counter)))
            .collect();
        workers.into_iter().try_for_each(|worker| {
            worker
                .join()
                .unwrap_or_else(|payload| panic::resume_unwind(payload))
        })
    })?;
    Ok(seconds.into_inner().unwrap_or_default())
}

/// The mean time of each task, and by how much the totals of the passes differ, as a standard
/// deviation in parts of their mean.
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

    #[test]
    fn passes_tell_how_speed_differs() {
        let (seconds, spread) = sum_up(&[vec![1.0, 3.0], vec![2.0, 6.0]]);
        assert_eq!(seconds, [1.5, 4.5]);
        // Totals 4 and 8 of a mean of 6.
        assert!((spread - 2.0_f64.sqrt() / 3.0).abs() < 1e-12);
        let (seconds, spread) = sum_up(&[vec![1.0, 3.0]]);
        assert_eq!((seconds, spread), (vec![1.0, 3.0], 0.0));
    }
}
