//! `queenfold generate`: writes the manual pages, and the completions of every shell, for a package.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Command, ValueEnum};
use clap_complete::{Shell, generate_to};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::exit::{Exit, Failure};

/// Flags of `generate`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  queenfold generate package

Writes DIR/man/*.1, which say what --help says, and DIR/completions. Files that are there are overwritten.")]
pub struct Args {
    /// The directory, which is made if there is none
    dir: PathBuf,
}

/// Writes the files.
pub fn run(Args { dir }: &Args) -> Result<(), Failure> {
    write(dir).map_err(|error| Failure::new(Exit::Error, format!("{}: {error}", dir.display())))
}

fn write(dir: &Path) -> io::Result<()> {
    let [man, completions] = ["man", "completions"].map(|name| dir.join(name));
    fs::create_dir_all(&man)?;
    fs::create_dir_all(&completions)?;
    for shell in Shell::value_variants() {
        generate_to(*shell, &mut super::program(), "queenfold", &completions)?;
    }
    let mut program = super::program().disable_help_subcommand(true);
    // Gives each command its full name, such as `queenfold-run`.
    program.build();
    let shown = program.get_subcommands().filter(|of| !of.is_hide_set());
    [&program].into_iter().chain(shown).try_for_each(|command| {
        let file = Man::new(command.clone()).get_filename();
        fs::write(man.join(file), page(command)?)
    })
}

/// The page of a command, as the program `man` reads it.
fn page(command: &Command) -> io::Result<Vec<u8>> {
    // The sections below hold the help text in its form, and every page has the version at its foot.
    let options = command.clone().after_help(None);
    // The synopsis of clap_mangen lists every flag, without its value.
    let usage = options.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").to_owned();
    let page = Man::new(
        options
            .override_usage(usage)
            .version(None)
            .long_version(None),
    )
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
