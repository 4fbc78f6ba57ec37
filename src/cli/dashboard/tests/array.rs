//! What stands on the screen of a job array.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::tz::TimeZone;

use super::{PLAIN, assert_file, beside};
use crate::actors::{Eta, PauseReason, Progress, RunState, TaskMap};
use crate::board::Size;
use crate::cli::dashboard::array_view::ArrayMoment;
use crate::cli::dashboard::parts::screen;
use crate::cli::dashboard::picture::Picture;
use crate::cli::print::array_report::ArrayReport;
use crate::cli::print::shard_moments::{RunningShard, ShardMoments};
use crate::ledger::HostShare;
use crate::telemetry::{RunFacts, SnapshotKeeper, Speeds};

type View<'a> = crate::cli::dashboard::picture::View<'a, ArrayMoment>;

fn shard(progress: Progress) -> RunningShard {
    let keeper = SnapshotKeeper::new(Size::new(24).unwrap(), "node\u{1b}7".to_owned(), None);
    RunningShard {
        snapshot: Some(keeper.snapshot(
            Progress {
                share: Some(0.999_99),
                eta: Some(Eta {
                    left: Duration::from_secs(187),
                    uncertainty: Some(Duration::from_secs(3)),
                }),
                ..progress
            },
            TaskMap::default(),
        )),
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

/// An array of eight shards, of which these are counted, from the third on.
fn moment(running: Vec<RunningShard>) -> ArrayMoment {
    let running: BTreeMap<_, _> = (2..).zip(running).collect();
    let host = HostShare {
        sessions: 3,
        tasks: 1000,
        nodes: 1 << 40,
        audits: 2,
        elapsed: Duration::from_secs(3600),
        // Later than now, which is told as now.
        last_seen: i64::MAX,
        ..HostShare::default()
    };
    let indices = running.keys().copied().collect();
    let mut moments = ShardMoments::default();
    moments.running = running;
    let facts = RunFacts {
        tasks: (1000, Some(3000)),
        share: Some(1.0 / 3.0),
        nodes_per_second: Some(2e6),
        audits: Some(2),
        ..RunFacts::default()
    };
    ArrayMoment {
        dir: "array-n24".into(),
        what: "n = 24 by colour-1 and census-1 in 8 shards".to_owned(),
        report: ArrayReport::of(
            [vec![6], indices, vec![7], vec![0, 1]],
            facts,
            BTreeMap::from([("node7".to_owned(), host)]),
            moments,
        ),
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
        zone: TimeZone::UTC,
        can_leave: true,
    }
}

#[test]
fn the_screens_of_an_array_are_as_before() {
    let silent = RunningShard {
        old: Some(Duration::from_secs(90)),
        ..shard(running())
    };
    let new = RunningShard::default();
    let moment = moment(vec![shard(running()), shard(paused()), silent, new]);
    for (width, height) in [(20, 5), (40, 12), (80, 24), (120, 34), (250, 60)] {
        let shown = screen(&view(&moment), (width, height)).join("\n");
        assert_file(
            &beside(&format!("array-{width}x{height}.txt")),
            shown + "\n",
        );
    }
}

#[test]
fn an_array_is_paused_if_all_running_shards_are() {
    let of = |shards: Vec<Progress>| moment(shards.into_iter().map(shard).collect()).is_paused();
    assert!(of(vec![paused(), paused()]));
    assert!(!of(vec![paused(), running()]));
    let silent = RunningShard {
        old: Some(Duration::from_secs(90)),
        ..shard(paused())
    };
    assert!(!moment(vec![shard(paused()), silent]).is_paused());
    assert!(!of(Vec::new()));
}

#[test]
fn every_size_is_drawn() {
    let moments = [0, 1, 300].map(|shards| moment((0..shards).map(|_| shard(running())).collect()));
    for moment in &moments {
        for width in (1..=24).chain([40, 80, 100, 300]) {
            for height in (1..=16).chain([24, 30, 60, 200]) {
                for help in [None, Some(99)] {
                    let view = View {
                        help,
                        note: Some("a note"),
                        first: 290,
                        ..view(moment)
                    };
                    let shown = screen(&view, (width, height));
                    assert!(
                        "array-n24 · n = 24".starts_with(&shown[0]) || width > 18 || help.is_some(),
                        "{shown:#?}"
                    );
                }
            }
        }
    }
}
