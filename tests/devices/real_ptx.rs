//! The embedded kernels, executed as they are: a library in the place of the CUDA driver interprets the PTX that
//! the program loads, and checks what no other test can (`tests/ptx_machine/machine.h`): bounds and alignment in
//! every memory, words that nobody wrote, races between lanes, warps and blocks, lanes that wait for others which
//! never come, and misuse of the driver by the host.

use std::time::Duration;

use super::slots::{expected, launcher};
use crate::common::program::words;
use crate::common::ptx_machine::Machine;
use queenfold::board::Size;
use queenfold::colour::{ColourBoard, ColourPlan};
use queenfold::device::Device;
use queenfold::device::cuda::{Cuda, CudaSettings, for_device};
use queenfold::engine::{Launch, Plan, Task};
use serde_json::Value;

/// A machine with room for one block of the colour kernel, or with lanes that run apart and several blocks.
fn machine(chaos: bool) -> Machine {
    let mut machine = Machine::new("");
    machine.chaos = chaos;
    machine.shared_memory = if chaos { "228" } else { "39" };
    machine
}

impl Machine {
    /// Counts a board by the whole program, on the device alone.
    fn count_exactly(&self, n: u32, engine: &str) {
        let mut command = self.command(&["run", "--json", "--gpu", "cuda", "--workers", "0"]);
        command.args(["-n", &n.to_string(), "--engine", engine]);
        // The one that opens the device is enough: it takes longer than these boards.
        command.env("QUEENFOLD_RUN_CANARY", "none");
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{engine}, n = {n}: {said}");
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["checked"], "known");
        assert!(json["gpu"][0]["tasks"].as_u64().unwrap() > 0, "{json}");
        assert_eq!(self.defects(), [""; 0], "{engine}, n = {n}");
    }

    /// Counts a board on the CPU, and again on the device alone, which takes the second form.
    fn count_again_exactly(&self, n: u32) {
        let size = n.to_string();
        let first = words!("run --engine colour --gpu off --dir d -n {}", &size);
        let again = words!("verify --again d --json --gpu cuda --workers 0");
        for arguments in [&first[..], &again] {
            let mut command = self.command(arguments);
            let output = command
                .env("QUEENFOLD_RUN_CANARY", "none")
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "n = {n}: {said}");
            if arguments == again {
                let json: Value = serde_json::from_slice(&output.stdout).unwrap();
                let counted = &json["counted"];
                assert_eq!(counted["twice"], counted["tasks"], "{json}");
                assert!(counted["by_other_kernel"].as_u64() > Some(0), "{json}");
            }
        }
        assert_eq!(self.defects(), [""; 0], "n = {n}");
    }

    /// Counts jobs of the colour engine in a process of this test program, without line `without` of the kernel.
    /// Returns whether all sums are right.
    fn jobs(&self, jobs: &[Sample], without: Option<usize>) -> bool {
        let mut command = self.child("devices::real_ptx::in_the_child");
        let jobs: Vec<_> = jobs.iter().map(Sample::text).collect();
        command.env("PTX_JOBS", jobs.join(","));
        if let Some(line) = without {
            command.env("SIM_WITHOUT", line.to_string());
            // Without a barrier, a kernel may never end. With all of them, no sample takes a third of this.
            command.env("SIM_MOST", "40000000");
        }
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("counted"), "{said}{errors}");
        let is_right = !said.contains("wrong");
        assert!(is_right || without.is_some(), "{said}");
        is_right
    }
}

/// Some units of a row set: the size of the board, even rows of the set, and units. Black and white may have exchanged
/// their own rows (0) or the rows left (1).
#[derive(Clone, Copy)]
struct Sample {
    n: u32,
    even: u32,
    units: u32,
    exchanged: Option<u32>,
    /// In the second form.
    transposed: bool,
}

impl Sample {
    fn text(&self) -> String {
        let exchanged = self.exchanged.unwrap_or(NOTHING);
        let transposed = u32::from(self.transposed);
        format!(
            "{}:{}:{}:{exchanged}:{transposed}",
            self.n, self.even, self.units
        )
    }

    fn of(text: &str) -> Self {
        let mut numbers = text.split(':').map(|number| number.parse().unwrap());
        let mut next = || numbers.next().unwrap();
        Self {
            n: next(),
            even: next(),
            units: next(),
            exchanged: Some(next()).filter(|list| *list != NOTHING),
            transposed: next() == 1,
        }
    }

