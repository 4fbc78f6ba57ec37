//! What the pairs of the join take on a device: a launch, an upload, each step of the kernel, and sets of large boards.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::BenchError;
use crate::board::Size;
use crate::device::Device;
use crate::engine::{
    Completed, CounterSettings, DeviceSpan, Launch, LaunchBatch, PartTaker, Plan, Task, TaskWatch,
    Ticket,
};
use crate::join::{CrossingProbe, JoinPlan, Path, Probe, upload};
use crate::simd::Isa;
use crate::system::ThreadClock;

/// How long to wait for a launch.
const PATIENCE: Duration = Duration::from_secs(60);

/// Launches of which the median is taken.
const LAUNCHES: usize = 31;

/// Uploads of each kind of which the median is taken.
const UPLOADS: usize = 5;

/// The most jobs of a launch of probes.
const MOST_JOBS: u32 = 1 << 20;

/// What a launch costs whose kernel has next to nothing to do: medians, in seconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LaunchCost {
    /// From the call that submits it to the answer.
    pub wall_seconds: f64,
    /// The call alone.
    pub submit_seconds: f64,
    /// The kernel.
    pub kernel_seconds: f64,
}

/// How fast tables go to the device: medians.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Upload {
    /// Bytes of the tables.
    pub bytes: usize,
    /// Whether they lie in memory that the device reads itself. Else they are copied before.
    pub pinned: bool,
    /// Whether a kernel ran meanwhile.
    pub beside_kernel: bool,
    /// The first call that submits them, which pins the memory, in seconds.
    pub first_submit_seconds: f64,
    /// Later calls: they copy what is not pinned.
    pub submit_seconds: f64,
    /// The transfer itself; zero on a device that shares the memory of the host.
    pub upload_seconds: f64,
}

/// What the steps of the kernel take of the time of the whole device, in seconds, while all of it is busy: two steps
/// at a time take half as long each.
#[derive(Clone, Debug, Serialize)]
pub struct Steps {
    /// To cross a pair of boards, to count its key and to write it, if they do not attack each other: of both times the
    /// mean.
    pub cross_per_pair: f64,
    /// To copy a key to the memory of a block, from the cache of the device.
    pub gather_per_key: f64,
    /// To move a key once to one side or the other.
    pub split_per_key: f64,
    /// To compare a pair.
    pub compare_per_pair: f64,
    /// Leaves with one table, two, three and four.
    pub leaves: Vec<Leaf>,
}

/// A leaf with tables of 512 patterns.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Leaf {
    /// Tables.
    pub tables: u32,
    /// To build them, in seconds.
    pub build: f64,
    /// To look a key up in them, in seconds.
    pub look_up_per_key: f64,
}

/// Some neighbouring sets of a board, counted by a core and by the device.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SetsResult {
    /// The board.
    pub n: u32,
    /// Sets.
    pub sets: u64,
    /// Launches, the bytes that went up for them, and their jobs.
    pub launches: u64,
    /// See `launches`.
    pub bytes: u64,
    /// See `launches`.
    pub jobs: u64,
    /// CPU seconds of a core that counts all of it.
    pub cpu_seconds: f64,
    /// CPU seconds of a core that makes the boards alone.
    pub prepare_seconds: f64,
    /// Time of the transfers up.
    pub upload_seconds: f64,
    /// Time of the kernels.
    pub kernel_seconds: f64,
    /// How many cores the device is worth, as far as the kernel goes: `cpu_seconds − prepare_seconds` for each of
    /// `kernel_seconds`.
    pub worth_cores: f64,
    /// How many cores keep it busy: `prepare_seconds` for each of `kernel_seconds`.
    pub fed_by_cores: f64,
}

/// A launch that has come back.
struct Timed {
    submit: f64,
    wall: f64,
    completed: Completed,
}

impl Timed {
    fn kernel(&self) -> f64 {
        seconds(self.completed.spans.kernel)
    }
}

