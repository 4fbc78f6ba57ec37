//! The picture of a job array: its shards, those that are counted now, and its hosts.

use std::path::PathBuf;

use ratatui::Frame;
use ratatui::layout::{Alignment, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::areas::{Areas, Wanted};
use super::cell::Cell;
use super::map_panel::{Legend, draw_map, room as room_for};
use super::parts::{
    boxed, draw_help, figure_lines, figures_of, flow, key_line, safe, share_line, state,
};
use super::picture::Picture;
use super::speed_chart::draw_speed;
use super::table::{Column, Rows};
use crate::actors::RunState;
use crate::cli::print::array_report::{ArrayReport, name};
use crate::cli::print::host_lines::hosts_in_words;
use crate::cli::print::shard_moments::RunningShard;
use crate::cluster::{IndexList, ShardState};
use crate::telemetry::{Fact, Speeds, duration, grouped, percent, speed};

/// A job array at one moment.
pub struct ArrayMoment {
    /// Where it is, as the user named it.
    pub dir: PathBuf,
    /// What it counts, in words.
    pub what: String,
    /// How far the shards are.
    pub report: ArrayReport,
    /// How fast the running shards were together, reading by reading, since the watch began.
    pub speeds: Speeds,
    /// The commands by which it goes on, if any is needed, and the scripts that are outdated.
    pub next_steps: Vec<String>,
}

type View<'a> = super::picture::View<'a, ArrayMoment>;

impl Picture for ArrayMoment {
    fn draw(frame: &mut Frame<'_>, view: &View<'_>) -> (usize, Option<usize>) {
        draw(frame, view)
    }

    /// If all running shards are.
    fn is_paused(&self) -> bool {
        let running = &self.report.moments.running;
        let is_paused = |shard: &RunningShard| {
            let now = shard.now();
            now.is_some_and(|now| now.progress.state == RunState::Paused)
        };
        !running.is_empty() && running.values().all(is_paused)
    }
}

fn draw(frame: &mut Frame<'_>, view: &View<'_>) -> (usize, Option<usize>) {
    let area = frame.area();
    let figures = figures(view, area.width);
    let footer = footer(view, area);
    let hosts = hosts_in_words(&view.of.report.hosts);
    let shards = shard_cells(&view.of.report);
    let areas = Areas::of_array(
        area,
        &Wanted {
            figures: figures.len(),
            footer: footer.len(),
            cells: shards.len(),
            // A header, and a row at least.
            rows: view.of.report.moments.running.len().max(1) + 1,
            below: hosts.len(),
        },
    );
    frame.render_widget(Paragraph::new(title(view)), areas.title);
    let share = share_line(view.theme, area.width, &view.of.report.facts, None);
    frame.render_widget(share, areas.share);
    frame.render_widget(Paragraph::new(figures), areas.figures);
    draw_speed(
        frame,
        view.theme,
        areas.speed,
        &view.of.speeds,
        " speed since this watch began ",
    );
    let (each, cells) = together(&shards, room_for(areas.map));
    let title = match each {
        1 => format!(" {} shards, a cell each ", grouped(shards.len() as u64)),
        _ => format!(" {} shards, {each} a cell ", grouped(shards.len() as u64)),
    };
    draw_map(frame, view.theme, areas.map, &title, &cells, &SHARDS);
    let first = draw_shards(frame, view, areas.table);
    if areas.below.height > 2 {
        let lines = hosts.iter().map(|line| Line::raw(safe(view.theme, line)));
        let lines = Paragraph::new(lines.collect::<Vec<_>>());
        frame.render_widget(lines.block(boxed(view.theme, " hosts ")), areas.below);
    }
    frame.render_widget(Paragraph::new(footer), areas.footer);
    let help = view
        .help
        .map(|first| draw_help(frame, view.theme, area, &HELP, first));
    (first, help)
}

const SHARDS: Legend<4> = [
    (&[Cell::Full], "finished"),
    (&[Cell::Active], "running"),
    (&[Cell::Before], "stopped"),
    (&[Cell::Empty], "not begun"),
];

/// A cell for each shard.
fn shard_cells(report: &ArrayReport) -> Vec<Cell> {
    let of = |state, cell| report.shards(state).map(move |index| (index, cell));
    let mut cells: Vec<_> = of(ShardState::Finished, Cell::Full)
        .chain(of(ShardState::Running, Cell::Active))
        .chain(of(ShardState::Stopped, Cell::Before))
        .chain(of(ShardState::NotBegun, Cell::Empty))
        .collect();
    cells.sort_by_key(|(index, _)| *index);
    cells.into_iter().map(|(_, cell)| cell).collect()
}

/// How many shards share a cell, and the cells: what is least finished of them shows, but a running one always does.
fn together(shards: &[Cell], room: usize) -> (usize, Vec<Cell>) {
    let each = shards.len().div_ceil(room.max(1)).max(1);
    let first = |some: &[Cell]| {
        let order = [Cell::Active, Cell::Empty, Cell::Before];
        order
            .into_iter()
            .find(|cell| some.contains(cell))
            .unwrap_or(Cell::Full)
    };
    (each, shards.chunks(each).map(first).collect())
}

fn title(view: &View<'_>) -> Line<'static> {
    let ArrayMoment { dir, what, .. } = view.of;
    Line::from(vec![
        Span::styled(
            safe(view.theme, &dir.display().to_string()),
            view.theme.title(),
        ),
        Span::raw(safe(view.theme, &format!(" · {what}"))),
    ])
}

/// How many shards there are of each kind, and what all of them do together.
fn figures(view: &View<'_>, width: u16) -> Vec<Line<'static>> {
    let report = &view.of.report;
    let shards = |state| report.shards(state).collect::<IndexList>().len();
    let states = [
        (ShardState::Finished, view.theme.good()),
        (ShardState::Running, view.theme.good()),
        (ShardState::Stopped, view.theme.waiting()),
        (ShardState::NotBegun, Style::new()),
    ]
    .map(|(state, style)| (Fact::new(name(state), grouped(shards(state))), style));
    let figures = states
        .into_iter()
        .chain(figures_of(view.theme, &report.facts));
    figure_lines(view.theme, figures, width)
}

const COLUMNS: [Column; 7] = [
    ("shard", 6, Alignment::Right),
    ("host", 16, Alignment::Left),
    ("does", 18, Alignment::Left),
    ("share", 7, Alignment::Right),
    ("speed", 13, Alignment::Right),
    ("left", 10, Alignment::Right),
    ("workers", 7, Alignment::Right),
];

/// Returns the first running shard that is shown.
fn draw_shards(frame: &mut Frame<'_>, view: &View<'_>, area: Rect) -> usize {
    let running: Vec<_> = view.of.report.moments.running.iter().collect();
    let rows = Rows {
        columns: &COLUMNS,
        titles: COLUMNS.map(|column| column.0.into()),
        count: running.len(),
        none: "no shard is counted at the moment",
    };
    rows.draw(frame, view.theme, area, view.first, |index| {
        let (number, shard) = running[index];
        let style = match shard.now() {
            None => view.theme.waiting(),
            Some(snapshot) => state(&snapshot.progress, view.theme).1,
        };
        (cells(view, *number, shard).map(Line::from), style)
    })
}

/// What the table says of a running shard.
fn cells(view: &View<'_>, index: u64, shard: &RunningShard) -> [String; COLUMNS.len()] {
    let index = index.to_string();
    let Some(snapshot) = &shard.snapshot else {
        return [index, "?".into(), "starts".into()]
            .into_iter()
            .chain(std::iter::repeat_n(String::new(), 4))
            .collect::<Vec<_>>()
            .try_into()
            .unwrap_or_default();
    };
    let progress = &snapshot.progress;
    let (does, now) = match shard.old {
        Some(old) => (format!("silent for {}", duration(old)), false),
        None => (state(progress, view.theme).0, true),
    };
    let if_now = |text: Option<String>| text.filter(|_| now).unwrap_or_else(|| "-".to_owned());
    [
        index,
        safe(view.theme, &snapshot.host),
        does,
        progress.share.map_or("-".to_owned(), percent),
        if_now(Some(speed(progress.speed.nodes_per_second()))),
        if_now(progress.eta.map(|eta| duration(eta.left))),
        progress.workers.len().to_string(),
    ]
}

/// How it goes on, and the keys.
fn footer(view: &View<'_>, area: Rect) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    if let Some(note) = view.note {
        lines.push(Line::styled(safe(view.theme, note), view.theme.waiting()));
    }
    let steps = view.of.next_steps.iter().map(|step| {
        vec![
            Span::styled("go on: ", view.theme.label()),
            Span::raw(safe(view.theme, &format!("{step}   "))),
        ]
    });
    // On a small screen, a shard more is worth more.
    let most = if area.height < 14 { 0 } else { 2 };
    lines.extend(flow(steps.take(most), area.width));
    let keys = [
        ("p", "pause"),
        ("d", "stop"),
        ("?", "help"),
        ("t", "theme"),
        ("q", "leave"),
    ];
    lines.extend(key_line(view.theme, &keys, area.width));
    lines
}

/// What the keys do, and what the names mean.
const HELP: [&str; 11] = [
    "p        pause the running shards, or let them go on",
    "d d      stop the running shards in order",
    "t        other colours, or ASCII alone",
    "up down  scroll the shards or this, also j k,",
    "         page up, page down, home, end",
    "other    close this",
    "q        leave, or stop the shards, too: it asks",
    "",
    "share, left: of the shard",
    "A scheduler may start a stopped shard again.",
    "Shards that start later are not paused.",
];
