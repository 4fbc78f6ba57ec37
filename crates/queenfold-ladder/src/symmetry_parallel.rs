//! The method `symmetry-parallel`: the symmetry search, with its starts spread over all cores.
//!
#![doc = include_str!("text/symmetry-parallel.md")]

use super::spread::spread;
use super::symmetry::Start;
use super::{Count, Method, MethodRequest, StopSearch, Style, Watch};

/// The symmetry search, with its starts distributed over all cores.
pub const METHOD: Method = Method {
    name: "symmetry-parallel",
    step: 7,
    text: include_str!("text/symmetry-parallel.md"),
    styles: &[Style::Only],
    is_parallel: true,
    count,
    ..Method::USUAL
};

fn count(request: &MethodRequest, watch: &mut Watch<'_>) -> Result<Count, StopSearch> {
    let starts = Start::all(request.n);
    let classes = spread(&starts, watch, |start, watch| {
        start.count(request.n, Style::Recursive, watch)
    })?;
    Ok(Count::classes(classes.into_iter().sum()))
}
