//! The picture of a job array: its shards, those that are counted now, and its hosts.

use std::path::PathBuf;
use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::cell::Cell;
use super::map_panel::{Legend, draw_map, room as room_for};
use super::parts::{
    boxed, draw_help, figure_lines, flow, key_line, percent, safe, share_bar, speed, state,
};
use super::picture::Picture;
use super::speed_chart::draw_speed;
use super::table::{Column, Rows};
use crate::actors::RunState;
use crate::cli::print::array_report::{ArrayReport, name};
use crate::cli::print::host_lines::hosts_in_words;
use crate::cluster::{IndexList, ShardState};
use crate::telemetry::{Snapshot, Speeds, duration, grouped};

/// A job array at one moment.
pub struct ArrayMoment {
    /// Where it is, as the user named it.
    pub dir: PathBuf,
    /// What it counts, in words.
    pub what: String,
    /// How far the shards are.
    pub report: ArrayReport,
    /// The shards that processes work on.
    pub running: Vec<RunningShard>,
    /// How fast these were together, reading by reading, since the watch began.
    pub speeds: Speeds,
    /// The commands by which it goes on, if any is needed, and the scripts that are outdated.
    pub next_steps: Vec<String>,
}

/// A shard that a process works on.
pub struct RunningShard {
    /// Its number.
    pub index: u64,
    /// What the process says of it; `None` if it has not said anything yet.
    pub snapshot: Option<Snapshot>,
    /// How old that is, if it is old.
    pub old: Option<Duration>,
}

impl RunningShard {
    /// What the process says now: nothing that is old.
    fn now(&self) -> Option<&Snapshot> {
        self.snapshot.as_ref().filter(|_| self.old.is_none())
    }

    /// Nodes per second at the moment.
    pub fn nodes_per_second(&self) -> f64 {
        self.now()
            .map_or(0.0, |snapshot| snapshot.progress.speed.nodes_per_second())
    }

    fn is_paused(&self) -> bool {
        self.now()
            .is_some_and(|snapshot| snapshot.progress.state == RunState::Paused)
    }
}

type View<'a> = super::picture::View<'a, ArrayMoment>;

impl Picture for ArrayMoment {
    fn draw(frame: &mut Frame<'_>, view: &View<'_>) -> (usize, Option<usize>) {
        draw(frame, view)
    }

    /// If all running shards are.
    fn is_paused(&self) -> bool {
        !self.running.is_empty() && self.running.iter().all(RunningShard::is_paused)
    }
}

fn draw(frame: &mut Frame<'_>, view: &View<'_>) -> (usize, Option<usize>) {
    let area = frame.area();
    let figures = figures(view, area.width);
    let footer = footer(view, area);
    let hosts = hosts_in_words(view.of.report.hosts());
    let rows = u16::try_from(view.of.running.len() + 1).unwrap_or(u16::MAX);
    let shards = shard_cells(&view.of.report);
    let room = area.height.saturating_sub(2 + footer.len() as u16);
    let figures_height = (figures.len() as u16).min(room);
    let room = room - figures_height;
    let speed_height = if room >= 12 { 6 } else { 0 };
    let room = room - speed_height;
    // A map of three lines beside a table of three at least.
    let per_line = usize::from(area.width.saturating_sub(2).max(1));
    let map_lines = u16::try_from(shards.len().div_ceil(per_line) + 2).unwrap_or(u16::MAX);
    let map_height = if room >= 6 {
        map_lines.min(room - rows.min(room - 3))
    } else {
        0
    };
    let room = room - map_height;
    let hosts_height = match u16::try_from(hosts.len()) {
        Ok(lines @ 1..) if room >= 6 => (lines + 2).min(room - rows.min(room - 3)),
        _ => 0,
    };
    let map_height = map_height
        + (room - hosts_height)
            .saturating_sub(rows)
            .min(WIDE_CELLS * map_height);
    let [
        head,
        share,
        figures_area,
        speed,
        map,
        table,
        hosts_area,
        foot,
    ] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(figures_height),
        Constraint::Length(speed_height),
        Constraint::Length(map_height),
        Constraint::Min(0),
        Constraint::Length(hosts_height),
        Constraint::Length(footer.len() as u16),
    ])
    .areas(area);
    frame.render_widget(Paragraph::new(title(view)), head);
    frame.render_widget(Paragraph::new(share_line(view, share.width)), share);
    frame.render_widget(Paragraph::new(figures), figures_area);
    draw_speed(
        frame,
        view.theme,
        speed,
        &view.of.speeds,
        " speed since this watch began ",
    );
    let (each, cells) = together(&shards, room_for(map));
    let title = match each {
        1 => format!(" {} shards, a cell each ", grouped(shards.len() as u64)),
        _ => format!(" {} shards, {each} a cell ", grouped(shards.len() as u64)),
    };
    draw_map(frame, view.theme, map, &title, &cells, &SHARDS);
    let first = draw_shards(frame, view, table);
    if hosts_height > 2 {
        let lines = hosts.iter().map(|line| Line::raw(safe(view.theme, line)));
        let lines = Paragraph::new(lines.collect::<Vec<_>>());
        frame.render_widget(lines.block(boxed(view.theme, " hosts ")), hosts_area);
    }
    frame.render_widget(Paragraph::new(footer), foot);
    let help = view
        .help
        .map(|first| draw_help(frame, view.theme, area, &HELP, first));
    (first, help)
}

