// The colour kernel's entry on a CUDA device. QF_COUNTERS, the counters of a block, is given to the compiler.

#include "colour.h"

// Threads of a block, at most, as in colour/program.rs.
#define QF_BLOCK (QF_COUNTERS > 8192u ? 512 : QF_COUNTERS > 4096u ? 256 : 160)

extern "C" __global__ void __launch_bounds__(QF_BLOCK)
colour(const ColourJob *jobs, u32 job_count, const u32 *sets, ColourSums *sums, Progress *progress) {
    extern __shared__ __align__(16) u32 memory[];
    typedef ColourBlock<QF_COUNTERS> Block;
    u32 *of_warps = memory + sizeof(Block) / sizeof(u32);
    colour_thread<QF_COUNTERS>(jobs, job_count, sets, sums, progress, *reinterpret_cast<Block *>(memory),
                               of_warps + threadIdx.x / QF_LANES * colour_warp_words(), threadIdx.x, blockDim.x);
}
