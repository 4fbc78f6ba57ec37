// The kernels' entries on the emulated device: the same logic as C++. Each host thread is a warp with
// one lane.

#include "bit_board.h"
#include "chain.h"
#include "node_layer.h"
#include "pairs.h"

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
    run_chain<13>, run_chain<14>, run_chain<15>, run_chain<16>,
};

template <u32 Keys, u32 Leaf, u32 Build, u32 LookUp>
void run_pairs(const PairsJob *jobs, u32 job_count, const u32 *tables, PairsSum *sums,
               Progress *progress, u32 *shared, const Member &member) {
    pairs_thread<Keys, Leaf, Build, LookUp>(jobs, job_count, tables, sums, progress, shared, member);
}

typedef void (*Pairs)(const PairsJob *, u32, const u32 *, PairsSum *, Progress *, u32 *,
                      const Member &);

/// Blocks of few keys split even the lists of small boards, down to leaves of few patterns.
Pairs pairs_of_keys(u32 keys) {
    switch (keys) {
    case 96:
        return run_pairs<96, 16, 64, 2>;
    case 1024:
        return run_pairs<1024, 512, 500, 2>;
    default:
        return run_pairs<16384, 512, 12000, 64>;
    }
}

} // namespace

// All entries have one signature, so that the caller needs one type: the number that the kernel is
// specialised for (0 for kernels without variants), jobs, number of jobs, tables, sums, progress. Where
// blocks count together, the memory that the threads of a block share follows, then the number of the
// thread, and the number of threads. That memory begins with 64 bytes for their meetings, is aligned to
// 64 bytes, and zero at the start.

/// Runs one thread of the chain kernel. `depth` is 3 to 16.
extern "C" void queenfold_emulated_chain(u32 depth, const ChainJob *jobs, u32 job_count,
                                         const u32 *group_rows, ChainSum *sums,
                                         Progress *progress) {
    chain_of_depth[depth - 3](jobs, job_count, group_rows, sums, progress);
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

/// Runs one thread of a block of the pairs kernel. The variants for real devices differ in nothing but the
/// number of keys, which the launch has been checked against.
extern "C" void queenfold_emulated_pairs(u32 keys, const PairsJob *jobs, u32 job_count,
                                         const u32 *tables, PairsSum *sums, Progress *progress,
                                         char *memory, u32 thread, u32 threads) {
    const Member member = {thread, threads, thread,
                           threads, 0, reinterpret_cast<Meeting *>(memory)};
    pairs_of_keys(keys)(jobs, job_count, tables, sums, progress,
                        reinterpret_cast<u32 *>(memory + 64), member);
}

/// Bytes of shared memory that a block of the pairs kernel uses.
extern "C" u32 queenfold_emulated_pairs_memory(u32 keys) { return pairs_shared(keys); }
