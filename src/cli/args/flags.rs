//! The flags that have a key in the configuration, and how they become settings.

use std::env;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::boards::{GivenFlags, boards, one_board};
use super::help::{help, help_of_switch};
use super::path_value::path_value;
use crate::board::GivenBoard;
use crate::cli::exit::Failure;
use crate::cli::output::say;
use crate::config::{
    Auto, COLOUR_ALIAS, CommandLine, ConfigError, FileOrStream, Hours, HumanDuration, Indices,
    LOCAL_FILE, Layers, Optional, SettingOrigin, Sizes, Value, Whole, Workers, path_text, written,
};
use crate::engine::Engine;
use crate::job::DeviceChoice;
use crate::machine::config_folder;
use crate::simd::Isa;
use crate::telemetry::printable;

/// The flags that have a key in the configuration. Each has precedence over every other source of
/// its key.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub struct ConfigFlags {
    #[command(flatten)]
    what: What,
    #[command(flatten)]
    how: How,
}

/// The flags of a command that counts only on CPU workers and keeps nothing.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub struct CpuFlags {
    #[command(flatten)]
    board: BoardFlags,
    #[command(flatten)]
    cpu: Cpu,
}

/// The flags of a command for boards that has no other settings.
#[derive(Debug, Args)]
pub struct Boards {
    #[arg(short, help = help("run.n"), value_name = "N|A..=B", value_parser = Sizes::parse, allow_hyphen_values = true)]
    n: Option<Sizes>,

    #[command(flatten)]
    given: GivenFlags,

    /// Settings in a TOML file: `n`, `queens`, `holes` and `board` of its section `run` are used
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// What is counted.
#[derive(Debug, Args)]
pub struct What {
    #[command(flatten)]
    board: BoardFlags,

    /// Count all solutions only, not those that differ by more than a rotation or reflection;
    /// `--unique` counts both
    #[arg(long, overrides_with = "unique")]
    no_unique: bool,

    #[arg(long, hide = true, overrides_with = "no_unique")]
    unique: bool,
}

/// Which board, by which engine.
#[derive(Debug, Args)]
struct BoardFlags {
    #[arg(short, value_name = "N|A..=B", value_parser = Sizes::parse, allow_hyphen_values = true, help = help("run.n"))]
    n: Option<Sizes>,

    #[command(flatten)]
    given: GivenFlags,

    #[arg(long, value_name = "ENGINE", value_parser = choice(Engine::ALL, Engine::name), help = help("run.engine"))]
    engine: Option<Auto<Engine>>,
}

/// How it is counted and shown: the settings that may change when a run is resumed.
#[derive(Debug, Args)]
pub struct How {
    #[command(flatten)]
    cpu: Cpu,

    #[arg(long, value_name = "KIND", value_parser = DeviceChoice::parse, help = help("run.gpu"))]
    gpu: Option<DeviceChoice>,

    #[arg(long, value_name = "LIST", value_parser = Auto::<Indices>::parse, allow_hyphen_values = true, help = help("run.device"))]
    device: Option<Auto<Indices>>,

    #[arg(long, value_name = "D", value_parser = Optional::<HumanDuration>::parse, allow_hyphen_values = true, help = help("run.time_limit"))]
    time_limit: Option<Optional<HumanDuration>>,

    #[arg(long, value_name = "HOURS", value_parser = Optional::<Hours>::parse, help = help("run.during"))]
    during: Option<Optional<Hours>>,

    #[arg(long, value_name = "C", value_parser = Optional::<Whole<30, 120>>::parse, allow_hyphen_values = true, help = help("run.max_temp"))]
    max_temp: Option<Optional<Whole<30, 120>>>,

    #[arg(long, value_name = "N", value_parser = Whole::<0, 19>::parse, allow_hyphen_values = true, help = help("run.nice"))]
    nice: Option<Whole<0, 19>>,

