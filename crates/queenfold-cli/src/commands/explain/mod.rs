//! The command `explain`: the steps of the course, and its methods and engines in plain words.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::exit::Failure;
use crate::ladder::{METHODS, STEPS};
use crate::output::print;

/// Flags of `explain`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  queenfold explain              the steps of the course, with all names
  queenfold explain 4            a step
  queenfold explain symmetry     a method of the ladder
  queenfold explain chain        an engine, with a board that is worked out")]
pub struct Args {
    /// The method or engine, or the number of a step; all are listed unless given
    #[arg(value_name = "NAME", value_parser = names())]
    name: Option<String>,
}

/// What is explained: the step, whether it is an engine, the name, and the text, whose first line is the idea.
type Topic = (usize, &'static str, &'static str, &'static str);

const ENGINES: [Topic; 3] = [
    (8, "engine ", "chain", include_str!("chain.md")),
    (9, "engine ", "colour", include_str!("colour.md")),
    (10, "engine ", "census", include_str!("census.md")),
];

/// All methods and engines, by their steps.
fn topics() -> Vec<Topic> {
    let methods = METHODS.map(|method| (method.step, "", method.name, method.text));
    let mut topics: Vec<_> = methods.into_iter().chain(ENGINES).collect();
    topics.sort_by_key(|(step, ..)| *step);
    topics
}

/// Prints the explanation, or what there is to explain.
pub fn run(args: &Args) -> Result<(), Failure> {
    let Some(name) = &args.name else {
        return print(&list());
    };
    let mut topics = topics();
    topics.retain(|(step, _, of, _)| of == name || step.to_string() == *name);
    // A method and an engine of one name have one step.
    let step = topics[0].0;
    let mut text = format!("Step {step}: {}\n", STEPS[step - 1]);
    for (_, kind, name, about) in topics {
        text += &format!("\n{kind}{name}: {about}");
    }
    // The pictures of a method are between fences, for the documentation of its module.
    let lines = text.lines().filter(|line| !line.starts_with("```"));
    print(&lines.collect::<Vec<_>>().join("\n"))
}

/// The steps of the course, each with its methods and engines and their ideas.
pub fn list() -> String {
    let mut lines = Vec::new();
    for group in topics().chunk_by(|(one, ..), (next, ..)| one == next) {
        let step = group[0].0;
        lines.push(format!("{step:>2}. {}", STEPS[step - 1]));
        for (_, kind, name, text) in group {
            let idea = text.lines().next().unwrap_or_default();
            lines.push(format!("    {:<20}  {idea}", [*kind, *name].concat()));
        }
    }
    lines.join("\n")
}

/// The names of all methods and engines, for clap to check and complete, and the steps, for it to check.
fn names() -> impl TypedValueParser<Value = String> {
    let mut names: Vec<_> = topics().into_iter().map(|(.., name, _)| name).collect();
    names.dedup();
    let steps: [_; STEPS.len()] = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"];
    let steps = steps.map(|step| PossibleValue::new(step).hide(true));
    PossibleValuesParser::new(names.into_iter().map(Into::into).chain(steps))
}
