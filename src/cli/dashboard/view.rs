//! The picture of a run.

use std::time::Duration;

use jiff::ZonedDateTime;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::host_table::draw_hosts;
use super::parts::{
    Heights, boxed, draw_help, draw_speed, figure_lines, flow, key_line, percent, safe, share_bar,
    speed, state,
};
use super::picture::Picture;
use super::worker_table::draw_workers;
use crate::actors::{Progress, RunState};
use crate::cli::shell::{resume_command, serve_command};
use crate::telemetry::{Served, Snapshot, duration};

/// A run as it is drawn.
type View<'a> = super::picture::View<'a, Snapshot>;

impl Picture for Snapshot {
    fn draw(frame: &mut Frame<'_>, view: &View<'_>) -> (usize, Option<usize>) {
        draw(frame, view)
    }

    fn is_paused(&self) -> bool {
        self.progress.state == RunState::Paused
    }
}

fn draw(frame: &mut Frame<'_>, view: &View<'_>) -> (usize, Option<usize>) {
    let area = frame.area();
    let progress = &view.of.progress;
    let figures = figures(view, area.width);
    let footer = footer(view, area);
    let counting = match &progress.hosts {
        Some(hosts) => hosts.len().max(1),
        None => progress.workers.len(),
    };
    let rows = u16::try_from(counting + 1).unwrap_or(u16::MAX);
    let heights = Heights::new(area, figures.len(), footer.len());
    let room = heights.left;
    let events_height = if room >= 9 {
        room - rows.min(room - 5)
    } else {
        0
    };
    // On a tall screen, the picture of the speed grows, too.
    let more = events_height.saturating_sub(10).min(7);
    let (speed_height, events_height) = (heights.speed + more, events_height - more);
    let [head, share, figures_area, speed, workers, events, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(heights.figures),
        Constraint::Length(speed_height),
        Constraint::Min(0),
        Constraint::Length(events_height),
        Constraint::Length(footer.len() as u16),
    ])
    .areas(area);
    frame.render_widget(Paragraph::new(title(view, head.width)), head);
    frame.render_widget(Paragraph::new(share_line(view, share.width)), share);
    frame.render_widget(Paragraph::new(figures), figures_area);
    let speeds = &view.of.speeds;
    draw_speed(frame, view.theme, speed, speeds, "the beginning");
    let first = match &progress.hosts {
        Some(hosts) => draw_hosts(frame, view.theme, workers, hosts, view.first),
        None => draw_workers(frame, view.theme, workers, &progress.workers, view.first),
    };
    draw_events(frame, view, events);
    frame.render_widget(Paragraph::new(footer), foot);
    let help = view.help.map(|first| {
        let text = help_text(view);
        draw_help(frame, view.theme, area, &text, first)
    });
    (first, help)
}

