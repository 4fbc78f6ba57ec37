//! The method `mirror`: searches half the first row and doubles the count.
//!
#![doc = include_str!("text/mirror.md")]

use super::bitmap::{Search, SolutionCount, Taken, lowest_bit};
use super::{Count, Images, Method, MethodRequest, StopSearch, Watch};
use queenfold_engines::board::Size;

/// Searches half the solutions and doubles the count.
pub const METHOD: Method = Method {
    name: "mirror",
    step: 5,
    text: include_str!("text/mirror.md"),
    count,
    ..Method::USUAL
};

fn count(request: &MethodRequest, watch: &mut Watch<'_>) -> Result<Count, StopSearch> {
    if request.n.get() == 1 {
        return one_queen(watch);
    }
    let mut search = Search::new(request.n, SolutionCount::new(Images::Mirrored), watch);
    for start in starts(request.n) {
        let taken = search.place_first(&start)?;
        search.run(request.style, start.len(), taken)?;
    }
    Ok(Count::total(2 * search.rules.found))
}

/// The single queen, which is its own mirror image.
pub(super) fn one_queen(watch: &mut Watch<'_>) -> Result<Count, StopSearch> {
    watch.place(&[1_u32], 0)?;
    watch.solution(&[1_u32], Images::Itself)?;
    Ok(Count::total(1))
}

/// The first queens of one board of each pair of mirror images, n ≥ 2: a queen in the left half of
/// the first row; on odd boards also a queen in its centre, with the second queen in the left half.
pub(super) fn starts(n: Size) -> Vec<Vec<u32>> {
    let half = n.get() / 2;
    let mut starts: Vec<_> = (0..half).map(|column| vec![1 << column]).collect();
    if n.get() % 2 == 1 {
        let centre = 1 << half;
        let left_half = centre - 1;
        let mut second = Taken::default().after(centre).free(left_half);
        while second != 0 {
            let bit = lowest_bit(second);
            second ^= bit;
            starts.push(vec![centre, bit]);
        }
    }
    starts
}
