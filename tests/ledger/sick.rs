//! What the ledger keeps of workers that count wrongly.

use super::read_status;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use queenfold::actors::{self, Control, Report, RunError, RunSpec, SumCheck};
use queenfold::engine::WorkerId;
use queenfold::simd::Isa;
use queenfold_ledger::ledger::{Recording, Shard, Status, Store};
use tempfile::tempdir;

use super::{assert_total, create, plans, records, resume, signature, whole_run};
use crate::common::faults::Faults;
use crate::common::run_spec::run_spec;

/// Counts the tasks that a recording lacks, with these faults.
fn count(n: u32, workers: usize, recording: Recording, faults: &str) -> Result<Report, RunError> {
    let recording = Arc::new(recording);
    let spec = RunSpec {
        batch_time: Duration::from_millis(5),
        source: Arc::clone(&recording) as _,
        recorder: Some(recording),
        canary: Some(Duration::from_secs(900)),
        ..run_spec(plans(n), workers, Isa::best())
    };
    let control = Control::new();
    control.inject(Faults::of(faults));
    actors::run(&spec, &[], &control)
}

fn status(dir: &Path, n: u32) -> Status {
    let store = Store::open_to_read(dir).unwrap();
    read_status(&store, n).unwrap()
}

#[test]
fn wrong_counts_are_corrected_in_the_ledger_and_stay_in_its_log() {
    let folder = tempdir().unwrap();
    whole_run(&folder.path().join("healthy"), 15);
    let mut corrected = 0;
    // How many tasks the faulty worker gets depends on when its thread starts.
    for number in 0..100 {
        let dir = folder.path().join(number.to_string());
        let recording = create(&dir, 15, Shard::WHOLE).unwrap();
        // The canaries at the start, some 8 counts, are right.
        let report = count(15, 2, recording, "faulty=worker-1,wrong=1,after=24").unwrap();
        assert_total(15, &report);
        assert_eq!(signature(&dir), signature(&folder.path().join("healthy")));
        let log = Store::open_to_read(&dir).unwrap().corrections().unwrap();
        assert_eq!(log.len() as u64, report.corrected);
        for logged in &log {
            let correction = &logged.correction;
            let decision = correction.decision.as_ref().unwrap();
            let wrong = &correction.recorded.result;
            assert_eq!(wrong.origin.worker, WorkerId::Cpu(1));
            assert!(!wrong.tally.agrees_with(&decision.result.result.tally));
            assert_eq!(correction.others.len(), 1);
        }
        let named: Vec<_> = status(&dir, 15)
            .faulty
            .into_iter()
            .map(|(_, faulty)| faulty)
            .collect();
        assert_eq!(named, report.faulty);
        corrected += log.len();
        if corrected > 0 && number >= 4 {
            break;
        }
    }
    assert!(
        corrected > 0,
        "the faulty worker never had anything to count"
    );
}

#[test]
fn doubted_records_are_withdrawn_if_nobody_is_left_to_count_them_again() {
    let folder = tempdir().unwrap();
    let dir = folder.path().join("run");
    let recording = create(&dir, 14, Shard::WHOLE).unwrap();
    let error = count(14, 1, recording, "faulty=worker-0,wrong=1,after=24").unwrap_err();
    assert!(matches!(error, RunError::Faulty { .. }), "{error}");
    assert_eq!(records(&dir).unwrap().len(), 0);
    let faulty = status(&dir, 14).faulty;
    assert_eq!(faulty[0].1.worker, WorkerId::Cpu(0));
    assert!(faulty[0].1.suspects > 0);
    // Elsewhere, the run goes on.
    let report = count(14, 2, resume(&dir, 14).unwrap(), "deaths=0").unwrap();
    assert_total(14, &report);
}

