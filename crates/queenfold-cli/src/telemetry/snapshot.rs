//! What a dashboard shows of a run, as one value that another process can read.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize, Serializer};

use super::incident;
use queenfold::actors::{EventKind, Observer, Progress, RunEvent, RunState, TaskMap};
use queenfold::board::{GivenBoard, Size};
use queenfold::engine::{Engine, seconds};
use queenfold::machine::{Activity, ActivityWatch};

/// The version of a written snapshot. A reader refuses others.
const SNAPSHOT_FORMAT: u32 = 4;

/// Speeds that are kept. When there are more, each two become one.
const MOST_SPEEDS: usize = 600;

/// How often the machine is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Kinds of incidents that are kept.
const MOST_INCIDENTS: usize = 50;

/// A run at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The version of this value.
    queenfold_snapshot: u32,
    /// The board.
    pub n: Size,
    /// What is given on it, in a few words; `None` for a free board.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<String>,
    /// The engines whose tasks are counted; empty before that is known.
    pub engines: Vec<Engine>,
    /// The machine.
    pub host: String,
    /// The number of the process.
    pub process: u32,
    /// The run directory, if there is one. In JSON, bytes that are no UTF-8 are replaced.
    #[serde(serialize_with = "shown_path")]
    pub directory: Option<PathBuf>,
    /// When it was taken, in seconds since 1970.
    pub taken: f64,
    /// How far the run is, and what the workers do.
    pub progress: Progress,
    /// Which tasks are counted.
    pub tasks: TaskMap,
    /// What the machine did lately.
    pub machine: Activity,
    /// Speeds since the run began.
    pub speeds: Speeds,
    /// What happened, the latest at the end. Of incidents that say the same, this is the last one.
    pub incidents: VecDeque<Incident>,
}

/// How fast a run counted: one mean after the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Speeds {
    /// The time that each of them covers.
    #[serde(with = "seconds")]
    pub each: Duration,
    /// Nodes per second.
    pub nodes_per_second: Vec<f64>,
}

impl Default for Speeds {
    fn default() -> Self {
        Self {
            each: Duration::from_secs(1),
            nodes_per_second: Vec::new(),
        }
    }
}

/// Something that a person who watches wants to know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Incident {
    /// When, measured from the beginning of the run.
    #[serde(with = "seconds")]
    pub at: Duration,
    /// What, in one line.
    pub text: String,
    /// How often such an incident happened.
    pub times: u64,
}

impl Snapshot {
    /// Reads a snapshot that was written as JSON. It may come from a stranger.
    ///
    /// # Errors
    /// It is none, or one of another version.
    pub fn read(text: &[u8]) -> Result<Self, String> {
        let snapshot: Self = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        match snapshot.queenfold_snapshot {
            SNAPSHOT_FORMAT => Ok(snapshot),
            other => Err(format!(
                "it has version {other}, and this program reads {SNAPSHOT_FORMAT}"
            )),
        }
    }
}

#[expect(clippy::ref_option, reason = "what serde calls it with")]
fn shown_path<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    let shown = path.as_ref().map(|path| path.display().to_string());
    shown.serialize(serializer)
}

/// Observes a run for snapshots.
#[derive(Debug)]
pub struct SnapshotKeeper {
    board: GivenBoard,
    host: String,
    directory: Option<PathBuf>,
    kept: Mutex<Kept>,
    /// Not with what is kept: threads that count wait for that, and to look at the machine takes milliseconds.
    machine: Mutex<Looked>,
}

/// What the machine did when it was looked at.
#[derive(Debug)]
struct Looked {
    watch: ActivityWatch,
    at: Instant,
    activity: Activity,
}

#[derive(Debug, Default)]
struct Kept {
    engines: Vec<Engine>,
    incidents: VecDeque<Incident>,
    speeds: Speeds,
    /// Up to when speeds are known, and the nodes until then.
    until: (Duration, u64),
}

impl SnapshotKeeper {
    /// For a run of the board on this machine.
    pub fn new(board: impl Into<GivenBoard>, host: String, directory: Option<PathBuf>) -> Self {
        Self {
            board: board.into(),
            host,
            directory,
            kept: Mutex::new(Kept::default()),
            machine: Mutex::new(Looked {
                watch: ActivityWatch::begin(),
                at: Instant::now(),
                activity: Activity::default(),
            }),
        }
    }

    /// The run now, whose progress and tasks these are.
    pub fn snapshot(&self, progress: Progress, tasks: TaskMap) -> Snapshot {
        let machine = self.machine.lock().now();
        let mut kept = self.kept.lock();
        kept.note_speed(&progress);
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Snapshot {
            queenfold_snapshot: SNAPSHOT_FORMAT,
            n: self.board.size(),
            given: (!self.board.is_free()).then(|| self.board.brief()),
            engines: kept.engines.clone(),
            host: self.host.clone(),
            process: std::process::id(),
            directory: self.directory.clone(),
            taken: now.unwrap_or_default().as_secs_f64(),
            progress,
            tasks,
            machine,
            speeds: kept.speeds.clone(),
            incidents: kept.incidents.clone(),
        }
    }
}

impl Looked {
    fn now(&mut self) -> Activity {
        if self.at.elapsed() >= LOOK_EVERY {
            self.activity = self.watch.look();
            self.at = Instant::now();
        }
        self.activity.clone()
    }
}

