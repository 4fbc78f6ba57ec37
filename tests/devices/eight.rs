//! Eight devices in one process. They only pretend to count, at the pace of an H100: the sums of a row set are made up,
//! and a launch takes the time that its tasks should cost (docs/lab/2026-11-27.md).
//!
//! The long tests need an idle machine: `cargo test --release --test it -- --ignored --nocapture devices::eight::`

use std::collections::HashMap;
use std::slice;
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
    Control, DeviceSpec, EventKind, FinishedLaunch, Observer, Part, Restored, RunEvent, RunSpec,
    Source, Supply, run,
};
use queenfold::colour::{ColourBoard, ColourPlan, recount_job};
use queenfold::device::{Device, OwnerSettings};
use queenfold::engine::{Completed, DeviceSpans, Engine, Launch, Plan, Tally, Task, Ticket};
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
    pub plan: Arc<ColourPlan>,
    board: ColourBoard,
    /// What is counted.
    tasks: Vec<u64>,
    /// How long each row set takes one device.
    seconds: HashMap<u64, f64>,
    /// Nanoseconds of the CPU that pretending took.
    cpu: AtomicU64,
}

impl Pretended {
    /// One H100 takes so many seconds for the whole board of `n` queens. These tasks of it are counted.
    pub fn new(
        n: u32,
        seconds: f64,
        tasks: impl FnOnce(&Arc<ColourPlan>) -> Vec<u64>,
    ) -> Arc<Self> {
        let plan = Arc::new(ColourPlan::new(size(n)));
        let launcher = plan.launcher().unwrap();
        let mut pretended = Self {
            board: size(n).into(),
            tasks: tasks(&plan),
            seconds: HashMap::new(),
            cpu: AtomicU64::new(0),
            plan: Arc::clone(&plan),
        };
        let per_cost = seconds / plan.total_cost();
        let tasks: Vec<_> = pretended.tasks().collect();
        for task in &tasks {
            let batch = launcher.batch(slice::from_ref(task), 0).unwrap();
            let sets: Vec<_> = batch.launch().into_iter().flat_map(sets).collect();
            // The sampled job has one for itself.
            for set in sets.iter().rev().skip(1) {
                let seconds = task.cost * per_cost / (sets.len() - 1) as f64;
                // Costs are only estimates.
                let estimate = 0.9 + 0.2 * (set % 1000) as f64 / 1e3;
                pretended.seconds.insert(*set, seconds * estimate);
            }
        }
        Arc::new(pretended)
    }

    /// What all tasks should have, added up.
    pub fn expected(&self) -> Tally {
        let launcher = self.plan.launcher().unwrap();
        let tasks: Vec<_> = self.tasks().collect();
        let tallies = tasks.chunks(128).flat_map(|tasks| {
            let batch = launcher.batch(tasks, 0).unwrap();
            let completed = batch.launch().map(|launch| {
                let (sums, jobs_done, _) = self.count(launch);
                Completed {
                    ticket: Ticket(0),
                    sums,
                    jobs_done,
                    stream: 0,
                    spans: DeviceSpans::default(),
                }
            });
            batch.tallies(completed.as_ref()).unwrap()
        });
        tallies.sum()
    }

    fn tasks(&self) -> impl Iterator<Item = Task> {
        self.tasks.iter().map(|&index| self.plan.task(index))
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
            source: Arc::new(Chosen(self.tasks.clone())),
            ..run_spec(vec![self.plan.clone() as _], workers, Isa::best())
        }
    }
}

/// These tasks of a plan.
struct Chosen(Vec<u64>);

impl Source for Chosen {
    fn open(&self, plan: &dyn Plan) -> Supply {
        Supply::of(
            plan,
            Part::Listed(self.0.clone().into()),
            Restored::default(),
        )
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
    let report = run(&spec, devices, &Control::new()).unwrap();
    let pretending = Duration::from_nanos(pretended.cpu.load(Ordering::Relaxed) - before);
    let cores = (cpu.elapsed() - pretending).div_duration_f64(wall.elapsed());
    // What a CPU worker counts is not made up.
    assert!(workers > 0 || report.tallies[&Engine::Colour] == pretended.expected());
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
    let spacing = (150.0 * pace) as u64;
    for (n, seconds, spacing) in [(22, 2.4, 1), (24, 73.0, 1), (28, 97_200.0, spacing)] {
        let pretended = Pretended::new(n, seconds, |plan| {
            // The first ones are no sample: a colour has more rows left there than the kernel counts.
            let tasks = spacing / 2..plan.tasks();
            tasks.step_by(spacing as usize).collect()
        });
        for workers in [0, 1] {
            let devices: Vec<_> = (0..8)
                .map(|index| pretended.device(index, pace, None))
                .collect();
            let (least, early, cores) = busy(&pretended, workers, &devices);
            // Eight H100 count 22 queens in 0.3 s, and the jobs of the board take a core as long.
            let is_good = least >= 0.97 && early <= 0.01 && (workers > 0 || cores * pace <= 1.0);
            assert!(is_good || n == 22, "n = {n}");
        }
    }
}

#[test]
fn seven_devices_go_on_beside_one_that_is_lost_that_is_slow_or_that_lies() {
    let pretended = Pretended::new(20, 0.106, |plan| (0..plan.tasks()).collect());
    let expected = pretended.expected();
    let at_sixth = |fault| -> Option<Arc<Trouble>> {
        Some(Arc::new(move |number, _: &Launch| {
            (number == 6).then_some(fault)
        }))
    };
    for (slower, trouble) in [
        (20.0, at_sixth(Fault::Lost)),
        (80.0, None),
        (20.0, at_sixth(Fault::WrongSum)),
    ] {
        let lies = slower < 80.0 && trouble.is_some();
        let mut devices: Vec<_> = (0..8)
            .map(|index| pretended.device(index, 20.0, None))
            .collect();
        devices[2] = pretended.device(2, slower, trouble);
        for device in &mut devices {
            device.settings.first_cost = 0.01;
            device.settings.batch_time = Duration::from_millis(50);
        }
        let report = in_time(&pretended.spec(0), &devices, &Control::new()).unwrap();
        assert_eq!(report.tallies[&Engine::Colour], expected);
        let tasks = |device: usize| report.workers[device + 1].tasks;
        assert!(lies || tasks(2) * 2 < tasks(3), "{:?}", report.workers);
    }
}
