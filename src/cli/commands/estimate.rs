use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};

use crate::board::{GivenBoard, GivenSquares};
use crate::cli::boards::{boards, given_line};
use crate::cli::calibration::Calibration;
use crate::cli::exit::Failure;
use crate::cli::flags::CpuFlags;
use crate::cli::output::{print, say};
use crate::cli::stop_report::StopReport;
use crate::cli::whole::whole;
use crate::config::{Bytes, Config, Value as _};
use crate::engine::{CounterSettings, Mismatch, Plan};
use crate::estimate::{Draw, Interval, Sample, SampleProgress, Total, count_sample};
use crate::job::{DeviceChoice, Hardware, HardwareSettings, WithDevices};
use crate::job::{fastest_on_cpu, plan};
use crate::machine::Machine;
use crate::telemetry::duration;
use crate::telemetry::several;

const HELP: &str = "\
Examples:
  queenfold estimate -n 22
  queenfold estimate -n 26 --workers 64 --sample 200
  queenfold estimate -n 28 --json --seed 1
  queenfold estimate -n 24 --queens c3,h11

The command draws tasks at random, those with a higher expected cost more often, and counts them. \
It uses as many threads as there are workers, but no more than this machine has cores. The \
intervals contain the true value in 95 of 100 cases, on cores like those of this machine under the \
same load. They include the error of sampling and the variation of CPU time from run to run. That \
variation is taken as 8 %, or measured if a sample takes less than two seconds and is counted \
several times.

64 tasks take about a minute of one core with AVX2 at n = 22, ten minutes at 24, hours from 26 on, \
and half a day at 28. More workers or fewer tasks take less time. When 16 tasks are counted, or \
after a minute, a line on stderr announces the time by what was counted until then.

Memory is not an interval but the largest amount seen: what a counter held after it had counted \
its part of the sample (the mean of the threads). With 95 % confidence, the share of the work that \
is printed beside it needs no more.

The estimate does not include the symmetric solutions (a minute of one core at n = 28), the audit \
of one task in a thousand, and, without --gpu, devices. With it, a device is measured on a small board by \
a launch of 20 ms; how its speed grows with the board is not known, so that this time has no interval.";

/// Flags of `estimate`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    #[command(flatten)]
    flags: CpuFlags,

    /// Predict the time with devices, too, which are measured for that: `auto` (every GPU), `cuda`, or `emulated`
    #[arg(long, value_name = "KIND", value_parser = DeviceChoice::parse)]
    gpu: Option<DeviceChoice>,

    /// Size of the sample, in tasks; four times as many halve the interval
    #[arg(long, value_name = "S", default_value_t = 64, value_parser = whole(8..=1_000_000_u32), allow_hyphen_values = true)]
    sample: u32,

    /// Seed of the sample; random unless given
    #[arg(long, value_name = "SEED", value_parser = whole(0..=u64::MAX), allow_hyphen_values = true)]
    seed: Option<u64>,
}

/// What is estimated, and from what.
struct Question<'a> {
    plan: &'a dyn Plan,
    settings: &'a CounterSettings,
    workers: usize,
    threads: usize,
    seed: u64,
    tasks: usize,
}

/// Counts a sample of the tasks of each board, and prints what all would take.
pub fn run(args: &Args) -> Result<(), Failure> {
    let settings = args.flags.settings()?;
    let config = settings.config();
    let boards = boards(&settings)?;
    let report = StopReport::listen("nothing is estimated")?;
    for (index, board) in boards.into_iter().enumerate() {
        if index > 0 && !config.output.json {
            print("")?;
        }
        estimate(board, args, config, &report)?;
    }
    Ok(())
}

