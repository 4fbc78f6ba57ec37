//! The files that a command writes beside its results: `--trace`, `--events` and `--metrics`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::config::{TraceConfig, is_stream};
use crate::exit::Failure;
use crate::output::{check_file, say};
use crate::telemetry::{METRICS_MARK, TRACE_MARK, printable};
use queenfold_ledger::ledger::EVENTS_MARK;
use queenfold_ledger::system::file_kind::{FileKind, folder_of};

/// The file of `--trace`.
pub const TRACE: FileKind<'_> = FileKind {
    name: "trace of this program",
    marks: &[TRACE_MARK],
    streams: true,
    is_replaced: false,
};

/// The file of `--events`.
pub const EVENTS: FileKind<'_> = FileKind {
    name: "file of events",
    marks: &[EVENTS_MARK],
    streams: true,
    is_replaced: false,
};

/// The file of `--metrics`.
pub const METRICS: FileKind<'_> = FileKind {
    name: "metrics file of this program",
    marks: &[METRICS_MARK],
    streams: false,
    is_replaced: true,
};

/// Checks the files that the settings name, before any of them is opened.
///
/// # Errors
/// Two settings name the same file, of which one would destroy what the other writes; a file cannot be written, or is
/// kept.
pub fn check(settings: &TraceConfig) -> Result<(), Failure> {
    let events = settings.events.as_ref().filter(|path| !is_stream(path));
    let metrics = settings.metrics.as_ref();
    let files = [
        ("--trace", "trace file", TRACE, settings.file.as_ref()),
        ("--events", "events file", EVENTS, events),
        ("--metrics", "metrics file", METRICS, metrics),
    ];
    let files = files.into_iter().filter_map(|(flag, what, kind, path)| {
        let path = path?;
        Some((flag, what, kind, path, resolved(path)))
    });
    let files: Vec<_> = files.collect();
    for (index, (flag, .., path, file)) in files.iter().enumerate() {
        let mut earlier = files[..index].iter();
        // What is no regular file, such as /dev/null, loses nothing.
        let can_lose = !file.metadata().is_ok_and(|file| !file.is_file());
        if let Some((other, ..)) = earlier.find(|other| can_lose && other.4 == *file) {
            return Err(Failure::usage(format!(
                "{other} and {flag} name the same file, {}: give each a file of its own",
                path.display()
            )));
        }
    }
    files
        .iter()
        .try_for_each(|(_, what, kind, path, _)| check_file(what, kind, path))
}

/// Says that what a run writes besides its result can no longer be written.
pub fn lost(what: &str, name: &str, error: &io::Error) {
    say(&printable(&format!(
        "{what} can no longer be written to {name} ({error}); the run does without"
    )));
}

/// The path with its folder resolved. What it names itself may not exist yet, and is no link: those are refused.
fn resolved(path: &Path) -> PathBuf {
    match (fs::canonicalize(folder_of(path)), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}
