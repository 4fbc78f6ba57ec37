//! How a run stands back behind others. Whoever continues it does not say it again: its ledger has what each session was
//! told.

use std::path::Path;

use crate::config::Layers;
use crate::run_directory::open;

/// These settings and their flags.
const MANNERS: [(&str, &str); 4] = [
    ("run.nice", "--nice"),
    ("run.during", "--during"),
    ("run.max_temp", "--max-temp"),
    ("output.progress_every", "--progress-every"),
];

/// Takes the manners that `settings` leave open from the configuration of a session. The flags that say the same, if
/// there are any.
pub fn keep(settings: &mut Layers, configuration: &str) -> Option<String> {
    let kept = settings.add_kept(configuration, &MANNERS.map(|(key, _)| key));
    let flag = |key| {
        MANNERS
            .iter()
            .find_map(|(of, flag)| (*of == key).then_some(flag))
    };
    let flags = kept
        .iter()
        .filter_map(|(key, value)| Some(format!("{} {value}", flag(*key)?)));
    let flags: Vec<_> = flags.collect();
    (!flags.is_empty()).then(|| flags.join(" "))
}

/// The same, from the last session of the run in `dir`.
pub fn keep_of_run(settings: &mut Layers, dir: &Path) -> Option<String> {
    let sessions = open(dir).ok()?.0.sessions().ok()?;
    let last = sessions
        .into_iter()
        .max_by_key(|session| session.facts.number);
    let flags = keep(settings, &last?.facts.config)?;
    Some(format!("as the session before, with {flags}"))
}
