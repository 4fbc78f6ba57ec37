//! Eight devices in one process. They only pretend to count, at the pace of an H100: the sums of a row set are made up,
//! and a launch takes the time that its tasks should cost (docs/lab/2026-11-27.md).
//!
//! The long tests need an idle machine: `cargo test --release --test it -- --ignored --nocapture devices::eight::`

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::runs::{in_time, size};
use crate::common::faulty_device::{Fault, Faulty, Trouble};
use crate::common::run_spec::run_spec;
use crate::common::test_device::TestDevice;
use cpu_time::{ProcessTime, ThreadTime};
use parking_lot::Mutex;
use queenfold::actors::{
    Control, DeviceSpec, EventKind, FinishedLaunch, Observer, Report, Restored, RunEvent, RunSpec,
    Source, Supply, evenly_spaced, run_on,
};
use queenfold::colour::{ColourBoard, ColourPlan, recount_job};
use queenfold::device::{Device, OwnerSettings};
use queenfold::engine::{Completed, Engine, Launch, Plan, Tally, Task, Ticket, WorkerId};
use queenfold::simd::Isa;

/// A number for each row set of a launch, which is always the same.
fn sets(launch: &Launch) -> impl DoubleEndedIterator<Item = u64> {
    let words = launch.tables().len() / (launch.sums() / 4);
    let mix = |sum: u64, word: &u32| {
        let sum = (sum ^ u64::from(*word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        sum ^ sum >> 32
    };
    let sets = launch.tables().chunks(words);
    sets.map(move |set| set.iter().fold(0, mix))
}

/// What devices pretend of a board.
pub struct Pretended {
    plan: Arc<ColourPlan>,
    board: ColourBoard,
    /// Counts every `spacing`-th task.
    spacing: u64,
    /// How long each row set takes one device.
    seconds: HashMap<u64, f64>,
    /// What all tasks should have, added up.
    expected: Tally,
    /// Nanoseconds of the CPU that pretending took.
    cpu: AtomicU64,
}

impl Pretended {
    /// One H100 takes so many seconds for the whole board of `n` queens.
    pub fn new(n: u32, seconds: f64, spacing: u64) -> Arc<Self> {
        let plan = Arc::new(ColourPlan::new(size(n)));
        let launcher = plan.launcher().unwrap();
        let mut pretended = Self {
            board: size(n).into(),
            spacing,
            seconds: HashMap::new(),
            expected: Tally::default(),
            cpu: AtomicU64::new(0),
            plan: Arc::clone(&plan),
        };
        let per_cost = seconds / plan.total_cost();
        let tasks = (spacing / 2..plan.tasks()).step_by(spacing as usize);
        let tasks: Vec<_> = tasks.map(|index| plan.task(index)).collect();
        for task in &tasks {
            let batch = launcher.batch(std::slice::from_ref(task), 0).unwrap();
            let sets: Vec<_> = batch.launch().into_iter().flat_map(sets).collect();
            // The sampled job has one for itself.
            for set in sets.iter().rev().skip(1) {
                let seconds = task.cost * per_cost / (sets.len() - 1) as f64;
                // Costs are only estimates.
                let estimate = 0.9 + 0.2 * (set % 1000) as f64 / 1e3;
                pretended.seconds.insert(*set, seconds * estimate);
            }
        }
        for tasks in tasks.chunks(128) {
            pretended.expected += pretended.tallies(tasks).into_iter().sum::<Tally>();
        }
        Arc::new(pretended)
    }

    /// What these tasks should have.
    fn tallies(&self, tasks: &[Task]) -> Vec<Tally> {
        let batch = self.plan.launcher().unwrap().batch(tasks, 0).unwrap();
        let completed = batch.launch().map(|launch| {
            let (sums, jobs_done, _) = self.count(launch);
            Completed {
                ticket: Ticket(0),
                sums,
                jobs_done,
                stream: 0,
                spans: Default::default(),
            }
        });
        batch.tallies(completed.as_ref()).unwrap()
    }

    /// Makes up the sums of a launch. Those of the sampled job, which is in the last set, are right.
    fn count(&self, launch: &Launch) -> (Vec<u64>, u32, Duration) {
        let begun = ThreadTime::now();
        let mut sums = vec![0; launch.sums()];
        let last = launch.sums() / 4 - 1;
        let mut sets: Vec<_> = sets(launch).collect();
        let sampled = sets.pop().unwrap();
        let (jobs, _) = launch.jobs().as_chunks::<4>();
        let is_canary = !self.seconds.contains_key(&sampled);
        let canary = self.plan.canary().unwrap().size().into();
        let board = if is_canary { &canary } else { &self.board };
        for job in jobs
            .iter()
            .filter(|job| is_canary || job[0] as usize == last)
        {
            let of_set = sums[job[0] as usize * 4..].iter_mut();
            let found = recount_job(board, launch, *job);
            of_set.zip(found).for_each(|(sum, found)| *sum += found);
        }
        let mut takes = 2e-4;
        if !is_canary {
            let given: [u64; 4] = sums[last * 4..].try_into().unwrap();
            for (at, set) in sets.iter().enumerate() {
                let made_up = (1 << 40) + (set >> 44);
                // The sampled job is one of its set.
                let beside = if *set == sampled { given } else { [0; 4] };
                for (sum, beside) in sums[at * 4..][..4].iter_mut().zip(beside) {
                    *sum = made_up - beside;
                }
                takes += self.seconds[set];
            }
        }
        let cpu = begun.elapsed().as_nanos() as u64;
        self.cpu.fetch_add(cpu, Ordering::Relaxed);
        (sums, launch.job_count(), Duration::from_secs_f64(takes))
    }

    /// A device that takes so many times as long as an H100, and on which `trouble` strikes.
    pub fn device(
        self: &Arc<Self>,
        index: usize,
        slower: f64,
        trouble: Option<Arc<Trouble>>,
    ) -> DeviceSpec {
        let pretended = Arc::clone(self);
        let trouble = trouble.unwrap_or_else(|| Arc::new(|_, _| None));
        DeviceSpec {
            index,
            name: "test device".to_owned(),
            open: Arc::new(move || {
                let pretended = Arc::clone(&pretended);
                let count = move |launch: &Launch, _: &_| {
                    let (sums, done, takes) = pretended.count(launch);
                    (sums, done, Some(takes.mul_f64(slower)))
                };
                let device = Faulty::of(TestDevice::that_counts(4, count), Arc::clone(&trouble));
                Ok(Box::new(device) as Box<dyn Device>)
            }),
            settings: OwnerSettings::default(),
        }
    }

    pub fn spec(&self, workers: usize) -> RunSpec {
        RunSpec {
            source: Arc::new(Spaced(self.spacing)),
            ..run_spec(vec![self.plan.clone() as _], workers, Isa::best())
        }
    }
}

/// Every so manieth task. The first ones are no sample: a colour has more rows left there than the kernel counts.
struct Spaced(u64);

impl Source for Spaced {
    fn open(&self, plan: &dyn Plan) -> Supply {
        evenly_spaced(plan, self.0 / 2, self.0, Restored::default())
    }
}

/// The launches of a run.
#[derive(Default)]
struct Launches(Mutex<Vec<FinishedLaunch>>);

impl Observer for Launches {
    fn event(&self, event: &RunEvent) {
        if let EventKind::LaunchDone(launch) = &event.kind {
            self.0.lock().push(launch.clone());
        }
    }
}

/// Counts on devices, and asserts that the sums are right. Returns how busy the least busy one was, and how early the
/// first one had nothing left, both as a share of the time in which any counted; and the cores that the host took.
fn busy(pretended: &Arc<Pretended>, workers: usize, devices: &[DeviceSpec]) -> (f64, f64, f64) {
    let launches = Arc::new(Launches::default());
    let mut spec = pretended.spec(workers);
    spec.observers.push(Arc::clone(&launches) as _);
    let (cpu, wall) = (ProcessTime::now(), Instant::now());
    let before = pretended.cpu.load(Ordering::Relaxed);
    let report = run_on(&spec, devices, &Control::new()).unwrap();
    let pretending = Duration::from_nanos(pretended.cpu.load(Ordering::Relaxed) - before);
    let cores = (cpu.elapsed() - pretending).div_duration_f64(wall.elapsed());
    // What a CPU worker counts is not made up.
    assert!(workers > 0 || report.tallies[&Engine::Colour] == pretended.expected);
    let launches = launches.0.lock();
    let kernels = || launches.iter().map(|launch| launch.kernel);
    let start = kernels().map(|kernel| kernel.start).min().unwrap();
    let end = kernels().map(|kernel| kernel.end).max().unwrap();
    let (mut least, mut early) = (1.0_f64, 0.0_f64);
    for device in &report.workers[workers.max(1)..] {
        let own = launches.iter().filter(|launch| launch.worker == device.id);
        let own = own.map(|launch| launch.kernel);
        let counts: Duration = own.clone().map(|kernel| kernel.end - kernel.start).sum();
        let last = own.map(|kernel| kernel.end).max().unwrap();
        least = least.min(counts.div_duration_f64(end - start));
        early = early.max((end - last).div_duration_f64(end - start));
    }
    println!(
        "n = {}, {workers} workers: {:.2?} of kernels; each device is busy {least:.4} of it or more, and ends {early:.4} \
         of it early or less; the host takes {cores:.2} cores",
        pretended.plan.size(),
        end - start,
    );
    (least, early, cores)
}

/// Eight devices have 16 cores. On a machine with fewer, they are slower by as much.
#[test]
#[ignore = "long: see the head of this file"]
fn eight_devices_are_busy_to_the_end_and_take_less_than_a_core() {
    let cores = std::thread::available_parallelism().unwrap().get();
    let pace = 16.0 / cores.min(16) as f64;
    let spacing = (570.0 * pace) as u64;
    for (n, seconds, spacing) in [(22, 2.4, 1), (24, 73.0, 1), (28, 97_200.0, spacing)] {
        let pretended = Pretended::new(n, seconds, spacing);
        for workers in [0, 1] {
            let devices: Vec<_> = (0..8)
                .map(|index| pretended.device(index, pace, None))
                .collect();
            let (least, early, cores) = busy(&pretended, workers, &devices);
            // A run of 0.3 s is too short.
            assert!(n == 22 || least >= 0.97 && early <= 0.01, "n = {n}");
            assert!(workers > 0 || cores * pace <= 1.0, "n = {n}");
        }
    }
}

/// Counts 20 queens on eight devices of which the third is another one, and perhaps has a fault. Asserts that the sums
/// are right.
fn beside_seven(slower: f64, trouble: Option<Arc<Trouble>>, faults: Option<&str>) -> Report {
    let pretended = Pretended::new(20, 0.106, 1);
    let mut devices: Vec<_> = (0..8)
        .map(|index| pretended.device(index, 40.0, None))
        .collect();
    devices[2] = pretended.device(2, slower, trouble);
    for device in &mut devices {
        device.settings.first_cost = 0.01;
        device.settings.batch_time = Duration::from_millis(50);
    }
    let mut spec = pretended.spec(0);
    spec.canary = faults.map(|_| Duration::from_millis(100));
    let control = Control::new();
    control.inject(faults.unwrap_or_default().parse().unwrap());
    let report = in_time(&spec, &devices, &control).unwrap();
    assert_eq!(report.tallies[&Engine::Colour], pretended.expected);
    let tasks = report.workers.iter().map(|worker| worker.tasks);
    println!("{:?} {:?}", tasks.collect::<Vec<_>>(), report.taken_out);
    report
}

#[test]
fn seven_devices_go_on_beside_one_that_is_lost_that_is_slow_or_that_lies() {
    let third = WorkerId::Device(2);
    let at_sixth = |fault| -> Option<Arc<Trouble>> {
        Some(Arc::new(move |number, _: &Launch| {
            (number == 6).then_some(fault)
        }))
    };
    beside_seven(40.0, at_sixth(Fault::Lost), None);
    beside_seven(160.0, None, None);
    let lies = beside_seven(40.0, at_sixth(Fault::WrongSum), None);
    assert_eq!(lies.taken_out[0].worker, third);
    let lies = beside_seven(40.0, None, Some("sick='gpu-2',wrong=1,after=10"));
    assert_eq!(lies.taken_out[0].worker, third);
    assert!(lies.corrected > 0, "{:?}", lies.taken_out);
}
