//! Tests: which runs a directory keeps, and how shards are counted, stopped and resumed.

use std::sync::Arc;

use super::*;
use crate::ledger::{Facts, Recording, RunInfo, Shard};
use queenfold::actors::{Control, EventKind, Observer, RunEvent, Source};
use queenfold::board::Size;
use queenfold::engine::{Engine, FunctionPlan, Plan, Tally};
use queenfold::job::{DeviceChoice, Job, plan};

fn job(n: u32) -> Job {
    Job::new(Size::new(n).unwrap()).devices(DeviceChoice::Off)
}

#[test]
fn a_run_that_could_not_be_resumed_is_not_begun() {
    let folder = tempfile::tempdir().unwrap();
    let n = Size::new(8).unwrap();
    let own = Job::of(Arc::new(FunctionPlan::new(n, 1, |_| Tally::default())));
    let run = RunDirectory::create(folder.path().join("run"), &own);
    let error = run.run().unwrap_err();
    let RunDirectoryError::ForeignPlan(name) = error else {
        panic!("{error}");
    };
    assert_eq!(name.to_string(), "own-1");
    assert!(!folder.path().join("run").exists());
}

#[test]
fn a_run_of_an_own_engine_is_left_to_its_owner() {
    let folder = tempfile::tempdir().unwrap();
    let n = Size::new(8).unwrap();
    let own = FunctionPlan::new(n, 1, |_| Tally::default());
    let plans: [Arc<dyn Plan>; 1] = [Arc::new(own)];
    let info = RunInfo::new(n, &plans, Shard::WHOLE, String::new());
    let open = Recording::create(folder.path(), &info, &plans, &Facts::default());
    drop(open.unwrap());
    let error = RunDirectory::resume(folder.path()).err().unwrap();
    assert!(error.to_string().contains("the run has"), "{error}");
    assert!(Recording::resume(folder.path(), &plans, &Facts::default()).is_ok());
}

#[test]
fn shards_are_counted_one_by_one_and_a_run_is_resumed_to_its_result() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("part");
    let part = RunDirectory::create(&directory, &job(14)).shard("0/2".parse().unwrap());
    let error = part.run().unwrap_err();
    assert!(
        matches!(error, RunDirectoryError::OneShard { .. }),
        "{error}"
    );

    let directory = folder.path().join("whole");
    let new = RunDirectory::create(&directory, &job(12));
    new.run().unwrap();
    let again = new.run().unwrap_err();
    assert!(matches!(again, RunDirectoryError::Ledger(_)), "{again}");
    let resumed = RunDirectory::resume(&directory).unwrap();
    let result = resumed.run().unwrap().result;
    assert_eq!(result.outcome.total, 14_200);
    assert_eq!(
        result.report.workers.iter().map(|w| w.tasks).sum::<u64>(),
        0
    );
}

/// Drains a run as soon as it has recorded a task.
struct DrainEarly(Control);

impl Observer for DrainEarly {
    fn event(&self, event: &RunEvent) {
        if matches!(
            event.kind,
            EventKind::Advanced {
                tasks_done: 1..,
                ..
            }
        ) {
            self.0.drain();
        }
    }
}

#[test]
fn a_stopped_shard_is_measured_by_its_own_tasks() {
    let folder = tempfile::tempdir().unwrap();
    let control = Control::new();
    let n = Size::new(16).unwrap();
    let shard: Shard = "0/2".parse().unwrap();
    let part = Job::of(plan(Engine::Chain, n))
        .devices(DeviceChoice::Off)
        .workers(1)
        .control(&control)
        .observer(Arc::new(DrainEarly(control.clone())));
    let part = RunDirectory::create(folder.path().join("part"), &part).shard(shard);
    let error = part.run().unwrap_err();
    let tasks = [Engine::Chain, Engine::Census].map(|engine| plan(engine, n).tasks());
    let own = tasks.map(|tasks| tasks.div_ceil(2)).iter().sum();
    let report = error.report().unwrap();
    assert_eq!(report.tasks_total, own);
    assert_eq!(report.tasks_planned, tasks.iter().sum::<u64>());
    assert_eq!(control.progress().tasks_total, Some(own));
    let said = error.to_string();
    let counted = format!(" {} of {own} tasks of n = 16", report.tasks_done);
    assert!(said.contains(&counted), "{said}");
}

/// Dealt by cost, and by remainder where there are as many parts as tasks.
#[test]
fn a_shard_of_several_parts_is_counted_part_by_part() {
    for (engine, shard) in [(Engine::Colour, "3-9/20"), (Engine::Chain, "100-499/1025")] {
        let folder = tempfile::tempdir().unwrap();
        let plans = [plan(engine, Size::new(18).unwrap())];
        let shard: Shard = shard.parse().unwrap();
        let info = RunInfo::new(plans[0].given(), &plans, shard, String::new());
        let run = Recording::create(folder.path(), &info, &plans, &Facts::default()).unwrap();
        let walk = run.open(plans[0].as_ref()).walk;
        let parts: Vec<u64> = walk
            .map(|task| run.division.part_of(plans[0].key(task)))
            .collect();
        let mut seen = parts.clone();
        seen.dedup();
        assert!(
            parts.is_sorted() && seen.into_iter().eq(shard.parts()),
            "{parts:?}"
        );
    }
}
