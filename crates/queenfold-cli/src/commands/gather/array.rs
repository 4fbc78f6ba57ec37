//! Puts the shards of a job array into one ledger, or says which are missing.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_json::json;

use super::{print_total, tell_whole};
use crate::config::is_stream;
use crate::exit::{Exit, Failure};
use crate::output::say;
use crate::print::array_report::{outdated_scripts, submit_again};
use crate::shell::{command, command_on};
use crate::telemetry::printable;
use queenfold::words::several;
use queenfold_ledger::certificate::{HostKey, open_source};
use queenfold_ledger::cluster::{ArrayDirectory, Gathered, KEY, ask, gather};
use queenfold_ledger::ledger::Merged;
use queenfold_ledger::system::file_kind::replace;

/// The longest certificate that is read from stdin, in bytes: one of a million tasks has some 500 MB.
const LONGEST: u64 = 1 << 30;

/// Gathers the shards of an array and the files `from`. Of hosts that share nothing, those count that the key of the array
/// signed.
pub fn gathered(directory: &ArrayDirectory, from: &[PathBuf]) -> Result<Gathered, Failure> {
    let key = match directory.shares_nothing() {
        true => {
            directory.key()?;
            Some(HostKey::read(&directory.file(KEY), String::new())?)
        }
        false => None,
    };
    let signer = key.as_ref().map(HostKey::public);
    let gathered = gather(directory, from, signer, open_source);
    let gathered = gathered.map_err(|error| {
        let mut failure = Failure::from(error);
        if failure.exit == Exit::Mismatch && key.is_some() {
            failure.message += "; `queenfold check FILE --challenge SEED --sample TASKS` counts a file again: remove the wrong one, after \
                                `queenfold gather --take-out FILE --into DIR/whole` if it was gathered";
        }
        failure
    })?;
    let refused = gathered.refused.iter();
    refused.for_each(|refused| say(&printable(&format!("left out: {refused}"))));
    Ok(gathered)
}

/// A certificate from stdin, kept in the folder of the shards under a name that its content gives.
fn kept_stdin(directory: &ArrayDirectory) -> Result<PathBuf, Failure> {
    let mut text = Vec::new();
    io::stdin().take(LONGEST).read_to_end(&mut text)?;
    let name = format!("shards/{}.cert", &blake3::hash(&text).to_hex()[..16]);
    let file = directory.file(&name);
    replace(&file, &text).map_err(|error| Failure::of_file("certificate", &file, &error))?;
    Ok(file)
}

/// Adds up the shards of the job array in `dir`, and those of the files `from`.
pub fn gather_array(dir: &Path, from: &[PathBuf], to_json: bool) -> Result<(), Failure> {
    if !ArrayDirectory::is_there(dir) {
        let what = "no job array; `queenfold array` makes one, and --into gathers runs";
        return Err(Failure::usage(format!("{}: {what}", dir.display())));
    }
    let directory = ArrayDirectory::open(dir)?;
    let stdin = matches!(from, [one] if is_stream(one));
    let from = match stdin {
        true => vec![kept_stdin(&directory)?],
        false => from.to_vec(),
    };
    let gathered = gathered(&directory, &from)?;
    if stdin && !gathered.refused.is_empty() {
        fs::remove_file(&from[0])?;
    }
    let whole = dir.join("whole");
    let merged = gathered.merged.as_ref();
    if let Some(Merged {
        copied,
        there,
        left_out,
        ..
    }) = merged
    {
        let (whole, copied) = (whole.display(), several(*copied, "task"));
        say(&printable(&format!(
            "{whole}: {copied} gathered, {there} there already"
        )));
        left_out
            .iter()
            .for_each(|left_out| say(&printable(&left_out.to_string())));
    }
    let tasks: u64 = directory.array().plans().iter().map(|p| p.tasks()).sum();
    let done = merged.map_or(0, |merged| merged.sums.coverage.done());
    let mut lines = Vec::new();
    let mut json = json!({});
    for (shards, what, key) in [
        (&gathered.not_begun, "not begun", "not_begun"),
        (&gathered.stopped, "stopped", "stopped"),
        (&gathered.running, "running", "running"),
    ] {
        json[key] = json!(shards.iter().collect::<Vec<_>>());
        if !shards.is_empty() {
            let number = several(shards.len(), "shard");
            lines.push(format!("{number} {what}: {shards}"));
        }
    }
    match merged.filter(|merged| merged.sums.coverage.is_whole()) {
        Some(merged) => {
            let json = to_json.then_some(json);
            tell_whole(&whole, merged, json)?;
            if directory.array().is_done(&gathered.lacking) {
                return Ok(());
            }
            if lines.is_empty() {
                let again = command("array", &[("--again", dir.as_os_str())], None);
                let what = format!("`{again}` adds shards for what one host alone has counted");
                return Err(Failure::new(Exit::Stopped, what));
            }
            lines.insert(0, "second counts are missing".to_owned());
        }
        None => {
            if to_json {
                print_total(json, (done, tasks), Default::default())?;
            }
            let (dir, missing) = (dir.display(), several(tasks - done, "task"));
            lines.insert(
                0,
                format!("no total from {dir}: {missing} of {tasks} missing"),
            );
        }
    }
    let to_submit = gathered.to_submit();
    let missing = ask(&directory).unwrap_or_default().others(&to_submit);
    let which = match gathered.running.is_empty() && missing.len() == to_submit.len() {
        true => "them",
        false => "the others",
    };
    if missing.is_empty() {
        let again = command_on("gather", dir);
        lines.push(format!(
            "wait for the running and the queued shards, then `{again}`"
        ));
    } else {
        let again = submit_again(&directory, dir, &missing).into_iter();
        lines.extend(again.map(|command| format!("count {which} alone with `{command}`")));
        lines.extend(outdated_scripts(&directory, dir));
    }
    Err(Failure::lines(Exit::Stopped, lines))
}