    #[arg(long, value_name = "FILE", value_parser = path_value::<Optional<PathBuf>>(), help = help("trace.file"))]
    trace: Option<Optional<PathBuf>>,

    #[command(flatten)]
    shown: Shown,

    #[arg(long, overrides_with = "no_profile", help = help_of_switch("output.profile"))]
    profile: bool,

    #[arg(long, hide = true, overrides_with = "profile")]
    no_profile: bool,
}

/// How others hear of a run, and how it is shown.
#[derive(Debug, Args)]
pub struct Shown {
    #[arg(long, value_name = "FILE|-", value_parser = path_value::<Optional<FileOrStream>>(), allow_hyphen_values = true, help = help("trace.events"))]
    events: Option<Optional<FileOrStream>>,

    #[arg(long, value_name = "FILE", value_parser = path_value::<Optional<PathBuf>>(), help = help("trace.metrics"))]
    metrics: Option<Optional<PathBuf>>,

    #[arg(long, value_name = "CMD", value_parser = path_value::<Optional<CommandLine>>(), help = help("trace.on_event"))]
    on_event: Option<Optional<CommandLine>>,

    #[arg(long, overrides_with = "no_tui", help = help_of_switch("output.tui"))]
    tui: bool,

    #[arg(long, hide = true, overrides_with = "tui")]
    no_tui: bool,

    #[arg(long, value_name = "D", value_parser = Optional::<HumanDuration>::parse, help = help("output.progress_every"))]
    progress_every: Option<Optional<HumanDuration>>,
}

/// The CPU workers, and the form of what is printed.
#[derive(Debug, Args)]
struct Cpu {
    /// Settings in a TOML file
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    #[arg(long, value_name = "ISA", value_parser = choice(Isa::ALL, Isa::name), help = help("run.isa"))]
    isa: Option<Auto<Isa>>,

    #[arg(long, value_name = "K", value_parser = Auto::<Workers>::parse, allow_hyphen_values = true, help = help("run.workers"))]
    workers: Option<Auto<Workers>>,

    #[arg(long, overrides_with = "no_json", help = help_of_switch("output.json"))]
    json: bool,

    #[arg(long, hide = true, overrides_with = "json")]
    no_json: bool,

    #[arg(long, short, overrides_with = "no_quiet", help = help_of_switch("output.quiet"))]
    quiet: bool,

    #[arg(long, hide = true, overrides_with = "quiet")]
    no_quiet: bool,
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

impl ConfigFlags {
    /// All settings, each from the first source that names it.
    ///
    /// # Errors
    /// A source cannot be read, or something in it is refused.
    pub fn settings(&self) -> Result<Layers, Failure> {
        let mut layers = sources(self.how.cpu.config.as_deref()).map_err(Failure::usage)?;
        self.what.add_to(&mut layers).map_err(Failure::usage)?;
        self.how.add_to(&mut layers).map_err(Failure::usage)?;
        self.how.check()?;
        tell_local(&layers);
        Ok(layers)
    }
}

impl CpuFlags {
    /// All settings, each from the first source that names it.
    ///
    /// # Errors
    /// A source cannot be read, or something in it is refused.
    pub fn settings(&self) -> Result<Layers, Failure> {
        let mut layers = sources(self.cpu.config.as_deref()).map_err(Failure::usage)?;
        self.board.add_to(&mut layers).map_err(Failure::usage)?;
        self.cpu.add_to(&mut layers).map_err(Failure::usage)?;
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

    fn settings(&self) -> Result<Layers, Failure> {
        let mut layers = sources(self.config.as_deref()).map_err(Failure::usage)?;
        layers
            .add_flag("-n", "run.n", self.n.as_ref())
            .and_then(|()| self.given.add_to(&mut layers))
            .map_err(Failure::usage)?;
        tell_local(&layers);
        Ok(layers)
    }
}

impl What {
    /// Adds the flags to the settings.
    ///
    /// # Errors
    /// A value is refused.
    pub fn add_to(&self, layers: &mut Layers) -> Result<(), ConfigError> {
        self.board.add_to(layers)?;
        switch(
            layers,
            "run.unique",
            ("--unique", self.unique),
            ("--no-unique", self.no_unique),
        )
    }
}

impl BoardFlags {
    fn add_to(&self, layers: &mut Layers) -> Result<(), ConfigError> {
        layers.add_flag("-n", "run.n", self.n.as_ref())?;
        self.given.add_to(layers)?;
        layers.add_flag("--engine", "run.engine", self.engine.as_ref())
    }
}

impl How {
    /// All settings, for a command whose flags do not say what is counted.
    ///
    /// # Errors
    /// A source cannot be read, or something in it is refused.
    pub fn settings(&self) -> Result<Layers, Failure> {
        let mut layers = sources(self.cpu.config.as_deref()).map_err(Failure::usage)?;
        self.add_to(&mut layers).map_err(Failure::usage)?;
        self.check()?;
        tell_local(&layers);
        Ok(layers)
    }

