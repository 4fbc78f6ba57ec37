//! `queenfold completions`: prints the script by which a shell completes command lines.

use std::io::Write;

use clap_complete::Shell;

use crate::exit::Failure;
use crate::output::stdout;

/// Flags of `completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  queenfold completions bash > ~/.local/share/bash-completion/completions/queenfold
  queenfold completions zsh > ~/.zfunc/_queenfold
  queenfold completions fish > ~/.config/fish/completions/queenfold.fish")]
pub struct Args {
    /// The shell
    shell: Shell,
}

/// Prints the script.
pub fn run(&Args { shell }: &Args) -> Result<(), Failure> {
    let (mut program, mut script) = (super::program(), Vec::new());
    clap_complete::generate(shell, &mut program, "queenfold", &mut script);
    Ok(stdout().write_all(&script)?)
}
