//! What else the processors did while something was measured.

use std::time::Instant;

use cpu_time::ProcessTime;
use serde::{Deserialize, Serialize};

use super::proc_files::read;

/// Watches the processors from a moment on.
#[derive(Debug)]
pub struct LoadWatch {
    begun: Instant,
    own: ProcessTime,
    before: Option<CpuTimes>,
}

/// What others had of the processors. `None` is what the system does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Load {
    /// The share of the time of all processors that other programs took, 0 to 1.
    pub others: Option<f64>,
    /// The share that the host of this virtual machine gave to somebody else.
    pub steal: Option<f64>,
    /// How many threads wanted to run, as the mean of the last minute; this program is one of them.
    pub average: Option<f64>,
}

/// Who had the processors: shares of the time of all of them, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CpuShares {
    /// This process.
    pub own: f64,
    /// Other processes.
    pub others: f64,
    /// Somebody else on the host of this virtual machine.
    pub steal: f64,
}

/// Times of all processors since the start of the system, in hundredths of a second
/// (<https://docs.kernel.org/filesystems/proc.html>).
#[derive(Clone, Copy, Debug, PartialEq)]
struct CpuTimes {
    busy: f64,
    idle: f64,
    steal: f64,
}

/// Units of `/proc/stat` in a second.
const PER_SECOND: f64 = 100.0;

impl LoadWatch {
    /// From now on.
    pub fn begin() -> Self {
        Self {
            begun: Instant::now(),
            own: ProcessTime::now(),
            before: now(),
        }
    }

    /// What was seen until now.
    pub fn load(&self) -> Load {
        let shares = self.shares();
        Load {
            others: shares.map(|shares| shares.others),
            steal: shares.map(|shares| shares.steal),
            average: average(),
        }
    }

    /// Who had the processors until now; `None` if the system does not tell.
    pub fn shares(&self) -> Option<CpuShares> {
        // Shorter times are not seen in hundredths of a second.
        let is_long = self.begun.elapsed().as_secs_f64() > 0.5;
        let times = self.before.zip(now()).filter(|_| is_long);
        let own = self.own.elapsed().as_secs_f64() * PER_SECOND;
        times.map(|(before, after)| shares(before, after, own))
    }
}

fn now() -> Option<CpuTimes> {
    cpu_times(&read("/proc/stat")?)
}

fn average() -> Option<f64> {
    read("/proc/loadavg")?.split(' ').next()?.parse().ok()
}

fn cpu_times(stat: &str) -> Option<CpuTimes> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let fields: Vec<f64> = line
        .split_whitespace()
        .map_while(|field| field.parse().ok())
        .collect();
    let &[user, nice, system, idle, waiting, irq, softirq, steal, ..] = fields.as_slice() else {
        return None;
    };
    Some(CpuTimes {
        busy: user + nice + system + irq + softirq,
        idle: idle + waiting,
        steal,
    })
}

/// The shares, where this process took `own`.
fn shares(before: CpuTimes, after: CpuTimes, own: f64) -> CpuShares {
    let busy = after.busy - before.busy;
    let steal = (after.steal - before.steal).max(0.0);
    let all = (busy + steal + after.idle - before.idle).max(1.0);
    let [own, others, steal] =
        [own, (busy - own).max(0.0), steal].map(|part| (part / all).min(1.0));
    CpuShares { own, others, steal }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_have_what_this_process_did_not_take() {
        let at = |user, idle, steal| {
            cpu_times(&format!(
                "cpu  {user} 0 0 {idle} 0 0 0 {steal} 0 0\ncpu0 1 2\n"
            ))
            .unwrap()
        };
        let CpuShares { own, others, steal } = shares(at(100, 100, 0), at(700, 400, 100), 400.0);
        assert!((own - 0.4).abs() < 1e-12 && (others - 0.2).abs() < 1e-12);
        assert!((steal - 0.1).abs() < 1e-12);
        // Clocks of different resolution may contradict each other.
        let CpuShares { others, steal, .. } = shares(at(0, 0, 0), at(10, 90, 0), 20.0);
        assert_eq!([others, steal], [0.0, 0.0]);
        assert_eq!(cpu_times("cpu 1 2 3\n"), None);
    }
}
