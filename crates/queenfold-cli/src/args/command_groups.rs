//! The commands in groups, as the help lists them. clap has headings for flags alone.

use std::env;
use std::fmt::Write;

use clap::Command;
use console::Term;

use crate::output::wrapped;

/// Commands that belong together, below a title. Every command is in one of the groups.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Count", &["run", "estimate", "solve"]),
    (
        "Run directories",
        &["resume", "pause", "stop", "status", "report", "gather"],
    ),
    ("Check", &["verify", "certify", "check"]),
    ("Clusters", &["array"]),
    ("Learn", &["known", "ladder", "explain"]),
    ("This machine", &["selftest", "bench"]),
    ("This program", &["config", HELP]),
];

/// The most columns of a help text.
pub const BROADEST: usize = 100;

/// The fewest columns in which it is said what a command does.
const NARROWEST: usize = 10;

/// clap adds this command as soon as it reads a command line.
const HELP: &str = "help";

/// The groups with their commands as far as `program` has them: the name of each, and what it does.
fn groups(program: &Command) -> Vec<(&'static str, Vec<(&'static str, String)>)> {
    let command = |name: &&'static str| match *name {
        HELP => Some((HELP, "Print this, or the help of a command".to_owned())),
        name => {
            let about = program.find_subcommand(name)?.get_about();
            Some((name, about.map(ToString::to_string).unwrap_or_default()))
        }
    };
    let group = |(title, names): (_, &[_])| (title, names.iter().filter_map(command).collect());
    GROUPS.into_iter().map(group).collect()
}

/// The columns that a help text may have.
pub fn columns() -> usize {
    let terminals = [Term::stdout(), Term::stderr()];
    let terminal = terminals.iter().find_map(Term::size_checked);
    let told = || env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let columns = terminal.map(|(_, columns)| columns.into()).or_else(told);
    columns
        .filter(|columns| *columns > 0)
        .unwrap_or(BROADEST)
        .min(BROADEST)
}

/// `program`, whose help lists the commands in groups, in so many columns.
pub fn grouped(program: Command, columns: usize) -> Command {
    let styles = program.get_styles();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let mut template = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    let groups = groups(&program);
    let names = groups.iter().flat_map(|(_, commands)| commands);
    let width = names.map(|(name, _)| name.len()).max().unwrap_or(0);
    let indent = width + 4;
    for (title, commands) in &groups {
        let _ = writeln!(template, "\n{header}{title}:{header:#}");
        for (name, does) in commands {
            let space = width - name.len();
            let does = wrapped(does, columns.saturating_sub(indent).max(NARROWEST));
            let does = does.replace('\n', &format!("\n{:indent$}", ""));
            let _ = writeln!(
                template,
                "  {literal}{name}{literal:#}{:space$}  {does}",
                ""
            );
        }
    }
    let _ = write!(
        template,
        "\n{header}Options:{header:#}\n{{options}}{{after-help}}"
    );
    program.help_template(template)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn each_command_is_in_one_group_and_has_one_line() {
        let program = grouped(crate::commands::Cli::command(), BROADEST);
        let listed: Vec<_> = GROUPS.iter().flat_map(|(_, names)| *names).collect();
        let shown = program.get_subcommands().filter(|of| !of.is_hide_set());
        let shown: Vec<_> = shown.map(Command::get_name).collect();
        assert!(shown.len() == 19, "{shown:?}");
        for name in shown {
            let times = listed.iter().filter(|listed| **listed == &name).count();
            assert_eq!(times, 1, "{name}");
        }
        // What is listed and not there is what another build has.
        for name in listed.into_iter().filter(|name| **name != HELP) {
            assert!(program.find_subcommand(name).is_some(), "{name}");
        }
        let help = program.clone().render_help().to_string();
        let head = help.lines().take_while(|line| *line != "Options:");
        for line in head {
            assert!(line.chars().count() <= 80, "{line}");
        }
        for (title, commands) in groups(&program) {
            assert!(help.contains(&format!("\n{title}:\n  ")), "{title}: {help}");
            for (name, does) in commands {
                assert!(help.contains(&format!("  {does}\n")), "{name}: {help}");
            }
        }
    }
}
