//! `queenfold man`: shows the manual page of the program or of a command, or writes all of them into a directory.

use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::exit::{Exit, Failure};
use crate::output::{check_file, print, say, write_file};
use crate::shell::read_by;
use crate::telemetry::printable;
use queenfold_ledger::system::file_kind::FileKind;

/// A page in a directory, of this version or of another one.
const PAGE: FileKind<'_> = FileKind {
    name: "page of this program",
    marks: &[".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n.TH queenfold"],
    streams: false,
    is_replaced: true,
};

/// Flags of `man`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  queenfold man                                 the page of the program
  queenfold man run                             the page of `run`
  queenfold man --to ~/.local/share/man/man1    then `man queenfold-run` shows it, too

The pages say what --help says. On a terminal, the program `man` shows them if there is one; otherwise they are \
printed as text. With --to, pages of another version that are there are overwritten.")]
pub struct Args {
    /// The command whose page is shown; none for the program
    #[arg(value_name = "COMMAND")]
    of: Vec<String>,

    /// Write a page for each command into this directory, which is made if there is none
    #[arg(long, value_name = "DIR", conflicts_with = "of")]
    to: Option<PathBuf>,
}

/// Shows the page of a command, or writes all of them.
pub fn run(args: &Args) -> Result<(), Failure> {
    let mut program = super::program().disable_help_subcommand(true);
    // Gives each command its full name, such as `queenfold-run`.
    program.build();
    if let Some(dir) = &args.to {
        if dir.exists() && !dir.is_dir() {
            let what = format!("{} is a file, not a directory for pages", dir.display());
            return Err(Failure::new(Exit::Error, what));
        }
        fs::create_dir_all(dir)
            .map_err(|error| Failure::new(Exit::Error, format!("{}: {error}", dir.display())))?;
        let pages = pages(&program, dir);
        for (_, file) in &pages {
            check_file("page", &PAGE, file)?;
        }
        for (command, file) in &pages {
            write_file("page", &PAGE, file, &page(command)?)?;
        }
        say(&printable(&format!("wrote the pages to {}", dir.display())));
        return Ok(());
    }
    let mut command = &program;
    for name in &args.of {
        command = command.find_subcommand(name).ok_or_else(|| {
            Failure::usage(format!(
                "there is no command `{name}`; --help lists them, and --to DIR writes their pages"
            ))
        })?;
    }
    if io::stdout().is_terminal() && is_shown_by_man(&page(command)?) {
        return Ok(());
    }
    print(command.clone().render_long_help().to_string().trim_end())
}

/// Whether the program `man` is there and shows the page.
fn is_shown_by_man(page: &[u8]) -> bool {
    read_by("man", &["-l", "-"], page).is_ok_and(|status| status.success())
}

/// All commands that have a page, and where it is in `dir`.
fn pages(command: &Command, dir: &Path) -> Vec<(Command, PathBuf)> {
    let shown = command.get_subcommands().filter(|of| !of.is_hide_set());
    let mut pages: Vec<_> = shown.flat_map(|command| pages(command, dir)).collect();
    let file = dir.join(Man::new(command.clone()).get_filename());
    pages.push((command.clone(), file));
    pages
}

/// The page of a command, as the program `man` reads it.
fn page(command: &Command) -> io::Result<Vec<u8>> {
    // The sections below hold the help text in its form, and every page has the version at its foot.
    let options = command.clone().after_help(None);
    let page = Man::new(options.version(None).long_version(None))
        .source(concat!("queenfold ", env!("CARGO_PKG_VERSION")))
        .manual("Queenfold");
    let mut text = Vec::new();
    page.render(&mut text)?;
    if let Some(help) = command.get_after_help() {
        sections(&help.to_string()).to_writer(&mut text)?;
    }
    Ok(text)
}

/// What follows the options in a help text, as sections of a page. Indented lines, such as examples and
/// tables, keep their form.
fn sections(help: &str) -> Roff {
    let mut page = Roff::new();
    let mut notes = "SH";
    for paragraph in help.split("\n\n") {
        match paragraph.split_once(":\n  ") {
            Some((heading, table)) if !heading.contains('\n') => {
                notes = "SH";
                page.control("SH", [heading.to_uppercase().as_str()]);
                page.control("nf", []);
                for line in table.lines() {
                    page.text([roman(line.trim_start())]);
                }
                page.control("fi", []);
            }
            _ => {
                let title = (notes == "SH").then_some("NOTES");
                page.control(notes, title);
                notes = "PP";
                page.text([roman(paragraph)]);
            }
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_and_tables_keep_their_lines_and_text_is_filled() {
        let help = "Examples:\n  queenfold 8\n  queenfold 9    nine\n\nText that\nflows.\n\nMore.";
        let page = sections(help).to_roff();
        let wanted = ".SH EXAMPLES\n.nf\nqueenfold 8\nqueenfold 9    nine\n.fi\n\
                      .SH NOTES\nText that\nflows.\n.PP\nMore.\n";
        assert!(page.ends_with(wanted), "{page}");
    }
}
