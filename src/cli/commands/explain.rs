use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::cli::exit::Failure;
use crate::cli::output::print;
use crate::ladder::{METHODS, Method, method};

/// Flags of `explain`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  queenfold explain bitmap
  queenfold explain symmetry")]
pub struct Args {
    /// The method: `queenfold ladder` lists them
    #[arg(value_parser = names())]
    method: String,
}

/// Prints the explanation.
pub fn run(args: &Args) -> Result<(), Failure> {
    let method = named(&args.method)?;
    print(method.about().text.trim_end())
}

/// The names of all methods, for clap to check and complete.
pub fn names() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(METHODS.map(|method| method.about().name))
}

/// The method of this name.
pub fn named(name: &str) -> Result<&'static dyn Method, Failure> {
    method(name).ok_or_else(|| Failure::usage(format!("there is no method `{name}`")))
}