#[test]
fn wrong_records_of_an_earlier_process_are_found_when_the_sums_contradict_what_is_known() {
    let folder = tempdir().unwrap();
    let dir = folder.path().join("run");
    let healthy = folder.path().join("healthy");
    whole_run(&healthy, 13);
    let first = Arc::new(create(&dir, 13, Shard::WHOLE).unwrap());
    // A wrong count of the first process, and a run that ended before its end.
    for entry in records(&healthy).unwrap().into_iter().skip(2) {
        let mut result = entry.result;
        if result.key.index == 3 {
            result.tally.completions.add(8, 5);
        }
        actors::Recorder::take(first.as_ref(), actors::Finding::Result(result)).unwrap();
    }
    super::flush(first.as_ref()).unwrap();
    drop(first);
    let recording = Arc::new(resume(&dir, 13).unwrap());
    let spec = RunSpec {
        source: Arc::clone(&recording) as _,
        recorder: Some(recording),
        check: Some(SumCheck::new(true, |sums| {
            let all = &sums[&queenfold::engine::Engine::Chain];
            queenfold::outcome::Outcome::new(super::size(13), all, None)
                .map(drop)
                .map_err(|error| error.to_string())
        })),
        ..run_spec(plans(13), 2, Isa::best())
    };
    let report = actors::run(&spec, &[], &Control::new()).unwrap();
    assert_total(13, &report);
    assert_eq!(report.corrected, 1);
    drop(spec);
    assert_eq!(signature(&dir), signature(&healthy));
    assert_eq!(
        Store::open_to_read(&dir)
            .unwrap()
            .corrections()
            .unwrap()
            .len(),
        1
    );
}

/// Runs `verify --again` on a run of sixteen queens with these faults of its second worker, which gets some of its many tasks;
/// what it prints, and whom the ledger names.
fn again_with(faults: &str) -> (String, Vec<WorkerId>) {
    use crate::common::program::{faulty, of, said, text};

    let folder = tempdir().unwrap();
    let dir = folder.path().join("run");
    let run = ["run", "-n", "16", "--engine", "chain", "--dir", text(&dir)];
    assert_eq!(of(&run).0, 0);
    let again = ["verify", "--again", text(&dir), "--workers", "2"];
    let output = faulty(&again, "FAULTS", faults).output();
    let (code, out, err) = said(&output.unwrap());
    assert!(
        code == 0 && out.contains("14772512"),
        "{faults}: {code} {out}{err}"
    );
    let faulty = status(&dir, 16).faulty;
    let (_, shown, _) = of(&["status", text(&dir)]);
    for (host, faulty) in &faulty {
        let line = format!(
            "\nfaulty      {} on {host}: {}\n",
            faulty.worker, faulty.reason
        );
        assert!(shown.contains(&line), "{shown}");
    }
    let faulty = faulty.into_iter();
    (
        out + &err,
        faulty.map(|(_, faulty)| faulty.worker).collect(),
    )
}

/// Whether its canary shows it or not.
#[test]
fn a_second_worker_that_counts_wrongly_does_not_take_away_a_right_total() {
    let (said, faulty) = again_with("faulty=worker-1,wrong=1");
    assert_eq!(faulty, [WorkerId::Cpu(1)], "{said}");
    let (said, faulty) = again_with("faulty=worker-1,wrong=1,after=16");
    assert_eq!(faulty, [WorkerId::Cpu(1)], "{said}");
    let (said, _) = again_with("faulty=worker-1,wrong=1,tame=true");
    assert!(said.contains("the record stays"), "{said}");
}

#[test]
fn an_audit_finds_a_wrong_count_before_it_is_recorded() {
    use crate::common::program::{faulty, of, said, text, words};

    let dir = tempdir().unwrap();
    let run = dir.path().join("run");
    let audited = |workers: &str, run: &Path| {
        let arguments = words!("run -n 14 --engine chain --gpu off --workers");
        let output = faulty(
            &[&arguments[..], &[workers, "--dir", text(run)]].concat(),
            "FAULTS",
            "errors=1",
        )
        .env("QUEENFOLD_RUN_AUDIT", "1")
        .output()
        .unwrap();
        said(&output)
    };
    // A third count decides, and with another worker the run goes on.
    let (code, out, err) = audited("2", &dir.path().join("two"));
    assert!(code == 0 && out.contains("365596"), "{out}{err}");
    assert!(
        err.contains("worker-0 is faulty") || err.contains("worker-1 is faulty"),
        "{err}"
    );
    let (code, out, err) = audited("1", &run);
    assert_eq!((code, out.as_str()), (3, ""), "{err}");
    let line = err.lines().find(|line| line.starts_with("error: "));
    let counts = line.unwrap().matches("completions").count();
    assert!(err.contains("worker-0 is faulty") && counts == 3, "{err}");
    let (code, out, err) = of(&["resume", text(&run)]);
    assert!(code == 0 && out.contains("365596"), "{out}{err}");
}
