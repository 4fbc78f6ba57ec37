//! Runs with a ledger: what they restore and what they refuse.

use std::fs;

use parking_lot::Mutex;
use queenfold::actors::{EventKind, Finding, Observer, OnCheckpoint, RunEvent, WholePlans};
use queenfold::engine::{CountedBy, FunctionPlan, Origin, Tally, TaskKey, TaskResult, WorkerId};
use queenfold_ledger::ledger::COMMIT_EVERY;

use super::*;
use crate::common::program::tells;

#[test]
fn a_run_that_goes_on_counts_only_what_is_missing_and_has_the_same_signature() {
    let dir = tempfile::tempdir().unwrap();
    whole_run(dir.path(), N);
    let signed = signature(dir.path());
    let before = records(dir.path()).unwrap();
    let lost = [0, 3, 4, 9].map(|at: usize| before[at].result.key);
    for task in lost {
        sqlite(dir.path())
            .execute(
                "DELETE FROM record WHERE engine = ?1 AND task = ?2",
                (task.engine.name(), task.index as i64),
            )
            .unwrap();
    }
    let report = count(N, resume(dir.path(), N).unwrap()).unwrap();
    assert!(report.is_whole());
    assert_eq!(report.workers.iter().map(|w| w.tasks).sum::<u64>(), 4);
    assert_total(N, &report);
    assert_eq!(signature(dir.path()), signed);
    let recounted = |record: &&Entry| !before.contains(record);
    let after = records(dir.path()).unwrap();
    let recounted: Vec<TaskKey> = after
        .iter()
        .filter(recounted)
        .map(|r| r.result.key)
        .collect();
    assert_eq!(recounted, lost);
}

#[test]
fn a_finished_run_gives_its_result_without_counting() {
    let dir = tempfile::tempdir().unwrap();
    whole_run(dir.path(), 10);
    let report = count(10, resume(dir.path(), 10).unwrap()).unwrap();
    assert!(report.is_whole());
    assert_eq!(report.workers.iter().map(|w| w.tasks).sum::<u64>(), 0);
    assert_total(10, &report);
}

#[test]
fn a_directory_holds_one_run_and_serves_one_process() {
    let dir = tempfile::tempdir().unwrap();
    let recording = create(dir.path(), N, Shard::WHOLE).unwrap();
    let error = create(dir.path(), N, Shard::WHOLE).err().unwrap();
    assert!(matches!(error, LedgerError::Exists { .. }), "{error}");
    let error = resume(dir.path(), N).err().unwrap();
    assert!(matches!(error, LedgerError::Locked { .. }), "{error}");
    // A reader does not count as a second process: it sees what is committed.
    assert_eq!(records(dir.path()).unwrap(), []);
    drop(recording);
    let error = create(dir.path(), N, Shard::WHOLE).err().unwrap();
    assert!(matches!(error, LedgerError::Exists { .. }), "{error}");
    resume(dir.path(), N).unwrap();
}

#[test]
fn a_directory_without_a_run_is_named() {
    let dir = tempfile::tempdir().unwrap();
    for dir in [dir.path().to_owned(), dir.path().join("nowhere")] {
        let error = resume(&dir, N).err().unwrap();
        assert!(matches!(error, LedgerError::NoRun { .. }), "{error}");
        assert!(error.to_string().contains(dir.to_str().unwrap()));
        assert!(!dir.join("lock").exists());
    }
}

#[test]
fn a_kill_while_the_ledger_is_made_leaves_nothing_in_the_way() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("ledger.new"), b"half a led").unwrap();
    assert!(matches!(
        resume(dir.path(), N),
        Err(LedgerError::NoRun { .. })
    ));
    create(dir.path(), N, Shard::WHOLE).unwrap();
    assert!(!dir.path().join("ledger.new").exists());
}

#[test]
fn another_board_or_other_engines_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    drop(create(dir.path(), N, Shard::WHOLE).unwrap());
    for other in [plans(13), plans(N)[..1].to_vec()] {
        let error = Recording::resume(dir.path(), &other, &Facts::default()).err();
        let error = error.unwrap().to_string();
        assert!(error.contains("the run has"), "{error}");
    }
}

#[test]
fn another_plan_version_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let mut info = info(N, Shard::WHOLE);
    info.plans[0].name.version = 0;
    info.program = "queenfold 0.0.9".to_owned();
    drop(Store::create(dir.path(), &info).unwrap());
    let error = resume(dir.path(), N).err().unwrap().to_string();
    for part in ["chain-0", "chain-1", "queenfold 0.0.9"] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn another_format_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    drop(create(dir.path(), N, Shard::WHOLE).unwrap());
    let database = sqlite(dir.path());
    database.pragma_update(None, "user_version", 3).unwrap();
    let error = resume(dir.path(), N).err().unwrap().to_string();
    let program = ledger::program();
    tells(&error, &["format 3", &program]);
    database.pragma_update(None, "application_id", 1).unwrap();
    let error = resume(dir.path(), N).err().unwrap().to_string();
    assert!(error.contains("no ledger"), "{error}");
}

