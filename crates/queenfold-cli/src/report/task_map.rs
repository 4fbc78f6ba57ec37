//! A map of the tasks of a plan: a cell for each, in the order of the plan, coloured by the time that it took.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::RunReport;
use super::markup::{figure, key, text};
use queenfold::words::TimeUnit;

/// The most cells: a cell of a longer plan stands for several tasks that follow one another.
const MOST_CELLS: u64 = 1024;

/// The most cells in a row.
const MOST_COLUMNS: usize = 64;

/// Colours of times.
const TONES: usize = 6;

/// How full a cell may be, in steps: some of its tasks may be missing.
const STEPS: f64 = 4.0;

/// Tasks that a cell stands for.
#[derive(Clone, Debug, Default)]
struct Cell {
    all: u64,
    done: u64,
    seconds: f64,
}

impl Cell {
    fn mean(&self) -> f64 {
        self.seconds / self.done.max(1) as f64
    }
}

impl RunReport {
    /// How long each task of the plan that counts all solutions took; nothing if none is recorded.
    pub(in crate::report) fn map_section(&self) -> String {
        let mut plans = self.info.plans.iter();
        let Some(plan) = plans.find(|plan| plan.engine.counts_all()) else {
            return String::new();
        };
        let each = plan.tasks.div_ceil(MOST_CELLS).max(1);
        let firsts = (0..plan.tasks).step_by(each as usize);
        let empty = |first| Cell {
            all: each.min(plan.tasks - first),
            ..Cell::default()
        };
        let mut cells: Vec<_> = firsts.map(empty).collect();
        for task in self.tasks.iter().filter(|task| task.engine.counts_all()) {
            if let Some(cell) = cells.get_mut((task.index / each) as usize) {
                cell.done += 1;
                cell.seconds += task.seconds;
            }
        }
        let done = cells.iter().filter(|cell| cell.done > 0);
        let mut times: Vec<f64> = done.map(Cell::mean).collect();
        if times.is_empty() {
            return String::new();
        }
        times.sort_by(f64::total_cmp);
        // A few that are far from the others do not take the colours from them.
        let [low, high] =
            [0.02, 0.98].map(|share| times[((times.len() - 1) as f64 * share) as usize].max(1e-6));
        let tones = if high < 1.2 * low { 1 } else { TONES };
        let step = (high / low).powf(1.0 / tones as f64);
        let tone = |seconds: f64| match tones {
            1 => 0,
            _ => (((seconds / low).max(1.0).ln() / step.ln()) as usize).min(tones - 1),
        };
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
        let keys = (0..tones).map(|tone| key(&format!("tone-{tone}"), &meaning(tone)));
        let missing = cells.iter().any(|cell| cell.done == 0);
        let missing = missing.then(|| key("missing", "not counted here yet"));
        let keys: String = keys.chain(missing).collect();
        let which = match each {
            1 => format!(
                "Each cell is a task of the plan {}, in its order, row by row.",
                plan.name
            ),
            each => format!(
                "Each cell is {each} tasks of the plan {}, in its order, row by row; it is filled as far as they are counted.",
                plan.name
            ),
        };
        let svg = draw(&cells, |cell| format!("tone-{}", tone(cell.mean())));
        let caption = format!("{}<br>Time of a task: {keys}", text(&which));
        figure("How long each task took", &svg, "map", &caption)
    }
}

/// Draws each cell in the colour that `class` says, filled from below as far as its tasks are recorded. It fits any width.
fn draw(cells: &[Cell], class: impl Fn(&Cell) -> String) -> String {
    let columns = match cells.len() {
        ..=64 => 16,
        65..=256 => 32,
        _ => MOST_COLUMNS,
    };
    let rows = cells.len().div_ceil(columns);
    // A path for each look: a cell is then ten letters.
    let mut paths: BTreeMap<String, String> = BTreeMap::new();
    for (at, cell) in cells.iter().enumerate() {
        let full = (STEPS * cell.done as f64 / cell.all as f64).ceil() / STEPS;
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
