//! What an estimate says, in words and as JSON.

use std::time::Duration;

use serde_json::{Value, json};

use super::question::Question;
use super::shown_sample::CutShort;
use crate::config::{bytes_text, duration_text};
use crate::session::recount::in_words;
use queenfold::board::GivenSquares;
use queenfold::estimate::{Draw, Interval, Sample, Total};
use queenfold::job::WithDevices;
use queenfold::words::{TimeUnit, board_flags, duration, several};

/// Tasks that show how much they vary.
const ENOUGH: usize = 10;

/// The longest time that `--for` takes, in seconds.
const LONGEST: f64 = 3650.0 * 86_400.0;

/// What a sample showed.
pub struct Answer<'a> {
    pub question: &'a Question,
    pub seed: u64,
    pub draw: &'a Draw,
    pub sample: &'a Sample,
    /// `None` if no task was counted.
    pub total: Option<Total>,
    pub took: Duration,
    /// The CPU time that this process had meanwhile.
    pub cpu: Duration,
    pub cut: Option<CutShort>,
    pub with_devices: Option<WithDevices>,
}

/// The first line: the board, and what the costs of its plan say at once.
pub fn first_line(question: &Question) -> String {
    let seconds = question.core_seconds();
    format!(
        "board       n = {}, {} engine, {}: about {} by the costs of its plan, within a factor of 3",
        question.plan.size(),
        question.plan.engine(),
        question.settings.isa,
        TimeUnit::of_cores(seconds).of(seconds),
    )
}

/// The answer for a board that takes less than a sample of it would.
pub fn run_it(question: &Question) -> String {
    format!(
        "wall time   {} with {}: run it, `queenfold run {}`",
        in_words(question.wall_seconds()),
        several(question.workers as u64, "worker"),
        board_flags(&question.plan.given())
    )
}

impl Answer<'_> {
    /// The share of the work that, with 95 % confidence, needs no more memory than was seen. With
    /// confidence 1 − (1 − s)^k, less than a share s of all tasks exceeds the largest of k random
    /// tasks.
    fn covered(&self) -> f64 {
        0.05_f64.powf(self.question.threads as f64 / self.sample.counted().max(1) as f64)
    }

    /// What a task of the sample takes on a thread, in seconds on the clock, where none was counted: by the costs of the
    /// plan, and by the part of a core that other programs left to a thread.
    fn task_seconds(&self) -> Option<f64> {
        let tasks = self.draw.tasks().len();
        let threads = self.question.threads as f64;
        let all = self.question.sample_seconds(self.draw) * threads;
        let part = self.cpu.as_secs_f64() / (self.took.as_secs_f64() * threads);
        (self.total.is_none() && tasks > 0).then(|| all / tasks as f64 / part.clamp(0.01, 1.0))
    }

    /// Tasks of the sample that are enough for an answer of some use, and the time in which they would be counted, where
    /// none was.
    fn enough(&self) -> Option<(usize, Duration)> {
        let tasks = ENOUGH.min(self.draw.tasks().len());
        let rounds = tasks.div_ceil(self.question.threads);
        let seconds = self.task_seconds()? * rounds as f64;
        let step = match seconds {
            ..100.0 => 10.0,
            ..6000.0 => 60.0,
            _ => 3600.0,
        };
        let time = (seconds / step).ceil() * step;
        Some((tasks, Duration::from_secs_f64(time.min(LONGEST))))
    }

    pub fn record(&self) -> Value {
        let Question {
            plan,
            settings,
            workers,
            threads,
            ..
        } = self.question;
        let counted = self.sample.counted();
        let total = self.total.as_ref();
        let core = total.map(|total| total.core_seconds);
        json!({
            "n": plan.size(),
            "given": GivenSquares::of(&plan.given()),
            "engine": plan.engine().name(),
            "isa": settings.isa.name(),
            "plan": plan.name(),
            "workers": workers,
            "tasks": plan.tasks(),
            "drawn": self.draw.tasks().len(),
            "sampled": counted,
            "cut_short": self.cut,
            "passes": self.sample.passes,
            "seed": self.seed.to_string(),
            "threads": threads,
            "share": total.map(|total| total.share),
            "by_plan": {
                "core_seconds": self.question.core_seconds(),
                "wall_seconds": self.question.wall_seconds(),
            },
            "core_seconds": core,
            "core_hours": core.map(|core| core.scaled(1.0 / 3600.0)),
            "wall_seconds": total.map(|total| total.wall_seconds(*workers)),
            "with_devices": self.with_devices.as_ref().map(|with| json!({
                "wall_seconds": with.seconds,
                "devices": with.devices,
            })),
            "memory_per_worker": self.sample.memory.filter(|_| counted > 0).map(|bytes| json!({
                "largest_seen": bytes.to_string(),
                "covers": self.covered(),
            })),
            "enough": self.enough().map(|(tasks, time)| json!({
                "tasks": tasks,
                "for_seconds": time.as_secs_f64(),
            })),
            "version": env!("CARGO_PKG_VERSION"),
        })
    }

    /// The lines that follow the first one.
    pub fn lines(&self) -> Vec<String> {
        let question = self.question;
        let (drawn, counted) = (self.draw.tasks().len(), self.sample.counted());
        if drawn == 0 {
            let none = "sample      nothing to count: no task of this board has any work";
            return vec![none.to_owned()];
        }
        let took = duration(self.took);
        let by_plan = question.by_plan();
        let (total, intervals) = match &self.total {
            Some(total) => (total, "95 %"),
            None => (&by_plan, "by the plan"),
        };
        let ended = match self.cut {
            Some(CutShort::Time) => format!(" of the {drawn} drawn, as far as --for allows"),
            Some(CutShort::Signal) => format!(" of the {drawn} drawn"),
            None => String::new(),
        };
        let mut lines = vec![match self.task_seconds().zip(self.enough()) {
            Some((task, (enough, time))) => format!(
                "sample      none of {} was counted in {took}: one takes about {}; --for {} counts {enough}",
                several(drawn as u64, "task"),
                TimeUnit::of_wall(task).of(task),
                duration_text(time).replace(' ', ""),
            ),
            None => format!(
                "sample      {counted} of {}{ended}, {:.2} % of the work, counted in {took} on {}, seed {}",
                several(question.plan.tasks(), "task"),
                100.0 * total.share,
                several(question.threads as u64, "thread"),
                self.seed
            ),
        }];
        let interval = |of: Interval, unit: fn(f64) -> TimeUnit| {
            let unit = unit(of.expected);
            let (expected, low, high) = (
                unit.of(of.expected),
                unit.number(of.low),
                unit.number(of.high),
            );
            format!("{expected}, {intervals}: {low} to {high}")
        };
        let core = interval(total.core_seconds, TimeUnit::of_cores);
        let wall = interval(total.wall_seconds(question.workers), TimeUnit::of_wall);
        let workers = several(question.workers as u64, "worker");
        lines.push(format!("CPU time    {core}"));
        lines.push(format!("wall time   {wall}, with {workers}"));
        if let Some(WithDevices { seconds, devices }) = self.with_devices {
            let (time, devices) = (
                TimeUnit::of_wall(seconds).of(seconds),
                several(devices, "device"),
            );
            lines.push(format!("            {time} with {devices} as well"));
        }
        if self.total.is_none() {
            return lines;
        }
        lines.push(match self.sample.memory {
            Some(bytes) => format!(
                "memory      {} for each worker at most in {:.0} % of the work, as far as the sample shows",
                bytes_text(bytes),
                100.0 * self.covered(),
            ),
            None => "memory      unknown: this system does not tell".to_owned(),
        });
        lines
    }
}
