//! The method `node-layer`: breadth first down to a layer, then each node of it separately.
//!
#![doc = include_str!("text/node-layer.md")]

use super::bitmap::{Search, SolutionCount, Taken, lowest_bit};
use super::device::Launches;
use super::programs::NODE_LAYER;
use super::spread::spread;
use super::{Count, Images, Method, MethodRequest, StopSearch, Style, Watch, mirror};
use queenfold_engines::board::Size;
use queenfold_engines::engine::Device;

/// Breadth first to a layer, then each node separately.
pub const METHOD: Method = Method {
    name: "node-layer",
    step: 7,
    text: include_str!("text/node-layer.md"),
    styles: &[Style::Recursive, Style::Iterative, Style::Gpu],
    is_parallel: true,
    count,
    count_on,
    ..Method::USUAL
};

fn count(request: &MethodRequest, watch: &mut Watch<'_>) -> Result<Count, StopSearch> {
    if request.n.get() == 1 {
        return mirror::one_queen(watch);
    }
    let layer = layer(request.n, LAYER, watch)?;
    let found = spread(&layer, watch, |node, watch| {
        let mut search = Search::new(request.n, SolutionCount::new(Images::Mirrored), watch);
        let queens = node.queens();
        search.board[..queens].copy_from_slice(&node.board[..queens]);
        search.run(request.style, queens, node.taken)?;
        Ok(search.rules.found)
    })?;
    Ok(Count::total(2 * found.into_iter().sum::<u64>()))
}

fn count_on(
    device: &mut dyn Device,
    request: &MethodRequest,
    watch: &mut Watch<'_>,
) -> Result<Count, StopSearch> {
    if request.n.get() == 1 {
        return mirror::one_queen(watch);
    }
    let layer = layer(request.n, LAYER, watch)?;
    let nodes: Vec<u32> = layer.iter().flat_map(|node| node.taken.words()).collect();
    let mut launches = Launches::new(device, NODE_LAYER);
    // Two and three queens have no node that has a queen in each row.
    if !layer.is_empty() {
        launches.submit(nodes, vec![request.n.get()], watch)?;
    }
    let [placed, solutions] = launches.finish(watch)?;
    watch.add_nodes(placed);
    Ok(Count::total(2 * solutions))
}

/// Queens that are placed breadth first. For 32 queens that gives six million nodes of 32 bytes.
const LAYER: usize = 5;

/// Queens in the first rows.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    taken: Taken,
    /// The queens, for the audience: one bit in each row.
    board: [u32; LAYER],
}

impl Node {
    /// The number of filled rows: each queen takes one column.
    fn queens(&self) -> usize {
        self.taken.down.count_ones() as usize
    }

    fn with(mut self, bit: u32) -> Self {
        self.board[self.queens()] = bit;
        self.taken = self.taken.after(bit);
        self
    }
}

/// The nodes with this number of queens, or all n on a smaller board.
fn layer(n: Size, depth: usize, watch: &mut Watch<'_>) -> Result<Vec<Node>, StopSearch> {
    let mut nodes = Vec::new();
    for start in mirror::starts(n) {
        for _ in &start {
            watch.count()?;
        }
        nodes.push(start.into_iter().fold(Node::default(), Node::with));
    }
    for queens in 1..depth.min(n.get() as usize) {
        let mut next = Vec::new();
        for node in nodes {
            // If the first queen is in the centre, the second is placed from the start.
            if node.queens() > queens {
                next.push(node);
                continue;
            }
            let mut free = node.taken.free(n.full_mask());
            while free != 0 {
                let bit = lowest_bit(free);
                free ^= bit;
                watch.count()?;
                next.push(node.with(bit));
            }
        }
        nodes = next;
    }
    Ok(nodes)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::watch::SearchControl;

    fn layer_size(n: u32, depth: usize) -> usize {
        let interrupt = AtomicBool::new(false);
        let control = SearchControl::new(None, &interrupt, None);
        let n = Size::new(n).unwrap();
        layer(n, depth, &mut Watch::new(&control)).unwrap().len()
    }

    #[test]
    fn layer_4_of_16_queens_has_as_many_nodes_as_the_original_says() {
        assert_eq!(layer_size(16, 4), 9844);
    }

    #[test]
    fn a_layer_beyond_the_last_row_is_half_of_the_solutions() {
        assert_eq!(layer_size(4, LAYER), 1);
        assert_eq!(layer_size(5, LAYER), 5);
    }
}