/// Estimates what one board would take.
fn estimate(
    board: GivenBoard,
    args: &Args,
    config: &Config,
    report: &StopReport,
) -> Result<(), Failure> {
    let n = board.size();
    let machine = Machine::detect();
    let counter = config.hardware().counter()?;
    let workers = NonZeroUsize::new(config.run.workers(&machine))
        .ok_or_else(|| Failure::usage("0 workers count nothing: give --workers from 1 to 1024"))?;
    let threads = workers.min(NonZeroUsize::new(machine.cores).unwrap_or(NonZeroUsize::MIN));
    let engine = config
        .run
        .engine
        .0
        .unwrap_or_else(|| fastest_on_cpu(board, counter.isa, &Calibration::find().costs));
    let plan = plan(engine, board);
    let seed = args.seed.unwrap_or_else(|| fastrand::u64(..));
    let draw = Draw::new(plan.as_ref(), args.sample as usize, seed);
    let question = Question {
        plan: plan.as_ref(),
        settings: &counter,
        workers: workers.get(),
        threads: threads.get().min(draw.tasks().len().max(1)),
        seed,
        tasks: draw.tasks().len(),
    };
    let begun = Instant::now();
    let progress = SampleProgress::new(threads);
    let shown = ShownSample {
        question: &question,
        draw: &draw,
        progress: &progress,
        report,
        quiet: config.output.quiet,
    };
    let counted = thread::scope(|scope| {
        let (done, ended) = mpsc::channel::<()>();
        scope.spawn(move || shown.show(&ended));
        let counted = count_sample(plan.as_ref(), &draw, &counter, &progress);
        drop(done);
        counted
    });
    let sample = counted.map_err(|mismatch| Mismatch(format!("n = {n}: {mismatch}")))?;
    let total = draw.estimate(&sample.seconds, sample.speed);
    let took = begun.elapsed();
    let alone = total.wall_seconds(workers.get()).expected;
    let with_devices = with_devices(&plan, alone, args, config)?;
    if config.output.json {
        let record = question.record(&total, &sample, with_devices);
        return print(&record.to_string());
    }
    question.tell(&total, &sample, took)?;
    match with_devices {
        Some(WithDevices { seconds, devices }) => print(&format!(
            "            {} with {} as well",
            duration(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)),
            several(devices, "device"),
        )),
        None => Ok(()),
    }
}

/// What is expected with the devices that were asked for, where the workers alone take `alone` seconds.
fn with_devices(
    plan: &Arc<dyn Plan>,
    alone: f64,
    args: &Args,
    config: &Config,
) -> Result<Option<WithDevices>, Failure> {
    let Some(devices) = args.gpu.filter(|choice| *choice != DeviceChoice::Off) else {
        return Ok(None);
    };
    let hardware = Hardware::find(&HardwareSettings {
        devices,
        ..config.hardware()
    })?;
    Ok(hardware.expected(plan, alone)?)
}

/// How often it is looked how much of the sample is counted.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// A sample that takes less is not announced.
const WORTH_SAYING: Duration = Duration::from_secs(10);

/// A sample that takes longer is announced at once, roughly.
const LONG: Duration = Duration::from_secs(60);

/// When it is known how long the sample will take: after this time, if so many tasks and some of each
/// thread are counted by then; otherwise after the longer time. Tasks of the chain with equal costs
/// differ by a factor of 2, so 8 tasks of 64 were too few (Zen 3, n = 22: 16 to 40 s announced, 24 s
/// taken).
const SOON: Duration = Duration::from_secs(2);
const ENOUGH_TASKS: usize = 16;
const LATER: Duration = Duration::from_secs(60);

/// The sample while it is counted, as it is shown.
struct ShownSample<'a> {
    question: &'a Question<'a>,
    draw: &'a Draw,
    progress: &'a SampleProgress,
    report: &'a StopReport,
    quiet: bool,
}