    /// A launch of a job of a set in the middle of those with so many even rows.
    fn launch(self) -> Launch {
        let plan = ColourPlan::new(Size::new(self.n).unwrap());
        let board = ColourBoard::from(Size::new(self.n).unwrap());
        let before: u64 = (0..self.even).map(|even| board.sets_of(even)).sum();
        let rank = before + board.sets_of(self.even) / 3;
        let task = Task {
            ranks: rank..rank + 1,
            ..plan.task(0)
        };
        let launcher = launcher(&plan, self.transposed);
        let batch = launcher.batch(&[task], 0).unwrap();
        let all = batch.launch().unwrap();
        let (jobs, _) = all.jobs().as_chunks::<4>();
        let [set, mut first, mut count, _] = jobs[jobs.len() / 3];
        let mut tables = all.tables().to_vec();
        if let Some(list) = self.exchanged {
            let words = tables.len() / (all.sums() / 4);
            first = exchange(&mut tables[set as usize * words..][..words], list as usize);
            count = self.units;
        }
        // Twice, so that a block counts one job after the other.
        let jobs = [set, first, count.min(self.units), 0].repeat(2);
        Launch::new(all.program(), jobs, tables).unwrap()
    }
}

/// In the text of a sample, that no rows are exchanged.
const NOTHING: u32 = 2;

/// Exchanges a list of black and of white, the own rows or those left, in the words of a row set. Returns the first unit.
fn exchange(set: &mut [u32], list: usize) -> u32 {
    let (header, rows) = set.split_at_mut(3);
    let length = rows.len() / 2;
    let mut counts = header[2].to_le_bytes().map(usize::from);
    let [own, left, ..] = counts;
    let begin = length + counts[2];
    // Own rows, then those left; of black, then of white.
    let mut lists = [
        rows[..own].to_vec(),
        rows[own..own + left].to_vec(),
        rows[length..begin].to_vec(),
        rows[begin..begin + counts[3]].to_vec(),
    ];
    lists.swap(list, list + 2);
    counts.swap(list, list + 2);
    for (colour, lists) in lists.chunks(2).enumerate() {
        let all = lists.concat();
        rows[colour * length..][..all.len()].copy_from_slice(&all);
    }
    header[2] = u32::from_le_bytes(counts.map(|count| count as u8));
    (1 << counts[2]) - 1
}

#[test]
#[ignore = "the other tests start it, with the library"]
fn in_the_child() {
    let mut device = Cuda::open(CudaSettings {
        streams: 1,
        slots_per_stream: 1,
        ..CudaSettings::default()
    })
    .unwrap();
    for sample in std::env::var("PTX_JOBS").unwrap().split(',') {
        let sample = Sample::of(sample);
        let launch = sample.launch();
        device.submit(&launch).unwrap();
        let completed = device.poll(Duration::from_secs(3600)).unwrap().unwrap();
        let expected = expected(sample.n, &launch);
        let found = &completed.sums;
        let is_right = *found == expected && completed.jobs_done == launch.job_count();
        let verdict = if is_right { "right" } else { "wrong" };
        println!("{}: {found:?} {expected:?} {verdict}", sample.text());
    }
    println!("counted");
}

const fn sample(n: u32, even: u32, units: u32) -> Sample {
    Sample {
        n,
        even,
        units,
        exchanged: None,
        transposed: false,
    }
}

const fn transposed(n: u32, even: u32, units: u32) -> Sample {
    Sample {
        transposed: true,
        ..sample(n, even, units)
    }
}

const fn exchanged(list: u32, n: u32, even: u32, units: u32) -> Sample {
    Sample {
        exchanged: Some(list),
        ..sample(n, even, units)
    }
}

/// Jobs whose colours have 1 to 9 rows left, so that each part of the kernel runs.
const SMALL: [Sample; 7] = [
    sample(18, 1, 9),
    sample(18, 2, 16),
    sample(18, 3, 16),
    sample(18, 4, 24),
    transposed(17, 4, 24),
    transposed(18, 3, 16),
    sample(24, 3, 8),
];

/// Jobs of the largest boards.
const LARGEST: [Sample; 2] = [transposed(29, 4, 1), sample(30, 4, 1)];

/// Jobs in which one colour has few own rows and many rows left, and the other one the reverse. No plan has such jobs:
/// there own rows and rows left differ by one at most. So the jobs of a plan hardly need some barriers:
///
/// - With 7 or 8 rows left, the own queens attack so much that few nodes reach the last rows, or none: their buffers
///   do not fill.
/// - With 1 or 2 rows left, a warp has so few placements on own rows that lanes hand them over once.
/// - With 3 or 4 rows left, most placements on own rows have nodes. So between two times that lanes hand over, they
///   place queens and meet there.
const EXCHANGED: [Sample; 10] = [
    exchanged(0, 18, 1, 9),
    exchanged(0, 20, 2, 45),
    exchanged(0, 20, 4, 2),
    exchanged(0, 22, 3, 3),
    exchanged(0, 22, 4, 2),
    exchanged(1, 18, 1, 9),
    exchanged(1, 20, 2, 45),
    exchanged(1, 20, 4, 2),
    exchanged(1, 22, 3, 3),
    exchanged(1, 22, 4, 2),
];

