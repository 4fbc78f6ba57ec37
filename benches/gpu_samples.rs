//! How fast a GPU counts large boards by either of its kernels, and in which row sets its time goes: row sets drawn from
//! those of each size, counted and timed. Both kernels count the same sets, and their counts are compared.
//!
//! `cargo run --release --example gpu_samples -- 20 22 24 26 28`

use std::error::Error;
use std::time::Duration;

use fastrand::Rng;
use queenfold::board::Size;
use queenfold::colour::{ColourBoard, ColourPlan};
use queenfold::device::Device;
use queenfold::device::cuda::{CudaSettings, open};
use queenfold::engine::{Launcher, Plan, Tally, Task};

/// Placements that the sets of a size have together: half a second of an H100.
const PLACEMENTS: f64 = 1e11;

/// Sets of a size, at least: those of 28 queens differ by a factor of three.
const FEWEST: u64 = 16;

fn main() -> Result<(), Box<dyn Error>> {
    let mut device = open(&CudaSettings::default())?;
    println!("{:?}", device.properties());
    println!(" n  rows   sets     of      kernel            s  placements/s       board, s");
    for n in std::env::args().skip(1) {
        let n = Size::new(n.parse()?)?;
        let (plan, board) = (ColourPlan::new(n), ColourBoard::from(n));
        let launchers = [plan.launcher(), plan.relauncher()];
        let launchers = launchers.map(|launcher| launcher.map_err(|why| format!("{why:?}")));
        let mut whole = [0.0; 2];
        let mut start = 0;
        // A set of `even` even rows leaves as many rows to white, and the rest of the even ones to black.
        for even in 0..=n.get() {
            let sets = board.sets_of(even);
            let mean = launchers[0].clone()?.work() / plan.ranks() as f64;
            let drawn = (PLACEMENTS / mean) as u64;
            let ranks = draw(start, sets, drawn.max(FEWEST));
            start += sets;
            let mut counts = Vec::new();
            for (form, launcher) in launchers.iter().enumerate() {
                let launcher = launcher.clone()?;
                let (tallies, took) = count(device.as_mut(), launcher.as_ref(), &plan, &ranks)?;
                if took.is_zero() {
                    continue;
                }
                let placements: u64 = tallies.iter().map(|tally| tally.nodes).sum();
                let of_all = took.as_secs_f64() * sets as f64 / ranks.len() as f64;
                whole[form] += of_all;
                println!(
                    "{n:>2}  {even:>4}  {:>5}  {sets:>8}  {:<15}  {:>8.3}  {:>12.3e}  {of_all:>14.3}",
                    ranks.len(),
                    launcher.kernel(),
                    took.as_secs_f64(),
                    placements as f64 / took.as_secs_f64(),
                );
                counts.push(tallies);
            }
            if let [one, other] = &counts[..]
                && !one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| one.agrees_with(other))
            {
                return Err(format!("n = {n}: the kernels differ").into());
            }
        }
        println!(
            "{n:>2}  whole board: {:.3} s, transposed {:.3} s",
            whole[0], whole[1]
        );
    }
    Ok(())
}

/// Ranks drawn of `sets` from `start` on, each once.
fn draw(start: u64, sets: u64, count: u64) -> Vec<u64> {
    if sets <= count {
        return (start..start + sets).collect();
    }
    let mut random = Rng::with_seed(start);
    (0..count)
        .map(|at| start + at * sets / count + random.u64(..sets / count))
        .collect()
}

/// The counts of row sets, and how long the kernel took; nothing if the device counts none of them.
fn count(
    device: &mut dyn Device,
    launcher: &dyn Launcher,
    plan: &ColourPlan,
    ranks: &[u64],
) -> Result<(Vec<Tally>, Duration), Box<dyn Error>> {
    let task = |&rank: &u64| Task {
        ranks: rank..rank + 1,
        ..plan.task(0)
    };
    let tasks: Vec<Task> = ranks.iter().map(task).collect();
    let batch = launcher.batch(&tasks, 0)?;
    let Some(launch) = batch.launch() else {
        return Ok((Vec::new(), Duration::ZERO));
    };
    device.submit(launch)?;
    let completed = device.poll(Duration::from_secs(600))?;
    let completed = completed.ok_or("no answer")?;
    let kernel = completed.spans.kernel;
    let tallies = batch.tallies(Some(&completed));
    Ok((tallies.map_err(|wrong| wrong.0)?, kernel.end - kernel.start))
}
