use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::cli::exit::{Exit, Failure};

/// Flags of `man`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  queenfold man ~/.local/share/man/man1    then `man queenfold-run` shows the page of `run`
  queenfold man pages; man pages/queenfold.1

The pages say what --help says. Pages of another version that are there are overwritten.")]
pub struct Args {
    /// The directory for the pages; it is made if there is none
    dir: PathBuf,
}

/// Writes the page of `program`, and one for each of its commands.
pub fn run(Args { dir }: &Args, program: Command) -> Result<(), Failure> {
    let mut program = program.disable_help_subcommand(true);
    // Gives each command its full name, such as `queenfold-run`.
    program.build();
    fs::create_dir_all(dir)
        .and_then(|()| write_pages(&program, dir))
        .map_err(|error| Failure::new(Exit::Error, format!("{}: {error}", dir.display())))
}

fn write_pages(command: &Command, dir: &Path) -> io::Result<()> {
    let shown = |command: &&Command| !command.is_hide_set();
    for command in command.get_subcommands().filter(shown) {
        write_pages(command, dir)?;
    }
    // The sections below hold the help text in its form, and every page has the version at its foot.
    let options = command
        .clone()
        .after_help(None)
        .version(None)
        .long_version(None);
    let page = Man::new(options)
        .source(concat!("queenfold ", env!("CARGO_PKG_VERSION")))
        .manual("Queenfold");
    let mut text = Vec::new();
    page.render(&mut text)?;
    if let Some(help) = command.get_after_help() {
        sections(&help.to_string()).to_writer(&mut text)?;
    }
    fs::write(dir.join(page.get_filename()), text)
}

/// What follows the options in a help text, as sections of a page. Indented lines, such as examples and
/// tables, keep their form.
fn sections(help: &str) -> Roff {
    let mut page = Roff::new();
    let mut in_notes = false;
    for paragraph in help.split("\n\n") {
        match paragraph.split_once(":\n  ") {
            Some((heading, table)) if !heading.contains('\n') => {
                in_notes = false;
                page.control("SH", [heading.to_uppercase().as_str()]);
                page.control("nf", []);
                for line in table.lines() {
                    page.text([roman(line.trim_start())]);
                }
                page.control("fi", []);
            }
            _ => {
                if in_notes {
                    page.control("PP", []);
                } else {
                    page.control("SH", ["NOTES"]);
                }
                in_notes = true;
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