#[test]
fn small_boards_are_counted_by_the_embedded_kernels() {
    for (n, engine) in [(10, "chain"), (9, "colour"), (12, "colour")] {
        machine(n == 9).count_exactly(n, engine);
    }
}

#[test]
fn boards_with_given_queens_and_holes_are_counted_by_the_embedded_kernels() {
    for engine in ["chain", "colour"] {
        let machine = machine(false);
        let count = |device: &[&str]| -> Value {
            let board = words!(
                "run --json -n 11 --queens d3 --holes a1,f6 --engine {}",
                engine
            );
            let mut command = machine.command(&[&board[..], device].concat());
            let output = command
                .env("QUEENFOLD_RUN_CANARY", "none")
                .output()
                .unwrap();
            serde_json::from_slice(&output.stdout).expect("a result")
        };
        let [here, there] =
            [&["--gpu", "off"][..], &["--gpu", "cuda", "--workers", "0"]].map(count);
        assert_eq!(
            (&there["total"], &there["unique"]),
            (&here["total"], &here["unique"])
        );
        assert!(there["gpu"][0]["tasks"].as_u64() > Some(0), "{there}");
        assert_eq!(machine.defects(), [""; 0]);
    }
}

#[test]
fn sampled_jobs_are_exact_whether_lanes_run_together_or_apart() {
    for chaos in [false, true] {
        let machine = machine(chaos);
        assert!(machine.jobs(&SMALL, None));
        assert!(machine.jobs(&EXCHANGED, None));
        assert!(machine.jobs(&LARGEST, None));
        assert_eq!(machine.defects(), [""; 0]);
    }
}

/// The lines of a kernel at which lanes or threads wait for others.
fn barriers(kernel: &str) -> Vec<usize> {
    let lines = (1..).zip(kernel.lines());
    let is = |line: &str| ["bar.sync", "bar.warp.sync"].map(|what| line.contains(what));
    lines
        .filter(|(_, line)| is(line).contains(&true))
        .map(|(number, _)| number)
        .collect()
}

/// Runs the jobs once without each of some barriers of the kernel. Returns those that nothing noticed.
fn unnoticed(lines: &[usize]) -> Vec<usize> {
    let is_noticed = |line: usize| {
        // Those that take longest come last.
        let samples = || EXCHANGED.iter().chain(&SMALL);
        let mut ways = [false, true]
            .into_iter()
            .flat_map(|chaos| samples().map(move |sample| (sample, chaos)));
        ways.any(|(sample, chaos)| {
            let machine = machine(chaos);
            let is_right = machine.jobs(std::slice::from_ref(sample), Some(line));
            !is_right || !machine.defects().is_empty()
        })
    };
    let mut lines = lines.to_vec();
    lines.retain(|&line| !is_noticed(line));
    lines
}

#[test]
#[ignore = "long: see CONTRIBUTING.md"]
fn every_barrier_that_is_missing_is_noticed() {
    let kernel = for_device(SMALL[0].launch().program(), 228 << 10).unwrap();
    let all = barriers(&kernel);
    assert_eq!(all.len(), 27, "{all:?}");
    assert_eq!(unnoticed(&all), [0; 0]);
}

#[test]
#[ignore = "minutes: see CONTRIBUTING.md"]
fn boards_and_samples_are_exact_by_the_embedded_kernels() {
    for chaos in [false, true] {
        for engine in ["chain", "colour"] {
            for n in 8..=12 {
                machine(chaos).count_exactly(n, engine);
            }
        }
        for n in 8..=12 {
            machine(chaos).count_again_exactly(n);
        }
        let large = [
            sample(20, 5, 64),
            sample(22, 5, 8),
            sample(23, 6, 4),
            sample(24, 6, 1),
            sample(26, 6, 1),
            sample(28, 4, 1),
            sample(29, 4, 1),
            sample(30, 4, 1),
        ];
        let large = large.into_iter().flat_map(|sample| {
            [false, true].map(|transposed| Sample {
                transposed,
                ..sample
            })
        });
        let large: Vec<_> = large.collect();
        let machine = machine(chaos);
        assert!(machine.jobs(&large, None));
        assert_eq!(machine.defects(), [""; 0]);
    }
}
