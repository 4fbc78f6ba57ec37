use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::{fs, panic};

use cpu_time::ThreadTime;

use super::{Draw, Drawn};
use crate::engine::{CounterSettings, Mismatch, Plan};

/// What counting the tasks of a draw took.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// CPU time of each task, in the order of the draw, in seconds.
    pub seconds: Vec<f64>,
    /// Bytes that a thread came to hold, the mean over the threads; `None` where the system does
    /// not tell. A counter keeps its buffers, so this is what its most demanding task needed. It
    /// is the growth of the process, so that nothing else should be going on in it.
    pub memory: Option<u64>,
}

/// The CPU seconds of a task beside which the growth of a counter's buffers is nothing.
const LONG: f64 = 5.0;

/// Counts the tasks of `draw` on so many threads at once, and tells `progress` of each.
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
    let next = AtomicUsize::new(0);
    let seconds = Mutex::new(vec![0.0; draw.tasks().len()]);
    let work = || -> Result<(), Mismatch> {
        let mut counter = plan.counter(settings);
        let mut first = true;
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
            if first && took < LONG {
                took = count()?;
            }
            first = false;
            if let Ok(mut seconds) = seconds.lock() {
                seconds[place] = took;
            }
            progress(drawn);
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
    Ok(Sample {
        seconds: seconds.into_inner().unwrap_or_default(),
        memory: grown.map(|grown| grown / threads as u64),
    })
}

/// A figure of the memory of this process, in bytes.
fn memory(name: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let figure = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = figure.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}
