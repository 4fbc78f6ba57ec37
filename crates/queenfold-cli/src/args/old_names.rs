//! What to write now in place of the commands and flags that earlier versions had.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

use crate::shell::{is_plain, word};

/// What became of a name.
enum Now {
    /// A command that takes the same arguments.
    Command(&'static str),
    /// This is written in its place.
    Text(&'static str),
    /// Nothing is, for a reason or with an advice.
    Gone(&'static str),
}

use Now::{Command, Gone, Text};

/// The old names: a command, a word after it if that is what is gone, and what became of it. Without a command, a flag of
/// several.
const OLD: [(&str, &str, Now); 29] = [
    ("census", "", Command("run --census")),
    ("merge", "--check", AGAINST),
    ("merge", "", Command("gather")),
    ("compare", "", AGAINST),
    ("watch", "", Command("status --watch")),
    ("drain", "", Command("stop")),
    ("config", "show", Command("config")),
    ("devices", "", Text("queenfold selftest")),
    ("completions", "", Text("queenfold generate DIR")),
    ("man", "", Text("queenfold generate DIR")),
    ("export", "", Gone("`certify` writes every task")),
    ("serve", "", ARRAY),
    ("work", "", ARRAY),
    ("hosts", "", ARRAY),
    ("run", "--again", Text("queenfold verify --again DIR")),
    ("run", "--show", Text("queenfold solve --board FILE")),
    ("run", "--expect", Gone("compare the total of --json")),
    ("bench", "--device", Text("--gpu INDEX")),
    ("", "--device", Text("--gpu 0,2")),
    ("", "--profile", Text("--trace FILE")),
    ("solve", "--random", Text("--seed random")),
    ("solve", "--order", Gone("leave it out")),
    ("verify", "--all", Text("--sample 1")),
    ("verify", "--since", Gone("leave it out")),
    ("check", "-m", Text("--sample M")),
    ("estimate", "--sample", Text("--for TIME")),
    ("bench", "--up-to", Text("--for TIME")),
    ("array", "--memory", Text("-- --mem=8G")),
    ("array", "--no-unique", Gone("leave it out")),
];

/// How the help of a command is asked for.
const HELP: [&str; 3] = ["help", "--help", "-h"];

const AGAINST: Now = Text("queenfold verify A --against B");
const ARRAY: Now = Gone("`array` divides a run among hosts");

/// What to write in place of the old name that clap refuses with `error` in the command line `args`, if it is one.
pub fn now(error: &Error, args: &[OsString]) -> Option<String> {
    let [_, command, rest @ ..] = args else {
        return None;
    };
    let asks_for_help = [command]
        .into_iter()
        .chain(rest)
        .any(|arg| HELP.iter().any(|help| arg == help));
    let (command, rest) = match rest {
        [of, ..] if command == HELP[0] => (of, &[][..]),
        _ => (command, rest),
    };
    let is = |name: &str| command == name;
    let (name, old, now) = OLD.iter().find(|(name, old, _)| match error.kind() {
        ErrorKind::InvalidSubcommand => {
            is(name) && (old.is_empty() || rest.iter().any(|arg| arg == old))
        }
        ErrorKind::UnknownArgument => {
            let given = error.get(ContextKind::InvalidArg);
            let given = matches!(given, Some(ContextValue::String(given)) if given == old);
            given && (name.is_empty() || is(name))
        }
        _ => false,
    })?;
    let was = format!("{name} {old}");
    let was = was.trim();
    Some(match now {
        Text(text) => format!("{was} is now `{text}`"),
        Gone(words) => format!("{was} is gone: {words}"),
        Command(now) if asks_for_help => format!("{was} is now `queenfold {now}`"),
        Command(now) => {
            let rest = rest.iter().filter(|arg| arg != old);
            let mut rest: String = rest.map(|arg| format!(" {}", as_given(arg))).collect();
            if *name == "merge" {
                rest = rest.replace(" -o ", " --into ");
                // Without it, `gather` takes what it is given for a job array.
                if !rest.contains(" --into") {
                    rest += " --into DIR";
                }
            }
            format!("{was} is now `queenfold {now}{rest}`")
        }
    })
}

/// A word of a shell, which may be a flag.
fn as_given(arg: &OsString) -> String {
    match arg.to_str() {
        Some(flag) if is_plain(flag.trim_start_matches('-').as_ref()) => flag.to_owned(),
        _ => word(arg),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::commands::{Cli, assert_understood};

    /// What is said of a command line with an old name.
    fn said(line: &str) -> String {
        let args: Vec<OsString> = line.split(' ').map(Into::into).collect();
        let Err(error) = Cli::try_parse_from(&args) else {
            panic!("{line} is understood");
        };
        now(&error, &args).unwrap_or_else(|| panic!("{line}: {error}"))
    }

    #[test]
    fn every_old_name_is_answered_with_a_command_that_the_program_understands() {
        for (command, old, now) in &OLD {
            let command = if command.is_empty() { "run" } else { command };
            let line = format!("queenfold {command} {old}");
            let said = said(line.trim());
            let (Text(text) | Command(text) | Gone(text)) = now;
            assert!(said.contains(text), "{line}: {said}");
            if matches!(now, Text(_)) && text.starts_with("queenfold ") {
                assert_understood(&line, text);
            }
        }
    }

    #[test]
    fn the_help_of_an_old_command_is_answered_with_the_new_name() {
        for (old, new) in [
            ("help merge", "merge is now `queenfold gather`"),
            ("merge --help", "merge is now `queenfold gather`"),
            ("watch n20 -h", "watch is now `queenfold status --watch`"),
            ("help devices", "devices is now `queenfold selftest`"),
            (
                "help serve",
                "serve is gone: `array` divides a run among hosts",
            ),
        ] {
            assert_eq!(said(&format!("queenfold {old}")), new);
        }
    }

    #[test]
    fn the_arguments_of_an_old_command_are_kept() {
        for (old, new) in [
            ("merge a b --into c", "gather a b --into c"),
            (
                "merge --take-out a --into c",
                "gather --take-out a --into c",
            ),
            ("merge a b -o c", "gather a b --into c"),
            ("merge a b", "gather a b --into DIR"),
            ("census -n 4..=8 --json", "run --census -n 4..=8 --json"),
            ("watch n20", "status --watch n20"),
            ("drain n20", "stop n20"),
            ("config show --workers 4", "config --workers 4"),
            ("config show", "config"),
        ] {
            let said = said(&format!("queenfold {old}"));
            let new = format!("queenfold {new}");
            assert!(said.ends_with(&format!(" is now `{new}`")), "{said}");
            assert_understood(old, &new);
        }
    }
}