fn title(view: &View<'_>, width: u16) -> Line<'static> {
    let Snapshot {
        n,
        given,
        engines,
        host,
        progress,
        ..
    } = view.of;
    let (state, style) = state(progress, view.theme);
    let engines: Vec<_> = engines.iter().map(|engine| engine.name()).collect();
    let rest = format!(
        " · {} · {} · {host}",
        duration(progress.elapsed),
        engines.join(" + ")
    );
    let board = format!("{n} queens");
    let between = " · ";
    // What is given is cut where it does not fit, so that the state and the machine are seen.
    let taken = [&board, between, &state, &rest].map(|part| part.chars().count());
    let left = usize::from(width).saturating_sub(taken.iter().sum());
    let given = given.as_ref().map_or_else(String::new, |given| {
        shortened(&format!(", given {given}"), left.max(LEAST_GIVEN))
    });
    Line::from(vec![
        Span::styled(board, view.theme.title()),
        Span::raw(safe(view.theme, &given)),
        Span::raw(view.theme.text(between)),
        Span::styled(state, style),
        Span::raw(safe(view.theme, &rest)),
    ])
}

/// At least so many characters of the title say what is given.
const LEAST_GIVEN: usize = 20;

/// A text of at most `most` characters, with an ellipsis where it is cut.
fn shortened(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

/// A bar, the share done, and the time left.
fn share_line(view: &View<'_>, width: u16) -> Line<'static> {
    let Progress { share, eta, .. } = view.of.progress;
    let mut after = match share {
        Some(share) => format!(" {}", percent(share)),
        None => " share not known".to_owned(),
    };
    if let Some(eta) = eta {
        after += &match eta.uncertainty {
            None => format!(" · ETA about {}", duration(eta.left)),
            Some(uncertainty) => {
                format!(" · ETA {} ± {}", duration(eta.left), duration(uncertainty))
            }
        };
    }
    if let Some(eta) = eta
        && width >= 100
        && let Some(end) = end(eta.left)
    {
        after += &format!(" · ends {end}");
    }
    share_bar(view.theme, width, share.unwrap_or(0.0), &after)
}

/// When this much time will have passed, by the local clock: the hour, with the day if it is another one.
fn end(left: Duration) -> Option<String> {
    let now = ZonedDateTime::now();
    let end = now.checked_add(left).ok()?;
    let format = match end.date() == now.date() {
        true => "%H:%M",
        false => "%Y-%m-%d %H:%M",
    };
    Some(end.strftime(format).to_string())
}

/// Figures with their names, as many on each line as fit.
fn figures(view: &View<'_>, width: u16) -> Vec<Line<'static>> {
    let Snapshot {
        progress,
        directory,
        ..
    } = view.of;
    let tasks = match progress.tasks_total {
        Some(total) => format!("{} of {total}", progress.tasks_done),
        None => progress.tasks_done.to_string(),
    };
    let speed = speed(progress.speed.nodes_per_second());
    let mut figures = match &progress.hosts {
        // What was found before the coordinator began is not added up.
        Some(hosts) => {
            let held: u64 = hosts.iter().map(|host| host.tasks_held).sum();
            vec![
                ("hosts", hosts.len().to_string(), Style::new()),
                ("speed", speed, Style::new()),
                ("tasks", tasks, Style::new()),
                ("held by hosts", held.to_string(), Style::new()),
            ]
        }
        None => vec![
            ("solutions", progress.solutions.to_string(), Style::new()),
            ("speed", speed, Style::new()),
            ("tasks", tasks, Style::new()),
            (
                "queue",
                format!("{} batches", progress.queued),
                Style::new(),
            ),
            ("audits", progress.audited.to_string(), Style::new()),
        ],
    };
    if directory.is_some() {
        let age = progress
            .checkpoint
            .map(|at| progress.elapsed.saturating_sub(at));
        let age = age.map_or("none yet".to_owned(), |age| {
            format!("{} ago", duration(age))
        });
        figures.push(("checkpoint", age, Style::new()));
    }
    if progress.paused > Duration::ZERO {
        figures.push(("paused", duration(progress.paused), view.theme.waiting()));
    }
    if progress.corrected > 0 {
        figures.push((
            "corrected",
            progress.corrected.to_string(),
            view.theme.bad(),
        ));
    }
    for sick in &progress.taken_out {
        figures.push(("counted wrongly", sick.worker.to_string(), view.theme.bad()));
    }
    let mut lines = figure_lines(view.theme, figures, width);
    if let Some(reason) = &progress.failure {
        lines.push(Line::styled(safe(view.theme, reason), view.theme.bad()));
    }
    lines
}

fn draw_events(frame: &mut Frame<'_>, view: &View<'_>, area: Rect) {
    if area.height < 3 {
        return;
    }
    let shown = usize::from(area.height - 2);
    let incidents = &view.of.incidents;
    let lines = incidents.iter().rev().take(shown).rev().map(|incident| {
        Line::from(vec![
            Span::styled(format!("{:>9} ", duration(incident.at)), view.theme.label()),
            Span::raw(safe(view.theme, &incident.text)),
        ])
    });
    let lines: Vec<_> = lines.collect();
    frame.render_widget(
        Paragraph::new(lines).block(boxed(view.theme, " events ")),
        area,
    );
}

/// How to stop and go on, and the keys.
fn footer(view: &View<'_>, area: Rect) -> Vec<Line<'static>> {
    let label = |text: &str| Span::styled(safe(view.theme, text), view.theme.label());
    let plain = |text: &str| Span::raw(safe(view.theme, text));
    let mut lines = Vec::new();
    if let Some(note) = view.note {
        lines.push(Line::styled(safe(view.theme, note), view.theme.waiting()));
    }
    let Snapshot {
        process,
        host,
        directory,
        served,
        ..
    } = view.of;
    let commands = [
        vec![
            label("stop: "),
            plain(&format!("kill {process}")),
            label(&format!(" on {host}   ")),
        ],
        match (directory, served) {
            (Some(directory), Some(Served { server, run })) => {
                vec![
                    label("go on: "),
                    plain(&serve_command(directory, server, run)),
                ]
            }
            (Some(directory), None) => vec![label("go on: "), plain(&resume_command(directory))],
            (None, _) => vec![label("nothing is kept: there is no --dir")],
        },
    ];
    let keys = [
        ("p", "pause"),
        ("d", "stop the run"),
        ("?", "help"),
        ("t", "theme"),
        ("q", if view.can_leave { "leave" } else { "quit" }),
    ];
    // On a small screen, a worker more is worth more than the first of them.
    let left_out = usize::from(area.height < 14);
    lines.extend(flow(commands.into_iter().skip(left_out), area.width));
    lines.extend(key_line(view.theme, &keys, area.width));
    lines
}

/// What the keys do, and what the names of the columns mean.
fn help_text(view: &View<'_>) -> Vec<&'static str> {
    let is_served = view.of.progress.hosts.is_some();
    let [pause, stop, rows, end, names] = match is_served {
        false => [
            "p        pause the run, or let it go on",
            "d d      stop the run in order; it can be resumed",
            "up down  scroll the workers or this, also j k,",
            "Ctrl-C   stop the run in order; twice: at once",
            WORKER_NAMES,
        ],
        true => [
            "p        give out no tasks, or go on",
            "d d      stop the coordinator; hosts wait for the next",
            "up down  scroll the hosts or this, also j k,",
            "Ctrl-C   stop the coordinator; twice: at once",
            HOST_NAMES,
        ],
    };
    let mut text = vec![
        pause,
        stop,
        "t        other colours, or ASCII alone",
        rows,
        "         page up, page down, home, end",
        "? Esc    close this",
        match view.can_leave {
            true => "q        leave, or stop the run, too: it asks",
            false => "q        stop the run in order: it asks",
        },
        match view.can_leave {
            true => "Ctrl-Z   suspend this program; the run goes on",
            false => end,
        },
        "",
    ];
    text.extend(names.lines());
    text
}

const WORKER_NAMES: &str = "\
share: of the nodes that this run searched
busy: share of the time with tasks
core: share of a core that it had then
waits: without, for the queue or at the end
speed of a worker: while it is busy";

const HOST_NAMES: &str = "\
share: of the nodes of the hosts that take part
speed: since the host joined
holds: tasks that it is to count
since: how long it takes part";

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::super::parts::screen;
    use super::super::theme::Theme;
    use super::*;
    use crate::actors::{Eta, HostProgress, PauseReason, SickWorker, WorkerProgress, WorkerState};
    use crate::board::Size;
    use crate::engine::{CountedBy, Engine, TaskKey, WorkerId};
    use crate::telemetry::SnapshotKeeper;

    const PLAIN: Theme = Theme::new(false, true);

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn worker(index: usize) -> WorkerProgress {
        WorkerProgress {
            id: WorkerId::Cpu(index),
            counted_by: Some(CountedBy::Cpu("avx2".into())),
            state: WorkerState::Counting(TaskKey {
                n: Size::new(22).unwrap(),
                engine: Engine::Colour,
                version: 4,
                index: 400 + index as u64,
            }),
            until: seconds(60),
            tasks: 31,
            nodes: 1_400_000_000,
            device_tasks: 0,
            device_nodes: 0,
            batches: Duration::from_secs(1),
            cpu: Duration::from_millis(150),
            busy: seconds(59),
            waiting: seconds(1),
            starved: Duration::ZERO,
            finished: seconds(60),
        }
    }

    #[test]
    fn what_is_given_is_cut_to_fit() {
        assert_eq!(shortened("given queens b4", 15), "given queens b4");
        assert_eq!(shortened("given queens b4", 10), "given que…");
    }

    /// A run of 22 queens with so many workers, after a minute.
    fn run(workers: usize) -> Snapshot {
        let directory = Some("n22".into());
        let keeper = SnapshotKeeper::new(Size::new(22).unwrap(), "node7".to_owned(), directory);
        let at = |second, nodes| Progress {
            state: RunState::Running,
            elapsed: seconds(second),
            nodes,
            ..Progress::default()
        };
        for second in 1..60 {
            keeper.snapshot(at(second, second * second * 1_000_000));
        }
        let mut snapshot = keeper.snapshot(Progress {
            tasks_done: 62,
            tasks_total: Some(4298),
            share: Some(0.371_99),
            solutions: 1_004_000_000_000,
            eta: Some(Eta {
                left: seconds(187),
                uncertainty: Some(Duration::from_millis(2_340)),
            }),
            queued: 4,
            audited: 3,
            workers: (0..workers).map(worker).collect(),
            ..at(60, 3_600_000_000)
        });
        snapshot.engines = vec![Engine::Colour, Engine::Census];
        snapshot.process = 4711;
        snapshot.progress.checkpoint = Some(Duration::from_millis(59_500));
        let incidents = ["planning", "running"];
        snapshot.incidents = incidents
            .map(|text| crate::telemetry::Incident {
                at: Duration::ZERO,
                text: text.to_owned(),
            })
            .into();
        snapshot
    }

    fn view(snapshot: &Snapshot, theme: Theme) -> View<'_> {
        View {
            of: snapshot,
            theme,
            help: None,
            first: 0,
            note: None,
            can_leave: true,
        }
    }

    #[test]
    fn a_screen_of_80_columns_shows_everything() {
        let snapshot = run(2);
        let shown = screen(&view(&snapshot, PLAIN), (80, 24));
        let expected = "\
22 queens · running · 1:00 · colour + census · node7
████████████████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░ 37.1 % · ETA 3:07 ± 2.3 s
solutions 1004000000000   speed 0.00 node/s   tasks 62 of 4298   queue 4 batches
audits 3   checkpoint 0.5 s ago
┌ speed since the beginning · at most 119 Mnode/s ─────────────────────────────┐
│                                          ▁▁▁▂▂▃▃▃▄▄▅▅▅▆▆▇▇█                  │
│                      ▁▁▁▂▂▃▃▃▄▄▅▅▅▆▆▇▇▇████████████████████                  │
│  ▁▁▁▂▂▃▃▃▄▄▅▅▅▆▆▇▇▇████████████████████████████████████████                  │
└──────────────────────────────────────────────────────────────────────────────┘
worker      does                   speed    share  waits   busy   core    tasks
worker-0    task 400        23.7 Mnode/s   50.0 %    2 %   98 %   15 %       31
worker-1    task 401        23.7 Mnode/s   50.0 %    2 %   98 %   15 %       31
┌ events ──────────────────────────────────────────────────────────────────────┐
│    0.0 s planning                                                            │
│    0.0 s running                                                             │
│                                                                              │
│                                                                              │
│                                                                              │
│                                                                              │
│                                                                              │
│                                                                              │
└──────────────────────────────────────────────────────────────────────────────┘
stop: kill 4711 on node7   go on: queenfold resume n22
p pause   d stop the run   ? help   t theme   q leave";
        assert_eq!(shown.join("\n"), expected);
    }

    #[test]
    fn a_small_screen_without_unicode_shows_what_matters() {
        let snapshot = run(2);
        let shown = screen(&view(&snapshot, Theme::new(false, false)), (40, 12));
        let expected = "\
22 queens | running | 1:00 | colour + ce
####......... 37.1 % | ETA 3:07 +- 2.3 s
solutions 1004000000000
speed 0.00 node/s   tasks 62 of 4298
queue 4 batches   audits 3
checkpoint 0.5 s ago
worker      does                   speed
worker-0    task 400        23.7 Mnode/s
worker-1    task 401        23.7 Mnode/s
go on: queenfold resume n22
p pause   d stop the run   ? help
t theme   q leave";
        assert_eq!(shown.join("\n"), expected);
        assert!(shown.iter().all(|line| line.is_ascii()));
    }

    #[test]
    fn every_size_is_drawn_and_shows_the_state() {
        let mut snapshot = run(300);
        snapshot.progress.taken_out.push(SickWorker {
            worker: WorkerId::Cpu(3),
            counted_by: None,
            reason: "its canary".to_owned(),
            suspects: 3,
        });
        snapshot.progress.corrected = 1;
        for width in (1..=40).chain([80, 120, 300]) {
            for height in (1..=30).chain([60, 200]) {
                for help in [None, Some(0), Some(99)] {
                    let view = View {
                        help,
                        note: Some("a note"),
                        first: 290,
                        ..view(&snapshot, PLAIN)
                    };
                    let shown = screen(&view, (width, height));
                    assert!(
                        "22 queens · running".starts_with(&shown[0])
                            || width > 18
                            || help.is_some(),
                        "{shown:#?}"
                    );
                }
            }
        }
    }

    #[test]
    fn every_key_of_the_help_can_be_seen_on_a_small_screen() {
        let snapshot = run(2);
        let help = |first, size| {
            let mut view = view(&snapshot, PLAIN);
            view.help = Some(first);
            let mut terminal = Terminal::new(TestBackend::new(20, 5)).unwrap();
            let mut shown = first;
            terminal
                .draw(|frame| shown = draw(frame, &view).1.unwrap())
                .unwrap();
            (shown, screen(&view, size).join("\n"))
        };
        let mut seen = String::new();
        let last = help(usize::MAX, (20, 5)).0;
        for first in 0..=last {
            let (shown, screen) = help(first, (20, 5));
            assert_eq!(shown, first);
            assert!(screen.contains("keys: up, down"), "{screen}");
            seen += &screen;
        }
        for key in [
            "│p ",
            "│d d ",
            "│t ",
            "│up down ",
            "│? ",
            "│q ",
            "while it is busy",
        ] {
            assert!(seen.contains(key), "no {key} in {seen}");
        }
        // Where there is room for all of it, nothing scrolls.
        let all = help(99, (80, 24)).1;
        assert!(all.contains(" keys ─") && all.contains("│p  "), "{all}");
    }

    #[test]
    fn workers_are_scrolled_and_a_pause_says_why() {
        let mut snapshot = run(300);
        snapshot.progress.state = RunState::Paused;
        snapshot.progress.paused_for = vec![PauseReason::Asked, PauseReason::Heat];
        let mut view = view(&snapshot, PLAIN);
        view.first = 100;
        let shown = screen(&view, (80, 24)).join("\n");
        assert!(shown.contains("paused (asked for, too hot)"), "{shown}");
        assert!(shown.contains("worker-100 "), "{shown}");
        assert!(shown.contains("\n101-"), "{shown}");
        assert!(!shown.contains("worker-99 "), "{shown}");
    }

    #[test]
    fn a_run_over_many_hosts_shows_them_and_how_it_is_served() {
        let host = |name: &str, held, silent| HostProgress {
            host: name.to_owned(),
            cpu_workers: 64,
            devices: 1,
            isa: "avx512".to_owned(),
            tasks_held: held,
            tasks: 40,
            nodes: 6_000_000_000,
            joined: seconds(60),
            silent: seconds(silent),
            paused: false,
            sick: 0,
        };
        let mut snapshot = run(0);
        snapshot.served = Some(Served {
            server: "nats://head".to_owned(),
            run: "n22".to_owned(),
        });
        snapshot.progress.hosts = Some(vec![
            host("node1", 300, 1),
            host("node2", 200, 25),
            host("node3", 0, 0),
        ]);
        let shown = screen(&view(&snapshot, PLAIN), (80, 24)).join("\n");
        let figures = "hosts 3   speed 0.00 node/s   tasks 62 of 4298   held by hosts 500";
        assert!(shown.contains(figures), "{shown}");
        let table = "\
host              does                        speed    share    holds     tasks
node1             counts by avx512      100 Mnode/s   33.3 %      300        40
node2             silent for 25 s       100 Mnode/s   33.3 %      200        40
node3             waits                 100 Mnode/s   33.3 %        0        40
";
        assert!(shown.contains(table), "{shown}");
        let footer = "stop: kill 4711 on node7   go on: queenfold serve --nats nats://head n22";
        assert!(shown.contains(footer), "{shown}");
        // Under another name than that of its directory.
        snapshot.served.as_mut().unwrap().run = "record".to_owned();
        snapshot.progress.hosts = Some(Vec::new());
        let shown = screen(&view(&snapshot, PLAIN), (120, 24)).join("\n");
        assert!(shown.contains("--run record n22"), "{shown}");
        assert!(
            shown.contains("no host takes part at the moment"),
            "{shown}"
        );
    }

    #[test]
    fn texts_of_strangers_cannot_control_the_terminal() {
        let mut snapshot = run(1);
        snapshot.host = "a\u{1b}]0;b\u{7}".to_owned();
        snapshot.incidents[0].text = "c\u{1b}[2Jd\n".to_owned();
        let shown = screen(&view(&snapshot, PLAIN), (120, 24)).join("");
        assert!(!shown.chars().any(char::is_control), "{shown:?}");
    }
}
