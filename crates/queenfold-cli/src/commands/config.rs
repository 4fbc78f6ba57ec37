//! `queenfold config`: shows every setting, its value and where that comes from.

use serde_json::{Value as Json, json};

use crate::args::flags::ConfigFlags;
use crate::config::{Config, Layers, Value, written};
use crate::exit::Failure;
use crate::output::{print, print_json};
use queenfold::machine::Machine;

/// Flags of `config`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  queenfold config show")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Print every setting with its value and where it comes from; takes the flags of `run`
    #[command(after_help = "\
Examples:
  queenfold config show
  queenfold config show --workers 4 > queenfold.toml

The first of these that names a setting decides: a flag, an environment variable \
QUEENFOLD_<SECTION>_<KEY>, the file of --config or else ./queenfold.toml, your own file \
~/.config/queenfold/config.toml, the built-in default. Nobody else may be able to write to the last two files, and \
./queenfold.toml must not run a command or write to a file. The output is itself a configuration file.")]
    Show(ConfigFlags),
}

/// Shows the settings: as a configuration file with origins in comments, or as JSON.
pub fn run(args: &Args) -> Result<(), Failure> {
    let Command::Show(flags) = &args.command;
    let settings = flags.settings()?;
    let config = settings.config();
    if config.output.json {
        let entries: serde_json::Map<String, Json> = settings
            .entries()
            .map(|(key, value, origin)| {
                let entry = json!({
                    "value": value,
                    "origin": origin.to_string(),
                    "resolved": resolved(&key, config),
                });
                (key, entry)
            })
            .collect();
        return print_json(&entries);
    }
    print(annotated(&settings).trim_end())
}

/// The settings as a ledger keeps them, for whoever gets the run: a command may contain a password.
pub fn kept(settings: &Layers) -> String {
    annotated(&settings.without_command())
}

/// The settings as a configuration file, with the origin of each in a comment.
fn annotated(settings: &Layers) -> String {
    let mut text = String::new();
    let mut section = String::new();
    for (key, value, origin) in settings.entries() {
        let (table, name) = key.split_once('.').unwrap_or(("", &key));
        if table != section {
            if !section.is_empty() {
                text += "\n";
            }
            text += &format!("[{table}]\n");
            section = table.into();
        }
        let line = format!("{name} = {}", written(value));
        let here = resolved(&key, settings.config());
        let here = here.map_or_else(String::new, |here| format!("; here {here}"));
        text += &format!("{line:<34} # {origin}{here}\n");
    }
    text
}

/// What `auto` means on this machine; `None` for other values.
fn resolved(key: &str, config: &Config) -> Option<String> {
    let run = &config.run;
    let machine = Machine::detect();
    match key {
        "run.isa" if run.isa.0.is_none() => Some(run.isa().write()),
        "run.workers" if run.workers.0.is_none() => Some(run.workers(&machine).to_string()),
        _ => None,
    }
}
