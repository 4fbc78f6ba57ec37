//! A map of the tasks of a plan: a cell for each, in the order of the plan, coloured by the time that it took.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::RunReport;
use queenfold::words::TimeUnit;

/// The most cells: a cell of a longer plan stands for several tasks that follow one another.
const MOST_CELLS: u64 = 1024;

/// The most cells in a row.
const MOST_COLUMNS: usize = 64;

/// Colours of times.
const TONES: usize = 6;

/// How full a cell may be, in steps: some of its tasks may be missing.
const STEPS: f64 = 4.0;

/// A map.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskMap {
    /// The drawing. It fits any width.
    pub svg: String,
    /// The class of each colour, and what it stands for.
    pub keys: Vec<(String, String)>,
    /// How many tasks a cell stands for.
    pub each: u64,
}

/// Tasks that a cell stands for.
#[derive(Clone, Debug, Default)]
struct Cell {
    done: u64,
    seconds: f64,
}

/// The cells of the plan that counts all solutions.
struct Cells {
    cells: Vec<Cell>,
    each: u64,
    tasks: u64,
}

impl Cells {
    /// `None` if there is no such plan, or nothing is recorded of it.
    fn of(report: &RunReport) -> Option<Self> {
        let plan = report.info.plans.iter();
        let tasks = plan.clone().find(|plan| plan.engine.counts_all())?.tasks;
        let each = tasks.div_ceil(MOST_CELLS).max(1);
        let mut cells = vec![Cell::default(); tasks.div_ceil(each) as usize];
        for task in report.tasks.iter().filter(|task| task.engine.counts_all()) {
            if let Some(cell) = cells.get_mut((task.index / each) as usize) {
                cell.done += 1;
                cell.seconds += task.seconds;
            }
        }
        let counted = cells.iter().any(|cell| cell.done > 0);
        counted.then_some(Self { cells, each, tasks })
    }

    /// Draws each cell in the colour that `class` says, filled from below as far as its tasks are recorded.
    fn draw(&self, class: impl Fn(&Cell) -> String) -> String {
        let columns = match self.cells.len() {
            ..=64 => 16,
            65..=256 => 32,
            _ => MOST_COLUMNS,
        };
        let rows = self.cells.len().div_ceil(columns);
        // A path for each look: a cell is then ten letters.
        let mut paths: BTreeMap<String, String> = BTreeMap::new();
        for (at, cell) in self.cells.iter().enumerate() {
            let all = self.each.min(self.tasks - at as u64 * self.each);
            let full = (STEPS * cell.done as f64 / all as f64).ceil() / STEPS;
            let (x, y) = (at % columns, (at / columns) as f64);
            let mut add = |class: &str, y: f64, height: f64| {
                // In the order of their names: what is missing lies below.
                let path = paths.entry(class.to_owned()).or_default();
                let [y, height] = [y, height].map(|length| (length * 1000.0).round() / 1000.0);
                let _ = write!(path, "M{x} {y}h.9v{height}h-.9z");
            };
            if full < 1.0 {
                add("missing", y, 0.9);
            }
            if full > 0.0 {
                add(&class(cell), y + 0.9 * (1.0 - full), 0.9 * full);
            }
        }
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {columns} {rows}\" \
             style=\"max-width:{}rem\">\n",
            (columns as f64 * 0.85).max(20.0)
        );
        for (class, path) in paths {
            let _ = writeln!(svg, "<path class=\"{class}\" d=\"{path}\"/>");
        }
        svg + "</svg>"
    }
}

/// How long each task took; `None` if nothing is recorded.
pub fn by_time(report: &RunReport) -> Option<TaskMap> {
    let cells = Cells::of(report)?;
    let mean = |cell: &Cell| cell.seconds / cell.done.max(1) as f64;
    let mut times: Vec<f64> = cells
        .cells
        .iter()
        .filter(|cell| cell.done > 0)
        .map(mean)
        .collect();
    times.sort_by(f64::total_cmp);
    // A few that are far from the others do not take the colours from them.
    let [low, high] = [0.02, 0.98].map(|share| times[((times.len() - 1) as f64 * share) as usize]);
    let (low, high) = (low.max(1e-6), high.max(1e-6));
    let tones = if high < 1.2 * low { 1 } else { TONES };
    let step = (high / low).powf(1.0 / tones as f64);
    let tone = |seconds: f64| {
        let tone = (seconds / low).max(1.0).ln() / step.ln();
        if tones == 1 {
            0
        } else {
            (tone as usize).min(tones - 1)
        }
    };
    let svg = cells.draw(|cell| format!("tone-{}", tone(mean(cell))));
    let edge = |tone: usize| {
        let seconds = low * step.powi(tone as i32);
        TimeUnit::of_wall(seconds).of(seconds)
    };
    let meaning = |tone: usize| match tone {
        _ if tones == 1 => format!("about {}", edge(0)),
        0 => format!("below {}", edge(1)),
        last if last + 1 == tones => format!("{} and more", edge(last)),
        tone => format!("from {}", edge(tone)),
    };
    let mut keys: Vec<_> = (0..tones)
        .map(|tone| (format!("tone-{tone}"), meaning(tone)))
        .collect();
    if cells.cells.iter().any(|cell| cell.done == 0) {
        keys.push(("missing".to_owned(), "not counted here yet".to_owned()));
    }
    Some(TaskMap {
        svg,
        keys,
        each: cells.each,
    })
}
