//! `queenfold check`: checks a certificate, and counts some of its tasks again if it is asked to.

use std::fs::File;
use std::io::{self, BufReader, Seek};
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use crate::args::whole::whole;
use crate::exit::Failure;
use crate::output::{print, print_json};
use crate::session::recount::{self, by_name, percentage, second_method, tell_outcome};
use crate::telemetry::printable;
use queenfold::engine::CheckedBy;
use queenfold::words::several;
use queenfold_ledger::certificate::{Challenge, CheckError, Checked, Signed, check, most_wrong};
use queenfold_ledger::system::file_kind::Draft;
use queenfold_ledger::system::files::open_regular;

const HELP: &str = "\
Examples:
  queenfold check n20.cert
  queenfold check n20.cert --challenge \"the lottery numbers of tomorrow\" -m 100

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
    #[arg(short, default_value_t = 20, value_name = "M", requires = "challenge", allow_negative_numbers = true, value_parser = whole(1..=1_000_000_u64))]
    m: u64,

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
        let failure = Failure::from(error);
        Failure {
            message: printable(&format!("{name}: {}", failure.message)),
            ..failure
        }
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
            let challenge =
                Challenge::draw(BufReader::new(&file), &checked, seed, args.m).map_err(wrong)?;
            recount(&challenge, args.by).map_err(|failure| {
                let signed = checked.signatures.iter();
                let signed = signed.map(|signed| format!("; signed by {}", signed.key));
                let signed: String = signed.collect();
                let lines = failure.message.lines();
                Failure::lines(
                    failure.exit,
                    lines.map(|line| format!("{name}: {line}{signed}")),
                )
            })?;
            Some((challenge.0.tasks(), seed))
        }
    };
    match (args.json, challenged) {
        (true, challenged) => print_json(&to_json(&checked, challenged, args)),
        (false, None) => tell(&checked),
        (false, Some((different, seed))) => tell_proof(&checked, different, (args.m, seed)),
    }
}

/// Opens a certificate. A pipe would let the reader wait for ever. Standard input is kept: a challenge reads it a second
/// time.
fn open(file: &Path) -> io::Result<File> {
    if file.as_os_str() == "-" {
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
    let signed = |signed: &Signed| json!({"host": signed.host, "key": signed.key});
    let challenge = challenged.map(|(different, seed)| {
        let all = different == checked.tasks;
        json!({
            "seed": seed,
            "draws": args.m,
            "tasks": different,
            "by": by_name(args.by),
            "wrong_share_below": if all { 0.0 } else { most_wrong(args.m) },
        })
    });
    json!({
        "plans": checked.plans,
        "tasks": checked.tasks,
        "twice": checked.twice,
        "on_other_host": checked.on_other_host,
        "by_other_worker": checked.by_other_worker,
        "by_other_kernel": checked.by_other_kernel,
        "corrections": checked.corrections,
        "hosts": checked.hosts,
        "root": checked.root,
        "signatures": checked.signatures.iter().map(signed).collect::<Vec<_>>(),
        "challenge": challenge,
        "shard": checked.part.map(|part| part.shard.to_string()),
        "shard_tasks": checked.part.map(|part| part.tasks),
        "known": checked.outcome.as_ref().map(|outcome| outcome.is_known),
        "result": &checked.outcome,
    })
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
    let again = match checked {
        Checked { twice: 0, .. } => String::new(),
        of => format!(
            " ({} on another host, {} by another worker or device, {} by another kernel)",
            of.on_other_host, of.by_other_worker, of.by_other_kernel
        ),
    };
    print(&format!(
        "counted   {} twice{again}, {}, by {}",
        checked.twice,
        several(checked.corrections, "correction"),
        several(checked.hosts.len() as u64, "host")
    ))?;
    print(&format!("root      {}", checked.root))?;
    match checked.signatures.as_slice() {
        [] => print("signed    by nobody"),
        all => all.iter().try_for_each(|signed| {
            print(&format!(
                "signed    by {}, if its key is {}",
                signed.host, signed.key
            ))
        }),
    }
}

/// Counts the drawn tasks again.
///
/// # Errors
/// Some of them are wrong.
fn recount(challenge: &Challenge, by: CheckedBy) -> Result<(), Failure> {
    let progress = |done, wrong| {
        let done = several(done, "task");
        format!("{done} counted again, {wrong} of them wrong")
    };
    let compared = recount::count(&challenge.0, by, recount::listen()?, progress)?;
    let wrong = compared.wrong_of(&challenge.0);
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(Failure::counts_differ(&wrong)),
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
