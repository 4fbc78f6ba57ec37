// The kernels' entries on the emulated device: the same logic as C++. Each host thread is a warp with
// one lane.

#include "bit_board.h"
#include "chain.h"
#include "join.h"
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
    run_chain<13>, run_chain<14>, run_chain<15>, run_chain<16>,
};

template <u32 Keys, u32 Leaf, u32 Build, u32 LookUp>
void run_join(const JoinJob *jobs, u32 job_count, const u32 *tables, PairsSum *sums, Progress *progress,
              u32 *scratch, u32 *shared, const Member &member) {
    join_thread<Keys, Leaf, Build, LookUp>(jobs, job_count, tables, sums, progress, scratch, shared, member);
}

typedef void (*Join)(const JoinJob *, u32, const u32 *, PairsSum *, Progress *, u32 *, u32 *,
                     const Member &);

/// Blocks of few keys split even the lists of small boards, down to leaves of few patterns.
Join join_of_keys(u32 keys) {
    switch (keys) {
    case 96:
        return run_join<96, 16, 64, 2>;
    case 1024:
        return run_join<1024, 512, 500, 2>;
    case 8192:
        return run_join<8192, 512, 12000, 64>;
    case 11776:
        return run_join<11776, 512, 12000, 64>;
    default:
        return run_join<16384, 512, 12000, 64>;
    }
}

} // namespace

// All entries have one signature, so that the caller needs one type: the number that the kernel is
// specialised for (0 for kernels without variants), jobs, number of jobs, tables, sums, progress. Where
// blocks count together, the memory follows that the jobs of a launch share, then that of the threads of a block, then
// the number of the thread, and the number of threads. The memory of a block begins with 64 bytes for their meetings, is
// aligned to 64 bytes, and zero at the start.

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

/// Runs one thread of a block of the join kernel. With room for more keys, fewer nodes are divided.
extern "C" void queenfold_emulated_join(u32 keys, const JoinJob *jobs, u32 job_count, const u32 *tables,
                                        PairsSum *sums, Progress *progress, u32 *scratch, char *memory,
                                        u32 thread, u32 threads) {
    const Member member = {thread, threads, thread,
                           threads, 0, reinterpret_cast<Meeting *>(memory)};
    join_of_keys(keys)(jobs, job_count, tables, sums, progress, scratch,
                       reinterpret_cast<u32 *>(memory + 64), member);
}

/// Bytes of shared memory that a block of the join kernel uses.
extern "C" u32 queenfold_emulated_join_memory(u32 keys) { return pairs_shared(keys); }
