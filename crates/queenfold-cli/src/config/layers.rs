//! Where settings come from, and which source decides: defaults, files, environment, flags.

use std::collections::BTreeMap;
use std::path::Path;

use toml::de::{DeTable, DeValue};
use toml::{Table, Value as Toml};

use super::{Config, SETTINGS, Setting, SettingOrigin, local_file};
use crate::telemetry::printable;
use queenfold_ledger::system::files::open_regular;

/// Settings from several sources: a later source has precedence over an earlier one. Each value is checked as it is set, so
/// an error names its place.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    config: Config,
    origins: BTreeMap<&'static str, SettingOrigin>,
}

impl Layers {
    /// The current settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Every setting with its value and origin, in the order of the table.
    pub fn entries(&self) -> impl Iterator<Item = (&'static Setting, Toml, &SettingOrigin)> {
        let entry = |of: &'static Setting| (of, of.value(&self.config), self.origin(of.key));
        SETTINGS.iter().map(entry)
    }

    /// Whether a flag gives any of them.
    pub fn has_flags(&self) -> bool {
        let mut origins = self.origins.values();
        origins.any(|origin| matches!(origin, SettingOrigin::Flag(_)))
    }

    /// Where the value of `key` comes from.
    pub fn origin(&self, key: &str) -> &SettingOrigin {
        self.origins.get(key).unwrap_or(&SettingOrigin::Default)
    }

    /// The settings without the command that `trace.on_event` names, in place of which stands that there is one.
    pub fn without_command(&self) -> Self {
        let mut layers = self.clone();
        let command = &mut layers.config.trace.on_event;
        *command = command.take().map(|_| "set".to_owned());
        layers
    }

    /// Takes those of `keys` that no source gives from the text of an earlier configuration; gives them back with their
    /// values. What is none, as of another version, is left out.
    pub fn add_kept(&mut self, text: &str, keys: &[&str]) -> Vec<(&'static Setting, String)> {
        let kept: Table = text.parse().unwrap_or_default();
        let kept: BTreeMap<_, _> = leaves(&kept).collect();
        let mut taken = Vec::new();
        for key in keys {
            let (Some(value), Some(setting)) = (kept.get(*key), setting(key)) else {
                continue;
            };
            let is_new = setting.value(&self.config) != **value;
            if is_new
                && *self.origin(key) == SettingOrigin::Default
                && self.set(key, value, SettingOrigin::Kept).is_ok()
            {
                let text = value.as_str().map_or_else(|| written(value), str::to_owned);
                taken.push((setting, text));
            }
        }
        taken
    }

    /// Applies a file that nobody named on top of the present settings, if it is there: the user's own, or the one of the
    /// working directory, which `is_local`.
    ///
    /// # Errors
    /// As [`add_file`](Self::add_file). Somebody other than the user may have written it, or root, if it is local. Then it
    /// must not set what runs a command or writes to a file.
    pub fn add_own_file(&mut self, path: &Path, is_local: bool) -> Result<(), String> {
        let text = local_file::read_own(path, !is_local)?;
        text.map_or(Ok(()), |text| self.add_checked_text(path, &text, is_local))
    }

    /// Applies a TOML file on top of the present settings.
    ///
    /// # Errors
    /// The file cannot be read or is larger than 1 MiB, is not TOML, or has a key or value that is
    /// refused.
    pub fn add_file(&mut self, path: &Path) -> Result<(), String> {
        let text = open_regular(path)
            .and_then(local_file::text_of)
            .map_err(|error| local_file::refused(path, &error))?;
        self.add_text(path, &text)
    }

    /// Applies the text of a TOML file on top of the present settings; `path` names it in origins and
    /// errors.
    ///
    /// # Errors
    /// The text is not TOML, or has a key or value that is refused.
    pub fn add_text(&mut self, path: &Path, text: &str) -> Result<(), String> {
        self.add_checked_text(path, text, false)
    }

