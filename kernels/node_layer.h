// The node-layer kernel: a thread of its own searches each node of a layer. It counts all solutions
// below the nodes.

#pragma once

#include "rows.h"

/// What the nodes of a launch gave together.
struct NodeLayerSums {
    u64 nodes, solutions;
};

/// Counts solutions and rules nothing out.
struct CountAll {
    u64 solutions;
};

QF_INLINE u32 allowed(const CountAll &, u32, Taken, u32 free) { return free; }
QF_INLINE void placed(CountAll &, u32, u32) {}
QF_INLINE void filled(CountAll &rules) { rules.solutions++; }

/// Runs one thread: one node, if there is one left. A node whose rows are all filled is a solution.
QF_INLINE void node_layer_thread(const Taken *nodes, u32 node_count, u32 n, NodeLayerSums *sums,
                                 Progress *progress) {
    const u32 number = take_number(&progress->next_job);
    if (number >= node_count)
        return;
    const Taken node = nodes[number];
    CountAll rules = {0};
    u64 placed = 0;
    // Each queen takes a column, so the number of columns taken is the number of rows filled.
    if (!search(n, bits_of(node.down), node, rules, progress, placed))
        return;
    add_to(&sums->solutions, rules.solutions);
    add_to(&sums->nodes, placed);
    add_to(&progress->jobs_done, 1u);
}