impl ShownSample<'_> {
    /// Shows on a terminal how much of the sample is counted, until `ended` is closed. Prints a line as
    /// soon as it is known how long the sample takes.
    fn show(&self, ended: &Receiver<()>) {
        let n = self.question.plan.size();
        let all = several(self.question.tasks as u64, "task");
        let note = |tasks| {
            self.report.note(format!(
                "{tasks} of {all} of the sample of n = {n} counted, too few for an estimate"
            ));
        };
        note(0);
        if !self.quiet {
            self.tell_roughly();
        }
        let bar = (!self.quiet).then(|| self.bar());
        let begun = Instant::now();
        let mut announced = self.quiet;
        loop {
            let (tasks, share) = (self.progress.tasks(), self.progress.share(self.draw));
            note(tasks);
            if let Some(bar) = &bar {
                bar.set_position((share * STEPS) as u64);
                let elapsed = begun.elapsed();
                let time = expected(elapsed, share, tasks, self.question.threads);
                bar.set_message(times(time, elapsed));
                if let Some(time) = time.filter(|_| !announced) {
                    announced = true;
                    if time >= WORTH_SAYING {
                        let threads = several(self.question.threads as u64, "thread");
                        let time = duration(time);
                        bar.suspend(|| {
                            say(&format!("n = {n}: {all} on {threads} take about {time}"));
                        });
                    }
                }
            }
            if ended.recv_timeout(LOOK_EVERY) != Err(RecvTimeoutError::Timeout) {
                break;
            }
        }
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
    }

    /// Prints what a long sample takes by the costs of the plan alone.
    fn tell_roughly(&self) {
        let Question { plan, settings, .. } = self.question;
        let (n, engine) = (plan.size(), plan.engine());
        let costs = Calibration::find().costs;
        let per_cost = costs.seconds_per_cost(engine, n, settings.isa);
        let cost: f64 = self.draw.tasks().iter().map(|drawn| drawn.cost).sum();
        let seconds = cost * per_cost.unwrap_or(1.0) / self.question.threads as f64;
        let time = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        if time >= LONG {
            say(&format!(
                "n = {n}: {} on {}, some {} (within a factor of 3; more exactly in {} seconds)",
                several(self.question.tasks as u64, "task"),
                several(self.question.threads as u64, "thread"),
                duration(time),
                LATER.as_secs()
            ));
        }
    }

    fn bar(&self) -> ProgressBar {
        let template = format!(
            "n = {}: {{percent}} % of the sample · {{msg}}",
            self.question.plan.size()
        );
        let target = ProgressDrawTarget::stderr();
        ProgressBar::with_draw_target(Some(STEPS as u64), target).with_style(
            ProgressStyle::with_template(&template)
                .unwrap_or_else(|_| ProgressStyle::default_bar()),
        )
    }
}

/// Steps of the progress bar.
const STEPS: f64 = 1000.0;

/// The end of the bar's line: the time `elapsed`, and how much of the time `all` is left, if that is
/// known.
fn times(all: Option<Duration>, elapsed: Duration) -> String {
    let left = all.map_or_else(String::new, |all| {
        format!(" · ETA {}", duration(all.saturating_sub(elapsed)))
    });
    duration(elapsed) + &left
}

/// How long the sample takes in all, if this share of it took `elapsed`. `None` while that says too
/// little. Tasks in hand are on average half counted.
fn expected(elapsed: Duration, share: f64, tasks: usize, threads: usize) -> Option<Duration> {
    let soon = elapsed >= SOON && tasks >= ENOUGH_TASKS.max(4 * threads);
    let known = share > 0.0 && (soon || elapsed >= LATER);
    known.then(|| {
        let in_hand = threads as f64 / 2.0;
        let counted = (share * (1.0 + in_hand / tasks.max(1) as f64)).min(1.0);
        Duration::try_from_secs_f64(elapsed.as_secs_f64() / counted).unwrap_or(Duration::MAX)
    })
}