    /// The same; a local file must not have some keys and values.
    fn add_checked_text(&mut self, path: &Path, text: &str, is_local: bool) -> Result<(), String> {
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            let at = error.span().map_or(0, |span| span.start);
            let reason = error.message().lines().collect::<Vec<_>>().join(" ");
            let (path, line) = (path.to_string_lossy(), line_at(text, at));
            printable(&format!("{path}, line {line}: {reason}"))
        })?;
        for (key, value) in leaves(&table) {
            let origin = SettingOrigin::File(path.into());
            let set = match local_file::refusal(&key, value).filter(|_| is_local) {
                None => self.set(&key, value, origin.clone()),
                Some(expected) => Err(refused(&key, value, expected)),
            };
            set.map_err(|why| {
                let places = DeTable::parse(text).ok();
                let at = places.and_then(|places| start(places.get_ref(), &key));
                let line = at.map(|at| format!(", line {}", line_at(text, at)));
                format!("{origin}{}: {why}", line.unwrap_or_default())
            })?;
        }
        Ok(())
    }

    /// Applies environment variables on top of the present settings. Empty ones are ignored, and those that do not begin
    /// with `QUEENFOLD_` and a section, or with the name of a key: Kubernetes sets `QUEENFOLD_PORT` where a service has
    /// this name, environment modules set `QUEENFOLD_ROOT`.
    ///
    /// # Errors
    /// A variable that is not ignored belongs to no key, or its value is refused.
    pub fn add_environment(
        &mut self,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<(), String> {
        for (name, text) in variables {
            let rest = name.strip_prefix("QUEENFOLD_").unwrap_or_default();
            let plain = rest.to_lowercase();
            let section = plain.split_once('_').map(|(section, _)| section);
            let mut keys = SETTINGS.iter().map(|setting| setting.key);
            let is_bare = keys.any(|key| key.split_once('.').is_some_and(|key| key.1 == plain));
            if text.is_empty() || !(is_bare || section.is_some_and(is_section)) {
                continue;
            }
            let origin = SettingOrigin::Environment(name.clone());
            match SETTINGS.iter().find(|setting| setting.variable() == name) {
                Some(setting) => self.set_text(setting, &text, origin)?,
                None => {
                    let near = || unknown(&name, nearest(rest).map(Setting::variable));
                    let key = plain.replacen('_', ".", 1);
                    let why = former(&key).unwrap_or_else(near);
                    return Err(format!("{origin}: {why}"));
                }
            }
        }
        Ok(())
    }

    /// Sets `setting` to the value that `text` means: sources other than files give only text.
    ///
    /// # Errors
    /// The value is refused.
    pub fn set_text(
        &mut self,
        setting: &Setting,
        text: &str,
        origin: SettingOrigin,
    ) -> Result<(), String> {
        (setting.set)(&mut self.config, text).map_err(|expected| {
            let why = refused(setting.key, &text.into(), &expected);
            format!("{origin}: {why}")
        })?;
        self.origins.insert(setting.key, origin);
        Ok(())
    }

    /// Sets a value of a file, or says why it is refused.
    fn set(&mut self, key: &str, value: &Toml, origin: SettingOrigin) -> Result<(), String> {
        if is_section(key) {
            let refused = || refused(key, value, "expected a section");
            return value.is_table().then_some(()).ok_or_else(refused);
        }
        let unknown = || unknown(key, nearest(key).map(|nearest| nearest.key.to_owned()));
        let setting = setting(key).ok_or_else(|| former(key).unwrap_or_else(unknown))?;
        let set = setting.set_value(&mut self.config, value);
        set.map_err(|expected| refused(key, value, &expected))?;
        self.origins.insert(setting.key, origin);
        Ok(())
    }
}

fn setting(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}

/// Why a setting of earlier versions is refused, and what says the same now.
fn former(key: &str) -> Option<String> {
    let instead = match key {
        "run.n" => "give -n N on the command line",
        "run.queens" => "give --queens SQUARES on the command line",
        "run.holes" => "give --holes SQUARES on the command line",
        "run.board" => "give --board FILE on the command line",
        "run.device" => "run.gpu takes the numbers, as in gpu = \"0,2\"",
        "output.json" => "give --json on the command line",
        "output.profile" => "trace.file, or --trace FILE, prints the profile, too",
        _ => return None,
    };
    Some(format!("{key} is no setting any more: {instead}"))
}

fn is_section(name: &str) -> bool {
    let mut sections = SETTINGS
        .iter()
        .filter_map(|setting| setting.key.split_once('.'));
    sections.any(|(section, _)| section == name)
}

fn unknown(key: &str, nearest: Option<String>) -> String {
    let hint = nearest.map_or_else(String::new, |key| format!("; the nearest key is `{key}`"));
    format!("unknown key `{}`{hint}", printable(key))
}

