//! What the user probably meant by a command line that is refused, and a board in place of a command.

use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

use crate::config::{SETTINGS, sizes, sizes_text};

/// The command line with `run -n` before a board that stands in place of a command: `queenfold 16`. If there is an `-n`
/// besides, the board is left to be refused.
pub fn with_command(mut args: Vec<OsString>) -> Vec<OsString> {
    let first = args.get(1).and_then(|first| first.to_str());
    if first.is_some_and(|first| first.starts_with(|c: char| c.is_ascii_digit())) {
        let flag = (!args.iter().any(has_flag)).then_some("-n");
        let before = ["run"].into_iter().chain(flag).map(OsString::from);
        args.splice(1..1, before);
    }
    args
}

/// Whether an argument is `-n`, perhaps with its value.
fn has_flag(arg: &OsString) -> bool {
    arg.to_str().is_some_and(|arg| arg.starts_with("-n"))
}

/// The command line that was meant by `args`, in which clap found `error`, if `program` takes it: with `-n` before a board
/// (`run 16`, `solve --count 2 8`), or with a board before the options of a run (`--json 8`).
pub fn meant(error: &Error, args: &[OsString], program: &Command) -> Option<Vec<OsString>> {
    if error.kind() != ErrorKind::UnknownArgument || args.iter().any(has_flag) {
        return None;
    }
    let is_board = |arg: &OsString| arg.to_str().is_some_and(|arg| sizes().read(arg).is_some());
    let flag = [OsString::from("-n")];
    let flag_at = |at: usize| [&args[..at], &flag, &args[at..]].concat();
    // A board may also be the value of a flag: there no flag is taken.
    let with_flag = (1..args.len())
        .filter(|at| is_board(&args[*at]))
        .map(flag_at);
    let board_first = match args {
        [name, options @ .., board] if is_board(board) => {
            let line = [&[name.clone(), board.clone()], options].concat();
            Some(with_command(line))
        }
        _ => None,
    };
    let is_taken = |line: &Vec<OsString>| program.clone().try_get_matches_from(line).is_ok();
    with_flag.chain(board_first).find(is_taken)
}

/// What helps after `error`, which clap found in the command line `args` of `program`.
pub fn hint(error: &Error, args: &[OsString], program: &Command) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        Some(ContextValue::Strings(texts)) => texts.first().map(String::as_str),
        _ => None,
    };
    let args: Vec<_> = args.iter().filter_map(|arg| arg.to_str()).collect();
    let similar = |given, suggested, what| {
        let known = near(given, text(suggested)?)?;
        Some(format!("a similar {what} exists: '{known}'"))
    };
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let given = text(ContextKind::InvalidArg)?;
            let at_end = || format!("options of the scheduler stand at the end: `-- {given}`");
            argument(given, &args, program)
                .or_else(|| similar(given, ContextKind::SuggestedArg, "argument"))
                .or_else(|| (args.get(1) == Some(&"array")).then(at_end))
        }
        ErrorKind::InvalidValue => similar(
            text(ContextKind::InvalidValue)?,
            ContextKind::SuggestedValue,
            "value",
        ),
        ErrorKind::InvalidSubcommand => {
            let given = text(ContextKind::InvalidSubcommand)?;
            let known = || similar(given, ContextKind::SuggestedSubcommand, "subcommand");
            let hint = subcommand(given).map(str::to_owned).or_else(known);
            hint.or_else(|| Some("`queenfold --help` lists the commands".to_owned()))
        }
        _ => None,
    }
}

/// `known`, unless more than a third of it would have to be mistyped to give `given`. clap alone
/// suggests `verify` for `version`. Two letters in the wrong order are one mistake.
fn near<'a>(given: &str, known: &'a str) -> Option<&'a str> {
    let name = |text: &str| text.trim_start_matches('-').to_lowercase();
    let (given, name) = (name(given), name(known));
    (3 * strsim::osa_distance(&given, &name) <= name.len()).then_some(known)
}

