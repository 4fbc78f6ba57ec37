//! A model of how fast the colour kernel is: the issue slots that sampled jobs take, counted by the interpreter of PTX.
//!
//! A warp takes a slot for each machine instruction. An instruction of the PTX counts for as many of them as the
//! assembler made of it for an H100, or for one where there is no assembler.
//!
//! `cargo test --release --test it -- --ignored --nocapture devices::slots::`

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::kernels::Tools;
use crate::common::ptx_machine::Machine;
use queenfold::board::Size;
use queenfold::colour::{ColourBoard, ColourPlan, recount_job};
use queenfold::device::Device;
use queenfold::device::cuda::{Cuda, CudaSettings, for_device};
use queenfold::engine::{Launch, Launcher, Plan};

/// Tasks whose jobs are drawn.
const TASKS: u64 = 12;

/// Jobs drawn of all jobs of these tasks, and the most slots for 32 placements in the first and the second form, by the size
/// of the board. The draw is always the same. The limits are a tenth above what is counted without an assembler, which is
/// more than with one.
const SAMPLES: [(u32, usize, [f64; 2]); 7] = [
    (20, 48, [513.0, 576.0]),
    (22, 48, [257.0, 309.0]),
    (24, 48, [277.0, 285.0]),
    (26, 24, [182.0, 206.0]),
    (28, 24, [122.0, 178.0]),
    (29, 8, [112.0, 110.0]),
    (30, 3, [195.0, 132.0]),
];

/// Words of a job of the colour kernel, the first of which is its row set.
const JOB_WORDS: usize = 4;

/// Slots of an H100 in a second: four schedulers on each multiprocessor, one instruction in a clock.
const SLOTS_PER_SECOND: f64 = 132.0 * 4.0 * 1.755e9;

/// The launcher of a form.
pub fn launcher(plan: &ColourPlan, is_transposed: bool) -> Arc<dyn Launcher> {
    let launcher = match is_transposed {
        false => plan.launcher(),
        true => plan.relauncher(),
    };
    launcher.unwrap()
}

/// Draws jobs of a board.
fn draw(n: u32, count: usize, is_transposed: bool) -> Launch {
    let plan = ColourPlan::new(Size::new(n).unwrap());
    let mut random = fastrand::Rng::with_seed(1);
    let tasks: Vec<_> = (0..TASKS)
        .map(|_| plan.task(random.u64(..plan.tasks())))
        .collect();
    let batch = launcher(&plan, is_transposed).batch(&tasks, 0).unwrap();
    let all = batch.launch().unwrap();
    let (jobs, _) = all.jobs().as_chunks::<JOB_WORDS>();
    let drawn = (0..count).flat_map(|_| jobs[random.usize(..jobs.len())]);
    Launch::new(all.program(), drawn.collect(), all.tables().to_vec()).unwrap()
}

/// The board, the number of jobs, and whether they are of the second form: `24:48:1`.
fn request() -> [u32; 3] {
    let text = std::env::var("SLOTS").unwrap();
    let numbers: Vec<_> = text
        .split(':')
        .map(|number| number.parse().unwrap())
        .collect();
    numbers.try_into().unwrap()
}

/// The sums that a launch for `n` queens should give, in plain recursion.
pub fn expected(n: u32, launch: &Launch) -> Vec<u64> {
    let board = ColourBoard::from(Size::new(n).unwrap());
    let (jobs, _) = launch.jobs().as_chunks::<JOB_WORDS>();
    let mut expected = vec![0; launch.sums()];
    for job in jobs {
        let sums = recount_job(&board, launch, *job);
        let of_set = expected[job[0] as usize * sums.len()..].iter_mut();
        of_set.zip(sums).for_each(|(sum, found)| *sum += found);
    }
    expected
}

#[test]
#[ignore = "the other test starts it, with the library"]
fn in_the_child() {
    let [n, count, is_transposed] = request();
    let launch = draw(n, count as usize, is_transposed == 1);
    let mut device = Cuda::open(CudaSettings {
        streams: 1,
        slots_per_stream: 1,
        ..CudaSettings::default()
    })
    .unwrap();
    device.submit(&launch).unwrap();
    let completed = device.poll(Duration::from_secs(3600)).unwrap().unwrap();
    let expected = expected(n, &launch);
    assert_eq!(completed.sums, expected);
    let placements = expected.chunks(4).map(|sums| sums[1] + sums[3]);
    println!("placements={}", placements.sum::<u64>());
}

