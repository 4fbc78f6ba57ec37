use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Seek};
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

use crate::certificate::{CertifyError, Checked, HostKey, certify, check};
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::{print, print_json, say};
use crate::cli::session::recount_cost::in_words;
use crate::ledger::host_name;
use crate::run_directory::open;
use crate::system::files;
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

    /// Print one JSON object on a line
    #[arg(long)]
    json: bool,
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
    for (at, key) in keys.iter().enumerate() {
        if keys[..at].iter().any(|other| other.is_same(key)) {
            let what = format!("--key {}: this key signs already", args.key[at].display());
            return Err(Failure::usage(what));
        }
    }
    let (store, plans) = open(&args.dir)?;
    let unwritten = |error: io::Error| {
        let what = format!("{} cannot be written: {error}", file.display());
        Failure::new(Exit::Error, what)
    };
    let tasks: u64 = plans.iter().map(|plan| plan.tasks()).sum();
    let written = |mut draft: &File| -> Result<Checked, Failure> {
        let seconds = tasks as f64 * SECONDS_PER_TASK;
        if seconds >= 1.0 {
            let tasks = several(tasks, "task");
            say(&format!(
                "to write and to check: {tasks}, {}",
                in_words(seconds)
            ));
        }
        let shown = shown("written", None);
        let writer = shown.wrap_write(BufWriter::new(draft));
        certify(&store, &plans, &keys, writer).map_err(|error| match error {
            CertifyError::Output(error) => unwritten(error),
            error => error.into(),
        })?;
        draft.sync_all().map_err(unwritten)?;
        shown.finish_and_clear();
        draft.rewind().map_err(unwritten)?;
        let bytes = draft.metadata().map_err(unwritten)?.len();
        let shown = self::shown("checked", Some(bytes));
        let checked = check(BufReader::new(shown.wrap_read(draft)))?;
        shown.finish_and_clear();
        Ok(checked)
    };
    // Under its name, a certificate is whole.
    let checked = match files::unnamed(folder_of(file)) {
        Some(draft) => {
            let checked = written(&draft)?;
            files::give_name(&draft, file).map_err(unwritten)?;
            checked
        }
        None => {
            let named = NamedDraft::create(file).map_err(unwritten)?;
            let checked = written(&named.draft)?;
            named.rename(file).map_err(unwritten)?;
            checked
        }
    };
    if args.json {
        let hosts: Vec<_> = checked
            .signatures
            .iter()
            .map(|signed| &signed.host)
            .collect();
        let json = json!({
            "file": file.display().to_string(),
            "plans": checked.plans,
            "tasks": checked.tasks,
            "root": checked.root,
            "signed_by": hosts,
            "known": checked.outcome.is_known,
            "result": &checked.outcome,
        });
        return print_json(&json);
    }
    print(&format!(
        "{}: {} of {}, {}\nroot {}",
        file.display(),
        several(checked.tasks, "task"),
        checked.plans.join(" and "),
        several(checked.signatures.len() as u64, "signature"),
        checked.root
    ))
}

/// The folder in which a file lies.
fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// A certificate under another name, where a file cannot be without one. It is removed when dropped; a kill leaves
/// it behind.
struct NamedDraft {
    path: PathBuf,
    draft: File,
}

impl NamedDraft {
    fn create(file: &Path) -> io::Result<Self> {
        let mut path = file.to_owned().into_os_string();
        path.push(".new");
        let path = PathBuf::from(path);
        let mut options = File::options();
        let draft = options.read(true).write(true).create_new(true).open(&path);
        let draft = draft.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => io::Error::other(format!(
                "{} is there: another process writes it, or left it when it was killed; if none does, delete it",
                path.display()
            )),
            _ => error,
        })?;
        Ok(Self { path, draft })
    }

    fn rename(self, file: &Path) -> io::Result<()> {
        fs::rename(&self.path, file)
    }
}

impl Drop for NamedDraft {
    fn drop(&mut self) {
        // After a rename there is nothing of this name.
        let _ = fs::remove_file(&self.path);
    }
}
