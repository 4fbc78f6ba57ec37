//! What `bench` has measured, as JSON and as text.

use std::fmt::{self, Write};

use jiff::Timestamp;
use serde::{Serialize, Serializer};

use super::draft::Measured;
use crate::bench::CpuRun;
use crate::engine::Engine;
use crate::machine::{Load, LoadWatch, Processor};
use crate::simd::Isa;
use crate::telemetry::several;

/// The engine and the board of the score, which all workers count.
pub const SCORED: (Engine, u32) = (Engine::Colour, 19);

/// From which share of the processors on others make a measurement doubtful.
const BUSY: f64 = 0.05;

/// From which share on it matters what the host takes away.
const STOLEN: f64 = 0.02;

/// A board that is counted several times.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    pub isa: Isa,
    #[serde(serialize_with = "name")]
    pub engine: Engine,
    pub n: u32,
    pub workers: usize,
    pub runs: Vec<CpuRun>,
}

fn name<S: Serializer>(engine: &Engine, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(engine.name())
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

    /// The run that took the least time.
    pub fn best(&self) -> Option<CpuRun> {
        let runs = self.runs.iter().copied();
        runs.min_by(|a, b| a.seconds.total_cmp(&b.seconds))
    }

    /// How much longer the longest run took than the shortest, as a share of that.
    fn spread(&self) -> Option<f64> {
        let worst = self.runs.iter().map(|run| run.seconds).fold(0.0, f64::max);
        Some(worst / self.best()?.seconds - 1.0)
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
#[derive(Debug, Serialize)]
pub struct CpuReport {
    pub processor: Processor,
    pub workers: usize,
    pub series: Vec<Series>,
    #[serde(skip)]
    watch: Option<LoadWatch>,
    /// What else the processors did meanwhile.
    load: Option<Load>,
    /// Boards of 19 queens that all workers would count in an hour, by the first kernel.
    score: Option<f64>,
    /// The row for the table of docs/RECORDS.md.
    record: Option<String>,
    version: &'static str,
    /// Why it ended early; `None` if everything was measured.
    error: Option<String>,
}

impl CpuReport {
    pub fn new(
        processor: Processor,
        workers: usize,
        series: Vec<Series>,
        watch: Option<LoadWatch>,
    ) -> Self {
        Self {
            watch,
            processor,
            workers,
            series,
            load: None,
            score: None,
            record: None,
            version: env!("CARGO_PKG_VERSION"),
            error: None,
        }
    }

    /// The best run of a board by the first kernel.
    fn best(&self, (engine, n): (Engine, u32), workers: usize) -> Option<CpuRun> {
        let isa = self.series.first()?.isa;
        let wanted = Series::new(isa, engine, n, workers);
        self.series.iter().find(|of| of.is_same(&wanted))?.best()
    }

    fn row(&self) -> Option<String> {
        let seconds = |board, workers| {
            let best = self.best(board, workers);
            best.map_or_else(|| "-".to_owned(), |run| format!("{:.3}", run.seconds))
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
            Timestamp::now().strftime("%Y-%m-%d"),
        ))
    }
}

/// What others had of the processors.
fn load_in_words(load: Option<&Load>) -> String {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let Some(Load {
        others: Some(others),
        steal: Some(steal),
        ..
    }) = load
    else {
        return "unknown".to_owned();
    };
    let text = format!("others {}, steal {}", percent(*others), percent(*steal));
    match *others >= BUSY || *steal >= STOLEN {
        true => format!("{text}: beside other programs"),
        false => text,
    }
}

impl Measured for CpuReport {
    fn end(&mut self, error: Option<&str>) {
        self.error = error.map(str::to_owned);
        if let Some(watch) = &self.watch {
            self.load = Some(watch.load());
        }
        let best = self.best(SCORED, self.workers);
        self.score = best.map(|run| 3600.0 / run.seconds);
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
            let (best, cpu, spread) = match (of.best(), of.spread()) {
                (Some(best), Some(spread)) => (
                    format!("{:.3}", best.seconds),
                    format!("{:.3}", best.cpu_seconds),
                    format!("{:.0} %", 100.0 * spread),
                ),
                _ => ("-".to_owned(), "-".to_owned(), "-".to_owned()),
            };
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
        if let (Some(one), Some(all)) = (self.best(eighteen, 1), self.best(eighteen, self.workers))
            && self.workers > 1
        {
            let _ = writeln!(
                text,
                "speed-up   {:.2} by {} workers, at n = 18",
                one.seconds / all.seconds,
                self.workers
            );
        }
        let _ = match (self.score, self.series.first()) {
            (Some(score), Some(first)) => writeln!(
                text,
                "score      {score:.0} boards of 19 queens an hour, by {} on {}",
                first.isa,
                several(self.workers as u64, "worker")
            ),
            _ => writeln!(
                text,
                "score      none: n = 19 was not counted in time; --for gives it longer"
            ),
        };
        let _ = writeln!(text, "load       {}", load_in_words(self.load.as_ref()));
        if let Some(record) = &self.record {
            let _ = writeln!(text, "record     {record}");
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
        both.runs = vec![run(0.6)];
        let slow = Series::new(Isa::Portable, SCORED.0, SCORED.1, 2);
        let mut report = CpuReport::new(Processor::default(), 2, vec![all, one, both, slow], None);
        report.load = Some(Load {
            others: Some(0.01),
            steal: Some(0.03),
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
            "portable  colour  19        2         -       -         -     0\n",
            "speed-up   2.00 by 2 workers",
            "score      1200 boards of 19 queens an hour, by avx2 on 2 workers",
            "steal 3.0 %: beside other programs",
            "| 2 | avx2 | 1200 | 3.000 | 1.200 | - | others 1.0 %",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn without_the_board_of_the_score_there_is_no_record() {
        let mut report = report();
        report.series[0].runs.clear();
        report.end(Some("stopped"));
        assert_eq!((report.score, &report.record), (None, &None));
        assert!(report.in_words().contains("score      none"));
    }
}
