//! Which commands there are, one file or folder for each, and how a command line becomes one of them: the program begins
//! here.

mod array;
mod array_task;
mod bench;
mod census;
mod certify;
mod check;
mod config;
mod estimate;
mod explain;
mod gather;
mod generate;
mod known;
mod ladder;
mod pause;
mod report;
mod resume;
mod run;
mod selftest;
mod solve;
mod status;
mod stop;
mod verify;

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::system::memory;

use crate::args::{command_groups, hints, tilde, usage, version};
use crate::control::signals;
use crate::exit::{Exit, Failure};

const HELP: &str = concat!(
    "Examples:\n",
    "  queenfold 8                    count the boards of 8 × 8 squares\n",
    "  queenfold run -n 4..=14        a table of them\n",
    "  queenfold run -n 16 --json     for other programs\n",
    "  queenfold run -n 20 --dir n20  keep every finished task\n",
    "  queenfold resume n20           continue after a stop, a crash, a power failure\n",
    "  queenfold pause n20            pause it from another terminal; `stop` ends it\n",
    "  queenfold config               every setting, and where its value comes from\n",
    "\n",
    "Environment variables:\n",
    "  QUEENFOLD_RUN_WORKERS=4        the setting run.workers; every setting has such a variable\n",
    "  NO_COLOR=1                     no colours\n",
    "  XDG_CONFIG_HOME=DIR            where queenfold/config.toml has your settings, ~/.config otherwise\n",
    "\n",
    "Exit codes:\n",
    "  0    done\n",
    "  1    error\n",
    "  2    wrong usage or configuration\n",
    "  3    counts contradict each other, or a known one: no result is printed\n",
    "  4    stopped before the end, or tasks are missing; `resume` continues\n",
    "  5    self-test failed\n",
    "  6    an instruction set or device is not available, or another host must count\n",
    "  7    devices are lost that did most of the work; `resume` continues\n",
    "  130  second interrupt",
);