/// Machine instructions of each line of the PTX, in the order of the machine code. Where lanes of a warp have to wait for
/// others, code far away has a copy of what they wait for. It does not count: lanes of this kernel are together.
fn instructions(tools: &Tools, ptx: &Path) -> HashMap<u32, u64> {
    let code = ptx.with_extension("cubin");
    let assembled = tools
        .command("ptxas")
        .args(["-arch=sm_90", "-lineinfo", "-o"])
        .args([&code, ptx])
        .status();
    assert!(assembled.unwrap().success());
    let output = tools
        .command("nvdisasm")
        .args(["-gp", "-c"])
        .arg(&code)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let label_of = |line: &str| {
        line.split_once("`(")
            .and_then(|(_, rest)| Some(rest.split_once(')')?.0.to_owned()))
    };
    let far: HashSet<_> = text
        .lines()
        .filter(|line| line.contains("BRA.DIV"))
        .filter_map(label_of)
        .collect();
    let (mut all, mut line, mut is_far) = (HashMap::new(), 0, false);
    for text in text.lines() {
        if let Some((_, number)) = text.split_once("\", line ") {
            line = number.split(' ').next().unwrap().parse().unwrap();
        } else if let Some(label) = text.strip_suffix(':') {
            is_far = is_far || far.contains(label);
        } else if text.trim_start().starts_with("/*") && !text.contains(" NOP") {
            *all.entry(line).or_default() += u64::from(!is_far);
            is_far = is_far && !text.contains(" BRA `(");
        }
    }
    all
}

/// What the model says of a board.
struct Slots {
    /// Slots for 32 placements on all rows of a colour.
    of_32: f64,
    /// The share of the lanes that are busy.
    lanes: f64,
    placements: u64,
}

fn count(weights: &HashMap<u32, u64>, n: u32, jobs: usize, is_transposed: bool) -> Slots {
    let folder = tempfile::tempdir().unwrap();
    let counts = folder.path().join("counts");
    // Blocks as on an H100.
    let machine = Machine::new("");
    let mut command = machine.child("devices::slots::in_the_child");
    command
        .env("SLOTS", format!("{n}:{jobs}:{}", u8::from(is_transposed)))
        .env("SIM_COUNTS", &counts);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(machine.defects(), [""; 0]);
    let (_, placements) = said.split_once("placements=").unwrap();
    let placements: u64 = placements.lines().next().unwrap().parse().unwrap();
    let (mut slots, mut lanes) = (0, 0);
    for line in fs::read_to_string(counts).unwrap().lines() {
        let mut numbers = line
            .split(' ')
            .skip(1)
            .map(|number| number.parse::<u64>().unwrap());
        let [line, times, active] = [(); 3].map(|()| numbers.next().unwrap());
        let weight = weights
            .get(&(line as u32))
            .copied()
            .unwrap_or(u64::from(weights.is_empty()));
        slots += weight * times;
        lanes += weight * active;
    }
    Slots {
        of_32: slots as f64 * 32.0 / placements as f64,
        lanes: lanes as f64 / slots as f64 / 32.0,
        placements,
    }
}

#[test]
#[ignore = "takes minutes"]
fn slots_and_lanes_of_sampled_jobs() {
    let tools = Tools::find();
    let folder = tempfile::tempdir().unwrap();
    let all = SAMPLES.into_iter();
    for ((n, jobs, most), is_transposed) in all.flat_map(|all| [(all, false), (all, true)]) {
        let plan = ColourPlan::new(Size::new(n).unwrap());
        let launcher = launcher(&plan, is_transposed);
        let ptx = folder.path().join("colour.ptx");
        fs::write(&ptx, for_device(launcher.program(), 228 << 10).unwrap()).unwrap();
        let weights = tools
            .as_ref()
            .map(|tools| instructions(tools, &ptx))
            .unwrap_or_default();
        let found = count(&weights, n, jobs, is_transposed);
        let rate = SLOTS_PER_SECOND * 32.0 / found.of_32;
        println!(
            "n = {n}, {}: {jobs} jobs of {} placements, {:.0} slots for 32, {:.2} of the lanes busy; an H100 with all slots \
             busy: {rate:.2e} placements in a second, the board in {:.3e} s (model)",
            launcher.kernel(),
            found.placements / jobs as u64,
            found.of_32,
            found.lanes,
            launcher.work() / rate,
        );
        assert!(found.of_32 < most[usize::from(is_transposed)], "n = {n}");
    }
}
