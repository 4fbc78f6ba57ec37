use std::io::{self, BufRead};
use std::sync::Arc;

use super::export_line::{CorrectionLine, Last, Line, SecondLine};
use super::{Column, Digest, LoggedCorrection, RecordedTask, RunInfo, Shard, Signature};
use crate::engine::Plan;

/// Why an exported log cannot be read, or must not be believed.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// It cannot be read.
    #[error("the exported log cannot be read: {0}")]
    Io(#[from] io::Error),
    /// It does not hold what [`export`](super::export) wrote, or is of another run.
    #[error("line {line} of the exported log: {reason}")]
    Line {
        /// The number of the line, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
}

/// What an exported log holds besides the tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadExport {
    /// Over the records, as its last line says.
    pub signature: Digest,
    /// The log of counts that differed.
    pub corrections: Vec<LoggedCorrection>,
}

/// Reads what [`export`](super::export) wrote. `plans` are those of the run:
/// the one that counts all solutions, then the census if the run has one.
///
/// `task` gets each task after its own check, but only `Ok` says that none is missing. Nothing says that no
/// second count and no correction was removed.
///
/// ```
/// use queenfold::board::Size;
/// use queenfold::job::Job;
/// use queenfold::ledger::{export, read_export};
/// use queenfold::run_directory::{self, RunDirectory};
///
/// let folder = tempfile::tempdir()?;
/// let directory = folder.path().join("n8");
/// RunDirectory::create(&directory, &Job::new(Size::new(8)?)).run()?;
///
/// let (store, plans) = run_directory::open(&directory)?;
/// let mut log = Vec::new();
/// export(&store, &plans, &mut log)??;
/// let mut total = 0;
/// read_export(&log[..], &plans, |task| {
///     total += task.record.result.tally.completions.solutions();
/// })?;
/// assert_eq!(total, 92);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The log is of another run, incomplete, or changed: each line has the digest of its entry, and the
/// last one the signature of all. Or `input` fails.
pub fn read_export(
    input: impl BufRead,
    plans: &[Arc<dyn Plan>],
    mut task: impl FnMut(RecordedTask),
) -> Result<ReadExport, ExportError> {
    let wrong = |line, reason: String| ExportError::Line { line, reason };
    let Some(first) = plans.first() else {
        return Err(wrong(1, "a run has at least one plan".to_owned()));
    };
    let info = RunInfo::new(first.given(), plans, Shard::WHOLE, String::new());
    let run = info.key();
    let mut signature = Signature::new(&info);
    let mut number = 0;
    let mut corrections = Vec::new();
    let mut latest: Option<RecordedTask> = None;
    let mut lines = input.lines();
    while let Some(text) = lines.next() {
        let text = text?;
        number += 1;
        if let Ok(last) = serde_json::from_str::<Last>(&text) {
            let digest = signature.digest();
            if last.signature != digest.to_string() {
                let reason = "the signature is not that of the lines before it";
                return Err(wrong(number, reason.to_owned()));
            }
            latest.take().map(&mut task);
            return match lines.next() {
                None => Ok(ReadExport {
                    signature: digest,
                    corrections,
                }),
                Some(_) => Err(wrong(number + 1, "the log ends above".to_owned())),
            };
        }
        let refused = |reason: &str| wrong(number, reason.to_owned());
        if let Ok(SecondLine { second }) = serde_json::from_str(&text) {
            let second = second.entry(Column::Second, plans, &run);
            let second = second.map_err(|reason| wrong(number, reason))?;
            let of = latest.as_mut().filter(|latest| {
                let first = &latest.record.result;
                latest.second.is_none()
                    && first.key == second.result.key
                    && first.tally.agrees_with(&second.result.tally)
            });
            let of = of.ok_or_else(|| refused("it does not confirm the line before it"))?;
            of.second = Some(second);
            continue;
        }
        if let Ok(line) = serde_json::from_str::<CorrectionLine<'_>>(&text) {
            let logged = line.logged(plans, &run);
            corrections.push(logged.map_err(|reason| wrong(number, reason))?);
            continue;
        }
        if !corrections.is_empty() {
            return Err(refused("corrections come after the last record"));
        }
        let record = serde_json::from_str::<Line<'_>>(&text)
            .map_err(|error| error.to_string())
            .and_then(|line| line.entry(Column::Record, plans, &run))
            .map_err(|reason| wrong(number, reason))?;
        signature.add(&record);
        let next = RecordedTask {
            record,
            second: None,
        };
        latest.replace(next).map(&mut task);
    }
    Err(wrong(number + 1, "the signature is missing".to_owned()))
}
