//! What `bench` has measured, as JSON and as text.

use std::fmt::{self, Write};

use jiff::Timestamp;
use serde::Serialize;

use super::draft::Measured;
use crate::bench::CpuRun;
use queenfold::board::Size;
use queenfold::engine::{Engine, core_seconds};
use queenfold::machine::{Load, LoadWatch, Processor};
use queenfold::simd::Isa;
use queenfold::words::several;
use queenfold_ledger::ledger::unix_time;

/// The engine and the board of the score, which all workers count.
pub const SCORED: (Engine, u32) = (Engine::Colour, 19);

/// From which share of the processors on others make a measurement doubtful.
const BUSY: f64 = 0.05;

/// From which share on it matters what the host takes away.
const STOLEN: f64 = 0.02;

/// A time of a run.
type Time = fn(&CpuRun) -> f64;
pub const WALL: Time = |run| run.seconds;
const CPU: Time = |run| run.cpu_seconds;

/// A board that is counted several times.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    pub isa: Isa,
    pub engine: Engine,
    pub n: u32,
    pub workers: usize,
    pub runs: Vec<CpuRun>,
}

impl Series {
    pub const fn new(isa: Isa, engine: Engine, n: u32, workers: usize) -> Self {
        Self {
            isa,
            engine,
            n,
            workers,
            runs: Vec::new(),
        }
    }

    /// Whether the same is counted by the same.
    pub fn is_same(&self, other: &Self) -> bool {
        let key = |of: &Self| (of.isa, of.engine, of.n, of.workers);
        key(self) == key(other)
    }

    /// The least of these times of the runs.
    pub fn least(&self, time: Time) -> Option<f64> {
        self.runs.iter().map(time).min_by(f64::total_cmp)
    }

    /// How much longer the longest run took than the shortest, as a share of that; `None` for less than two.
    fn spread(&self, time: Time) -> Option<f64> {
        let worst = self.runs.iter().map(time).fold(0.0, f64::max);
        let spread = worst / self.least(time)? - 1.0;
        (self.runs.len() > 1).then_some(spread)
    }
}

impl fmt::Display for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.workers == 1 { "" } else { "s" };
        write!(
            f,
            "{}, {}, n = {}, {} worker{plural}",
            self.isa, self.engine, self.n, self.workers
        )
    }
}

/// Everything that was measured, in the form of the JSON.
#[derive(Debug, Default, Serialize)]
pub struct CpuReport {
    pub processor: Processor,
    pub workers: usize,
    pub series: Vec<Series>,
    #[serde(skip)]
    pub watch: Option<LoadWatch>,
    /// What else the processors did meanwhile.
    pub load: Option<Load>,
    /// Boards of 19 queens that all workers count in an hour, by the widest kernel.
    pub score: Option<f64>,
    /// The same of one worker.
    pub score_of_one: Option<f64>,
    /// The board from whose time the score is.
    pub score_n: Option<u32>,
    /// Whether others had so much of the processors that the scores are from CPU time.
    pub by_cpu_time: bool,
    /// The row for the table of docs/RECORDS.md.
    pub record: Option<String>,
    pub version: String,
    /// Why it ended early; `None` if everything was measured.
    pub error: Option<String>,
}

impl CpuReport {
    /// The time that is compared.
    fn time(&self) -> Time {
        match self.by_cpu_time {
            true => CPU,
            false => WALL,
        }
    }

    /// The runs of a board by the widest kernel, which is the first.
    fn of(&self, (engine, n): (Engine, u32), workers: usize) -> Option<&Series> {
        let wanted = Series::new(self.series.first()?.isa, engine, n, workers);
        self.series.iter().find(|of| of.is_same(&wanted))
    }

    /// The score by the largest board that so many workers counted, and that board.
    fn score(&self, workers: usize) -> Option<(f64, u32)> {
        let isa = self.series.first()?.isa;
        let cost = |n| Size::new(n).map(|n| core_seconds(SCORED.0, n, isa));
        // How much longer a board takes than one of 17 queens differs from kernel to kernel.
        [SCORED.1, 18].into_iter().find_map(|n| {
            let least = self.of((SCORED.0, n), workers)?.least(self.time())?;
            let threads = if self.by_cpu_time { workers } else { 1 };
            let larger = cost(SCORED.1).ok()? / cost(n).ok()?;
            Some((3600.0 * threads as f64 / (least * larger), n))
        })
    }

