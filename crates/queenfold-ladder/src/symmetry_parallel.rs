//! The method `symmetry-parallel`: the symmetry search, with its starts spread over all cores.
//!
#![doc = include_str!("text/symmetry-parallel.md")]

use super::class_counts::ClassCounts;
use super::spread::spread;
use super::symmetry::Start;
use super::{About, Count, Method, MethodRequest, StopSearch, Style, Watch};

/// The symmetry search, with its starts distributed over all cores.
pub struct SymmetryParallel;

impl Method for SymmetryParallel {
    fn about(&self) -> &'static About {
        &About {
            name: "symmetry-parallel",
            idea: "the symmetry search, first queens spread over cores",
            text: include_str!("text/symmetry-parallel.md"),
            styles: &[Style::Only],
            unique: true,
            reach: 12,
            steps: false,
        }
    }

    fn count(&self, request: &MethodRequest, watch: &mut Watch<'_>) -> Result<Count, StopSearch> {
        let starts = Start::all(request.n);
        let classes = spread(&starts, watch, |start, watch| {
            start.count(request.n, Style::Recursive, watch)
        })?;
        Ok(Count::classes(
            classes.into_iter().sum::<ClassCounts>().orbits(),
        ))
    }
}
