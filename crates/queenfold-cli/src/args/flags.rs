//! The flags that set a setting, and how they become settings. The table of the settings names them.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser, ValueParser};
use clap::error::Error;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};

use crate::config::{
    Flag, Form, LOCAL_FILE, Layers, SETTINGS, Setting, SettingOrigin, Takes, written,
};
use crate::exit::Failure;
use crate::output::say;
use crate::telemetry::printable;
use queenfold::machine::config_folder;

/// Which flags commands have.
const SETS: [fn(&str) -> bool; 4] = [
    |_| true,
    |flag| !["--engine", "--unique"].contains(&flag),
    |flag| ["--engine", "--isa", "--workers"].contains(&flag),
    |flag| SETS[1](flag),
];

/// The set of which each flag needs `--again`.
const AGAIN: usize = 3;

/// The flags of `run`.
pub type ConfigFlags = SettingFlags<0>;

/// How a run is counted and shown: the settings that may change when it is resumed.
pub type How = SettingFlags<1>;

/// The same for `verify --again`.
pub type HowAgain = SettingFlags<AGAIN>;

/// The flags of a command that counts only on CPU workers and keeps nothing.
pub type CpuFlags = SettingFlags<2>;

/// The flags of one of the [`SETS`], and the file of settings. Each has precedence over every other source of its key.
#[derive(Debug)]
pub struct SettingFlags<const SET: usize> {
    file: Option<PathBuf>,
    /// The flags that were given: the setting, the name, the value.
    given: Vec<(&'static Setting, &'static str, String)>,
}

fn id(name: &'static str) -> &'static str {
    name.trim_start_matches('-')
}

/// Reads the value of a setting. Help and completions list those of a choice.
fn parser(setting: &'static Setting) -> ValueParser {
    match (setting.about)().names {
        names if names.len() > 1 => {
            let names = PossibleValuesParser::new(names);
            names.try_map(|text| setting.checked(&text)).into()
        }
        _ => ValueParser::new(|text: &str| setting.checked(text)),
    }
}

/// The flag of a setting, or the two of a switch, for clap.
fn args((setting, flag): (&'static Setting, &'static Flag)) -> Vec<Arg> {
    let name = id(flag.name);
    let arg = Arg::new(name).long(name).help(setting.help());
    let off = match flag.takes {
        Takes::Switch(off) => id(off),
        Takes::Value(of) => {
            let arg = arg.value_name(of).value_parser(parser(setting));
            // A negative number is refused as one.
            return vec![arg.allow_hyphen_values((setting.about)().form == Form::Number)];
        }
    };
    let on = arg.overrides_with(off);
    let off = Arg::new(off).long(off).overrides_with(name);
    let [on, off] = match name {
        // What is the default needs no flag.
        "unique" => [on.hide(true), off.help(NO_UNIQUE)],
        _ => {
            let help = format!("{}; `--{}` does not", setting.help(), off.get_id());
            [on.help(help), off.hide(true)]
        }
    };
    let on = if name == "quiet" { on.short('q') } else { on };
    [on, off].map(|arg| arg.action(ArgAction::SetTrue)).into()
}

const NO_UNIQUE: &str = "Count all solutions only, not those that differ by more than a rotation or reflection; `--unique` \
                         counts both";

/// The value that the command line gives a flag, and the name of the flag that does.
fn given(flag: &'static Flag, matches: &ArgMatches) -> Option<(&'static str, String)> {
    if let Takes::Switch(off) = flag.takes {
        let mut flags = [(flag.name, "true"), (off, "false")].into_iter();
        let (name, value) = flags.find(|(name, _)| matches.get_flag(id(name)))?;
        return Some((name, value.to_owned()));
    }
    let value: &String = matches.get_one(id(flag.name))?;
    Some((flag.name, value.clone()))
}

/// The flags of a set, each with its setting.
fn flags(set: usize) -> impl Iterator<Item = (&'static Setting, &'static Flag)> {
    let flags = SETTINGS
        .iter()
        .filter_map(|setting| Some((setting, setting.flag.as_ref()?)));
    flags.filter(move |(_, flag)| SETS[set](flag.name))
}

impl<const SET: usize> Args for SettingFlags<SET> {
    fn augment_args(command: Command) -> Command {
        let file = Arg::new("config").long("config").value_name("FILE");
        let file = file.value_parser(value_parser!(PathBuf));
        let file = file.help("Settings in a TOML file");
        let all = flags(SET).flat_map(args).chain([file]);
        command.args(all.map(|arg| match SET {
            AGAIN => arg.requires("again"),
            _ => arg,
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const SET: usize> FromArgMatches for SettingFlags<SET> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = flags(SET).filter_map(|(setting, flag)| {
            let (name, value) = given(flag, matches)?;
            Some((setting, name, value))
        });
        Ok(Self {
            file: matches.get_one("config").cloned(),
            given: given.collect(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<const SET: usize> SettingFlags<SET> {
    /// All settings, each from the first source that names it.
    ///
    /// # Errors
    /// A source cannot be read, or something in it is refused.
    pub fn settings(&self) -> Result<Layers, Failure> {
        let mut layers = sources(self.file.as_deref()).map_err(Failure::usage)?;
        for (setting, name, value) in &self.given {
            let set = layers.set_text(setting, value, SettingOrigin::Flag(name));
            set.map_err(Failure::usage)?;
        }
        tell_local(&layers);
        Ok(layers)
    }
}

/// The settings of the user's own file, of `file` or else of the folder, and of the environment, without any flags.
///
/// # Errors
/// One of them cannot be read, or something in it is refused.
pub fn sources(file: Option<&Path>) -> Result<Layers, String> {
    let mut layers = Layers::default();
    let own = config_folder().map(|folder| folder.join("config.toml"));
    if let Some(own) = own.filter(|own| own.exists()) {
        layers.add_own_file(&own, false)?;
    }
    match file {
        Some(path) => layers.add_file(path)?,
        None => layers.add_own_file(Path::new(LOCAL_FILE), true)?,
    }
    let text = |text: OsString| text.to_string_lossy().into_owned();
    let variables = env::vars_os().map(|(name, value)| (text(name), text(value)));
    layers.add_environment(variables)?;
    Ok(layers)
}

/// Says at a terminal what the file of the folder decides: whoever enters a folder need not know that it has one. The
/// file cannot keep that quiet itself.
fn tell_local(layers: &Layers) {
    let local = SettingOrigin::File(LOCAL_FILE.into());
    let is_quiet = layers.config().output.quiet && *layers.origin("output.quiet") != local;
    let own = layers.entries().filter(|(.., origin)| **origin == local);
    let own: Vec<_> = own
        .map(|(of, value, _)| format!("{} = {}", of.key, written(&value)))
        .collect();
    if !is_quiet && !own.is_empty() && io::stderr().is_terminal() {
        say(&printable(&format!("{LOCAL_FILE} sets {}", own.join(", "))));
    }
}