fn refused(key: &str, given: &Toml, expected: &str) -> String {
    let given = written(given);
    format!("{key} = {} is refused: {expected}", printable(&given))
}

/// A value as a file has it.
pub fn written(value: &Toml) -> String {
    match value {
        Toml::Float(number) => format!("{number:?}"),
        Toml::Datetime(time) => time.to_string(),
        // The form of JSON is that of TOML.
        value => serde_json::to_string(value).unwrap_or_default(),
    }
}

/// The line, from 1, of the byte at `at`.
fn line_at(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    before.matches('\n').count() + 1
}

/// The byte where the text of `table` names `key`.
fn start(table: &DeTable<'_>, key: &str) -> Option<usize> {
    table.iter().find_map(|(name, value)| {
        let rest = key.strip_prefix(name.get_ref().as_ref())?;
        match (rest.strip_prefix('.'), value.get_ref()) {
            _ if rest.is_empty() => Some(name.span().start),
            (Some(rest), DeValue::Table(inner)) => start(inner, rest),
            _ => None,
        }
    })
}

/// Every value with its key path, such as `run.workers`. An empty table counts as a value, so that
/// its name is checked too.
fn leaves(table: &Table) -> impl Iterator<Item = (String, &Toml)> {
    let below = table.iter().flat_map(|(key, value)| match value {
        Toml::Table(inner) if !inner.is_empty() => leaves(inner)
            .map(|(rest, value)| (format!("{key}.{rest}"), value))
            .collect(),
        _ => vec![(key.clone(), value)],
    });
    below.collect::<Vec<_>>().into_iter()
}

