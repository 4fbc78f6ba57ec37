//! `verify`, `certify` and `check`: what a run directory and a certificate prove.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter, ErrorKind};
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use queenfold::engine::CheckedBy;
use queenfold::job::{DeviceChoice, Hardware, HardwareSettings, RunSettings, outcome};
use queenfold_ledger::certificate::{self, Checked};
use queenfold_ledger::ledger::{RecountChoice, Store};
use queenfold_ledger::run_directory::Verification;

use crate::arguments::{self, Whole};
use crate::errors::{self, CertificateError, ContradictionError};
use crate::records::record;
use crate::waiting::{Progress, wait};

record! {
    /// What a second look at a run showed: every record is whole, and none that was counted again is wrong.
    Verified(tasks_done, tasks_total, recounted, total) {
        /// Tasks recorded.
        tasks_done: u64,
        /// Tasks of the run, or of its shard.
        tasks_total: u64,
        /// Tasks that were counted again.
        recounted: u64,
        /// All solutions; None while tasks are missing.
        total: Option<u128>,
        /// Solutions that differ by more than a symmetry of the board; None without the census.
        unique: Option<u128>,
    }
}

record! {
    /// What a certificate says, all of which was checked.
    Certificate(n, total, tasks, root) {
        /// The size of the board.
        n: u32,
        /// All solutions; None of a shard, or of a run that is not finished.
        total: Option<u128>,
        /// Solutions that differ by more than a symmetry of the board; None without the census.
        unique: Option<u128>,
        /// The plans, by name and version.
        plans: Vec<String>,
        /// Tasks in it.
        tasks: u64,
        /// Those that were counted twice.
        twice: u64,
        /// The hosts that counted, by their own names.
        hosts: Vec<String>,
        /// The Merkle root over all tasks, in hexadecimal.
        root: String,
    }
}

impl From<Checked> for Certificate {
    fn from(checked: Checked) -> Self {
        let outcome = checked.outcome.as_ref();
        Self {
            n: checked.board.size().get(),
            total: outcome.map(|outcome| outcome.total),
            unique: outcome.and_then(|outcome| outcome.unique()),
            plans: checked.plans,
            tasks: checked.tasks,
            twice: checked.twice,
            hosts: checked.hosts,
            root: checked.root,
        }
    }
}

/// Reads every record of the run in the directory `dir`, and counts a share of its tasks again by another kernel.
///
/// share: of the tasks, above 0 to 1.
/// seed: of the sample; random by default.
/// workers: threads that count; by default one for each core.
///
/// Raises ContradictionError if a record is wrong. Ctrl-C ends it with KeyboardInterrupt.
#[pyfunction]
#[pyo3(signature = (dir, *, share=0.01, seed=None, workers=None))]
pub fn verify(
    py: Python<'_>,
    dir: PathBuf,
    #[pyo3(from_py_with = arguments::share)] share: f64,
    seed: Option<Whole>,
    workers: Option<Whole>,
) -> PyResult<Verified> {
    let seed = match seed {
        Some(seed) => arguments::seed(&seed)?,
        None => fastrand::u64(..),
    };
    let choice = match share {
        1.0 => RecountChoice::All,
        _ => RecountChoice::Sample { share, seed },
    };
    let settings = RunSettings {
        hardware: HardwareSettings {
            devices: DeviceChoice::Off,
            workers: workers
                .map(|workers| arguments::workers(&workers))
                .transpose()?,
            ..HardwareSettings::default()
        },
        ..RunSettings::default()
    };
    let control = settings.control.clone();
    wait(
        py,
        None,
        || verified(&dir, choice, &settings),
        || control.drain(),
        Progress::at,
    )?
}

fn verified(dir: &Path, choice: RecountChoice, settings: &RunSettings) -> PyResult<Verified> {
    let store = Store::open_to_read(dir).map_err(|error| errors::of_ledger(&error))?;
    let drawn = Verification::draw(&store, choice, None);
    let drawn = drawn.map_err(|error| errors::of_ledger(&error))?;
    let plans = drawn.tasks.plans.clone();
    let hardware = Hardware::find(&settings.hardware).map_err(errors::of_job)?;
    let by = CheckedBy::OtherKernel;
    let counted = drawn
        .tasks
        .count(by, (settings, &hardware), Box::new(|_| ()));
    let findings = drawn.findings(counted.map_err(errors::of_job)?);
    if let Some(wrong) = findings.wrong.first() {
        return Err(ContradictionError::new_err(wrong.to_string()));
    }
    let coverage = &findings.sums.coverage;
    let outcome = match plans.first().filter(|_| coverage.is_whole()) {
        Some(plan) => {
            let decided = store.check_decided();
            decided.map_err(|error| errors::of_ledger(&error))?;
            let tallies = &findings.sums.tallies;
            let outcome = outcome(plan.as_ref(), |engine| tallies.get(&engine));
            Some(outcome.map_err(|wrong| ContradictionError::new_err(wrong.to_string()))?)
        }
        None => None,
    };
    Ok(Verified {
        tasks_done: coverage.done(),
        tasks_total: coverage.tasks(),
        recounted: findings.checked,
        total: outcome.as_ref().map(|outcome| outcome.total),
        unique: outcome.as_ref().and_then(|outcome| outcome.unique()),
    })
}

/// Writes the certificate of the run or shard in the directory `dir` to the new file `path`, and checks it. If tasks are
/// missing, it has no total.
///
/// Raises CertificateError if nothing is recorded or the file cannot be written, and LedgerError for a damaged run.
#[pyfunction]
pub fn certify(py: Python<'_>, dir: PathBuf, path: PathBuf) -> PyResult<Certificate> {
    py.detach(|| {
        let store = Store::open_to_read(&dir).map_err(|error| errors::of_ledger(&error))?;
        let failed = |error: String| CertificateError::new_err(error);
        let file = File::create_new(&path).map_err(|error| {
            let shown = path.display();
            failed(match error.kind() {
                ErrorKind::AlreadyExists => format!("{shown} exists already; name another file"),
                _ => format!("{shown}: {error}"),
            })
        })?;
        let written = certificate::certify(&store, &[], BufWriter::new(&file));
        if let Err(error) = written {
            // What was written is of no use, and the error says more than one of this call would.
            let _ = fs::remove_file(&path);
            return Err(failed(error.to_string()));
        }
        read(&path)
    })
}

/// Reads the certificate in the file `path` to its end, and checks all that it says.
///
/// Raises CertificateError for the first defect.
#[pyfunction]
pub fn check(py: Python<'_>, path: PathBuf) -> PyResult<Certificate> {
    py.detach(|| read(&path))
}

fn read(path: &PathBuf) -> PyResult<Certificate> {
    let failed = |error: String| CertificateError::new_err(format!("{}: {error}", path.display()));
    let file = File::open(path).map_err(|error| failed(error.to_string()))?;
    let checked = certificate::check(BufReader::new(file));
    checked
        .map(Certificate::from)
        .map_err(|error| failed(error.to_string()))
}
