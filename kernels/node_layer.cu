// The node-layer kernel's entry on a CUDA device: at least as many threads as nodes.

#include "node_layer.h"

extern "C" __global__ void __launch_bounds__(1024)
node_layer(const Taken *nodes, u32 node_count, const u32 *n, NodeLayerSums *sums,
           Progress *progress) {
    node_layer_thread(nodes, node_count, *n, sums, progress);
}
