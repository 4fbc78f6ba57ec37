//! `estimate`: what a run would take.

mod answer;
mod question;
mod shown_sample;

use std::io;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;

use crate::args::boards::{Boards, given_line};
use crate::args::flags::CpuFlags;
use crate::config::{Config, Gpus, duration, gpus, whole};
use crate::control::signals;
use crate::exit::{Exit, Failure};
use crate::output::{print, print_json};
use crate::session::start_log;
use queenfold::board::GivenBoard;
use queenfold::engine::Mismatch;
use queenfold::estimate::{Draw, SHORTEST, SampleProgress, count_sample};
use queenfold::job::{DeviceChoice, Hardware, HardwareSettings};
use queenfold::system::threads::start_scoped;
use queenfold::words::several;

use answer::{Answer, first_line, run_it};
use question::Question;
use shown_sample::{BUDGET, CutShort, ShownSample};

const HELP: &str = "\
Examples:
  queenfold estimate -n 22
  queenfold estimate -n 26 --workers 64 --for 5m
  queenfold estimate -n 28 --json --seed 1
  queenfold estimate -n 24 --queens c3,h11

The first line comes at once, from the costs of the plan. Then the command draws 64 tasks at random, those with \
a higher expected cost more often, and counts them for ten seconds at most. It uses as many threads as \
there are workers, but no more than this machine has cores. When the time is over, or after Ctrl-C, \
it prints what the tasks show that were counted until then; if that is none, what the costs of the plan say, and which \
--for counts ten. A board that takes less than its sample is not sampled, except for JSON.

The intervals contain the true value in 95 of 100 cases, on cores like those of this machine under the \
same load. They include the error of sampling and the variation of CPU time from run to run. That \
variation is taken as 8 %, or measured if a sample takes less than two seconds and is counted \
several times. The fewer tasks are counted, the wider they are. \
With --for, up to 1024 tasks are drawn, and as many of them are counted as the time allows: four times as many halve \
the interval.

Memory is not an interval but the largest amount seen: what a counter held after it had counted \
its part of the sample (the mean of the threads). With 95 % confidence, the share of the work that \
is printed beside it needs no more.

The estimate does not include the symmetric solutions (a minute of one core at n = 28), the audit \
of one task in a thousand, and, without --gpu, devices. With it, a device is measured on a small board by \
a launch of 20 ms; how its speed grows with the board is not known, so that this time has no interval.";

/// How many tasks are drawn: a few, or as many as the time that the user gives allows.
const TASKS: usize = 64;
const MOST_TASKS: usize = 1024;

/// Flags of `estimate`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    #[command(flatten)]
    boards: Boards,

    #[command(flatten)]
    flags: CpuFlags,

    /// Predict the time with GPUs, too, which are measured for that: `auto` or `cuda` (every one), or their numbers, such as
    /// `0,2`
    #[arg(long, value_name = "WHICH", value_parser = gpus(), allow_hyphen_values = true)]
    gpu: Option<Gpus>,

    /// Count as many tasks of a board as this time allows, such as 30s or 5m, at most 1024; otherwise 64, in 10s at most
    #[arg(long = "for", value_name = "TIME", value_parser = duration(), allow_hyphen_values = true)]
    budget: Option<Duration>,

    /// Seed of the sample; random unless given
    #[arg(long, value_name = "SEED", value_parser = whole(0..=u64::MAX), allow_hyphen_values = true)]
    seed: Option<u64>,

    /// Print one object of JSON for each board
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Whether the user wants a sample to be counted, however short the run is.
    fn asks_for_sample(&self) -> bool {
        self.budget.is_some() || self.seed.is_some() || self.gpu.is_some() || self.json
    }
}