/// How often the map may be as high as it needs with the narrowest cells: wider ones are seen better.
const WIDE_CELLS: u16 = 2;

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

fn share_line(view: &View<'_>, width: u16) -> Line<'static> {
    let (done, all) = view.of.report.tasks();
    let share = done as f64 / all.max(1) as f64;
    let after = format!(
        " {} · {} of {} tasks",
        percent(share),
        grouped(done),
        grouped(all)
    );
    share_bar(view.theme, width, share, &after)
}

/// How many shards there are of each kind, and what all of them do together.
fn figures(view: &View<'_>, width: u16) -> Vec<Line<'static>> {
    let ArrayMoment {
        report, running, ..
    } = view.of;
    let of = |state| report.shards(state).collect::<IndexList>();
    let mut figures: Vec<_> = [
        (ShardState::Finished, view.theme.good()),
        (ShardState::Running, view.theme.good()),
        (ShardState::Stopped, view.theme.waiting()),
        (ShardState::NotBegun, Style::new()),
    ]
    .map(|(state, style)| (name(state), grouped(of(state).len()), style))
    .into();
    let speeds = running.iter().map(RunningShard::nodes_per_second);
    figures.push(("speed", speed(speeds.sum()), Style::new()));
    let audits: u64 = report.hosts().values().map(|host| host.audits).sum();
    figures.push(("audits", grouped(audits), Style::new()));
    for (host, sick) in report.sick() {
        let who = safe(view.theme, &format!("{} on {host}", sick.worker));
        figures.push(("counted wrongly", who, view.theme.bad()));
    }
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
    let running = &view.of.running;
    let rows = Rows {
        columns: &COLUMNS,
        titles: COLUMNS.map(|column| column.0.into()),
        count: running.len(),
        none: "no shard is counted at the moment",
    };
    rows.draw(frame, view.theme, area, view.first, |index| {
        let shard = &running[index];
        let style = match shard.now() {
            None => view.theme.waiting(),
            Some(snapshot) => state(&snapshot.progress, view.theme).1,
        };
        (cells(view, shard).map(Line::from), style)
    })
}

/// What the table says of a running shard.
fn cells(view: &View<'_>, shard: &RunningShard) -> [String; COLUMNS.len()] {
    let index = shard.index.to_string();
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
    "? Esc    close this",
    "q        leave, or stop the shards, too: it asks",
    "",
    "share, left: of the shard",
    "A scheduler may start a stopped shard again.",
    "Shards that start later are not paused.",
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::parts::screen;
    use super::super::theme::Theme;
    use super::*;
    use crate::actors::{Eta, PauseReason, Progress};
    use crate::board::Size;
    use crate::ledger::HostShare;
    use crate::telemetry::SnapshotKeeper;

    const PLAIN: Theme = Theme::new(false, true);

    fn shard(index: u64, progress: Progress) -> RunningShard {
        let keeper = SnapshotKeeper::new(Size::new(24).unwrap(), "node\u{1b}7".to_owned(), None);
        RunningShard {
            index,
            snapshot: Some(keeper.snapshot(Progress {
                share: Some(0.999_99),
                eta: Some(Eta {
                    left: Duration::from_secs(187),
                    uncertainty: Some(Duration::from_secs(3)),
                }),
                ..progress
            })),
            old: None,
        }
    }

    fn running() -> Progress {
        Progress {
            state: RunState::Running,
            ..Progress::default()
        }
    }

    fn paused() -> Progress {
        Progress {
            state: RunState::Paused,
            paused_for: vec![PauseReason::Asked],
            ..Progress::default()
        }
    }

    /// An array of eight shards, of which these are counted.
    fn moment(running: Vec<RunningShard>) -> ArrayMoment {
        let host = HostShare {
            sessions: 3,
            tasks: 1000,
            nodes: 1 << 40,
            audits: 2,
            elapsed: Duration::from_secs(3600),
            last_seen: crate::ledger::unix_time(),
            ..HostShare::default()
        };
        let indices = running.iter().map(|shard| shard.index).collect();
        ArrayMoment {
            dir: "array-n24".into(),
            what: "n = 24 by colour-1 and census-1 in 8 shards".to_owned(),
            report: ArrayReport::of(
                [indices, vec![0, 1], vec![7], vec![6]],
                (1000, 3000),
                BTreeMap::from([("node7".to_owned(), host)]),
            ),
            running,
            speeds: Speeds {
                each: Duration::from_secs(2),
                nodes_per_second: vec![1e6, 2e6],
            },
            next_steps: vec!["sbatch --array=6-7 array-n24/slurm.sh".to_owned()],
        }
    }

    fn view(of: &ArrayMoment) -> View<'_> {
        View {
            of,
            theme: PLAIN,
            help: None,
            first: 0,
            note: None,
            zone: &jiff::tz::TimeZone::UTC,
            can_leave: true,
        }
    }

    #[test]
    fn a_screen_of_80_columns_shows_shards_and_hosts() {
        let silent = RunningShard {
            old: Some(Duration::from_secs(90)),
            ..shard(4, running())
        };
        let new = RunningShard {
            index: 5,
            snapshot: None,
            old: None,
        };
        let moment = moment(vec![shard(2, running()), shard(3, paused()), silent, new]);
        let shown = screen(&view(&moment), (80, 24)).join("\n");
        let expected = "\
array-n24 · n = 24 by colour-1 and census-1 in 8 shards
█████████████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░ 33.3 % · 1000 of 3000 tasks
finished 2   running 4   stopped 1   not begun 1   speed 0.00 node/s   audits 2
┌ speed since this watch began · at most 2.00 Mnode/s ─────────────────────────┐
│ █                                                                            │
│▄█                                                                            │
│██                                                                            │
└──────────────────────────────────────────────────────────────────────────────┘
 shard  host              does                  share          speed        left
     2  node\\u{1b}7       running              99.9 %    0.00 node/s        3:07
     3  node\\u{1b}7       paused (asked for)   99.9 %    0.00 node/s        3:07
     4  node\\u{1b}7       silent for 1:30      99.9 %              -           -
     5  ?                 starts
";
        assert!(shown.starts_with(expected), "{shown}");
        assert!(shown.contains("│node7: 1000 tasks, 100.0 % of the nodes"));
        assert!(
            shown.ends_with(
                "go on: sbatch --array=6-7 array-n24/slurm.sh\n\
                 p pause   d stop   ? help   t theme   q leave"
            ),
            "{shown}"
        );
    }

    #[test]
    fn an_array_is_paused_if_all_running_shards_are() {
        let of = |shards: Vec<Progress>| {
            let shards = (2..).zip(shards).map(|(index, of)| shard(index, of));
            moment(shards.collect()).is_paused()
        };
        assert!(of(vec![paused(), paused()]));
        assert!(!of(vec![paused(), running()]));
        let silent = RunningShard {
            old: Some(Duration::from_secs(90)),
            ..shard(3, paused())
        };
        assert!(!moment(vec![shard(2, paused()), silent]).is_paused());
        assert!(!of(Vec::new()));
    }

    #[test]
    fn every_size_is_drawn() {
        let moments = [0, 1, 300]
            .map(|shards| moment((0..shards).map(|index| shard(index, running())).collect()));
        for moment in &moments {
            for width in (1..=40).chain([80, 120, 300]) {
                for height in (1..=30).chain([60, 200]) {
                    for help in [None, Some(0), Some(99)] {
                        let view = View {
                            help,
                            note: Some("a note"),
                            first: 290,
                            ..view(moment)
                        };
                        let shown = screen(&view, (width, height));
                        assert!(
                            "array-n24 · n = 24".starts_with(&shown[0])
                                || width > 18
                                || help.is_some(),
                            "{shown:#?}"
                        );
                    }
                }
            }
        }
    }
}