    fn row(&self) -> Option<String> {
        if self.by_cpu_time || self.score_n != Some(SCORED.1) {
            return None;
        }
        let seconds = |board, workers| {
            let best = self.of(board, workers).and_then(|of| of.least(WALL));
            best.map_or_else(|| "-".to_owned(), |best| format!("{best:.3}"))
        };
        Some(format!(
            "| {} | {} | {} | {:.0} | {} | {} | {} | {} | {} | {} |",
            self.processor.title(),
            self.workers,
            self.series.first()?.isa,
            self.score?,
            seconds(SCORED, self.workers),
            seconds((Engine::Colour, 18), 1),
            seconds((Engine::Chain, 17), 1),
            load_in_words(self.load.as_ref()),
            self.version,
            day(unix_time()),
        ))
    }
}

/// Whether others had so much of the processors that wall times say nothing of the machine.
fn is_shared(load: &Load) -> bool {
    let at_least = |share: Option<f64>, least| share.is_some_and(|share| share >= least);
    at_least(load.others, BUSY) || at_least(load.steal, STOLEN)
}

/// The day of a moment in UTC, if it has four digits for the year.
fn day(unix: i64) -> String {
    let day = Timestamp::from_second(unix).map(|at| at.strftime("%Y-%m-%d").to_string());
    day.unwrap_or_else(|_| "-".to_owned())
}

/// What others had of the processors.
fn load_in_words(load: Option<&Load>) -> String {
    let shares = load.and_then(|load| Some((load.others?, load.steal?)));
    shares.map_or_else(
        || "unknown".to_owned(),
        |(others, steal)| {
            let [others, steal] = [others, steal].map(|share| 100.0 * share);
            format!("others {others:.1} %, steal {steal:.1} %")
        },
    )
}

impl Measured for CpuReport {
    fn end(&mut self, error: Option<&str>) {
        self.error = error.map(str::to_owned);
        if let Some(watch) = &self.watch {
            self.load = Some(watch.load());
        }
        self.by_cpu_time = self.load.as_ref().is_some_and(is_shared);
        let one = self.score(1);
        self.score_of_one = one.map(|(score, _)| score);
        // Little time may be enough for one worker alone.
        let all = self.score(self.workers);
        let all = all.or(one.map(|(score, n)| (score * self.workers as f64, n)));
        (self.score, self.score_n) = all.unzip();
        self.record = self.row();
    }

