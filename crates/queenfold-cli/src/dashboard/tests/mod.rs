//! What stands on the screen of a run. `run.json` is the `live.json` of a real run, as CONTRIBUTING.md says. After a
//! change that is meant, `SNAPSHOTS=overwrite cargo test --release --lib dashboard` writes the screens and `docs/dashboard.svg`.

mod svg;

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::tz::TimeZone;
use snapbox::{Assert, Data};

use super::canvas::Canvas;
use super::theme::Theme;
use super::view::View;
use super::view::draw;
use crate::telemetry::{Snapshot, SnapshotKeeper};
use queenfold::actors::{
    Eta, FaultyWorker, PauseReason, Progress, RunState, TaskMap, WorkerProgress, WorkerState,
};
use queenfold::board::Size;
use queenfold::engine::{CountedBy, Engine, TaskKey, WorkerId};

const PLAIN: Theme = Theme::new(false, true);

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn worker(index: usize) -> WorkerProgress {
    WorkerProgress {
        counted_by: Some(CountedBy::Cpu("avx2".into())),
        state: WorkerState::Counting(TaskKey {
            n: Size::new(22).unwrap(),
            engine: Engine::Colour,
            version: 4,
            index: 400 + index as u64,
        }),
        tasks: 31,
        nodes: 1_400_000_000,
        batches: Duration::from_secs(1),
        cpu: Duration::from_millis(150),
        busy: seconds(59),
        waiting: seconds(1),
        finished: seconds(60),
        ..WorkerProgress::new(WorkerId::Cpu(index))
    }
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
        keeper.snapshot(at(second, second * second * 1_000_000), TaskMap::default());
    }
    let tasks = TaskMap {
        tasks: 4298,
        each: 3,
        counted: (0..1433).map(|cell| cell % 4).collect(),
        before: vec![0; 1433],
        ..TaskMap::default()
    };
    let mut snapshot = keeper.snapshot(
        Progress {
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
        },
        tasks,
    );
    snapshot.engines = vec![Engine::Colour, Engine::Census];
    snapshot.process = 4711;
    snapshot.progress.checkpoint = Some(Duration::from_millis(59_500));
    let incidents = ["planning", "running"];
    snapshot.incidents = incidents
        .map(|text| crate::telemetry::Incident {
            at: Duration::ZERO,
            text: text.to_owned(),
            times: 1,
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
        zone: TimeZone::UTC,
        can_leave: true,
    }
}

/// What stands on a screen of this size.
fn screen(view: &View<'_>, (width, height): (u16, u16)) -> Vec<String> {
    let mut canvas = Canvas::new(width, height);
    draw(&mut canvas, view);
    let line = |y| canvas.row(y).iter().filter_map(|place| place.0);
    (0..height)
        .map(|y| line(y).collect::<String>().trim_end().to_owned())
        .collect()
}

/// Compares with a file.
fn assert_file(file: &Path, text: String) {
    Assert::new()
        .action_env("SNAPSHOTS")
        .eq(text, Data::read_from(file, None).raw());
}

fn beside(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("src/dashboard/tests").join(name)
}

fn real_run() -> Snapshot {
    Snapshot::read(include_bytes!("run.json")).unwrap()
}

#[test]
fn the_screens_of_a_run_are_as_before() {
    let snapshot = real_run();
    for (width, height) in [(10, 3), (20, 5), (40, 12), (80, 24), (120, 30), (250, 60)] {
        let shown = screen(&view(&snapshot, PLAIN), (width, height)).join("\n");
        assert_file(&beside(&format!("run-{width}x{height}.txt")), shown + "\n");
    }
    let ascii = screen(&view(&snapshot, Theme::new(false, false)), (100, 30)).join("\n");
    assert!(ascii.is_ascii(), "{ascii}");
    assert_file(&beside("run-ascii.txt"), ascii + "\n");
}

#[test]
fn the_picture_in_the_readme_is_of_this_dashboard() {
    let snapshot = real_run();
    let mut canvas = Canvas::new(120, 30);
    draw(&mut canvas, &view(&snapshot, Theme::new(true, true)));
    let n = snapshot.n;
    let title = format!("The dashboard of queenfold run -n {n} --dir n{n} --tui");
    let picture = svg::picture(&canvas, &title);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    assert_file(&root.join("../../docs/dashboard.svg"), picture);
}

#[test]
fn every_size_is_drawn_and_shows_the_state() {
    let mut snapshot = run(300);
    snapshot.progress.faulty.push(FaultyWorker {
        worker: WorkerId::Cpu(3),
        counted_by: None,
        reason: "its canary".to_owned(),
        suspects: 3,
    });
    snapshot.progress.corrected = 1;
    let shown = screen(&view(&snapshot, PLAIN), (160, 34)).join("\n");
    for wrong in [
        "audits 3   corrections 1",
        "faulty worker-3 on node7: its canary",
    ] {
        assert!(shown.contains(wrong), "{shown}");
    }
    for empty in [(0, 0), (0, 9), (9, 0)] {
        screen(&view(&snapshot, PLAIN), empty);
    }
    for width in (1..=24).chain([40, 80, 100, 300]) {
        for height in (1..=16).chain([24, 30, 60, 200]) {
            for help in [None, Some(99)] {
                let view = View {
                    help,
                    note: Some("a note"),
                    first: 290,
                    ..view(&snapshot, PLAIN)
                };
                let shown = screen(&view, (width, height));
                assert!(
                    "22 queens · running".starts_with(&shown[0]) || width > 18 || help.is_some(),
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
        let shown = draw(&mut Canvas::new(20, 5), &view).1.unwrap();
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
        "│other ",
        "│q ",
        "│busy: share",
        "│stolen: had",
        "│CPU: share",
    ] {
        assert!(seen.contains(key), "no {key} in {seen}");
    }
    // Where there is room for all of it, nothing scrolls.
    let all = help(99, (80, 34)).1;
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
fn texts_of_strangers_cannot_control_the_terminal() {
    let mut snapshot = run(1);
    snapshot.host = "a\u{1b}]0;b\u{7}".to_owned();
    snapshot.incidents[0].text = "c\u{1b}[2Jd\n".to_owned();
    let shown = screen(&view(&snapshot, PLAIN), (120, 24)).join("");
    assert!(!shown.chars().any(char::is_control), "{shown:?}");
}