fn result(index: u64, tally: Tally) -> TaskResult {
    TaskResult {
        key: plans(N)[0].key(index),
        tally,
        origin: Origin {
            worker: WorkerId::Cpu(0),
            counted_by: CountedBy::Cpu("test".into()),
        },
        audited_by: None,
        duration: Duration::from_millis(3),
    }
}

#[test]
fn a_second_report_must_agree_to_the_last_digit() {
    let dir = tempfile::tempdir().unwrap();
    let recording = create(dir.path(), N, Shard::WHOLE).unwrap();
    let mut tally = Tally {
        partitions: 7,
        nodes: 100,
        ..Tally::default()
    };
    tally.completions.add(8, 12_345_678_901_234_567_890_123);
    recording.take(Finding::Result(result(3, tally))).unwrap();
    tally.nodes = 99;
    recording.take(Finding::Result(result(3, tally))).unwrap();
    flush(&recording).unwrap();
    let kept = records(dir.path()).unwrap();
    assert_eq!((kept.len(), kept[0].result.tally.nodes), (1, 100));
    let mut other = tally;
    other.completions.add(8, 1);
    // A good record before the bad one is kept.
    recording.take(Finding::Result(result(4, tally))).unwrap();
    recording.take(Finding::Result(result(3, other))).unwrap();
    let Err(RecordError::Mismatch { task, message }) = flush(&recording) else {
        panic!("two results were accepted");
    };
    assert_eq!(task.index, 3);
    for part in ["12345678901234567890123", "12345678901234567890124"] {
        assert!(message.contains(part), "{message}");
    }
    assert!(recording.take(Finding::Result(result(5, tally))).is_err());
    drop(recording);
    let kept: Vec<u64> = records(dir.path())
        .unwrap()
        .iter()
        .map(|r| r.result.key.index)
        .collect();
    assert_eq!(kept, [3, 4]);
}

