//! `queenfold check`: checks a certificate, and counts some of its tasks again if it is asked to.

use std::fs::File;
use std::io::{self, BufReader, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::config::{is_stream, whole};
use crate::exit::Failure;
use crate::output::{print, print_json};
use crate::session::recount::{self, by_name, percentage, second_method, tell_outcome};
use queenfold::engine::CheckedBy;
use queenfold::words::several;
use queenfold_ledger::certificate::{CheckError, Checked, Signed, challenge, check, most_wrong};
use queenfold_ledger::run_directory::ToCheck;
use queenfold_ledger::system::file_kind::Draft;
use queenfold_ledger::system::files::open_regular;

const HELP: &str = "\
Examples:
  queenfold check n20.cert
  queenfold check n20.cert --challenge \"the lottery numbers of tomorrow\" --sample 100

Reads every line: partitions, counts, sums, identities, the Merkle root and the signatures. With \
--challenge, it also draws tasks by a hash of the root and the seed, and counts them again by another \
kernel than a run on this machine; with --by oracle, by the oracle of their engine, which is a simpler and \
slower method. The certificate of a shard has no total, and proves nothing about one. Choose a seed that the author of the certificate could not know. The exit code is 3 if counts contradict each other, and 1 for any other \
defect. docs/check_certificate.py checks a certificate without this program.";

/// Flags of `check`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The certificate, or - for stdin
    certificate: PathBuf,

    /// Draw tasks by this text and the root, and count them again
    #[arg(long, value_name = "SEED")]
    challenge: Option<String>,

    /// How often to draw a task
    #[arg(long, default_value_t = 20, value_name = "M", requires = "challenge", allow_negative_numbers = true, value_parser = whole(1..=1_000_000_u64))]
    sample: u64,

    /// What counts them again: another kernel, or the oracle of the engine, which is slow and simple
    #[arg(long, value_name = "METHOD", default_value = "kernel", requires = "challenge", value_parser = second_method())]
    by: CheckedBy,

    /// Print one JSON object on a line
    #[arg(long)]
    json: bool,
}

/// Checks a certificate.
pub fn run(args: &Args) -> Result<(), Failure> {
    let name = args.certificate.display();
    let wrong = |error: CheckError| {
        let Failure { exit, message } = error.into();
        Failure::new(exit, format!("{name}: {message}"))
    };
    let mut file = open(&args.certificate).map_err(|error| wrong(error.into()))?;
    let checked = check(BufReader::new(&file)).map_err(wrong)?;
    let challenged = match &args.challenge {
        None => None,
        Some(seed) => {
            if !args.json {
                tell(&checked)?;
            }
            file.rewind().map_err(|error| wrong(error.into()))?;
            let drawn =
                challenge(BufReader::new(&file), &checked, seed, args.sample).map_err(wrong)?;
            recount(&drawn, args.by).map_err(|failure| {
                let signed = checked.signatures.iter();
                let signed: String = signed.map(|of| format!("; signed by {}", of.key)).collect();
                let lines = failure.message.lines();
                let lines = lines.map(|line| format!("{name}: {line}{signed}"));
                Failure::lines(failure.exit, lines)
            })?;
            Some((drawn.tasks(), seed))
        }
    };
    match (args.json, challenged) {
        (true, challenged) => print_json(&to_json(&checked, challenged, args)),
        (false, None) => tell(&checked),
        (false, Some((different, seed))) => tell_proof(&checked, different, (args.sample, seed)),
    }
}

/// Opens a certificate. A pipe would let the reader wait for ever. Standard input is kept: a challenge reads it a second
/// time.
fn open(file: &Path) -> io::Result<File> {
    if is_stream(file) {
        let mut kept = Draft::temporary()?.file.try_clone()?;
        io::copy(&mut io::stdin(), &mut kept)?;
        kept.rewind()?;
        return Ok(kept);
    }
    open_regular(file).map_err(|error| match error.kind() {
        io::ErrorKind::IsADirectory => io::Error::other(
            "it is a directory; `queenfold certify DIR -o FILE` writes the certificate of a run",
        ),
        _ => error,
    })
}

