use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter};
use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::certificate::{CertifyError, Checked, HostKey, certify, check};
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::{print, say};
use crate::cli::recount_cost::in_words;
use crate::job::open;
use crate::ledger::host_name;
use crate::telemetry::several;

const HELP: &str = "\
Examples:
  queenfold certify n20 -o n20.cert
  queenfold certify n20 -o n20.cert --key my.key

The certificate holds the result, every task with its partitions, its counts and who counted it, and a \
Merkle root over all lines. It is text: `queenfold check` and docs/check_certificate.py check it, the \
latter without this program. Each --key signs the root with the name of this machine: a file of 64 \
hexadecimal digits, as `openssl rand -hex 32` makes it. Keep it secret. The exit code is 4 if tasks of \
the run are missing.";

/// Flags of `certify`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The directory of the finished run
    dir: PathBuf,

    /// The certificate to write; it must not exist
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Sign with the secret key in this file
    #[arg(long, value_name = "FILE")]
    key: Vec<PathBuf>,
}

/// CPU seconds in which a task is read, written and checked, on a Zen 3 with the tasks of n = 18 and 20.
const SECONDS_PER_TASK: f64 = 1.5e-4;

/// How much of the file is done, on a terminal.
fn shown(done: &str, bytes: Option<u64>) -> ProgressBar {
    let all = bytes.map_or("", |_| " of {total_bytes}");
    let style = ProgressStyle::with_template(&format!("{{bytes}}{all} {done} · {{elapsed}}"));
    ProgressBar::with_draw_target(bytes, ProgressDrawTarget::stderr())
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Writes the certificate of a run.
pub fn run(args: &Args) -> Result<(), Failure> {
    let file = &args.output;
    if file.as_os_str() == "-" {
        let what = "a certificate is not written to stdout: name a file";
        return Err(Failure::usage(what));
    }
    if file.symlink_metadata().is_ok() {
        let what = format!("{} exists already; name another file", file.display());
        return Err(Failure::usage(what));
    }
    let host = host_name();
    let keys = args.key.iter().map(|key| HostKey::read(key, host.clone()));
    let keys: Vec<HostKey> = keys.collect::<Result<_, _>>()?;
    let (store, plans) = open(&args.dir)?;
    // Under its name, a certificate is whole.
    let mut draft = file.clone().into_os_string();
    draft.push(".new");
    let draft = PathBuf::from(draft);
    let unwritten = |error: io::Error| {
        let what = format!("{} cannot be written: {error}", file.display());
        Failure::new(Exit::Error, what)
    };
    let tasks: u64 = plans.iter().map(|plan| plan.tasks()).sum();
    let written = || -> Result<Checked, Failure> {
        let out = File::create_new(&draft).map_err(unwritten)?;
        say(&format!(
            "to write and to check: {}, {}",
            several(tasks, "task"),
            in_words(tasks as f64 * SECONDS_PER_TASK)
        ));
        let shown = shown("written", None);
        let writer = shown.wrap_write(BufWriter::new(&out));
        certify(&store, &plans, &keys, writer).map_err(|error| match error {
            CertifyError::Output(error) => unwritten(error),
            error => error.into(),
        })?;
        out.sync_all().map_err(unwritten)?;
        shown.finish_and_clear();
        let draft_file = File::open(&draft).map_err(unwritten)?;
        let bytes = draft_file.metadata().map_err(unwritten)?.len();
        let shown = self::shown("checked", Some(bytes));
        let checked = check(BufReader::new(shown.wrap_read(draft_file)))?;
        shown.finish_and_clear();
        fs::rename(&draft, file).map_err(unwritten)?;
        Ok(checked)
    };
    let is_new = draft.symlink_metadata().is_err();
    let checked = written().inspect_err(|_| {
        if is_new {
            let _ = fs::remove_file(&draft);
        }
    })?;
    print(&format!(
        "{}: {} of {}, {}\nroot {}",
        file.display(),
        several(checked.tasks, "task"),
        checked.plans.join(" and "),
        several(checked.signatures.len() as u64, "signature"),
        checked.root
    ))
}
