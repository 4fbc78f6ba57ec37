#![doc = include_str!("text/node-layer.md")]

use super::bitmap::{Search, SolutionCount, Taken, lowest_bit};
use super::device::Launches;
use super::programs::NODE_LAYER;
use super::spread::spread;
use super::{
    About, Count, Images, Method, MethodRequest, MethodSettings, StopSearch, Style, Watch, mirror,
};
use queenfold_engines::engine::Device;

/// Breadth first to a layer, then each node separately.
pub struct NodeLayer;

impl Method for NodeLayer {
    fn about(&self) -> &'static About {
        &About {
            name: "node-layer",
            idea: "breadth first to layer k, then each node on its own",
            text: include_str!("text/node-layer.md"),
            styles: &[
                Style::Recursive,
                Style::Iterative,
                Style::Gpu,
                Style::Emulated,
            ],
            unique: false,
            reach: 12,
            lines: None,
            steps: false,
        }
    }

    fn refusal(&self, request: &MethodRequest) -> Option<String> {
        if request.n.get() == 1 {
            return None;
        }
        let mut counts = [0; DEEPEST + 1];
        let mut starts = mirror::starts(request.n).into_iter();
        let fits = starts.all(|start| {
            let node = start.into_iter().fold(EMPTY, Node::with);
            fits(node, request, &mut counts)
        });
        (!fits).then(|| too_wide(request))
    }

    fn count(&self, request: &MethodRequest, watch: &mut Watch<'_>) -> Result<Count, StopSearch> {
        if request.n.get() == 1 {
            return one_queen(watch);
        }
        let layer = layer(request, watch)?;
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
        &self,
        device: &mut dyn Device,
        request: &MethodRequest,
        watch: &mut Watch<'_>,
    ) -> Result<Count, StopSearch> {
        if request.n.get() == 1 {
            return one_queen(watch);
        }
        let layer = layer(request, watch)?;
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
}

/// The single queen, which is its own mirror image.
fn one_queen(watch: &mut Watch<'_>) -> Result<Count, StopSearch> {
    watch.count()?;
    watch.solution(&[1_u32], Images::Itself)?;
    Ok(Count::total(1))
}

/// The largest number of queens that are placed breadth first.
const DEEPEST: usize = *MethodSettings::LAYER.end() as usize;

/// The largest number of nodes in a layer: at 44 bytes each, 370 MB.
const MOST_NODES: usize = 1 << 23;

/// Queens in the first rows.
#[derive(Clone, Copy, Debug)]
struct Node {
    taken: Taken,
    /// The queens, for the audience: one bit in each row.
    board: [u32; DEEPEST],
}

const EMPTY: Node = Node {
    taken: Taken {
        left: 0,
        down: 0,
        right: 0,
    },
    board: [0; DEEPEST],
};

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

/// How many queens the nodes of the layer have: as many as it asks for, or all n on a smaller board.
fn depth(request: &MethodRequest) -> usize {
    request.settings.layer.min(request.n.get()) as usize
}

fn too_wide(request: &MethodRequest) -> String {
    format!(
        "layer {} of n = {} has more than {MOST_NODES} nodes; choose a smaller --layer",
        depth(request),
        request.n
    )
}

/// Whether no layer down to that of the request has too many nodes. `counts`: the nodes that were seen, by their queens.
fn fits(node: Node, request: &MethodRequest, counts: &mut [usize; DEEPEST + 1]) -> bool {
    let count = &mut counts[node.queens()];
    *count += 1;
    if *count > MOST_NODES {
        return false;
    }
    if node.queens() >= depth(request) {
        return true;
    }
    let mut free = node.taken.free(request.n.full_mask());
    while free != 0 {
        let bit = lowest_bit(free);
        free ^= bit;
        if !fits(node.with(bit), request, counts) {
            return false;
        }
    }
    true
}

/// The nodes with as many queens as the layer asks for, or all n on a smaller board.
fn layer(request: &MethodRequest, watch: &mut Watch<'_>) -> Result<Vec<Node>, StopSearch> {
    let mut nodes = Vec::new();
    for start in mirror::starts(request.n) {
        for _ in &start {
            watch.count()?;
        }
        nodes.push(start.into_iter().fold(EMPTY, Node::with));
    }
    for queens in 1..depth(request) {
        let mut next = Vec::new();
        for node in nodes {
            // If the first queen is in the centre, the second is placed from the start.
            if node.queens() > queens {
                next.push(node);
                continue;
            }
            let mut free = node.taken.free(request.n.full_mask());
            while free != 0 {
                let bit = lowest_bit(free);
                free ^= bit;
                watch.count()?;
                next.push(node.with(bit));
            }
            if next.len() > MOST_NODES {
                return Err(watch.refuse_to_run(too_wide(request)));
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
    use queenfold_engines::board::Size;

    fn request(n: u32, layer: u32) -> MethodRequest {
        MethodRequest {
            n: Size::new(n).unwrap(),
            style: Style::Recursive,
            settings: MethodSettings {
                layer,
                ..MethodSettings::default()
            },
        }
    }

    fn layer_size(n: u32, layer: u32) -> Result<usize, StopSearch> {
        let request = request(n, layer);
        let interrupt = AtomicBool::new(false);
        let control = SearchControl::new(None, &interrupt, None);
        super::layer(&request, &mut Watch::new(&control)).map(|nodes| nodes.len())
    }

    #[test]
    fn layer_4_of_16_queens_has_as_many_nodes_as_the_original_says() {
        assert_eq!(layer_size(16, 4), Ok(9844));
    }

    #[test]
    fn a_layer_beyond_the_last_row_is_half_of_the_solutions() {
        assert_eq!(layer_size(6, 8), Ok(2));
        assert_eq!(layer_size(7, 8), Ok(20));
    }

    #[test]
    fn a_layer_too_wide_for_memory_is_refused() {
        assert_eq!(layer_size(32, 8), Err(StopSearch));
        // Without a count, too, and nothing else is.
        for (n, layer) in [(32, 8), (16, 8), (16, 6), (8, 8), (1, 8), (32, 4)] {
            let refused = NodeLayer.refusal(&request(n, layer));
            assert_eq!(
                refused.is_some(),
                layer_size(n, layer).is_err(),
                "{n} {layer}"
            );
        }
    }
}
