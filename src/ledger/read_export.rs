use std::io::{self, BufRead};
use std::sync::Arc;

use super::export_line::{Last, Line};
use super::{Digest, Entry, RunInfo, Shard, Signature};
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

/// Reads what [`export`](super::export) wrote, and returns its signature. `plans` are those of the run:
/// the one that counts all solutions, then the census if the run has one.
///
/// `entry` gets each entry after its own check, but only `Ok` says that none is missing.
///
/// ```
/// use queenfold::board::Size;
/// use queenfold::job::{self, Job};
/// use queenfold::ledger::{export, read_export};
///
/// let folder = tempfile::tempdir()?;
/// let directory = folder.path().join("n8");
/// Job::new(Size::new(8)?).directory(&directory).run()?;
///
/// let (store, plans) = job::open(&directory)?;
/// let mut log = Vec::new();
/// export(&store, &plans, &mut log)??;
/// let mut total = 0;
/// read_export(&log[..], &plans, |entry| {
///     total += entry.result.tally.completions.solutions();
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
    mut entry: impl FnMut(Entry),
) -> Result<Digest, ExportError> {
    let wrong = |line, reason: String| ExportError::Line { line, reason };
    let Some(first) = plans.first() else {
        return Err(wrong(1, "a run has at least one plan".to_owned()));
    };
    let info = RunInfo::new(first.size(), plans, Shard::WHOLE, String::new());
    let run = info.key();
    let mut signature = Signature::new(&info);
    let mut number = 0;
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
            return match lines.next() {
                None => Ok(digest),
                Some(_) => Err(wrong(number + 1, "the log ends above".to_owned())),
            };
        }
        let read = serde_json::from_str::<Line<'_>>(&text)
            .map_err(|error| error.to_string())
            .and_then(|line| line.entry(plans, &run))
            .map_err(|reason| wrong(number, reason))?;
        signature.add(&read);
        entry(read);
    }
    Err(wrong(number + 1, "the signature is missing".to_owned()))
}
