use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};

use crate::board::Size;
use crate::cli::exit::Failure;
use crate::cli::flags::CpuFlags;
use crate::cli::output::{print, say};
use crate::cli::stop_report::StopReport;
use crate::config::{Bytes, Config};
use crate::engine::{CounterSettings, Mismatch, Plan};
use crate::estimate::{Draw, Interval, Sample, Total, count_sample};
use crate::job::{fastest_on_cpu, plan};
use crate::machine::Machine;
use crate::telemetry::duration;
use crate::telemetry::several;

const HELP: &str = "\
Examples:
  queenfold estimate -n 22
  queenfold estimate -n 26 --workers 64 --sample 200
  queenfold estimate -n 28 --json --seed 1

The command draws tasks at random, those with a higher expected cost more often, and counts them. \
It uses as many threads as there are workers, but no more than this machine has cores. The \
intervals contain the true value in 95 of 100 cases, on cores like those of this machine under the \
same load. They include the error of sampling and the variation of CPU time from run to run. That \
variation is taken as 8 %, or measured if a sample takes less than two seconds and is counted \
several times.

64 tasks take about half a minute of one core with AVX2 at n = 22, ten minutes at 24, hours from \
26 on, and half a day at 28. More workers or fewer tasks take less time. A line on stderr \
announces the expected time.

Memory is not an interval but the largest amount seen: what a counter held after it had counted \
its part of the sample (the mean of the threads). With 95 % confidence, the share of the work that \
is printed beside it needs no more. No counter plans to use more than --memory-per-worker.

The estimate does not include the symmetric solutions (a minute of one core at n = 28), the audit \
of one task in a thousand, and devices.";

/// Flags of `estimate`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    #[command(flatten)]
    flags: CpuFlags,

    /// Size of the sample, in tasks; four times as many halve the interval
    #[arg(long, value_name = "S", default_value_t = 64, value_parser = clap::value_parser!(u32).range(8..=1_000_000), allow_hyphen_values = true)]
    sample: u32,

    /// Seed of the sample; random unless given
    #[arg(long, value_name = "SEED")]
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
    let sizes = config.run.n.0.ok_or_else(|| {
        Failure::usage("no board: give -n N or -n A..=B, or set run.n in a configuration file")
    })?;
    let report = StopReport::listen("nothing is estimated")?;
    for (index, n) in sizes.iter().enumerate() {
        if index > 0 && !config.output.json {
            print("")?;
        }
        estimate(n, args, config, &report)?;
    }
    Ok(())
}

/// Estimates what one board would take.
fn estimate(n: Size, args: &Args, config: &Config, report: &StopReport) -> Result<(), Failure> {
    let machine = Machine::detect();
    let counter = config.hardware().counter(&machine)?;
    let workers = NonZeroUsize::new(config.run.workers(&machine))
        .ok_or_else(|| Failure::usage("0 workers count nothing: give --workers from 1 to 1024"))?;
    let threads = workers.min(NonZeroUsize::new(machine.cores).unwrap_or(NonZeroUsize::MIN));
    let engine = config
        .run
        .engine
        .0
        .unwrap_or_else(|| fastest_on_cpu(n, counter.isa));
    let plan = plan(engine, n);
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
    let sample = {
        let note = |counted: usize| {
            report.note(format!(
                "{counted} of {} of the sample of n = {n} counted, too few for an estimate",
                several(question.tasks as u64, "task"),
            ));
        };
        note(0);
        let bar = (!config.output.quiet).then(|| progress(&question, &draw));
        let counted = AtomicUsize::new(0);
        let tell = |cost: f64| {
            note(counted.fetch_add(1, Ordering::Relaxed) + 1);
            if let Some(bar) = &bar {
                bar.inc(nanos(cost));
            }
        };
        let counted = count_sample(plan.as_ref(), &draw, &counter, threads, &|drawn| {
            tell(drawn.cost);
        });
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
        counted.map_err(|mismatch| Mismatch(format!("n = {n}: {mismatch}")))?
    };
    let total = draw.estimate(&sample.seconds, sample.speed);
    if config.output.json {
        return print(&question.record(&total, &sample).to_string());
    }
    question.tell(&total, &sample, begun.elapsed())
}

/// Prints what the sample is expected to take, and shows on a terminal how much of it is done.
fn progress(question: &Question<'_>, draw: &Draw) -> ProgressBar {
    let cost: f64 = draw.tasks().iter().map(|drawn| drawn.cost).sum();
    let wall = Duration::try_from_secs_f64(cost / question.threads as f64);
    let wall = wall.unwrap_or(Duration::MAX);
    if wall > Duration::from_secs(10) {
        say(&format!(
            "n = {}: {} to count on {}, some {} (within a factor of 3)",
            question.plan.size(),
            several(question.tasks as u64, "task"),
            several(question.threads as u64, "thread"),
            duration(wall)
        ));
    }
    let template = format!(
        "n = {}: {{percent}} % of the sample · {{elapsed}} · ETA {{eta}}",
        question.plan.size()
    );
    let bar = ProgressBar::with_draw_target(Some(nanos(cost)), ProgressDrawTarget::stderr());
    bar.with_style(
        ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar()),
    )
}

/// A cost as a whole number: nominal nanoseconds of a core.
fn nanos(cost: f64) -> u64 {
    (cost * 1e9) as u64
}

impl Question<'_> {
    /// The share of the work that, with 95 % confidence, needs no more memory than was seen. With
    /// confidence 1 − (1 − s)^k, less than a share s of all tasks exceeds the largest of k random
    /// tasks.
    fn covered(&self) -> f64 {
        0.05_f64.powf(self.threads as f64 / self.tasks.max(1) as f64)
    }

    fn record(&self, total: &Total, sample: &Sample) -> Value {
        let interval =
            |of: Interval| json!({"low": of.low, "expected": of.expected, "high": of.high});
        let core = total.core_seconds;
        json!({
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
            "memory_per_worker": sample.memory.map(|bytes| json!({
                "largest_seen": bytes.to_string(),
                "covers": self.covered(),
                "limit": self.settings.memory.to_string(),
            })),
            "version": env!("CARGO_PKG_VERSION"),
        })
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
                "memory      {} for each worker, the largest seen; {:.0} % of the work needs no more, \
                 the limit is {}",
                Bytes(bytes).rounded(),
                100.0 * self.covered(),
                Bytes(self.settings.memory).rounded()
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