/// Measures what a launch costs.
///
/// # Errors
/// The device failed or counted wrongly.
pub fn launch_cost(device: &mut dyn Device) -> Result<LaunchCost, BenchError> {
    let probes = Probe::all(device.properties().shared_memory);
    let least = probes.iter().find(|probe| probe.path() == Path::Compare);
    let times: Result<Vec<Timed>, BenchError> = least
        .into_iter()
        .flat_map(|probe| (0..LAUNCHES).map(move |_| probe))
        .map(|probe| run_probe(device, probe, 1))
        .collect();
    let times = times?;
    let of = |part: fn(&Timed) -> f64| median(times.iter().map(part));
    Ok(LaunchCost {
        wall_seconds: of(|timed| timed.wall),
        submit_seconds: of(|timed| timed.submit),
        kernel_seconds: of(Timed::kernel),
    })
}

/// Measures what the steps of the kernel take, by launches whose kernels take `least` or longer.
///
/// # Errors
/// The device failed or counted wrongly.
pub fn steps(device: &mut dyn Device, least: Duration) -> Result<Steps, BenchError> {
    let mut times = Vec::new();
    for probe in Probe::all(device.properties().shared_memory) {
        times.push((probe.path(), probe.keys(), per_job(device, &probe, least)?));
    }
    let of = |path: Path| {
        let mut found = times.iter().filter(|(of, ..)| *of == path);
        let (_, keys, seconds) = found.next().copied().unwrap_or((path, [0; 2], f64::NAN));
        (keys.map(|keys| keys as f64), seconds)
    };
    let ([top, bottom], gather) = of(Path::Gather);
    let gather_per_key = gather / (top + bottom);
    let without_gather = |path: Path| {
        let ([top, bottom], seconds) = of(path);
        ([top, bottom], seconds - gather_per_key * (top + bottom))
    };
    let (_, split) = without_gather(Path::Split);
    let ([some, others], compare) = without_gather(Path::Compare);
    let leaf = |tables: u32| {
        let [short, long] = [false, true].map(|is_long| Path::Leaf { tables, is_long });
        let ([few, _], short) = without_gather(short);
        let ([many, _], long) = without_gather(long);
        let look_up_per_key = (long - short) / (many - few);
        Leaf {
            tables,
            build: short - few * look_up_per_key,
            look_up_per_key,
        }
    };
    Ok(Steps {
        cross_per_pair: cross_per_pair(device)?,
        gather_per_key,
        split_per_key: split / (top + bottom),
        compare_per_pair: compare / (some * others),
        leaves: (1..=4).map(leaf).collect(),
    })
}

/// The time of the device to cross a pair of boards once. The fastest of three launches counts.
fn cross_per_pair(device: &mut dyn Device) -> Result<f64, BenchError> {
    let properties = device.properties();
    let probe = CrossingProbe::new(properties.shared_memory, properties.multiprocessors);
    let probe = probe.map_err(failed)?;
    let mut took = f64::INFINITY;
    for _ in 0..3 {
        let (timed, _) = run(device, probe.launch(), None)?;
        let checked = probe.check(&timed.completed);
        checked.map_err(|mismatch| failed(mismatch.0))?;
        took = took.min(timed.kernel());
    }
    Ok(took / (2 * probe.crossed()) as f64)
}

/// The time of the device for a job, in launches of which each takes `least`. The fastest of three counts: what else
/// the machine does makes some slower.
fn per_job(device: &mut dyn Device, probe: &Probe, least: Duration) -> Result<f64, BenchError> {
    let mut jobs = device.properties().multiprocessors.max(1);
    loop {
        let mut took = f64::INFINITY;
        for _ in 0..3 {
            took = took.min(run_probe(device, probe, jobs)?.kernel());
        }
        if took >= least.as_secs_f64() || jobs >= MOST_JOBS {
            return Ok(took / f64::from(jobs));
        }
        jobs *= 4;
    }
}

