//! The ladder: its methods, its commands, its speed.

mod boards;
mod course;
mod devices;
mod methods;
mod pictures;
mod rows;
mod speed;
mod stops;

/// The arguments that run one method: `ladder --method METHOD`, then `rest`.
fn ladder<'a>(method: &'a str, rest: &[&'a str]) -> Vec<&'a str> {
    [&["ladder", "--method", method], rest].concat()
}
