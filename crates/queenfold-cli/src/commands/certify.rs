//! `queenfold certify`: writes the certificate of a run, which can be checked without this program.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek};
use std::path::PathBuf;

use serde_json::json;

use crate::config::is_stream;
use crate::exit::{Exit, Failure};
use crate::output::{bar, check_file, print, print_json, say, stdout};
use crate::session::recount::in_words;
use crate::telemetry::printable;
use queenfold::words::several;
use queenfold_ledger::certificate::{Checked, HostKey, certify, check};
use queenfold_ledger::ledger::{Store, host_name};
use queenfold_ledger::system::file_kind::{Draft, FileKind};

const HELP: &str = "\
Examples:
  queenfold certify n20 -o n20.cert
  queenfold certify n20 -o n20.cert --key my.key
  queenfold certify shard17 -o shard17.cert --key my.key

The certificate holds the result, every task with its partitions, its counts and who counted it, and a \
Merkle root over all lines. It is text: `queenfold check` and docs/check_certificate.py check it, the \
latter without this program. If tasks are missing, the certificate is of those that are there, as a shard of a run \
or a part of it, and has no total; `gather` takes it where it has one signature. Each --key signs the root with the name of this machine: a file of 64 \
hexadecimal digits, as `openssl rand -hex 32` makes it, that others cannot read (`chmod 600`).";

const CERTIFICATE: FileKind<'_> = FileKind {
    name: "certificate",
    // None that is there is replaced.
    marks: &[],
    streams: false,
    is_replaced: false,
};

/// Flags of `certify`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The directory of the run, or of a shard
    dir: PathBuf,

    /// The certificate to write, which must not exist; - for stdout
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Sign with the secret key in this file
    #[arg(long, value_name = "FILE")]
    key: Vec<PathBuf>,

    /// Print one JSON object on a line
    #[arg(long)]
    json: bool,
}

/// CPU seconds in which a task is read, written and checked, on a Zen 3 with the tasks of n = 18 and 20.
const SECONDS_PER_TASK: f64 = 1.5e-4;

/// Writes the certificate of a run.
pub fn run(args: &Args) -> Result<(), Failure> {
    let file = &args.output;
    let to_stdout = is_stream(file);
    if to_stdout && args.json {
        let what =
            "-o - writes the certificate to stdout, where --json prints, too: give one of them";
        return Err(Failure::usage(what));
    }
    if !to_stdout && file.symlink_metadata().is_ok() {
        let what = format!("{} exists already; name another file", file.display());
        return Err(Failure::usage(what));
    }
    check_file("certificate", &CERTIFICATE, file)?;
    let keys = keys(&args.key)?;
    let unwritten = |error: io::Error| {
        let what = format!("{} cannot be written: {error}", file.display());
        Failure::new(Exit::Error, what)
    };
    // Under its name, a certificate is whole.
    let draft = match to_stdout {
        true => Draft::temporary(),
        false => Draft::beside(file),
    };
    let mut draft = draft.map_err(unwritten)?;
    let checked = write(args, &keys, &draft.file, unwritten)?;
    if to_stdout {
        draft.file.rewind().map_err(unwritten)?;
        io::copy(&mut draft.file, &mut stdout())?;
    } else {
        draft.put_new(file).map_err(unwritten)?;
    }
    if args.json {
        let signed = checked.signatures.iter();
        return print_json(&json!({
            "file": file.display().to_string(),
            "plans": checked.plans,
            "tasks": checked.tasks,
            "root": checked.root,
            "signed_by": signed.map(|signed| &signed.host).collect::<Vec<_>>(),
            "shard": checked.part.map(|part| part.shard.to_string()),
            "known": checked.outcome.as_ref().map(|outcome| outcome.is_known),
            "result": &checked.outcome,
        }));
    }
    let mut lines = vec![format!(
        "{}: {} of {}, {}",
        file.display(),
        several(checked.tasks, "task"),
        checked.plans.join(" and "),
        several(checked.signatures.len() as u64, "signature"),
    )];
    lines.extend(checked.part.map(|part| {
        let (board, all) = (checked.board.in_words(), several(part.tasks, "task"));
        format!(
            "{part} of {board}: {} of {all}, and no total",
            checked.tasks
        )
    }));
    lines.push(format!("root {}", checked.root));
    match to_stdout {
        true => lines.iter().for_each(|line| say(&printable(line))),
        false => print(&lines.join("\n"))?,
    }
    Ok(())
}

/// The keys that sign, each once.
fn keys(files: &[PathBuf]) -> Result<Vec<HostKey>, Failure> {
    let mut keys: Vec<HostKey> = Vec::new();
    for file in files {
        let key = HostKey::read(file, host_name())?;
        if keys.iter().any(|other| other.is_same(&key)) {
            let what = format!("--key {}: this key signs already", file.display());
            return Err(Failure::usage(what));
        }
        keys.push(key);
    }
    Ok(keys)
}

/// Writes the certificate into a draft, and checks it there.
fn write(
    args: &Args,
    keys: &[HostKey],
    mut draft: &File,
    unwritten: impl Fn(io::Error) -> Failure + Copy,
) -> Result<Checked, Failure> {
    let store = Store::open_to_read(&args.dir)?;
    let tasks = store.recorded_tasks()?;
    let seconds = tasks as f64 * SECONDS_PER_TASK;
    if seconds >= 1.0 {
        let (tasks, time) = (several(tasks, "task"), in_words(seconds));
        say(&format!("to write and to check: {tasks}, {time}"));
    }
    let shown = bar(None, "{bytes} written · {elapsed}");
    let writer = shown.wrap_write(BufWriter::new(draft));
    certify(&store, keys, writer)?;
    draft.sync_all().map_err(unwritten)?;
    shown.finish_and_clear();
    draft.rewind().map_err(unwritten)?;
    let bytes = draft.metadata().map_err(unwritten)?.len();
    let shown = bar(Some(bytes), "{bytes} of {total_bytes} checked · {elapsed}");
    let checked = check(BufReader::new(shown.wrap_read(draft)))?;
    shown.finish_and_clear();
    Ok(checked)
}
