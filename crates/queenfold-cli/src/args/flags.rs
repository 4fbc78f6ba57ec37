//! The flags that have a key in the configuration, and how they become settings.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use clap::builder::{
    OsStringValueParser, PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser,
};
use clap::error::Error;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};

use super::boards::{boards, one_board};
use super::help::{help, help_of_switch};
use crate::config::{
    Auto, COLOUR_ALIAS, CommandLine, ConfigError, FileOrStream, Hours, HumanDuration, Indices,
    LOCAL_FILE, Layers, Optional, SettingOrigin, Sizes, SquareNames, Value, Whole, Workers,
    path_text, written,
};
use crate::exit::Failure;
use crate::output::say;
use crate::telemetry::printable;
use queenfold::board::GivenBoard;
use queenfold::engine::Engine;
use queenfold::job::DeviceChoice;
use queenfold::machine::config_folder;
use queenfold::simd::Isa;

/// A flag that sets a key of the configuration. Its id is its name without the dashes.
struct Flag {
    name: &'static str,
    key: &'static str,
    takes: Takes,
}

/// What a flag takes.
enum Takes {
    /// A value: its name in the help, and the parser, which gives the text that the configuration reads.
    Value(&'static str, fn() -> ValueParser),
    /// The same, and the value may begin with a hyphen.
    Hyphens(&'static str, fn() -> ValueParser),
    /// Several values, one for each time the flag is given.
    List(&'static str, fn() -> ValueParser),
    /// Nothing: it sets the key, and the flag of this name takes that back.
    Switch(&'static str),
    /// The file of settings, with this help.
    File(&'static str),
}

/// Flags, one on a line: the name, the key, what it takes.
macro_rules! flags {
    ($($name:literal $key:literal $takes:expr;)*) => {
        &[$(Flag { name: $name, key: $key, takes: $takes }),*]
    };
}

use Takes::{File, Hyphens, List, Switch, Value as Of};

/// Which board.
const BOARD: &[Flag] = flags! {
    "-n" "run.n" Hyphens("N|A..=B", text::<Sizes>);
    "--queens" "run.queens" List("SQUARES", text::<Optional<SquareNames>>);
    "--holes" "run.holes" List("SQUARES", text::<Optional<SquareNames>>);
    "--board" "run.board" Hyphens("FILE|-", path::<Optional<FileOrStream>>);
};

const ENGINE: &[Flag] = flags! { "--engine" "run.engine" Of("ENGINE", engines); };

const UNIQUE: &[Flag] = flags! { "--unique" "run.unique" Switch("--no-unique"); };

/// The CPU workers, and the form of what is printed.
const CPU: &[Flag] = flags! {
    "--config" "" File("Settings in a TOML file");
    "--isa" "run.isa" Of("ISA", isas);
    "--workers" "run.workers" Hyphens("K", text::<Auto<Workers>>);
    "--json" "output.json" Switch("--no-json");
    "--quiet" "output.quiet" Switch("--no-quiet");
};

/// How a run is counted, how others hear of it, and how it is shown.
const HOW: &[Flag] = flags! {
    "--gpu" "run.gpu" Of("KIND", text::<DeviceChoice>);
    "--device" "run.device" Hyphens("LIST", text::<Auto<Indices>>);
    "--time-limit" "run.time_limit" Hyphens("D", text::<Optional<HumanDuration>>);
    "--during" "run.during" Of("HOURS", text::<Optional<Hours>>);
    "--max-temp" "run.max_temp" Hyphens("C", text::<Optional<Whole<30, 120>>>);
    "--nice" "run.nice" Hyphens("N", text::<Whole<0, 19>>);
    "--trace" "trace.file" Of("FILE", path::<Optional<PathBuf>>);
    "--events" "trace.events" Hyphens("FILE|-", path::<Optional<FileOrStream>>);
    "--metrics" "trace.metrics" Of("FILE", path::<Optional<PathBuf>>);
    "--on-event" "trace.on_event" Of("CMD", path::<Optional<CommandLine>>);
    "--tui" "output.tui" Switch("--no-tui");
    "--progress-every" "output.progress_every" Of("D", text::<Optional<HumanDuration>>);
    "--profile" "output.profile" Switch("--no-profile");
};

const CONFIG_OF_BOARD: &[Flag] = flags! {
    "--config" "" File("Settings in a TOML file: `n`, `queens`, `holes` and `board` of its section `run` are used");
};

/// The flags of the commands that have some.
const SETS: [&[&[Flag]]; 4] = [
    &[BOARD, ENGINE, UNIQUE, CPU, HOW],
    &[CPU, HOW],
    &[BOARD, ENGINE, CPU],
    &[BOARD, CONFIG_OF_BOARD],
];

/// The flags of `run`.
pub type ConfigFlags = SettingFlags<0>;

/// How a run is counted and shown: the settings that may change when it is resumed.
pub type How = SettingFlags<1>;

/// The flags of a command that counts only on CPU workers and keeps nothing.
pub type CpuFlags = SettingFlags<2>;

/// The flags of a command for boards that has no other settings.
pub type Boards = SettingFlags<3>;

/// The flags of one of the [`SETS`], and the file of settings. Each has precedence over every other source of its key.
#[derive(Debug)]
pub struct SettingFlags<const SET: usize> {
    file: Option<PathBuf>,
    /// The flags that were given: the name, the key, the value.
    given: Vec<(&'static str, &'static str, String)>,
}

/// Reads a value as text.
fn text<T: Value + 'static>() -> ValueParser {
    ValueParser::new(|text: &str| T::parse(text).map(|value| value.write()))
}

/// Reads a value that is a path, or holds one: its name need not be UTF-8.
fn path<T: Value + 'static>() -> ValueParser {
    let text = |path: OsString| T::parse(&path_text(path)).map(|value| value.write());
    ValueParser::new(OsStringValueParser::new().try_map(text))
}

fn engines() -> ValueParser {
    ValueParser::new(choice(Engine::ALL, Engine::name).map(|engine| engine.write()))
}

fn isas() -> ValueParser {
    ValueParser::new(choice(Isa::ALL, Isa::name).map(|isa| isa.write()))
}

fn id(name: &'static str) -> &'static str {
    name.trim_start_matches('-')
}

impl Flag {
    /// The flag, or the two of a switch, for clap.
    fn args(&self) -> Vec<Arg> {
        let arg = Arg::new(id(self.name)).help(help(self.key));
        let arg = match self.name {
            "-n" => arg.short('n'),
            "--quiet" => arg.long("quiet").short('q'),
            long => arg.long(id(long)),
        };
        let value =
            |name, parser: fn() -> ValueParser| arg.clone().value_name(name).value_parser(parser());
        let arg = match self.takes {
            Of(name, parser) => value(name, parser),
            Hyphens(name, parser) => value(name, parser).allow_hyphen_values(true),
            List(name, parser) => value(name, parser).action(ArgAction::Append),
            File(help) => arg
                .help(help)
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf)),
            Switch(off) => {
                let off = Arg::new(id(off))
                    .long(id(off))
                    .overrides_with(id(self.name));
                let on = arg.overrides_with(off.get_id().clone());
                let [on, off] = match self.name {
                    // What is the default needs no flag.
                    "--unique" => [on.hide(true), off.help(NO_UNIQUE)],
                    _ => [on.help(help_of_switch(self.key)), off.hide(true)],
                };
                return [on, off].map(|arg| arg.action(ArgAction::SetTrue)).into();
            }
        };
        vec![arg]
    }

    /// The value that the command line gives it, and the name of the flag that does.
    fn given(&self, matches: &ArgMatches) -> Option<(&'static str, String)> {
        match self.takes {
            File(_) => return None,
            Switch(off) => {
                let mut flags = [(self.name, "true"), (off, "false")].into_iter();
                let (name, value) = flags.find(|(name, _)| matches.get_flag(id(name)))?;
                return Some((name, value.to_owned()));
            }
            Of(..) | Hyphens(..) | List(..) => {}
        }
        let values = matches.get_many::<String>(id(self.name))?;
        let values: Vec<_> = values.map(String::as_str).collect();
        let text = match self.takes {
            List(..) if values.iter().any(|value| *value != "none") => {
                let some = values.into_iter().filter(|value| *value != "none");
                some.collect::<Vec<_>>().join(",")
            }
            _ => (*values.last()?).to_owned(),
        };
        Some((self.name, text))
    }
}

const NO_UNIQUE: &str = "Count all solutions only, not those that differ by more than a rotation or reflection; `--unique` \
                         counts both";

fn flags(set: usize) -> impl Iterator<Item = &'static Flag> {
    SETS[set].iter().copied().flatten()
}

impl<const SET: usize> Args for SettingFlags<SET> {
    fn augment_args(command: Command) -> Command {
        command.args(flags(SET).flat_map(Flag::args))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const SET: usize> FromArgMatches for SettingFlags<SET> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = flags(SET).filter_map(|flag| {
            let (name, value) = flag.given(matches)?;
            Some((name, flag.key, value))
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

/// `auto` or one of the names of `all` that the configuration allows, with completion.
pub fn choice<T, const K: usize>(
    all: [T; K],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = Auto<T>>
where
    T: Value + Copy + Send + Sync + 'static,
{
    let names = all
        .map(name)
        .into_iter()
        .filter(|name| T::read(name).is_some());
    let names: Vec<_> = std::iter::once("auto")
        .chain(names)
        .map(|name| match name == Engine::Colour.name() {
            true => PossibleValue::new(name).alias(COLOUR_ALIAS),
            false => name.into(),
        })
        .collect();
    PossibleValuesParser::new(names).try_map(|text| Auto::<T>::parse(&text))
}

impl<const SET: usize> SettingFlags<SET> {
    /// All settings, each from the first source that names it.
    ///
    /// # Errors
    /// A source cannot be read, something in it is refused, or flags contradict each other.
    pub fn settings(&self) -> Result<Layers, Failure> {
        let mut layers = sources(self.file.as_deref()).map_err(Failure::usage)?;
        for (name, key, value) in &self.given {
            layers.add_flag(name, key, value).map_err(Failure::usage)?;
        }
        // A list of devices from another source is allowed with `--gpu off`.
        let gives = |flag| self.given.iter().any(|(name, ..)| *name == flag);
        if gives("--gpu") && gives("--device") && layers.config().run.gpu == DeviceChoice::Off {
            return Err(Failure::usage(
                "--device chooses among devices, and with --gpu off none takes part: give one of \
                 the two",
            ));
        }
        tell_local(&layers);
        Ok(layers)
    }
}

impl Boards {
    /// The boards, at least one, from the first sources that name their sizes and what is given.
    ///
    /// # Errors
    /// A source cannot be read, or something in it is refused; there is no board.
    pub fn all(&self) -> Result<Vec<GivenBoard>, Failure> {
        boards(&self.settings()?)
    }

    /// The only board.
    ///
    /// # Errors
    /// As [`all`](Self::all), or there is more than one.
    pub fn one(&self) -> Result<GivenBoard, Failure> {
        one_board(&self.settings()?)
    }
}

/// The settings of the user's own file, of `file` or else of the folder, and of the environment, without any flags.
///
/// # Errors
/// One of them cannot be read, or something in it is refused.
pub fn sources(file: Option<&Path>) -> Result<Layers, ConfigError> {
    let mut layers = Layers::defaults();
    let own = config_folder().map(|folder| folder.join("config.toml"));
    if let Some(own) = own.filter(|own| own.exists()) {
        layers.add_own_file(&own)?;
    }
    match file {
        Some(path) => layers.add_file(path)?,
        None => layers.add_local_file()?,
    }
    layers.add_environment(
        env::vars_os()
            .filter_map(|(name, text)| Some((name.into_string().ok()?, path_text(&text)))),
    )?;
    Ok(layers)
}

/// Says at a terminal what the file of the folder decides: whoever enters a folder need not know that it has one. The
/// file cannot keep that quiet itself.
pub fn tell_local(layers: &Layers) {
    let local = SettingOrigin::File(LOCAL_FILE.into());
    let is_quiet = layers.config().output.quiet && *layers.origin("output.quiet") != local;
    let settings = layers.of_local_file();
    let settings: Vec<_> = settings
        .map(|(key, value)| format!("{key} = {}", written(value)))
        .collect();
    if !is_quiet && !settings.is_empty() && io::stderr().is_terminal() {
        say(&printable(&format!(
            "{LOCAL_FILE} sets {}",
            settings.join(", ")
        )));
    }
}
