use std::path::PathBuf;

use clap::Subcommand;

use crate::cli::exit::{Exit, Failure};
use crate::cli::output::say;
use crate::cluster::nats::{UserFileError, UserFiles};
use crate::telemetry::printable;

/// Flags of `hosts`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  queenfold hosts add anna bob                make users for two hosts, in the folder nats-hosts
  queenfold hosts remove bob
  nats-server --signal reload                 let the server know, after either

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

/// Makes or removes users of a NATS server.
pub fn run(args: &Args) -> Result<(), Failure> {
    let (What::Add(hosts) | What::Remove(hosts)) = &args.what;
    let files = UserFiles::of(&hosts.folder);
    match &args.what {
        What::Add(hosts) => {
            for file in files.add(&hosts.names).map_err(failure)? {
                say(&printable(&format!("{}: for that host", file.display())));
            }
            let file = files.coordinator();
            say(&printable(&format!("{}: for `serve`", file.display())));
        }
        What::Remove(hosts) => files.remove(&hosts.names).map_err(failure)?,
    }
    let file = files.configuration();
    say(&printable(&format!(
        "{}: for the server, which takes it after `nats-server --signal reload`",
        file.display()
    )));
    Ok(())
}

fn failure(error: UserFileError) -> Failure {
    match error {
        UserFileError::Name(_) => Failure::usage(error),
        _ => Failure::new(Exit::Error, error),
    }
}
