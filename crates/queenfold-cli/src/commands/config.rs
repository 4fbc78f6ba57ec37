//! `queenfold config`: shows every setting, its value and where that comes from.

use serde_json::json;

use crate::args::flags::ConfigFlags;
use crate::config::{Config, Layers, written};
use crate::exit::Failure;
use crate::output::{print, print_json};
use queenfold::machine::Machine;

/// Flags of `config`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  queenfold config
  queenfold config --workers 4 > queenfold.toml

The first of these that names a setting decides: a flag, an environment variable \
QUEENFOLD_<SECTION>_<KEY>, the file of --config or else ./queenfold.toml, your own file \
~/.config/queenfold/config.toml, the built-in default. Nobody else may be able to write to the last two files, and \
./queenfold.toml must not run a command or write to a file. The output is itself a configuration file.")]
pub struct Args {
    #[command(flatten)]
    flags: ConfigFlags,

    /// Print one object of JSON
    #[arg(long)]
    json: bool,
}

/// Shows the settings: as a configuration file with origins in comments, or as JSON.
pub fn run(args: &Args) -> Result<(), Failure> {
    let settings = args.flags.settings()?;
    if !args.json {
        return print(annotated(&settings).trim_end());
    }
    let mut shown = json!({});
    for (setting, value, origin) in settings.entries() {
        shown[setting.key] = json!({
            "value": value,
            "origin": origin.to_string(),
            "resolved": resolved(setting.key, settings.config()),
        });
    }
    print_json(&shown)
}

/// The settings as a ledger keeps them, for whoever gets the run: a command may contain a password.
pub fn kept(settings: &Layers) -> String {
    annotated(&settings.without_command())
}

/// The settings as a configuration file, with the origin of each in a comment.
fn annotated(settings: &Layers) -> String {
    let mut text = String::new();
    let mut section = "";
    for (setting, value, origin) in settings.entries() {
        let (table, name) = setting.key.split_once('.').unwrap_or_default();
        if table != section {
            let gap = if section.is_empty() { "" } else { "\n" };
            text += &format!("{gap}[{table}]\n");
            section = table;
        }
        let line = format!("{name} = {}", written(&value));
        let here = resolved(setting.key, settings.config());
        let here = here.map_or_else(String::new, |here| format!("; here {here}"));
        text += &format!("{line:<34} # {origin}{here}\n");
    }
    text
}

/// What `auto` means on this machine; `None` for other values.
fn resolved(key: &str, config: &Config) -> Option<String> {
    let run = &config.run;
    match key {
        "run.isa" if run.isa.is_none() => Some(run.isa().to_string()),
        "run.workers" if run.workers.is_none() => Some(run.workers(&Machine::detect()).to_string()),
        _ => None,
    }
}
