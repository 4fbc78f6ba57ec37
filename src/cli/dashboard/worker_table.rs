//! The table of the workers of a run.

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Row, Table};

use super::parts::{safe, share_of};
use super::theme::Theme;
use crate::actors::{WorkerProgress, WorkerState};
use crate::telemetry::{grouped, speed};

/// Columns of the bar.
const BAR: u16 = 22;

/// The blanks between columns.
const BETWEEN: u16 = 2;

/// A column: title, width, and the side on which texts stand.
type Column = (&'static str, u16, Alignment);

/// What is less important is further to the right, and left out if there is no room.
const COLUMNS: [Column; 10] = [
    ("worker", 10, Alignment::Left),
    // Its title shows what the parts of the bar mean.
    ("", BAR, Alignment::Left),
    ("busy", 5, Alignment::Right),
    ("stolen", 6, Alignment::Right),
    ("idle", 5, Alignment::Right),
    ("speed", 12, Alignment::Right),
    ("tasks", 6, Alignment::Right),
    ("share", 7, Alignment::Right),
    ("does", 13, Alignment::Left),
    ("by", 16, Alignment::Left),
];

/// Draws the workers from `first` on. Returns the first one that is shown.
pub fn draw_workers(
    frame: &mut Frame<'_>,
    theme: Theme,
    area: Rect,
    workers: &[WorkerProgress],
    first: usize,
) -> usize {
    if area.height < 2 || workers.is_empty() {
        return first;
    }
    let all = workers.iter().map(|worker| worker.nodes).sum();
    let [busy, stolen, idle] = parts(theme);
    let mut titles = COLUMNS.map(|column| Line::from(column.0));
    titles[1] = Line::from(vec![
        Span::styled(busy.0, busy.1),
        Span::raw(" busy "),
        Span::styled(stolen.0, stolen.1),
        Span::raw(" stolen "),
        Span::styled(idle.0, idle.1),
        Span::raw(" idle"),
    ]);
    let count = workers.len();
    let shown = usize::from(area.height - 1);
    let first = first.min(count.saturating_sub(shown));
    let last = count.min(first + shown);
    if last - first < count {
        titles[0] = format!("{}-{last}", first + 1).into();
    }
    let mut needed = 0;
    let fits = |column: &&Column| {
        needed += column.1 + BETWEEN;
        needed <= area.width + BETWEEN
    };
    let columns: Vec<_> = COLUMNS.iter().take_while(fits).collect();
    let row = |texts: [Line<'static>; COLUMNS.len()]| {
        let cells = texts.into_iter().zip(&columns);
        Row::new(cells.map(|(text, column)| text.alignment(column.2)))
    };
    let rows = workers[first..last].iter().map(|worker| {
        let style = match worker.state {
            WorkerState::Waiting | WorkerState::Starting => theme.waiting(),
            WorkerState::Gone => theme.label(),
            _ => Style::new(),
        };
        row(cells(theme, worker, all)).style(style)
    });
    let widths = columns.iter().map(|column| Constraint::Length(column.1));
    let table = Table::new(rows, widths.collect::<Vec<_>>())
        .header(row(titles).style(theme.label()))
        .column_spacing(BETWEEN);
    frame.render_widget(table, area);
    first
}

/// How the parts of a bar look: on a core, without one, without a task.
fn parts(theme: Theme) -> [(&'static str, Style); 3] {
    let [busy, stolen, idle] = theme.parts();
    [
        (busy, theme.good()),
        (stolen, theme.stolen()),
        (idle, theme.waiting()),
    ]
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
    fn bar(&self, theme: Theme, columns: u16) -> Line<'static> {
        let columns = f64::from(columns);
        let stolen = self.busy + self.stolen.unwrap_or(0.0);
        let ends = [self.busy, stolen, 1.0].map(|end| (end * columns).round() as usize);
        let mut from = 0;
        let spans = parts(theme)
            .into_iter()
            .zip(ends)
            .map(|((glyph, style), end)| {
                let span = Span::styled(glyph.repeat(end.saturating_sub(from)), style);
                from = from.max(end);
                span
            });
        Line::from(spans.collect::<Vec<_>>())
    }
}

/// What the table says of a worker. All of them searched `all` nodes.
fn cells(theme: Theme, worker: &WorkerProgress, all: u64) -> [Line<'static>; COLUMNS.len()] {
    let does = match worker.state {
        WorkerState::Starting => "starting",
        WorkerState::Waiting => "waiting",
        WorkerState::Preparing => "preparing",
        WorkerState::Counting(_) => "counting",
        WorkerState::Launching => "device counts",
        WorkerState::Gone => "ended",
    };
    let spent = Spent::of(worker);
    let percent = |share: Option<f64>| match share {
        Some(share) => format!("{:.0} %", 100.0 * share),
        None => "-".to_owned(),
    };
    let of = |part: fn(&Spent) -> Option<f64>| percent(spent.as_ref().and_then(part)).into();
    [
        worker.id.to_string().into(),
        match &spent {
            Some(spent) => spent.bar(theme, BAR),
            None => does.into(),
        },
        of(|spent| Some(spent.busy)),
        of(|spent| spent.stolen),
        of(|spent| Some(spent.idle)),
        speed(worker.nodes_per_second()).into(),
        grouped(worker.tasks).into(),
        share_of(worker.nodes, all).into(),
        does.into(),
        safe(theme, worker.counted_by_name()).into(),
    ]
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::engine::WorkerId;

    fn worker(busy: u64, idle: u64, batches: u64, cpu: u64) -> WorkerProgress {
        let [busy, waiting, batches, cpu] = [busy, idle, batches, cpu].map(Duration::from_secs);
        WorkerProgress {
            id: WorkerId::Cpu(0),
            counted_by: None,
            state: WorkerState::Preparing,
            until: Duration::ZERO,
            tasks: 0,
            nodes: 0,
            device_tasks: 0,
            device_nodes: 0,
            busy,
            batches,
            cpu,
            waiting,
            starved: Duration::ZERO,
            finished: Duration::ZERO,
        }
    }

    #[test]
    fn time_without_a_core_is_stolen() {
        let spent = Spent::of(&worker(80, 20, 60, 45)).unwrap();
        assert!((spent.busy - 0.6).abs() < 1e-9, "{spent:?}");
        assert!((spent.stolen.unwrap() - 0.2).abs() < 1e-9, "{spent:?}");
        assert!((spent.idle - 0.2).abs() < 1e-9, "{spent:?}");
        let bar = spent.bar(Theme::new(false, false), 10).to_string();
        assert_eq!(bar, "######xx..");
        // Before its first batch ends, nobody knows.
        let spent = Spent::of(&worker(80, 20, 0, 0)).unwrap();
        assert_eq!((spent.busy, spent.stolen), (0.8, None));
        assert_eq!(Spent::of(&worker(0, 0, 0, 0)), None);
    }
}