impl Question<'_> {
    /// The share of the work that, with 95 % confidence, needs no more memory than was seen. With
    /// confidence 1 − (1 − s)^k, less than a share s of all tasks exceeds the largest of k random
    /// tasks.
    fn covered(&self) -> f64 {
        0.05_f64.powf(self.threads as f64 / self.tasks.max(1) as f64)
    }

    fn record(&self, total: &Total, sample: &Sample, with: Option<WithDevices>) -> Value {
        let interval =
            |of: Interval| json!({"low": of.low, "expected": of.expected, "high": of.high});
        let core = total.core_seconds;
        let mut record = json!({
            "n": self.plan.size().get(),
            "engine": self.plan.engine().name(),
            "isa": self.settings.isa.name(),
            "plan": self.plan.name(),
            "workers": self.workers,
            "tasks": self.plan.tasks().to_string(),
            "sampled": self.tasks,
            "passes": sample.passes,
            "seed": self.seed.to_string(),
            "threads": self.threads,
            "share": total.share,
            "core_seconds": interval(core),
            "core_hours": interval(core.scaled(1.0 / 3600.0)),
            "wall_seconds": interval(total.wall_seconds(self.workers)),
            "with_devices": with.map(|with| json!({
                "wall_seconds": with.seconds,
                "devices": with.devices,
            })),
            "memory_per_worker": sample.memory.filter(|_| self.tasks > 0).map(|bytes| json!({
                "largest_seen": bytes.to_string(),
                "covers": self.covered(),
            })),
            "version": env!("CARGO_PKG_VERSION"),
        });
        if let Some(given) = GivenSquares::of(&self.plan.given()) {
            record["given"] = json!(given);
        }
        record
    }

    fn tell(&self, total: &Total, sample: &Sample, took: Duration) -> Result<(), Failure> {
        let core = total.core_seconds;
        let wall = total.wall_seconds(self.workers);
        let time =
            |seconds: f64| duration(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
        let hours = core.scaled(1.0 / 3600.0);
        print(&format!(
            "board       n = {}, {} engine, {}",
            self.plan.size(),
            self.plan.engine(),
            self.settings.isa
        ))?;
        if let Some(given) = given_line(&self.plan.given()) {
            print(&format!("            {given}"))?;
        }
        if self.tasks == 0 {
            return print("sample      nothing to count: no task of this board has any work");
        }
        print(&format!(
            "sample      {} of {}, {:.2} % of the work, counted in {} on {}, seed {}",
            self.tasks,
            several(self.plan.tasks(), "task"),
            100.0 * total.share,
            duration(took),
            several(self.threads as u64, "thread"),
            self.seed
        ))?;
        print(&format!(
            "core-hours  {}, 95 %: {} to {}",
            digits(hours.expected),
            digits(hours.low),
            digits(hours.high)
        ))?;
        print(&format!(
            "wall time   {}, 95 %: {} to {}, with {}",
            time(wall.expected),
            time(wall.low),
            time(wall.high),
            several(self.workers as u64, "worker")
        ))?;
        print(&match sample.memory {
            Some(bytes) => format!(
                "memory      {} for each worker, the largest seen; {:.0} % of the work needs no more",
                Bytes(bytes).rounded(),
                100.0 * self.covered(),
            ),
            None => "memory      unknown: this system does not tell".to_owned(),
        })
    }
}

/// At least three significant digits, and all digits before the point.
fn digits(value: f64) -> String {
    if value <= 0.0 {
        return "0".to_owned();
    }
    let before = value.log10().floor() as i32;
    format!("{value:.*}", (2 - before).max(0) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_shown_once_it_is_known() {
        let elapsed = Duration::from_secs(60);
        assert_eq!(times(None, elapsed), "1:00");
        let all = expected(elapsed, 0.2, 4, 2);
        assert_eq!(times(all, elapsed), "1:00 · ETA 3:00");
    }

    #[test]
    fn a_sample_is_announced_as_soon_as_enough_is_counted() {
        let at = |seconds, share, tasks| {
            expected(Duration::from_secs(seconds), share, tasks, 2).map(|time| time.as_secs())
        };
        assert_eq!(at(1, 0.1, 20), None);
        assert_eq!(at(2, 0.125, 15), None);
        assert_eq!(at(17, 0.25, 16), Some(64));
        assert_eq!(at(60, 0.5, 1), Some(60));
        assert_eq!(at(60, 0.0, 0), None);
    }
}