/// Counts a sample of the tasks of each board, and prints what all would take.
pub fn run(args: &Args) -> Result<(), Failure> {
    let settings = args.flags.settings()?;
    let config = settings.config();
    let boards = args.boards.all()?;
    // A trace is of a run.
    start_log(config, None)?;
    let stop = signals::stop_flag()?;
    // Before anything is counted: there may be no device.
    let gpus = args.gpu.as_ref();
    let gpus = gpus.filter(|gpus| gpus.choice != DeviceChoice::Off);
    let hardware = gpus.map(|gpus| {
        Hardware::find(&HardwareSettings {
            devices: gpus.choice,
            device_indices: gpus.numbers.clone(),
            ..config.hardware()
        })
    });
    let hardware = hardware.transpose()?;
    for (index, board) in boards.into_iter().enumerate() {
        if index > 0 && !args.json {
            print("")?;
        }
        estimate(board, args, (config, hardware.as_ref()), &stop)?;
    }
    Ok(())
}

/// Estimates what one board would take.
fn estimate(
    board: GivenBoard,
    args: &Args,
    (config, hardware): (&Config, Option<&Hardware>),
    stop: &AtomicBool,
) -> Result<(), Failure> {
    let n = board.size();
    let mut question = Question::new(board, config)?;
    if !args.json {
        print(&first_line(&question))?;
        if let Some(given) = given_line(&board) {
            print(&format!("            {given}"))?;
        }
        let core_seconds = question.core_seconds();
        if core_seconds > 0.0 && core_seconds < SHORTEST && !args.asks_for_sample() {
            return print(&run_it(&question));
        }
    }
    let seed = args.seed.unwrap_or_else(|| fastrand::u64(..));
    let tasks = args.budget.map_or(TASKS, |_| MOST_TASKS);
    let sampled = question.sampled();
    let draw = Draw::new(sampled.as_ref(), tasks, seed);
    question.threads = question.threads.min(draw.tasks().len().max(1));
    let (begun, cpu) = (Instant::now(), ProcessTime::now());
    let threads = NonZeroUsize::new(question.threads).unwrap_or(NonZeroUsize::MIN);
    let progress = SampleProgress::new(threads);
    let shown = ShownSample {
        question: &question,
        draw: &draw,
        progress: &progress,
        stop,
        budget: args.budget.unwrap_or(BUDGET),
        quiet: config.output.quiet,
    };
    let (counted, cut) = thread::scope(|scope| {
        let (done, ended) = mpsc::channel::<()>();
        let watch = start_scoped(scope, move || shown.watch(&ended))?;
        let counted = count_sample(sampled.as_ref(), &draw, &question.settings, &progress);
        drop(done);
        // It only shows: its panic is no reason to fail.
        Ok((counted, watch.join().unwrap_or_default()))
    })
    .map_err(|error: io::Error| Failure::new(Exit::Error, error))?;
    let sample = counted.map_err(|mismatch| Mismatch(format!("n = {n}: {mismatch}")))?;
    let total = draw.estimate(&sample.seconds, sample.speed);
    let took = begun.elapsed();
    let known = total.unwrap_or_else(|| question.by_plan());
    let alone = known.wall_seconds(question.workers).expected;
    // The log says which devices there are.
    let with_devices = hardware
        .filter(|of| cut != Some(CutShort::Signal) && !of.devices().is_empty())
        .map(|of| of.expected(&question.plan, alone));
    let with_devices = with_devices.transpose()?.flatten();
    let (counted, all) = (sample.counted(), draw.tasks().len());
    let answer = Answer {
        question: &question,
        seed,
        draw: &draw,
        sample: &sample,
        total,
        took,
        cpu: cpu.elapsed(),
        // Of a sample that was counted once, a signal or the time took only further passes.
        cut: cut.filter(|_| counted < all),
        with_devices,
    };
    if args.json {
        print_json(&answer.record())?;
    } else {
        answer.lines().iter().try_for_each(|line| print(line))?;
    }
    if stop.load(Ordering::Relaxed) {
        let all = several(all as u64, "task");
        let what =
            format!("stopped by a signal: {counted} of {all} of the sample of n = {n} counted");
        return Err(Failure::new(Exit::Stopped, what));
    }
    Ok(())
}
