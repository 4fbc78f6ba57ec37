//! Prints help, and why a command failed: one line on stderr.

use std::ffi::OsString;
use std::io::{self, Write};

use clap::Command;
use clap::error::{Error, ErrorKind};

use super::hints::hint;
use super::old_names::now;
use crate::exit::{Exit, Failure};
use crate::output::{check_stdout, say};
use crate::telemetry::printable;

/// Prints what `--help` and `--version` ask for in full, and an error as one line.
pub fn report(error: &Error, args: &[OsString], program: &Command) -> Exit {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // clap looks whether it may use colours, but not whether anything can be written.
            let printed = check_stdout()
                .and_then(|()| error.print())
                .and_then(|()| io::stdout().flush());
            printed.map_or_else(|error| fail(&error.into()), |()| Exit::Done)
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            Exit::Usage
        }
        _ => {
            let line = now(error, args).map_or_else(
                || {
                    let hint = hint(error, args, program);
                    let hint = hint.map_or_else(String::new, |hint| format!("; tip: {hint}"));
                    one_line(&error.to_string()) + &hint
                },
                |now| format!("error: {now}"),
            );
            say(&printable(&line));
            Exit::Usage
        }
    }
}

/// Prints why a command failed.
pub fn fail(failure: &Failure) -> Exit {
    match failure.exit {
        Exit::Done => {}
        Exit::Stopped => say(&failure.message),
        _ => say(&format!("error: {}", failure.message)),
    }
    failure.exit
}

/// clap's message without its tips, the usage text and the pointer to `--help` that follow it.
fn one_line(message: &str) -> String {
    message
        .split("\n\n")
        .take_while(|part| !part.starts_with("Usage:") && !part.starts_with("For more"))
        .map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|part| !part.is_empty() && !part.starts_with("tip: "))
        .collect::<Vec<_>>()
        .join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_clap_become_one_line_without_its_tips() {
        assert_eq!(
            one_line(
                "error: unexpected argument '--jsn' found\n\n  tip: a similar argument exists: \
                 '--json'\n\nUsage: queenfold run --json\n\nFor more information, try '--help'.\n"
            ),
            "error: unexpected argument '--jsn' found"
        );
        assert_eq!(
            one_line("error: two\n  lines\n\nUsage: x\n"),
            "error: two lines"
        );
    }
}
