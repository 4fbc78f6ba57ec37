//! Runs that are stopped, damaged, divided or forged never give a wrong total.

mod arbitrary;
mod asking;
mod certificates;
mod commands;
mod corrected_certificates;
mod corrections;
mod damage;
mod differential;
mod disks;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod faulty_disk;
mod interruptions;
mod merging;
mod own_counts;
mod pause_key;
mod runs;
mod second;
#[cfg(unix)]
pub mod shard_files;
#[cfg(unix)]
mod shard_list;
#[cfg(target_os = "linux")]
mod shared;
mod sick;
mod strangers;
#[cfg(target_os = "linux")]
mod times;
mod verifying;

use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use queenfold::actors::{self, Control, Flushed, RecordError, Recorder, Report, RunError, RunSpec};
use queenfold::board::{Size, known};
use queenfold::census::CensusPlan;
use queenfold::chain::ChainPlan;
use queenfold::colour::ColourPlan;
use queenfold::engine::{CounterSettings, Engine, Plan, Tally};
use queenfold::outcome::Outcome;
use queenfold::simd::Isa;
use queenfold_ledger::ledger::{
    self, Division, Entry, FILE, Facts, LedgerError, Merged, Recording, RunInfo, Shard, Status,
    Store, TakenOut,
};
use rusqlite::Connection;

use crate::common::run_spec::run_spec;

/// The board of most tests: 17 tasks, which take a tenth of a second.
const N: u32 = 14;

fn size(n: u32) -> Size {
    Size::new(n).unwrap()
}

fn plans(n: u32) -> Vec<Arc<dyn Plan>> {
    vec![
        Arc::new(ChainPlan::new(size(n))),
        Arc::new(CensusPlan::new(size(n))),
    ]
}

/// Merges directories.
fn merge<P: AsRef<Path>>(dirs: &[P], into: &Path) -> Result<Merged, LedgerError> {
    let sources = dirs.iter().map(|dir| Store::open_to_read(dir.as_ref()));
    ledger::merge(sources, None, into)
}

fn take_out(source: &Path, from: &Path) -> Result<TakenOut, LedgerError> {
    ledger::take_out(source, from, Store::open_to_read)
}

/// How far a run of the plans of board `n` is.
fn read_status(store: &Store, n: u32) -> Result<Status, LedgerError> {
    let plans = plans(n);
    Status::read(
        store,
        &plans,
        &Division::new(store.info().shard, &plans),
        false,
    )
}

fn counter() -> CounterSettings {
    CounterSettings { isa: Isa::best() }
}

fn info(n: u32, shard: Shard) -> RunInfo {
    RunInfo::new(size(n), &plans(n), shard, "run.n = 14\n".to_owned())
}

fn create(dir: &Path, n: u32, shard: Shard) -> Result<Recording, LedgerError> {
    Recording::create(dir, &info(n, shard), &plans(n), &Facts::default())
}

fn resume(dir: &Path, n: u32) -> Result<Recording, LedgerError> {
    Recording::resume(dir, &plans(n), &Facts::default())
}

/// Counts the tasks that a recording lacks.
fn count(n: u32, recording: Recording) -> Result<Report, RunError> {
    let recording = Arc::new(recording);
    let spec = RunSpec {
        batch_time: Duration::from_millis(20),
        source: Arc::clone(&recording) as _,
        recorder: Some(recording),
        ..run_spec(plans(n), 2, Isa::best())
    };
    actors::run(&spec, &[], &Control::new())
}

/// Waits until everything that the recorder took is durable.
fn flush(recorder: &dyn Recorder) -> Result<(), RecordError> {
    let (sender, flushed) = mpsc::channel();
    recorder.flush(Flushed::new(move |result| sender.send(result).unwrap()));
    flushed.recv().unwrap()
}

/// Counts the whole board into `dir`.
fn whole_run(dir: &Path, n: u32) {
    let report = count(n, create(dir, n, Shard::WHOLE).unwrap()).unwrap();
    assert!(report.is_whole());
    assert_total(n, &report);
}

fn assert_total(n: u32, report: &Report) {
    let outcome = Outcome::new(
        size(n),
        &report.tallies[&Engine::Chain],
        report.tallies.get(&Engine::Census),
    )
    .unwrap();
    assert_eq!(outcome.total, known(size(n)).unwrap().total);
}

fn records(dir: &Path) -> Result<Vec<Entry>, LedgerError> {
    entries(&Store::open_to_read(dir)?)
}

pub fn entries(store: &Store) -> Result<Vec<Entry>, LedgerError> {
    let mut entries = Vec::new();
    store.for_each_task(|task| entries.push(task.record))?;
    Ok(entries)
}

fn signature(dir: &Path) -> String {
    let store = Store::open_to_read(dir).unwrap();
    let mut signature = ledger::Signature::new(store.info());
    let added = store.for_each_task(|task| signature.add(&task.record));
    added.unwrap();
    signature.digest().to_string()
}

/// The raw database, for changes that no correct program makes.
fn sqlite(dir: &Path) -> Connection {
    Connection::open(dir.join(FILE)).unwrap()
}