#[test]
fn records_are_committed_without_being_asked() {
    assert!(COMMIT_EVERY <= Duration::from_secs(9));
    let dir = tempfile::tempdir().unwrap();
    let recording = create(dir.path(), N, Shard::WHOLE).unwrap();
    recording
        .take(Finding::Result(result(1, Tally::default())))
        .unwrap();
    let since = std::time::Instant::now();
    while records(dir.path()).unwrap().is_empty() {
        assert!(since.elapsed() < Duration::from_secs(120));
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_clock_set_back_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    whole_run(dir.path(), 12);
    let signed = signature(dir.path());
    let mut session = Store::open_to_read(dir.path()).unwrap().sessions().unwrap()[0].clone();
    // As if the clock of this machine had shown the year 2100 then.
    session.facts.started = 4_102_444_800;
    session.committed = 4_102_444_900;
    let store = Store::open_to_write(dir.path()).unwrap();
    store.begin().unwrap();
    store.put_session(&session).unwrap();
    store.commit().unwrap();
    drop(store);
    sqlite(dir.path())
        .execute("DELETE FROM record WHERE engine = 'chain' AND task = 1", [])
        .unwrap();
    let report = count(12, resume(dir.path(), 12).unwrap()).unwrap();
    assert_total(12, &report);
    assert_eq!(signature(dir.path()), signed);
    let store = Store::open_to_read(dir.path()).unwrap();
    let status = read_status(&store, 12).unwrap();
    let latest = status.latest.unwrap();
    assert_eq!((latest.tasks, latest.session.facts.number), (1, 2));
    assert!(latest.session.elapsed < Duration::from_secs(60));
}

#[test]
fn status_tells_what_is_done_and_by_whom() {
    let dir = tempfile::tempdir().unwrap();
    whole_run(dir.path(), N);
    let store = Store::open_to_read(dir.path()).unwrap();
    let status = read_status(&store, N).unwrap();
    assert_eq!((status.share, status.shard_tasks), (1.0, (17, 17)));
    assert!(status.missing.is_empty() && status.share == 1.0);
    let latest = status.latest.unwrap();
    assert_eq!(latest.tasks, 17);
    let workers: u64 = latest.workers.values().map(|worker| worker.tasks).sum();
    assert_eq!(workers, 17);
    assert_eq!(latest.left, Some(Duration::ZERO));
    assert!(latest.nodes_per_second() > 0.0 && latest.tasks_per_second() > 0.0);
    drop(store);
    sqlite(dir.path())
        .execute("DELETE FROM record WHERE engine = 'chain' AND task < 8", [])
        .unwrap();
    let store = Store::open_to_read(dir.path()).unwrap();
    let status = read_status(&store, N).unwrap();
    assert_eq!(status.shard_tasks, (9, 17));
    assert!((0.4..0.6).contains(&status.share), "{}", status.share);
    assert_eq!(status.missing.to_string(), "chain 0..=7 (8 tasks)");
    assert!(status.latest.unwrap().left.unwrap() > Duration::ZERO);
}

/// A recorder without a file, which shows what the runtime asks of it.
struct Memory {
    taken: Mutex<Vec<TaskResult>>,
    fail_from: usize,
}

impl Recorder for Memory {
    fn take(&self, finding: Finding) -> Result<(), RecordError> {
        finding.unlogged()?;
        let Finding::Result(result) = finding else {
            return Ok(());
        };
        let mut taken = self.taken.lock();
        taken.push(result);
        if taken.len() > self.fail_from {
            return Err(RecordError::Failed("the disk is full".to_owned()));
        }
        Ok(())
    }
    fn on_checkpoint(&self, _: OnCheckpoint) {}
    fn flush(&self, flushed: Flushed) {
        flushed.answer(Ok(()));
    }
}

/// Adds up the tasks that checkpoints make durable.
#[derive(Default)]
struct Durable(Mutex<u64>);

impl Observer for Durable {
    fn event(&self, event: &RunEvent) {
        if let EventKind::Checkpoint { tasks } = &event.kind {
            *self.0.lock() += tasks;
        }
    }
}

#[test]
fn checkpoints_tell_of_every_task_that_became_durable() {
    let dir = tempfile::tempdir().unwrap();
    let durable = Arc::new(Durable::default());
    let recording = Arc::new(create(dir.path(), N, Shard::WHOLE).unwrap());
    let spec = RunSpec {
        plans: plans(N),
        workers: 2,
        counter: counter(),
        batch_time: Duration::from_millis(5),
        time_limit: None,
        audit: 0.0,
        audit_all: Duration::ZERO,
        canary: None,
        check: None,
        source: Arc::clone(&recording) as _,
        recorder: Some(recording),
        observers: vec![Arc::clone(&durable) as _],
    };
    actors::run(&spec, &[], &Control::new()).unwrap();
    drop(spec);
    assert_eq!(*durable.0.lock(), 17);
    // The directory is no longer locked.
    resume(dir.path(), N).unwrap();
}

fn with_memory(
    n: u32,
    counter: CounterSettings,
    audit: f64,
    fail_from: usize,
) -> (Result<Report, RunError>, Arc<Memory>) {
    let memory = Arc::new(Memory {
        taken: Mutex::default(),
        fail_from,
    });
    let spec = RunSpec {
        canary: None,
        check: None,
        plans: plans(n),
        workers: 2,
        counter,
        batch_time: Duration::from_millis(5),
        time_limit: None,
        audit,
        audit_all: Duration::ZERO,
        source: Arc::new(WholePlans),
        recorder: Some(Arc::clone(&memory) as Arc<dyn Recorder>),
        observers: Vec::new(),
    };
    (actors::run(&spec, &[], &Control::new()), memory)
}

#[test]
fn a_run_that_cannot_record_ends_with_the_reason() {
    // A minute on one core, so that the run notices long before the last of 1025 tasks.
    let slowly = CounterSettings { isa: Isa::Portable };
    let (result, memory) = with_memory(18, slowly, 0.0, 5);
    assert_eq!(
        result.unwrap_err(),
        RunError::Recorder("the disk is full".to_owned())
    );
    assert!(memory.taken.lock().len() < 1025);
}

#[test]
fn audited_tasks_name_both_kernels() {
    let (result, memory) = with_memory(N, counter(), 1.0, usize::MAX);
    assert_total(N, &result.unwrap());
    let taken = memory.taken.lock();
    assert_eq!(taken.len(), 17);
    for TaskResult {
        origin, audited_by, ..
    } in taken.iter()
    {
        let second = audited_by.as_ref();
        assert!(second.is_none_or(|kernel| !origin.counted_by.is_kernel(kernel)));
    }
    assert!(taken.iter().any(|result| result.audited_by.is_some()));
}

#[test]
fn a_ledger_keeps_the_plans_of_every_board() {
    let dir = tempfile::tempdir().unwrap();
    for n in 1..=32 {
        for plan in [
            Arc::new(ChainPlan::new(size(n))) as Arc<dyn Plan>,
            Arc::new(ColourPlan::new(size(n))),
        ] {
            let plans = [plan];
            let info = RunInfo::new(size(n), &plans, Shard::WHOLE, String::new());
            let dir = dir.path().join(format!("{}-{n}", plans[0].engine()));
            let made = Recording::create(&dir, &info, &plans, &Facts::default());
            assert!(made.is_ok(), "n = {n}");
        }
    }
}

#[test]
fn a_plan_of_more_tasks_than_a_ledger_keeps_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let plan = FunctionPlan::new(size(8), 1 << 40, |_| Tally::default());
    let plans = [Arc::new(plan) as Arc<dyn Plan>];
    let info = RunInfo::new(size(8), &plans, Shard::WHOLE, String::new());
    let dir = dir.path().join("run");
    match Recording::create(&dir, &info, &plans, &Facts::default()) {
        Err(LedgerError::Unfit(why)) => assert!(why.contains("1099511627776 tasks"), "{why}"),
        other => panic!("{:?}", other.err()),
    }
    assert!(!dir.exists());
}
