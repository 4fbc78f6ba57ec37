//! The table of the workers of a run.

use super::canvas::{Canvas, Line, Rect, Side, Span, Style};
use super::parts::safe;
use super::theme::Theme;
use queenfold::actors::{WorkerProgress, WorkerState};
use queenfold::words::{grouped, percent, speed};

/// Columns of the bar.
const BAR: u16 = 22;

/// The blanks between columns.
const BETWEEN: u16 = 2;

/// A column: title, width, and the side on which texts stand.
type Column = (&'static str, u16, Side);

/// What is less important is further to the right, and left out if there is no room.
const COLUMNS: [Column; 10] = [
    ("worker", 10, Side::Left),
    // Its title shows what the parts of the bar mean.
    ("", BAR, Side::Left),
    ("busy", 5, Side::Right),
    ("stolen", 6, Side::Right),
    ("idle", 5, Side::Right),
    ("speed", 12, Side::Right),
    ("tasks", 6, Side::Right),
    ("share", 7, Side::Right),
    ("does", 13, Side::Left),
    ("by", 16, Side::Left),
];

/// Draws the workers from `first` on. Returns the first one that is shown.
pub fn draw_workers(
    canvas: &mut Canvas,
    theme: Theme,
    mut area: Rect,
    workers: &[WorkerProgress],
    first: usize,
) -> usize {
    if area.height < 2 || workers.is_empty() {
        return first;
    }
    let all = workers.iter().map(|worker| worker.nodes).sum();
    let [busy, stolen, idle] = theme.parts();
    let mut titles = COLUMNS.map(|column| text(column.0));
    titles[1] = vec![
        busy,
        Span::raw(" busy "),
        stolen,
        Span::raw(" stolen "),
        idle,
        Span::raw(" idle"),
    ];
    let count = workers.len();
    let shown = usize::from(area.height - 1);
    let first = first.min(count.saturating_sub(shown));
    let last = count.min(first + shown);
    if last - first < count {
        titles[0] = text(format!("{}-{last}", first + 1));
    }
    let mut draw_row = |texts: [Line; COLUMNS.len()], style| {
        let mut left = area.take_top(1);
        for (mut text, (_, width, side)) in texts.into_iter().zip(COLUMNS) {
            if left.width < width {
                return;
            }
            let plain = text
                .iter_mut()
                .filter(|span| span.style == Style::default());
            plain.for_each(|span| span.style = style);
            canvas.line(left.take_left(width), side, &text);
            left.take_left(BETWEEN);
        }
    };
    draw_row(titles, theme.label());
    for worker in &workers[first..last] {
        let style = match worker.state {
            WorkerState::Waiting | WorkerState::Starting => theme.waiting(),
            WorkerState::Gone => theme.label(),
            _ => Style::default(),
        };
        draw_row(cells(theme, worker, all), style);
    }
    first
}

/// A text that looks as its row does.
fn text(text: impl Into<String>) -> Line {
    vec![Span::raw(text)]
}

/// How a worker spent its time.
#[derive(Debug, PartialEq)]
struct Spent {
    /// The share with a task and a core.
    busy: f64,
    /// The share with a task and no core, because somebody else had it; `None` if that is not known.
    stolen: Option<f64>,
    /// The share without a task.
    idle: f64,
}

impl Spent {
    /// `None` if nothing is known yet.
    fn of(worker: &WorkerProgress) -> Option<Self> {
        let idle = worker.waiting + worker.starved;
        let all = worker.busy + idle;
        let has_task = (!all.is_zero()).then(|| worker.busy.div_duration_f64(all))?;
        let stolen = worker.core_share().map(|core| has_task * (1.0 - core));
        Some(Self {
            busy: has_task - stolen.unwrap_or(0.0),
            stolen,
            idle: 1.0 - has_task,
        })
    }

    /// A bar of this many columns. Every column belongs to one part.
    fn bar(&self, theme: Theme, columns: u16) -> Line {
        let columns = f64::from(columns);
        let stolen = self.busy + self.stolen.unwrap_or(0.0);
        let ends = [self.busy, stolen, 1.0].map(|end| (end * columns).round() as usize);
        let mut from = 0;
        let parts = theme.parts().into_iter().zip(ends).map(|(part, end)| {
            let text = part.text.repeat(end.saturating_sub(from));
            from = from.max(end);
            Span { text, ..part }
        });
        parts.collect()
    }
}

/// What the table says of a worker. All of them searched `all` nodes.
fn cells(theme: Theme, worker: &WorkerProgress, all: u64) -> [Line; COLUMNS.len()] {
    let does = match worker.state {
        WorkerState::Starting => "starting",
        WorkerState::Waiting => "waiting",
        WorkerState::Preparing => "preparing",
        WorkerState::Counting(_) => "counting",
        WorkerState::Launching => "device counts",
        WorkerState::Gone => "ended",
    };
    let spent = Spent::of(worker);
    let of = |part: fn(&Spent) -> Option<f64>| match spent.as_ref().and_then(part) {
        Some(share) => text(format!("{:.0} %", 100.0 * share)),
        None => text("-"),
    };
    let share = match all {
        0 => "-".to_owned(),
        _ => percent(worker.nodes as f64 / all as f64),
    };
    [
        text(worker.id.to_string()),
        match &spent {
            Some(spent) => spent.bar(theme, BAR),
            None => text(does),
        },
        of(|spent| Some(spent.busy)),
        of(|spent| spent.stolen),
        of(|spent| Some(spent.idle)),
        text(speed(worker.nodes_per_second())),
        text(grouped(worker.tasks)),
        text(share),
        text(does),
        text(safe(theme, worker.counted_by_name())),
    ]
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use queenfold::engine::WorkerId;

    fn worker(busy: u64, idle: u64, batches: u64, cpu: u64) -> WorkerProgress {
        let [busy, waiting, batches, cpu] = [busy, idle, batches, cpu].map(Duration::from_secs);
        WorkerProgress {
            state: WorkerState::Preparing,
            busy,
            batches,
            cpu,
            waiting,
            ..WorkerProgress::new(WorkerId::Cpu(0))
        }
    }

    #[test]
    fn time_without_a_core_is_stolen() {
        let spent = Spent::of(&worker(80, 20, 60, 45)).unwrap();
        assert!((spent.busy - 0.6).abs() < 1e-9, "{spent:?}");
        assert!((spent.stolen.unwrap() - 0.2).abs() < 1e-9, "{spent:?}");
        assert!((spent.idle - 0.2).abs() < 1e-9, "{spent:?}");
        let bar = spent.bar(Theme::new(false, false), 10);
        let bar: String = bar.into_iter().map(|span| span.text).collect();
        assert_eq!(bar, "######xx..");
        // Before its first batch ends, nobody knows.
        let spent = Spent::of(&worker(80, 20, 0, 0)).unwrap();
        assert_eq!((spent.busy, spent.stolen), (0.8, None));
        assert_eq!(Spent::of(&worker(0, 0, 0, 0)), None);
    }
}