/// The setting whose key `given` was probably meant to be, if at most a third of its name is mistyped. Case is ignored, and so
/// is a missing or wrong section.
fn nearest(given: &str) -> Option<&'static Setting> {
    let plain = |key: &str| key.to_lowercase().replace('.', "_");
    let bare = |key: &str| plain(key.rsplit('.').next().unwrap_or(key));
    let given = [plain(given), bare(given)];
    let distance = |key: &str| {
        let limit = bare(key).len() / 3;
        let names = [plain(key), bare(key)];
        let pairs = names
            .iter()
            .flat_map(|name| given.iter().map(move |given| (given, name)));
        pairs
            // A name that is much longer cannot be a mistyped key.
            .filter(|(given, name)| given.chars().count().abs_diff(name.len()) <= limit)
            .map(|(given, name)| strsim::levenshtein(given, name))
            .filter(|distance| *distance <= limit)
            .min()
    };
    let near = SETTINGS
        .iter()
        .filter_map(|setting| Some((distance(setting.key)?, setting)));
    near.min_by_key(|(distance, _)| *distance)
        .map(|(_, setting)| setting)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> Result<Layers, String> {
        let mut layers = Layers::default();
        layers.add_text(Path::new("some.toml"), text)?;
        Ok(layers)
    }

    fn refusal(text: &str) -> String {
        file(text).unwrap_err().to_string()
    }

    #[test]
    fn the_default_file_equals_the_built_in_defaults_and_sets_every_key() {
        let layers = file(include_str!("../../../../config/default.toml")).unwrap();
        assert_eq!(layers.config(), &Config::default());
        for (setting, _, origin) in layers.entries() {
            let key = setting.key;
            assert_ne!(origin, &SettingOrigin::Default, "{key} is missing");
        }
    }

    #[test]
    fn an_unknown_key_is_named_with_the_nearest_one() {
        for (text, key, nearest) in [
            ("[run]\nworker = 2", "run.worker", "run.workers"),
            ("workers = 2", "workers", "run.workers"),
            ("[runn]\nworkers = 2", "runn.workers", "run.workers"),
            ("[output]\nquit = true", "output.quit", "output.quiet"),
            ("RUN.Workers = 2", "RUN.Workers", "run.workers"),
            ("[output]\nworkers = 2", "output.workers", "run.workers"),
            ("[run.engine]\nx = 1", "run.engine.x", "run.engine"),
        ] {
            let error = refusal(text);
            assert!(error.contains("some.toml"), "{error}");
            assert!(error.contains(&format!("`{key}`")), "{error}");
            assert!(error.ends_with(&format!("`{nearest}`")), "{error}");
        }
    }

    #[test]
    fn a_setting_of_earlier_versions_is_refused_with_what_says_the_same() {
        for (key, value, instead) in [
            ("run.n", "8", "give -n N "),
            ("run.queens", "\"none\"", "give --queens SQUARES "),
            ("run.holes", "\"a1\"", "give --holes SQUARES "),
            ("run.board", "\"x\"", "give --board FILE "),
            ("run.device", "\"0,2\"", "run.gpu takes the numbers"),
            ("output.json", "false", "give --json "),
            ("output.profile", "true", "--trace FILE, prints the profile"),
        ] {
            let end = |error: &str| {
                error
                    .split_once(" is no setting any more: ")
                    .map(|(place, end)| {
                        assert!(end.contains(instead), "{error}");
                        place.to_owned()
                    })
            };
            let place = end(&refusal(&format!("{key} = {value}")));
            assert_eq!(place, Some(format!("file some.toml, line 1: {key}")));
            let name = format!("QUEENFOLD_{}", key.replace('.', "_").to_uppercase());
            let refused = Layers::default().add_environment([(name.clone(), value.to_owned())]);
            let place = end(&refused.unwrap_err());
            assert_eq!(place, Some(format!("environment variable {name}: {key}")));
        }
    }

    #[test]
    fn a_key_that_is_near_none_has_no_hint() {
        for key in ["\"\"", "foo", "output.foo", "x", "nn", "run.x", "\"run.\""] {
            let error = refusal(&format!("{key} = 1"));
            assert!(
                error.ends_with(&format!("`{}`", key.replace('"', ""))),
                "{error}"
            );
            assert!(!error.contains("nearest"), "{error}");
        }
        assert!(refusal("run = 3").contains("run = 3 is refused: expected a section"));
    }

    #[test]
    fn names_and_values_that_break_lines_are_escaped() {
        for (text, part) in [
            ("\"a\\nb\" = 1", "`a\\nb`"),
            ("\"\\u001b[31mx\" = 1", "`\\u{1b}[31mx`"),
            ("\u{1b} = 1", "line 1"),
            ("run = \"\\n\"", "\\n"),
            ("[run]\nengine = \"a\\nb\"", "a\\nb"),
        ] {
            let error = refusal(text);
            assert!(!error.contains(char::is_control), "{error:?}");
            assert!(error.contains(part), "{error}");
        }
        let mut layers = Layers::default();
        let variables = [("QUEENFOLD_RUN_\u{1b}[2J".to_owned(), "\n".to_owned())];
        let error = layers.add_environment(variables).unwrap_err().to_string();
        assert!(!error.contains(char::is_control), "{error:?}");
    }

    #[test]
    fn a_value_has_one_form_in_files() {
        for text in [
            "[run]\nworkers = 2",
            "[run]\nworkers = \"2\"",
            "[run]\nworkers = \"auto\"",
            "[run]\naudit = \"1/1000\"",
            "[trace]\nfile = \"5\"",
            "[trace]\nfile = \"true\"",
            "[output]\nquiet = true",
        ] {
            let layers = file(text).unwrap_or_else(|error| panic!("{error}"));
            let lines = layers.entries();
            let lines = lines.map(|(of, value, ..)| format!("{} = {}\n", of.key, written(&value)));
            let written: String = lines.collect();
            assert_eq!(
                file(&written).unwrap().config(),
                layers.config(),
                "{written}"
            );
        }
        for (text, expected) in [
            ("trace.file = 5", "the path of a file, in quotes"),
            ("trace.file = true", "the path of a file, in quotes"),
            (
                "trace.filter = true",
                "`queenfold::actors=debug`, in quotes",
            ),
            ("run.unique = \"true\"", "true or false, without quotes"),
            ("run.unique = \"yes\"", "expected true or false"),
            ("run.workers = true", "a whole number from 0 to 1024"),
        ] {
            let error = refusal(text);
            assert!(error.ends_with(expected), "{error}");
        }
    }

    #[test]
    fn a_variable_can_set_a_switch() {
        let variable = |text: &str| [("QUEENFOLD_RUN_UNIQUE".to_owned(), text.to_owned())];
        let mut layers = Layers::default();
        layers.add_environment(variable("false")).unwrap();
        assert!(!layers.config().run.unique);
        let error = layers.add_environment(variable("no")).unwrap_err();
        assert!(error.to_string().ends_with("expected true or false"));
    }

    #[test]
    fn a_refused_value_is_named_with_what_is_allowed() {
        for (text, allowed) in [
            ("run.workers = 1025", "from 0 to 1024"),
            ("run.gpu = 64", "from 0 to 63"),
            ("run.engine = \"x\"", "auto, chain or colour"),
            ("run.unique = 1", "true or false"),
            ("run.gpu = 0.5", "from 0 to 63"),
            ("run.time_limit = -1", "none, a duration"),
        ] {
            let error = refusal(text);
            let begins = format!("file some.toml, line 1: {text} is refused: expected ");
            assert!(error.starts_with(&begins), "{error}");
            assert!(error.contains(allowed) && error.lines().count() == 1);
        }
    }

    #[test]
    fn a_refused_setting_is_named_with_its_line() {
        for (text, line) in [
            ("[run]\nnice = 8\nworkers = 5000\n", 3),
            ("run.nice = 8\nrun.workers = 5000\n", 2),
            ("run = { nice = 8, workers = 5000 }\n", 1),
            ("[run]\n\nworker = 2\n", 3),
            ("[output]\n[runs]\n", 2),
        ] {
            let error = refusal(text);
            let place = format!("file some.toml, line {line}: ");
            assert!(error.starts_with(&place), "{error}");
        }
    }

    #[test]
    fn variables_of_others_and_empty_ones_are_ignored() {
        let mut layers = Layers::default();
        let variables = [
            ("QUEENFOLD_", "x"),
            ("QUEENFOLD_PORT", "tcp://10.0.0.7:4222"),
            ("QUEENFOLD_SERVICE_HOST", "10.0.0.7"),
            ("QUEENFOLD_HOME", "/opt/queenfold"),
            ("QUEENFOLD_RUN", "x"),
            ("QUEENFOLD_RUN_WORKERS", ""),
            ("QUEENFOLD_RUN_WORKRES", ""),
        ];
        let variables = variables.map(|(name, text)| (name.to_owned(), text.to_owned()));
        layers.add_environment(variables).unwrap();
        assert_eq!(layers.config(), &Config::default());
    }

    #[test]
    fn what_is_kept_gives_way_to_every_source_and_forgets_the_command() {
        let mut layers = file("run.nice = 5\n[trace]\non_event = \"./hook TOKEN\"\n").unwrap();
        let kept = "[run]\nnice = 19\nduring = \"22:00-07:00\"\nmax_temp = \"hot\"\nnew = 1\n";
        let taken = layers.add_kept(kept, &["run.nice", "run.during", "run.max_temp", "run.new"]);
        let taken: Vec<_> = taken
            .iter()
            .map(|(of, text)| (of.key, text.as_str()))
            .collect();
        assert_eq!(taken, [("run.during", "22:00-07:00")]);
        assert_eq!(layers.config().run.nice, 5);
        assert_eq!(*layers.origin("run.during"), SettingOrigin::Kept);
        let shown = layers.without_command();
        let shown: BTreeMap<_, _> = shown
            .entries()
            .map(|(setting, value, _)| (setting.key, value))
            .collect();
        assert_eq!(shown["trace.on_event"], Toml::from("set"));
    }

    #[test]
    fn a_variable_of_ours_that_sets_nothing_is_refused() {
        let refused = |name: &str| {
            let variable = [(name.to_owned(), "2".to_owned())];
            let refused = Layers::default().add_environment(variable);
            refused.unwrap_err().to_string()
        };
        for (name, nearest) in [
            ("QUEENFOLD_RUN_WORKRES", "QUEENFOLD_RUN_WORKERS"),
            ("QUEENFOLD_run_workers", "QUEENFOLD_RUN_WORKERS"),
            ("QUEENFOLD_OUTPUT_QUIT", "QUEENFOLD_OUTPUT_QUIET"),
            ("QUEENFOLD_WORKERS", "QUEENFOLD_RUN_WORKERS"),
            ("QUEENFOLD_TIME_LIMIT", "QUEENFOLD_RUN_TIME_LIMIT"),
        ] {
            let end = format!("unknown key `{name}`; the nearest key is `{nearest}`");
            assert!(refused(name).ends_with(&end), "{}", refused(name));
        }
        assert!(refused("QUEENFOLD_RUN_").ends_with("unknown key `QUEENFOLD_RUN_`"));
    }
}