/// Counts every solution of the N-Queens problem, all and unique.
#[derive(Debug, Parser)]
#[command(
    name = "queenfold",
    version,
    long_version = version::long(),
    override_usage = "queenfold <COMMAND>\n       queenfold <N|A..=B> [OPTIONS]",
    arg_required_else_help = true,
    // The last of a flag that is given twice decides, so that a script can add to the flags of its user.
    args_override_self = true,
    after_help = HELP,
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// Declares the commands, each with the module that runs it.
macro_rules! commands {
    ($($(#[$of:meta])* $name:ident $module:ident;)*) => {
        #[derive(Debug, Subcommand)]
        enum Command {
            $($(#[$of])* $name(Box<$module::Args>),)*
        }

        impl Command {
            fn run(&self) -> Result<(), Failure> {
                match self {
                    $(Self::$name(args) => $module::run(args),)*
                }
            }
        }
    };
}

commands! {
    /// Count the solutions of one board size, or of a range of them
    Run run;
    /// Estimate what a run would take, from a sample of its tasks
    Estimate estimate;
    /// Continue a run on this machine, or let a paused one go on
    Resume resume;
    /// Pause a run that another process counts, until `resume`
    Pause pause;
    /// Stop a run that another process counts, in order
    Stop stop;
    /// Show how far a run or a job array is, with --watch on a dashboard
    Status status;
    /// Write a page about a run: its result and speed, who did what
    Report report;
    /// Count tasks of a run again, or compare two runs
    Verify verify;
    /// Write a certificate that others can check without this program
    Certify certify;
    /// Check a certificate
    Check check;
    /// Write a job array for HyperQueue, Slurm or another scheduler
    Array array;
    /// Add up the shards of a job array, or the tasks of several runs
    Gather gather;
    /// Print solutions themselves: the first ones, all, or random ones
    Solve solve;
    /// Print the known counts
    Known known;
    /// Run the historical methods side by side
    Ladder ladder;
    /// Explain a method of the ladder, or an engine
    Explain explain;
    /// Show this machine, and count small boards in every way on it
    Selftest selftest;
    /// Show the settings
    Config config;
    /// Write the manual pages, and the completions of every shell, for a package
    #[command(hide = true)]
    Generate generate;
    /// Benchmark: one score for this machine
    Bench bench;
}

/// The program as its help shows it.
pub fn program() -> clap::Command {
    let columns = command_groups::columns();
    command_groups::grouped(Cli::command().term_width(columns), columns)
}

fn parse(args: &[OsString]) -> Result<Cli, clap::Error> {
    // Most command lines want no help, whose list of commands takes a twentieth of a start.
    parse_by(Cli::command(), args).or_else(|_| parse_by(program(), args))
}

fn parse_by(mut program: clap::Command, args: &[OsString]) -> Result<Cli, clap::Error> {
    let mut matches = program.try_get_matches_from_mut(args)?;
    tilde::refuse(&matches)?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut program))
}

/// Runs the program on the arguments of the process.
pub fn main() -> ExitCode {
    memory::use_one_arena();
    signals::abort_with(Exit::Error.code());
    signals::survive_file_limit();
    let args = hints::with_command(env::args_os().collect());
    let parsed = parse(&args).or_else(|error| {
        let meant = hints::meant(&error, &args, &Cli::command());
        meant.map_or(Err(error), |meant| parse(&meant))
    });
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return usage::report(&error, &args, &Cli::command()).into(),
    };
    let exit = match cli.command.run() {
        Ok(()) => Exit::Done,
        Err(failure) => usage::fail(&failure),
    };
    if queenfold::device::cuda::has_endless_kernel() {
        // What is printed is written already: standard output is flushed after each result.
        signals::end_at_once(exit);
    }
    exit.into()
}

#[cfg(test)]
pub use tests::assert_understood;

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory, Parser};

    use super::Cli;

    /// clap checks for defects such as two flags with one name, but only in debug builds.
    #[test]
    fn the_commands_and_their_flags_are_consistent() {
        Cli::command().debug_assert();
    }

    /// The examples of a command's help, and of the commands below it: the lines after `Examples:`. An
    /// explanation follows after at least two blanks; `;` and `|` end a command.
    fn examples(command: &Command, found: &mut Vec<(String, String)>) {
        let name = command.get_name().to_owned();
        let help = command.get_after_help().map(ToString::to_string);
        let help = help.unwrap_or_default();
        let lines = help
            .lines()
            .skip_while(|line| *line != "Examples:")
            .skip(1)
            .take_while(|line| line.starts_with("  "))
            .map(|line| line.trim().to_owned());
        let before = found.len();
        found.extend(lines.map(|line| (name.clone(), line)));
        assert!(found.len() > before, "{name} has no examples");
        for command in command.get_subcommands().filter(|c| !c.is_hide_set()) {
            examples(command, found);
        }
    }

    #[test]
    fn the_help_of_each_command_has_examples_that_the_program_understands() {
        let mut found = Vec::new();
        examples(&Cli::command(), &mut found);
        for (command, example) in found {
            // Others are commands of a scheduler.
            if example.starts_with("queenfold") {
                assert_understood(&command, &example);
            }
        }
    }

    /// Asserts that the program takes this command line of a shell, which stands in `place`.
    pub fn assert_understood(place: &str, line: &str) {
        let command = line.split(['>', '|', ';', '&', '#']).next();
        let command = command.unwrap_or_default().split("  ").next();
        // As a shell does it: a quoted text is one argument.
        let quoted = command.unwrap_or_default().split(['"', '\'']).enumerate();
        let args = quoted.flat_map(|(part, text)| match part % 2 {
            0 => text.split_whitespace().collect(),
            _ => vec![text],
        });
        let args = crate::args::hints::with_command(args.map(Into::into).collect());
        if let Err(error) = Cli::try_parse_from(&args) {
            let is_shown = error.kind() == clap::error::ErrorKind::DisplayVersion;
            assert!(is_shown, "{place}: {line}: {error}");
        }
    }

    /// Those that are run elsewhere are checked by `tests/project/pages.rs`; here are also those that are not.
    #[test]
    fn the_program_understands_every_command_of_the_pages() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let docs = std::fs::read_dir(root.join("docs")).unwrap();
        let pages = docs.map(|page| page.unwrap().path());
        let mut found = 0;
        for page in pages.chain([root.join("README.md")]) {
            if page.extension().is_none_or(|end| end != "md") {
                continue;
            }
            for line in std::fs::read_to_string(&page).unwrap().lines() {
                let in_block = line.strip_prefix("$ ");
                // In a table, up to the closing mark.
                let in_table = line
                    .strip_prefix("| `")
                    .and_then(|row| row.split('`').next());
                let command = in_block.or(in_table);
                if let Some(command) = command.filter(|text| text.starts_with("queenfold ")) {
                    assert_understood(&page.display().to_string(), command);
                    found += 1;
                }
            }
        }
        assert!(found > 60, "only {found} commands found");
    }
}