/// For programs: what the certificate says, and what the challenge showed.
fn to_json(checked: &Checked, challenged: Option<(u64, &String)>, args: &Args) -> Json {
    let challenge = challenged.map(|(different, seed)| {
        let all = different == checked.tasks;
        json!({
            "seed": seed,
            "draws": args.sample,
            "tasks": different,
            "by": by_name(args.by),
            "wrong_share_below": if all { 0.0 } else { most_wrong(args.sample) },
        })
    });
    let mut json = json!(checked);
    for (key, value) in [
        ("challenge", json!(challenge)),
        (
            "shard",
            json!(checked.part.map(|part| part.shard.to_string())),
        ),
        ("shard_tasks", json!(checked.part.map(|part| part.tasks))),
        (
            "known",
            json!(checked.outcome.as_ref().map(|outcome| outcome.is_known)),
        ),
        ("result", json!(checked.outcome)),
    ] {
        json[key] = value;
    }
    json
}

fn tell(checked: &Checked) -> Result<(), Failure> {
    print(&format!(
        "tasks     {} of {}, every partition {}once with its weight",
        checked.tasks,
        checked.plans.join(" and "),
        checked.part.map_or("", |_| "of them ")
    ))?;
    if let Some(part) = checked.part {
        let tasks = several(part.tasks, "task");
        let (board, there) = (checked.board.in_words(), checked.tasks);
        print(&format!("part      {part} of {board}, {there} of {tasks}"))?;
        print("total     none: this proves nothing about it")?;
    }
    if let Some(outcome) = &checked.outcome {
        tell_outcome(outcome)?;
    }
    let Checked {
        twice,
        on_other_host,
        by_other_worker,
        by_other_kernel,
        ..
    } = checked;
    let again = match twice {
        0 => String::new(),
        _ => format!(
            " ({on_other_host} on another host, {by_other_worker} by another worker or device, {by_other_kernel} by another kernel)"
        ),
    };
    print(&format!(
        "counted   {twice} twice{again}, {}, by {}",
        several(checked.corrections, "correction"),
        several(checked.hosts.len() as u64, "host")
    ))?;
    print(&format!("root      {}", checked.root))?;
    if checked.signatures.is_empty() {
        return print("signed    by nobody");
    }
    checked
        .signatures
        .iter()
        .try_for_each(|Signed { host, key }| {
            print(&format!("signed    by {host}, if its key is {key}"))
        })
}

/// Counts the drawn tasks again.
///
/// # Errors
/// Some of them are wrong.
fn recount(drawn: &Arc<ToCheck>, by: CheckedBy) -> Result<(), Failure> {
    let progress = |done, wrong| {
        let done = several(done, "task");
        format!("{done} counted again, {wrong} of them wrong")
    };
    let compared = recount::count(drawn, by, recount::listen()?, progress)?;
    match compared.wrong_of(drawn) {
        wrong if wrong.is_empty() => Ok(()),
        wrong => Err(Failure::counts_differ(&wrong)),
    }
}

/// Says what so many different tasks prove that were counted again, all of them right.
fn tell_proof(
    checked: &Checked,
    different: u64,
    (draws, seed): (u64, &str),
) -> Result<(), Failure> {
    print(&format!(
        "recounted {} drawn by the root and {seed:?}, {different} of them different, all equal",
        several(draws, "task")
    ))?;
    if different == checked.tasks {
        return print("proves    every task was counted again");
    }
    print(&format!(
        "proves    with 95 % certainty, fewer than {} of the tasks are wrong, if nobody knew the seed before",
        percentage(most_wrong(draws))
    ))?;
    print(&format!(
        "not       that none is wrong: a single wrong task is missed with a chance of {}",
        percentage(1.0 - different as f64 / checked.tasks as f64)
    ))
}