impl Kept {
    /// Adds the mean speed since the last one, for each full interval that has passed.
    fn note_speed(&mut self, progress: &Progress) {
        let (since, nodes) = self.until;
        let all = progress.elapsed.saturating_sub(since);
        let intervals = all.div_duration_f64(self.speeds.each) as usize;
        if intervals == 0 {
            return;
        }
        let passed = self.speeds.each.saturating_mul(intervals as u32);
        let mean = progress.nodes.saturating_sub(nodes) as f64 / all.as_secs_f64();
        let speeds = &mut self.speeds.nodes_per_second;
        speeds.extend(std::iter::repeat_n(mean, intervals.min(MOST_SPEEDS)));
        let in_passed = (mean * passed.as_secs_f64()) as u64;
        self.until = (since + passed, nodes + in_passed);
        // Of an odd number, the last would cover half the time.
        while speeds.len() > MOST_SPEEDS && speeds.len().is_multiple_of(2) {
            *speeds = speeds
                .chunks(2)
                .map(|two| two.iter().sum::<f64>() / 2.0)
                .collect();
            self.speeds.each *= 2;
        }
    }
}

impl Observer for SnapshotKeeper {
    fn event(&self, event: &RunEvent) {
        let Some(text) = incident(event) else {
            return;
        };
        let mut kept = self.kept.lock();
        match &event.kind {
            // Every run begins with these.
            EventKind::State(RunState::Planning) => {
                *kept = Kept::default();
                return;
            }
            EventKind::State(RunState::Running) if kept.incidents.is_empty() => return,
            EventKind::Planned { plans, .. } => {
                kept.engines = plans.iter().map(|plan| plan.engine).collect();
                return;
            }
            _ => {}
        }
        let like = kept.incidents.iter().position(|of| of.text == text);
        let before = like.and_then(|at| kept.incidents.remove(at));
        kept.incidents.push_back(Incident {
            at: event.at,
            text,
            times: before.map_or(0, |of| of.times) + 1,
        });
        if kept.incidents.len() > MOST_INCIDENTS {
            kept.incidents.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keeper() -> SnapshotKeeper {
        SnapshotKeeper::new(Size::new(20).unwrap(), "node7".to_owned(), None)
    }

    #[test]
    fn speeds_cover_the_whole_run_however_long_it_is() {
        let keeper = keeper();
        let mut snapshot = None;
        // A thousand nodes each second, looked at each 0.4 s, and not at all for a while.
        for step in (0..5000).filter(|step| !(700..900).contains(step)) {
            let elapsed = Duration::from_millis(400 * step);
            snapshot = Some(keeper.snapshot(
                Progress {
                    elapsed,
                    nodes: 400 * step,
                    ..Progress::default()
                },
                TaskMap::default(),
            ));
        }
        let speeds = snapshot.unwrap().speeds;
        let count = speeds.nodes_per_second.len();
        assert!(
            (MOST_SPEEDS / 2..=MOST_SPEEDS + 1).contains(&count),
            "{count}"
        );
        let covered = speeds.each * count as u32;
        assert!((1990..=2000).contains(&covered.as_secs()), "{covered:?}");
        for speed in speeds.nodes_per_second {
            assert!((speed / 1000.0 - 1.0).abs() < 0.01, "{speed}");
        }
    }

    #[test]
    fn a_snapshot_is_read_as_it_was_written_and_others_are_refused() {
        let keeper = keeper();
        for at in 0..100 {
            keeper.event(&RunEvent {
                at: Duration::from_secs(at),
                kind: EventKind::Failed {
                    reason: "x".repeat(at as usize),
                },
            });
        }
        let mut snapshot = keeper.snapshot(Progress::default(), TaskMap::default());
        // JSON keeps a time of now to the last digit but one.
        snapshot.taken = 1_700_000_000.5;
        assert_eq!(snapshot.incidents.len(), MOST_INCIDENTS);
        let text = serde_json::to_string(&snapshot).unwrap();
        assert_eq!(Snapshot::read(text.as_bytes()), Ok(snapshot));
        let newer = text.replace(&format!("snapshot\":{SNAPSHOT_FORMAT}"), "snapshot\":99");
        assert!(
            Snapshot::read(newer.as_bytes())
                .unwrap_err()
                .contains("version 99")
        );
        assert!(Snapshot::read(b"{}").is_err());
    }

    #[test]
    fn what_happens_again_is_kept_once_with_its_last_time() {
        let keeper = keeper();
        let tell = |at, kind| {
            let at = Duration::from_secs(at);
            keeper.event(&RunEvent { at, kind });
        };
        let contradicted = || EventKind::Contradicted {
            reason: "8 tasks differ".to_owned(),
        };
        // How every run begins is no news.
        for state in [RunState::Planning, RunState::Running] {
            tell(0, EventKind::State(state));
        }
        tell(1, contradicted());
        for at in 2..40 {
            tell(at, EventKind::State(RunState::Running));
        }
        tell(50, contradicted());
        let incidents = keeper.snapshot(Progress::default(), TaskMap::default());
        let incidents = incidents.incidents.iter();
        let told: Vec<_> = incidents
            .map(|of| (of.at.as_secs(), of.times, of.text.as_str()))
            .collect();
        let expected = [
            (39, 38, "running"),
            (50, 2, "contradiction: 8 tasks differ"),
        ];
        assert_eq!(told, expected);
    }
}
