//! Puts runs of the same plans into one, and takes one out again.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::{print_total, tell_whole};
use crate::exit::Failure;
use crate::output::{print, print_json, say};
use crate::telemetry::printable;
use queenfold::words::several;
use queenfold_ledger::certificate::open_source;
use queenfold_ledger::ledger::{self, kept_sessions};

/// Puts the tasks of the runs `from` into the one in `into`.
pub fn gather_into(into: &Path, from: &[PathBuf], to_json: bool) -> Result<(), Failure> {
    // Each is opened when its turn comes.
    let sources = from.iter().map(|path| open_source(path));
    let merged = ledger::merge(sources, None, into)?;
    let copied = several(merged.copied, "task");
    let mut copied = format!(
        "{copied} copied, {} there already with the same result",
        merged.there
    );
    for (number, what) in [
        (merged.seconds, "second count"),
        (merged.corrections, "correction"),
    ] {
        if number > 0 {
            copied += &format!(", {} added", several(number, what));
        }
    }
    say(&copied);
    merged
        .left_out
        .iter()
        .for_each(|left_out| say(&printable(&left_out.to_string())));
    let coverage = &merged.sums.coverage;
    if coverage.is_whole() {
        return tell_whole(into, &merged, to_json.then(|| json!({})));
    }
    if to_json {
        print_total(
            json!({}),
            (coverage.done(), coverage.tasks()),
            Default::default(),
        )?;
    }
    let what = format!("no total from {}", into.display());
    Err(Failure::incomplete(
        what,
        &coverage.missing(&merged.division),
    ))
}

/// Takes out of the run in `into` what was merged from `source`, or counted by the session of this id.
pub fn take_out(source: &Path, into: &Path, to_json: bool) -> Result<(), Failure> {
    // Every session is its own, so nothing would be left.
    let [from, to] = [source, into].map(|dir| dir.canonicalize().ok());
    if from.is_some() && from == to {
        let why = "cannot be taken out of itself: give the directory that was gathered into it";
        return Err(Failure::usage(format!("{} {why}", source.display())));
    }
    let taken = ledger::take_out(source, into, open_source)?;
    if !taken.kept.is_empty() {
        say(&printable(&kept_sessions(into, &taken.kept)));
    }
    if to_json {
        return print_json(&json!({"tasks": taken.records, "sessions": taken.sessions}));
    }
    let [tasks, sessions] = [(taken.records, "task"), (taken.sessions, "session")]
        .map(|(number, what)| several(number, what));
    print(&format!("{tasks} of {sessions} taken out"))
}
