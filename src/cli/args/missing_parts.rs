//! What this build lacks: commands and flags that need a Cargo feature which is off.

use std::ffi::OsString;
use std::fmt::Write;

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

use crate::device::needs_feature;

/// What one Cargo feature brings.
struct Part {
    feature: &'static str,
    is_built: bool,
    /// As a user gives them. A flag that only some commands have stands behind its command.
    names: &'static [&'static str],
}

const PARTS: [Part; 3] = [
    Part {
        feature: "tui",
        is_built: cfg!(feature = "tui"),
        names: &["watch", "--tui"],
    },
    Part {
        feature: "cuda",
        is_built: cfg!(feature = "cuda"),
        names: &["--gpu cuda", "--style gpu", "bench --gpu"],
    },
    Part {
        feature: "emulated-gpu",
        is_built: cfg!(feature = "emulated-gpu"),
        names: &["--gpu emulated", "--style emulated"],
    },
];

fn missing() -> impl Iterator<Item = Part> {
    PARTS.into_iter().filter(|part| !part.is_built)
}

/// The paragraph of the help that names them. Empty if nothing is missing.
pub fn in_help() -> String {
    let parts: Vec<_> = missing()
        .map(|part| (part.names.join(", "), part.feature))
        .collect();
    let Some(width) = parts.iter().map(|(names, _)| names.len()).max() else {
        return String::new();
    };
    let mut text = "Not in this build, and what adds it:\n".to_owned();
    for (names, feature) in parts {
        let _ = writeln!(
            text,
            "  {names:width$}  cargo install --locked --path . --features {feature}"
        );
    }
    text + "\n"
}

/// Why there is no command of this name, if that is because something is missing.
pub fn of_command(name: &str) -> Option<String> {
    let part = missing().find(|part| part.names.contains(&name))?;
    Some(needs_feature(&format!("`{name}`"), part.feature))
}

/// The message in place of that of clap, if the command line `args` has an `error` because something is missing.
pub fn refusal(error: &Error, args: &[OsString]) -> Option<String> {
    let is_missing = |name: &str| match (error.kind(), name.split_once(' ')) {
        (ErrorKind::InvalidSubcommand, None) => {
            let given = error.get(ContextKind::InvalidSubcommand);
            matches!(given, Some(ContextValue::String(given)) if given == name)
        }
        // The first unknown flag may be one that goes with it.
        (ErrorKind::UnknownArgument, Some((command, flag))) => {
            args.get(1).is_some_and(|arg| arg == command) && args.iter().any(|arg| arg == flag)
        }
        _ => false,
    };
    missing().find_map(|part| {
        let name = part.names.iter().find(|name| is_missing(name))?;
        Some(needs_feature(&format!("`{name}`"), part.feature))
    })
}
