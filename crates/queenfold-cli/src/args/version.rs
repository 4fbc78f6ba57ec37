//! What `--version` prints.

use std::sync::OnceLock;

use queenfold::board::Size;
use queenfold::engine::Engine;
use queenfold::job::plan;
use queenfold::simd::Isa;

/// The version, and what tells one build of it from another: `-V` prints the first line alone.
///
/// Runs can be gathered, resumed and compared if their plans have the same names.
pub fn long() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        let isa = |isa: Isa| match isa.is_available() {
            true => isa.name().to_owned(),
            false => format!("{} (not on this machine)", isa.name()),
        };
        // The name of a plan is the same for all boards.
        let first = Size::all().next();
        let name = |engine| Some(plan(engine, first?).name().to_string());
        let plans: Vec<_> = Engine::ALL.into_iter().filter_map(name).collect();
        format!(
            "{}\ncommit    {}\nfeatures  {}\nkernels   {}\nplans     {}",
            env!("CARGO_PKG_VERSION"),
            option_env!("SOURCE_COMMIT").unwrap_or("not known: built without git"),
            features().join(", "),
            Isa::ALL.map(isa).join(", "),
            plans.join(", ")
        )
    })
}

/// The version and the commit, for measurements: `0.1.0 (0cc5ff92b1e7)`.
pub fn brief() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let commit = option_env!("SOURCE_COMMIT").and_then(|commit| commit.split(' ').next());
    commit.map_or_else(
        || version.to_owned(),
        |commit| format!("{version} ({commit})"),
    )
}

/// The Cargo features that the program was built with.
fn features() -> Vec<&'static str> {
    let all = [("cuda", cfg!(feature = "cuda"))];
    let built = all.into_iter().filter(|(_, has)| *has);
    built.map(|(name, _)| name).collect()
}