    fn in_words(&self) -> String {
        let mut text = format!(
            "processor  {}\nlayout     {}\ncaches     {}\n\n\
             kernel    engine   n  workers    best s  spread     CPU s  runs\n",
            self.processor.title(),
            self.processor.layout(),
            self.processor.caches_in_words(),
        );
        for of in &self.series {
            let none = || "-".to_owned();
            let [best, cpu] = [WALL, CPU].map(|time| {
                let least = of.least(time);
                least.map_or_else(none, |seconds| format!("{seconds:.3}"))
            });
            let spread = of.spread(self.time());
            let spread = spread.map(|spread| format!("{:.0} %", 100.0 * spread));
            let spread = spread.unwrap_or_else(none);
            let _ = writeln!(
                text,
                "{:8}  {:6}  {:>2}  {:>7}  {best:>8}  {spread:>6}  {cpu:>8}  {:>4}",
                of.isa,
                of.engine.name(),
                of.n,
                of.workers,
                of.runs.len()
            );
        }
        text.push('\n');
        if self.series.iter().all(|of| of.runs.is_empty()) {
            text += "nothing was measured: no board was counted to its end\n";
        }
        let eighteen = (Engine::Colour, 18);
        let best = |workers| self.of(eighteen, workers)?.least(WALL);
        if let (Some(one), Some(all)) = (best(1), best(self.workers))
            && self.workers > 1
            && !self.by_cpu_time
        {
            let (times, workers) = (one / all, self.workers);
            let _ = writeln!(
                text,
                "speed-up   {times:.2} by {workers} workers, at n = 18"
            );
        }
        if let (Some(score), Some(n), Some(first)) = (self.score, self.score_n, self.series.first())
        {
            let (about, from) = match n == SCORED.1 {
                true => ("", String::new()),
                false => ("about ", format!(", from the time of n = {n}")),
            };
            let by = if self.by_cpu_time {
                ", by CPU time"
            } else {
                ""
            };
            let (isa, workers) = (first.isa, several(self.workers as u64, "worker"));
            let _ = writeln!(
                text,
                "score      {about}{score:.0} boards of 19 queens an hour{by}{from}, by {isa} on {workers}"
            );
        }
        if let Some(one) = self.score_of_one.filter(|_| self.workers > 1) {
            let _ = writeln!(
                text,
                "           about {one:.0} by one worker, from the time of n = 18"
            );
        }
        let _ = writeln!(text, "load       {}", load_in_words(self.load.as_ref()));
        if let Some(record) = &self.record {
            let _ = writeln!(text, "record     {record}");
        } else if self.by_cpu_time && self.score.is_some() {
            let _ = writeln!(
                text,
                "record     none beside other programs (others from {:.0} %, steal from {:.0} %). Score and spread are by CPU \
                 time: such a score is not comparable with the table",
                100.0 * BUSY,
                100.0 * STOLEN
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(seconds: f64) -> CpuRun {
        CpuRun {
            seconds,
            cpu_seconds: 2.0 * seconds,
        }
    }

    fn report() -> CpuReport {
        let mut all = Series::new(Isa::Avx2, SCORED.0, SCORED.1, 2);
        all.runs = vec![run(4.5), run(3.0), run(3.3)];
        let mut one = Series::new(Isa::Avx2, Engine::Colour, 18, 1);
        one.runs = vec![run(1.2)];
        let mut both = Series::new(Isa::Avx2, Engine::Colour, 18, 2);
        both.runs = vec![run(0.5), run(0.6)];
        let slow = Series::new(Isa::Portable, SCORED.0, SCORED.1, 2);
        let mut report = CpuReport {
            workers: 2,
            series: vec![all, one, both, slow],
            ..CpuReport::default()
        };
        report.load = Some(Load {
            others: Some(0.01),
            steal: Some(0.0),
            average: None,
        });
        report
    }

    #[test]
    fn the_score_is_of_the_best_run_of_the_widest_kernel() {
        let mut report = report();
        report.end(None);
        assert_eq!(report.score, Some(1200.0));
        let text = report.in_words();
        let row = "avx2      colour  19        2     3.000    50 %     6.000     3\n";
        for part in [
            row,
            "avx2      colour  18        1     1.200       -     2.400     1\n",
            "portable  colour  19        2         -       -         -     0\n",
            "speed-up   2.40 by 2 workers",
            "score      1200 boards of 19 queens an hour, by avx2 on 2 workers\n           about 484 by one worker, from the time of n = 18\n",
            "steal 0.0 %\n",
            "| 2 | avx2 | 1200 | 3.000 | 1.200 | - | others 1.0 %",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn beside_other_programs_the_score_is_by_cpu_time_and_there_is_no_record() {
        for (others, steal) in [(0.06, 0.0), (0.0, 0.03)] {
            let mut report = report();
            report.load = Some(Load {
                others: Some(others),
                steal: Some(steal),
                average: None,
            });
            // The run with the least CPU time, on two workers.
            report.series[0].runs[0].cpu_seconds = 4.0;
            report.end(None);
            assert_eq!((report.score, &report.record), (Some(1800.0), &None));
            let text = report.in_words();
            let score =
                "score      1800 boards of 19 queens an hour, by CPU time, by avx2 on 2 workers";
            assert!(text.contains(score), "{text}");
            // That of CPU time.
            assert!(text.contains("    65 %     4.000     3\n"), "{text}");
            assert!(
                text.contains(
                    "\nrecord     none beside other programs (others from 5 %, steal from 2 %)"
                ),
                "{text}"
            );
            assert!(!text.contains("speed-up"), "{text}");
        }
    }

    #[test]
    fn without_the_board_of_the_score_it_is_projected_and_there_is_no_record() {
        let mut report = report();
        report.series[0].runs.clear();
        report.end(Some("stopped"));
        let text = report.in_words();
        let of_half_a_second =
            "score      about 1161 boards of 19 queens an hour, from the time of n = 18, by avx2";
        assert!(text.contains(of_half_a_second), "{text}");
        assert_eq!((report.score_n, &report.record), (Some(18), &None));
        // One worker alone counted anything.
        report.series[2].runs.clear();
        report.end(None);
        assert_eq!(report.score, report.score_of_one.map(|one| 2.0 * one));
        report.series[1].runs.clear();
        report.end(None);
        assert_eq!((report.score, report.score_n), (None, None));
    }
}
