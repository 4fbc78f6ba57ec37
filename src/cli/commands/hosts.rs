use std::path::{Path, PathBuf};

use clap::Subcommand;

use crate::cli::exit::{Exit, Failure};
use crate::cli::output::say;
use crate::cluster::lease::{BARS, Bar, Bars};
use crate::cluster::nats::{UserFileError, UserFiles};
use crate::ledger::Store;
use crate::telemetry::printable;

/// Flags of `hosts`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  queenfold hosts add anna bob                make users for two hosts, in the folder nats-hosts
  queenfold hosts remove bob
  nats-server --signal reload                 let the server know, after either
  queenfold hosts pause anna --run n28        give it nothing more to count in the run of the directory n28
  queenfold hosts ban bob --run n28           and refuse this one, at once
  queenfold hosts allow anna bob --run n28

The server is to include nats-hosts/hosts.conf in its configuration. `serve` takes nats-hosts/coordinator.credentials as \
--credentials, and each host its own file, such as nats-hosts/anna.credentials: copy it there, where nobody else may read \
it. The server then lets no host speak for another one or hear what another one is told, and `serve --twice` knows them \
apart. docs/CLUSTER.md has more.")]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Make a user of the NATS server for each of these hosts
    #[command(after_help = "Examples:\n  queenfold hosts add anna bob")]
    Add(Hosts),
    /// Remove the users of these hosts
    #[command(after_help = "Examples:\n  queenfold hosts remove bob")]
    Remove(Hosts),
    /// Give these hosts no more tasks of a run; they count what they hold
    #[command(after_help = "Examples:\n  queenfold hosts pause anna --run n28")]
    Pause(OfRun),
    /// Refuse these hosts in a run; what they hold goes to others, and what they counted stays
    #[command(
        after_help = "Examples:\n  queenfold hosts ban bob --run n28\n\nWhat a host has counted, `verify n28 \
        --origin HOST` counts again, and `merge --take-out HOST --from n28` removes."
    )]
    Ban(OfRun),
    /// Let these hosts count again
    #[command(after_help = "Examples:\n  queenfold hosts allow anna bob --run n28")]
    Allow(OfRun),
}

#[derive(Debug, clap::Args)]
struct OfRun {
    /// The hosts, by the names that `status` shows, or by their users of the server
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,

    /// The directory of the run
    #[arg(long, value_name = "DIR")]
    run: PathBuf,
}

#[derive(Debug, clap::Args)]
struct Hosts {
    /// The names of the hosts: letters, digits, - and _
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,

    /// The folder of the files
    #[arg(long, value_name = "DIR", default_value = "nats-hosts")]
    folder: PathBuf,
}

/// Makes or removes users of a NATS server, or says which hosts may take part in a run.
pub fn run(args: &Args) -> Result<(), Failure> {
    let hosts = match &args.what {
        What::Add(hosts) | What::Remove(hosts) => hosts,
        What::Pause(of) => return bar(of, Some(Bar::Paused)),
        What::Ban(of) => return bar(of, Some(Bar::Banned)),
        What::Allow(of) => return bar(of, None),
    };
    let files = UserFiles::of(&hosts.folder);
    if let What::Remove(hosts) = &args.what {
        files.remove(&hosts.names).map_err(failure)?;
    } else {
        for file in files.add(&hosts.names).map_err(failure)? {
            say(&printable(&format!("{}: for that host", file.display())));
        }
        let file = files.coordinator();
        say(&printable(&format!("{}: for `serve`", file.display())));
    }
    let file = files.configuration();
    say(&printable(&format!(
        "{}: for the server, which takes it after `nats-server --signal reload`",
        file.display()
    )));
    Ok(())
}

/// Notes for the coordinator of a run what its owner asks of hosts.
fn bar(of: &OfRun, bar: Option<Bar>) -> Result<(), Failure> {
    let sessions = Store::open_to_read(&of.run)?.sessions()?;
    let file = of.run.join(BARS);
    let failed = |error| Failure::new(Exit::Error, format!("{}: {error}", file.display()));
    let mut bars = Bars::read(&file).map_err(failed)?;
    for name in &of.names {
        if printable(name) != *name {
            return Err(Failure::usage(format!(
                "{}: no host has such a name",
                printable(name)
            )));
        }
        bars.set(name, bar);
    }
    bars.write(&file).map_err(failed)?;
    let known = |name: &str| {
        let is_of = |id: &str| id.split_once('.').is_some_and(|(user, _)| user == name);
        let mut sessions = sessions.iter();
        sessions.any(|session| session.facts.host == name || is_of(&session.id))
    };
    for name in &of.names {
        let what = bar.map_or("may count again", |bar| match bar {
            Bar::Paused => "gets nothing more to count",
            Bar::Banned => "is refused",
        });
        let note = match known(name) {
            true => "",
            false => "; no host or user of that name has taken part yet",
        };
        say(&format!("{}: {name} {what}{note}", shown(&of.run)));
    }
    Ok(())
}

fn shown(path: &Path) -> String {
    printable(&path.display().to_string())
}

fn failure(error: UserFileError) -> Failure {
    match error {
        UserFileError::Name(_) => Failure::usage(error),
        _ => Failure::new(Exit::Error, error),
    }
}
