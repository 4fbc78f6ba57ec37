//! The method `carry-chain-parallel`: the carry chain, with its top sides spread over all cores.
//!
#![doc = include_str!("text/carry-chain-parallel.md")]

use super::carry_chain::{count_below, exact, top_sides};
use super::spread::spread;
use super::{Count, Method, MethodRequest, StopSearch, Style, Watch};

/// The carry chain, with its top sides distributed over all cores.
pub const METHOD: Method = Method {
    name: "carry-chain-parallel",
    step: 8,
    text: include_str!("text/carry-chain-parallel.md"),
    styles: &[Style::Only],
    is_parallel: true,
    count,
    ..Method::USUAL
};

fn count(request: &MethodRequest, watch: &mut Watch<'_>) -> Result<Count, StopSearch> {
    let parts = spread(&top_sides(request.n), watch, |&top, watch| {
        count_below(request.n, top, Style::Recursive, watch)
    })?;
    exact(request.n, &parts, watch)
}