/// Measures how fast `bytes` bytes of tables, a mebibyte or more, go to the device: copied first, and from memory
/// that it reads itself, without a kernel beside it and with one that takes `beside`.
///
/// # Errors
/// The device failed or counted wrongly.
pub fn uploads(
    device: &mut dyn Device,
    bytes: usize,
    beside: Duration,
) -> Result<Vec<Upload>, BenchError> {
    let shared_memory = device.properties().shared_memory;
    let probes = Probe::all(shared_memory);
    let gather = probes.iter().find(|probe| probe.path() == Path::Gather);
    let busy = match gather {
        Some(probe) => {
            let each = per_job(device, probe, beside)?;
            let jobs = (beside.as_secs_f64() / each).ceil().max(1.0);
            Some(probe.launch((jobs as u32).min(MOST_JOBS)).map_err(failed)?)
        }
        None => None,
    };
    let kinds = [(false, false), (true, false), (true, true)];
    let kinds = kinds
        .into_iter()
        .filter(|(_, beside_kernel)| !beside_kernel || device.slots() > 1);
    let kinds: Vec<_> = kinds.collect();
    kinds
        .into_iter()
        .map(|(pinned, beside_kernel)| {
            let launch = upload(shared_memory, bytes, pinned).map_err(failed)?;
            let mut times = Vec::new();
            for _ in 0..=UPLOADS {
                let kernel = busy.as_ref().filter(|_| beside_kernel);
                let kernel = kernel.map(|kernel| submit(device, kernel)).transpose()?;
                let timed = run(device, &launch, kernel)?;
                if let Some(ticket) = kernel.filter(|_| !timed.1) {
                    answer(device, ticket)?;
                }
                times.push(timed.0);
            }
            let later = &times[1..];
            let uploaded = |timed: &Timed| seconds(timed.completed.spans.upload);
            Ok(Upload {
                bytes,
                pinned,
                beside_kernel,
                first_submit_seconds: times[0].submit,
                submit_seconds: median(later.iter().map(|timed| timed.submit)),
                upload_seconds: median(later.iter().map(uploaded)),
            })
        })
        .collect()
}

/// Counts `sets` neighbouring sets of a board on one core and on the device, and compares what both found.
///
/// # Errors
/// The device failed or counted wrongly, or does not count this board.
pub fn sets(device: &mut dyn Device, n: Size, sets: u64) -> Result<SetsResult, BenchError> {
    let failed = |why: String| BenchError::Failed { n, why };
    let plan = JoinPlan::new(n);
    let launcher = plan.launcher();
    let mut launcher = launcher.map_err(|_| failed("no kernel for it".to_owned()))?;
    let shared_memory = device.properties().shared_memory;
    if let Some(fitted) = shared_memory.and_then(|bytes| launcher.fitted(bytes)) {
        launcher = fitted;
    }
    let settings = CounterSettings {
        isa: Isa::best(),
        memory: 1 << 30,
    };
    let preparer = launcher.preparer(&settings);
    let mut preparer =
        preparer.ok_or_else(|| failed("its launches are not prepared".to_owned()))?;
    let first = plan.ranks() / 3;
    let task = Task {
        ranks: first..(first + sets).min(plan.ranks()),
        ..plan.task(0)
    };
    let begun = ThreadClock::now();
    let counted = plan.counter(&settings).count(&task);
    let cpu_seconds = begun.elapsed().as_secs_f64();
    let expected = counted.map_err(|mismatch| failed(mismatch.0))?;

    let mut parts = Parts::default();
    let begun = ThreadClock::now();
    let prepared = preparer.prepare(&task, &TaskWatch::default(), &mut parts);
    let prepare_seconds = begun.elapsed().as_secs_f64();
    let mut tally = prepared.map_err(|error| failed(format!("{error:?}")))?;
    let mut result = SetsResult {
        n: n.get(),
        sets: task.ranks.end - task.ranks.start,
        launches: 0,
        bytes: 0,
        jobs: 0,
        cpu_seconds,
        prepare_seconds,
        upload_seconds: 0.0,
        kernel_seconds: 0.0,
        worth_cores: 0.0,
        fed_by_cores: 0.0,
    };
    for part in parts.0 {
        let Some(launch) = part.launch() else {
            continue;
        };
        let (timed, _) = run(device, launch, None)?;
        result.launches += 1;
        result.bytes += launch.bytes_up();
        result.jobs += u64::from(launch.job_count());
        result.upload_seconds += seconds(timed.completed.spans.upload);
        result.kernel_seconds += timed.kernel();
        let tallies = part.tallies(Some(&timed.completed));
        let tallies = tallies.map_err(|mismatch| failed(mismatch.0))?;
        tally += tallies.into_iter().sum();
    }
    if tally != expected {
        return Err(BenchError::Mismatch {
            n,
            counted: tally.completions.solutions(),
            known: expected.completions.solutions(),
        });
    }
    let kernel = result.kernel_seconds.max(1e-9);
    result.worth_cores = (cpu_seconds - prepare_seconds) / kernel;
    result.fed_by_cores = prepare_seconds / kernel;
    Ok(result)
}

