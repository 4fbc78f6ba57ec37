// The kernels' entries on the emulated device: the same logic as C++. Each host thread is a warp with
// one lane.

#include "bit_board.h"
#include "chain.h"
#include "colour.h"
#include "node_layer.h"

namespace {

template <u32 Depth>
void run_chain(const ChainJob *jobs, u32 job_count, const u32 *group_rows, ChainSum *sums,
               Progress *progress) {
    // The stack follows the row words. With 32 lanes these are a multiple of 128 bytes; with one lane
    // the memory must begin a few bytes late, so that the stack is aligned.
    constexpr u32 align = alignof(ChainNode), words = (Depth + 1u) * QF_WORD_STRIDE;
    constexpr u32 before = (align - words % align) % align;
    static_assert(QF_NODE_STRIDE % align == 0 && sizeof(ChainNode) == QF_NODE_STRIDE,
                  "an entry of the stack is a node, and aligned like one");
    alignas(ChainNode) char memory[before + chain_shared(Depth)];
    chain_thread<Depth>(jobs, job_count, group_rows, sums, progress,
                        reinterpret_cast<Place>(memory + before), 0);
}

typedef void (*Chain)(const ChainJob *, u32, const u32 *, ChainSum *, Progress *);

const Chain chain_of_depth[] = {
    run_chain<3>,  run_chain<4>,  run_chain<5>,  run_chain<6>,  run_chain<7>,
    run_chain<8>,  run_chain<9>,  run_chain<10>, run_chain<11>, run_chain<12>,
    run_chain<13>, run_chain<14>, run_chain<15>,
};

} // namespace

// All entries have one signature, so that the caller needs one type: the number that the kernel is
// specialised for (unused where one form does for all), jobs, number of jobs, tables, sums, progress.

/// Runs one thread of the chain kernel. `depth` is 3 to 15.
extern "C" void queenfold_emulated_chain(u32 depth, const ChainJob *jobs, u32 job_count,
                                         const u32 *group_rows, ChainSum *sums,
                                         Progress *progress) {
    chain_of_depth[depth - 3](jobs, job_count, group_rows, sums, progress);
}

/// Runs one block of the colour kernel, with the counters of the largest board.
extern "C" void queenfold_emulated_colour(u32, const ColourJob *jobs, u32 job_count, const u32 *sets,
                                          ColourSums *sums, Progress *progress) {
    ColourBlock<8192u> block;
    u32 memory[colour_warp_words()];
    colour_thread<8192u>(jobs, job_count, sets, sums, progress, block, memory, 0, 1);
}

/// Runs threads of the bit-board kernel, one after the other, until no node is left to take.
extern "C" void queenfold_emulated_bit_board(u32, const u32 *nodes, u32 node_count,
                                             const BitBoardStart *start, BitBoardSums *sums,
                                             Progress *progress) {
    while (number_in(&progress->next_job) < node_count)
        bit_board_thread(nodes, node_count, *start, sums, progress);
}

/// Runs threads of the node-layer kernel, one after the other, until no node is left to take.
extern "C" void queenfold_emulated_node_layer(u32, const Taken *nodes, u32 node_count, const u32 *n,
                                              NodeLayerSums *sums, Progress *progress) {
    while (number_in(&progress->next_job) < node_count)
        node_layer_thread(nodes, node_count, *n, sums, progress);
}
