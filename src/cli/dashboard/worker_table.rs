//! The table of the workers of a run.

use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::{Alignment, Rect};
use ratatui::style::Style;

use super::parts::{safe, share_of, speed};
use super::table::{Column, Rows};
use super::theme::Theme;
use crate::actors::{WorkerProgress, WorkerState};

const COLUMNS: [Column; 9] = [
    ("worker", 10, Alignment::Left),
    ("does", 13, Alignment::Left),
    ("speed", 13, Alignment::Right),
    ("share", 7, Alignment::Right),
    ("waits", 5, Alignment::Right),
    ("busy", 5, Alignment::Right),
    ("core", 5, Alignment::Right),
    ("tasks", 7, Alignment::Right),
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
    let all = workers.iter().map(|worker| worker.nodes).sum();
    let rows = Rows {
        columns: &COLUMNS,
        count: workers.len(),
        none: "",
    };
    rows.draw(frame, theme, area, first, |index| {
        let worker = &workers[index];
        let style = match worker.state {
            WorkerState::Waiting | WorkerState::Starting => theme.waiting(),
            WorkerState::Gone => theme.label(),
            _ => Style::new(),
        };
        (cells(theme, worker, all), style)
    })
}

/// What the table says of a worker. All of them searched `all` nodes.
fn cells(theme: Theme, worker: &WorkerProgress, all: u64) -> [String; COLUMNS.len()] {
    let does = match worker.state {
        WorkerState::Starting => "starts".to_owned(),
        WorkerState::Waiting => "waits".to_owned(),
        WorkerState::Preparing => "prepares".to_owned(),
        WorkerState::Counting(key) => format!("task {}", key.index),
        WorkerState::Launching => "device counts".to_owned(),
        WorkerState::Gone => "gone".to_owned(),
    };
    let time = worker.busy + worker.waiting + worker.starved;
    let of_time = |part: Duration| match time.is_zero() {
        true => "-".to_owned(),
        false => format!("{:.0} %", 100.0 * part.div_duration_f64(time)),
    };
    [
        worker.id.to_string(),
        does,
        speed(worker.nodes_per_second()),
        share_of(worker.nodes, all),
        of_time(worker.waiting + worker.starved),
        of_time(worker.busy),
        worker
            .core_share()
            .map_or_else(|| "-".to_owned(), |share| format!("{:.0} %", 100.0 * share)),
        worker.tasks.to_string(),
        safe(theme, worker.counted_by_name()),
    ]
}