/// Takes every part.
#[derive(Default)]
struct Parts(Vec<Box<dyn LaunchBatch>>);

impl PartTaker for Parts {
    fn has_room(&self, _: u64) -> bool {
        true
    }

    fn take(&mut self, part: Box<dyn LaunchBatch>, _: f64) {
        self.0.push(part);
    }

    fn keep(&mut self, _: f64) {}
}

fn run_probe(device: &mut dyn Device, probe: &Probe, jobs: u32) -> Result<Timed, BenchError> {
    let launch = probe.launch(jobs).map_err(failed)?;
    let (timed, _) = run(device, &launch, None)?;
    let checked = probe.check(&launch, &timed.completed);
    checked.map_err(|mismatch| failed(mismatch.0))?;
    Ok(timed)
}

/// Submits a launch and waits for it. Returns it, and whether `other`, which was submitted before, came back first.
fn run(
    device: &mut dyn Device,
    launch: &Launch,
    other: Option<Ticket>,
) -> Result<(Timed, bool), BenchError> {
    let begun = Instant::now();
    let ticket = submit(device, launch)?;
    let submit = begun.elapsed().as_secs_f64();
    let mut is_first = false;
    let completed = loop {
        let completed = poll(device)?;
        if completed.ticket == ticket {
            break completed;
        }
        is_first = is_first || Some(completed.ticket) == other;
    };
    let wall = begun.elapsed().as_secs_f64();
    if completed.jobs_done != launch.job_count() {
        return Err(failed(format!("it counted {} jobs", completed.jobs_done)));
    }
    let timed = Timed {
        submit,
        wall,
        completed,
    };
    Ok((timed, is_first))
}

fn submit(device: &mut dyn Device, launch: &Launch) -> Result<Ticket, BenchError> {
    device.submit(launch).map_err(failed)
}

/// Waits for a launch that nobody else waits for.
fn answer(device: &mut dyn Device, ticket: Ticket) -> Result<(), BenchError> {
    while poll(device)?.ticket != ticket {}
    Ok(())
}

fn poll(device: &mut dyn Device) -> Result<Completed, BenchError> {
    let answer = device.poll(PATIENCE).map_err(failed)?;
    answer.ok_or_else(|| failed(format!("no answer for {PATIENCE:?}")))
}

fn failed(why: impl std::fmt::Display) -> BenchError {
    BenchError::Probe(why.to_string())
}

const fn seconds(span: DeviceSpan) -> f64 {
    span.end.saturating_sub(span.start).as_secs_f64()
}

fn median(times: impl Iterator<Item = f64>) -> f64 {
    let mut times: Vec<f64> = times.collect();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}