/// Help with an argument that the command does not have.
fn argument(given: &str, args: &[&str], program: &Command) -> Option<String> {
    let command = args.get(1).copied().unwrap_or_default();
    let named = program.find_subcommand(command);
    let has_n = |of: &Command| of.get_arguments().any(|arg| arg.get_short() == Some('n'));
    let takes_board = named.is_some_and(has_n);
    // Those that take directories of runs.
    let keeps_board =
        !takes_board && named.is_some_and(|named| named.get_positionals().next().is_some());
    let is_after_comma = |pair: &[&str]| pair[0].ends_with(',') && pair[1] == given;
    if args.windows(2).any(is_after_comma) {
        return Some("a list has no blank after a comma".into());
    }
    let board = sizes().read(given.strip_prefix("n=").unwrap_or(given));
    let board_flags = [
        "-n", "--n", "-N", "--N", "--size", "--board", "--queens", "--holes",
    ];
    let is_board_flag = board_flags.contains(&given);
    if keeps_board && (board.is_some() || is_board_flag) {
        return Some("a run keeps the board that it was begun with, so leave the board out".into());
    }
    if takes_board && (board.is_some() || given.starts_with(|c: char| c.is_ascii_digit())) {
        return Some(match (board, args.contains(&"-n")) {
            (Some(board), false) => format!("give the board as `-n {}`", sizes_text(&board)),
            _ => {
                "boards are 1 to 32: give one as `-n 8`, several as `-n 8,10` or `-n 4..=8`".into()
            }
        });
    }
    let hint = match given {
        "-v" if command == given => "`queenfold --version` prints the version",
        _ if command == given => "give a command first, such as `queenfold run -n 8`",
        "--queens" | "--holes" | "--board" if command == "ladder" => {
            "the ladder has empty boards: `queenfold run` and `queenfold solve` take given squares"
        }
        "-n" | "--runs" | "--workers" | "--trace" if command == "bench" => {
            "`bench` counts the same boards on every machine: `--isa` and `--for` are its choices"
        }
        _ if is_board_flag && takes_board => "give the board as `-n 8`",
        "--all" if command == "solve" => "`--count all` prints every solution",
        "--all" | "--boards" | "--solutions" | "--svg" if command == "run" => {
            "`queenfold solve -n 8` prints solutions, with `--count all` every one"
        }
        "--silent" | "--no-progress" => "`--quiet` leaves out progress and notes",
        "--csv" | "--format" => "`--json` prints results for other programs",
        "--follow" | "-f" | "-w" if command == "status" => "`--watch` repeats",
        "-j" | "-t" | "-w" | "--jobs" | "--threads" | "--cores" | "--cpus" => {
            "`--workers` sets how many cores count"
        }
        "--dir" if command == "gather" => "`--into` names the directory",
        "--timeout" | "--limit" => "`--time-limit` stops a run after a time",
        "-o" | "--out" | "--output" => "results go to standard output: `> FILE` keeps them",
        "-v" | "--verbose" => "the environment variable QUEENFOLD_TRACE_FILTER=info shows a log",
        "--resume" | "--continue" => "`queenfold resume DIR` continues a run",
        _ if ["run", "resume"].contains(&command) => return setting(given),
        _ => return None,
    };
    Some(hint.to_owned())
}

/// Help with a setting that no flag sets.
fn setting(given: &str) -> Option<String> {
    let name = format!(".{}", given.strip_prefix("--")?.replace('-', "_"));
    let mut settings = SETTINGS.iter().filter(|setting| setting.flag.is_none());
    let setting = settings.find(|setting| setting.key.ends_with(&name))?;
    Some(format!(
        "{} is a setting without a flag: a configuration file sets it, or {} of the environment",
        setting.key,
        setting.variable()
    ))
}

/// Help with a command that does not exist.
fn subcommand(given: &str) -> Option<&'static str> {
    Some(match given.to_lowercase().as_str() {
        "version" => "`queenfold --version` prints the version",
        "count" | "start" => "`queenfold run -n 8` counts the solutions of a board",
        "continue" => "`queenfold resume DIR` continues a run",
        "test" => "`queenfold selftest` checks this build on this machine",
        "benchmark" | "speed" => "`queenfold bench` measures this machine",
        "gpu" | "gpus" | "info" => "`queenfold selftest` shows what this machine has",
        "solutions" | "boards" | "print" => "`queenfold solve -n 8` prints solutions",
        "show" | "log" | "list" | "ls" | "ps" => {
            "`queenfold status DIR` shows a run, `queenfold report DIR` writes a page about it"
        }
        "dashboard" | "tui" | "top" => "`queenfold status --watch DIR` shows a run on a dashboard",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(args: &[&str]) -> Vec<String> {
        let args = std::iter::once(&"queenfold").chain(args);
        with_command(args.map(OsString::from).collect())
            .into_iter()
            .map(|arg| arg.into_string().unwrap())
            .skip(1)
            .collect()
    }

    #[test]
    fn a_board_alone_is_a_run() {
        assert_eq!(completed(&["16", "--json"]), ["run", "-n", "16", "--json"]);
        assert_eq!(completed(&["4..=8"]), ["run", "-n", "4..=8"]);
        assert_eq!(completed(&["run", "16"]), ["run", "16"]);
        assert_eq!(completed(&["-n", "8"]), ["-n", "8"]);
        assert_eq!(completed(&[]), [] as [&str; 0]);
    }

    #[test]
    fn only_what_is_nearly_right_is_suggested() {
        assert_eq!(near("--jsn", "--json"), Some("--json"));
        assert_eq!(near("Run", "run"), Some("run"));
        for (given, known) in [
            ("version", "verify"),
            ("--n", "--config"),
            ("--threads", "--shard"),
            ("test", "estimate"),
            ("--verbose", "--version"),
        ] {
            assert_eq!(near(given, known), None, "{given}");
        }
    }
}