    /// Refuses flags that contradict each other. A list of devices from another source is allowed with
    /// `--gpu off`.
    fn check(&self) -> Result<(), Failure> {
        if self.gpu == Some(DeviceChoice::Off) && self.device.is_some() {
            return Err(Failure::usage(
                "--device chooses among devices, and with --gpu off none takes part: give one of \
                 the two",
            ));
        }
        Ok(())
    }

    fn add_to(&self, layers: &mut Layers) -> Result<(), ConfigError> {
        self.cpu.add_to(layers)?;
        layers.add_flag("--gpu", "run.gpu", self.gpu.as_ref())?;
        layers.add_flag("--device", "run.device", self.device.as_ref())?;
        layers.add_flag("--time-limit", "run.time_limit", self.time_limit.as_ref())?;
        layers.add_flag("--during", "run.during", self.during.as_ref())?;
        layers.add_flag("--max-temp", "run.max_temp", self.max_temp.as_ref())?;
        layers.add_flag("--nice", "run.nice", self.nice.as_ref())?;
        layers.add_flag("--trace", "trace.file", self.trace.as_ref())?;
        self.shown.add_to(layers)?;
        switch(
            layers,
            "output.profile",
            ("--profile", self.profile),
            ("--no-profile", self.no_profile),
        )
    }
}

impl Shown {
    /// Adds the settings that these flags give.
    ///
    /// # Errors
    /// One is refused.
    pub fn add_to(&self, layers: &mut Layers) -> Result<(), ConfigError> {
        layers.add_flag("--events", "trace.events", self.events.as_ref())?;
        layers.add_flag("--metrics", "trace.metrics", self.metrics.as_ref())?;
        layers.add_flag("--on-event", "trace.on_event", self.on_event.as_ref())?;
        layers.add_flag(
            "--progress-every",
            "output.progress_every",
            self.progress_every.as_ref(),
        )?;
        switch(
            layers,
            "output.tui",
            ("--tui", self.tui),
            ("--no-tui", self.no_tui),
        )
    }
}

impl Cpu {
    fn add_to(&self, layers: &mut Layers) -> Result<(), ConfigError> {
        layers.add_flag("--isa", "run.isa", self.isa.as_ref())?;
        layers.add_flag("--workers", "run.workers", self.workers.as_ref())?;
        switch(
            layers,
            "output.json",
            ("--json", self.json),
            ("--no-json", self.no_json),
        )?;
        switch(
            layers,
            "output.quiet",
            ("--quiet", self.quiet),
            ("--no-quiet", self.no_quiet),
        )
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

/// Sets `key` to true or false if one of its two flags was given. clap keeps only the last of them.
fn switch(
    layers: &mut Layers,
    key: &str,
    on: (&'static str, bool),
    off: (&'static str, bool),
) -> Result<(), ConfigError> {
    for ((flag, given), value) in [(on, true), (off, false)] {
        layers.add_flag(flag, key, given.then_some(&value))?;
    }
    Ok(())
}
