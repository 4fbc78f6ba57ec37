//! The command `explain`: methods of the ladder and engines in plain words.

use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::exit::Failure;
use crate::ladder::{METHODS, method};
use crate::output::print;

/// Flags of `explain`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  queenfold explain              all names
  queenfold explain symmetry     a historical method
  queenfold explain chain        an engine, with a board that is worked out")]
pub struct Args {
    /// The method or engine; all are listed unless given
    #[arg(value_name = "NAME", value_parser = names())]
    name: Option<String>,
}

/// The engines: the name of each, its idea in one line, and the explanation.
const ENGINES: [(&str, &str, &str); 3] = [
    (
        "chain",
        "borders first, one of each symmetry class",
        include_str!("chain.md"),
    ),
    (
        "colour",
        "white and black squares apart, with all symmetries",
        include_str!("colour.md"),
    ),
    (
        "census",
        "the symmetric solutions alone, for the unique count",
        include_str!("census.md"),
    ),
];

/// Prints the explanation, or what there is to explain.
pub fn run(args: &Args) -> Result<(), Failure> {
    let Some(name) = &args.name else {
        return print(&list());
    };
    // The method and the engine of one name have one idea.
    let texts = method(name).map(|method| method.text);
    let engine = ENGINES.into_iter().find(|(engine, ..)| engine == name);
    let texts = texts.into_iter().chain(engine.map(|(.., text)| text));
    let texts: Vec<_> = texts.map(str::trim_end).collect();
    let text = texts.join("\n\n");
    // The pictures of a method are between fences, for the documentation of its module.
    let lines = text.lines().filter(|line| !line.starts_with("```"));
    print(&lines.collect::<Vec<_>>().join("\n"))
}

/// The names of all methods and engines, with their ideas.
fn list() -> String {
    let line = |name: &str, idea: &str| format!("{name:<20}  {idea}");
    let mut lines = vec!["Methods of the ladder, in the order of the ideas:".to_owned()];
    lines.extend(METHODS.map(|method| line(method.name, method.idea)));
    lines.push("\nEngines, by which `queenfold run` counts:".to_owned());
    lines.extend(ENGINES.map(|(name, idea, _)| line(name, idea)));
    lines.join("\n")
}

/// The names of all methods and engines, for clap to check and complete.
fn names() -> impl TypedValueParser<Value = String> {
    let methods = METHODS.map(|method| method.name);
    let engines = ENGINES.into_iter().map(|(name, ..)| name);
    let others = engines.filter(move |name| !methods.contains(name));
    PossibleValuesParser::new(methods.into_iter().chain(others))
}
