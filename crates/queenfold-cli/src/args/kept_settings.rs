//! How a run stands back behind others. Whoever continues it does not say it again: its ledger has what each session was
//! told.

use std::path::Path;

use crate::config::Layers;
use queenfold_ledger::ledger::Store;

/// These settings.
const MANNERS: [&str; 4] = [
    "run.nice",
    "run.during",
    "run.max_temp",
    "output.progress_every",
];

/// Takes the manners that `settings` leave open from the last session that worked in `dir`. The flags that say the same,
/// if there are any. What was merged or gathered has no say.
pub fn keep(settings: &mut Layers, dir: &Path) -> Option<String> {
    // Whoever reads records checks the ledger's pages, which takes seconds where there are millions.
    let sessions = Store::open_to_glance(dir).ok()?.sessions().ok()?;
    let own = sessions
        .into_iter()
        .filter(|of| of.facts.merged.is_empty() && !of.facts.config.is_empty());
    let last = own.max_by_key(|session| session.facts.number)?;
    let kept = settings.add_kept(&last.facts.config, &MANNERS);
    let flags = kept.iter().filter_map(|(setting, value)| {
        let flag = setting.flag.as_ref()?;
        Some(format!("{} {value}", flag.name))
    });
    let flags: Vec<_> = flags.collect();
    (!flags.is_empty()).then(|| flags.join(" "))
}
