// The colour kernel's entry on a CUDA device. QF_COUNTERS, the counters of a block, is given to the compiler.

#include "colour.h"

// Threads of a block, at most, as in colour/program.rs, and blocks for which the compiler leaves registers: as many threads
// as run on a multiprocessor with 228 KiB of shared memory, 164 KiB (A100) and 100 KiB. Devices of 12.0 have 100 KiB, and
// need no more registers than the first ones. What a program carries along is made for 7.5 and runs on all of them: it
// would lose more by fewer warps than by a few words that lie elsewhere.
#define QF_BLOCK (QF_COUNTERS > 4096u ? 256 : 160)
#if __CUDA_ARCH__ == 750 || __CUDA_ARCH__ >= 900
#define QF_BLOCKS (QF_COUNTERS > 4096u ? 4 : 6)
#elif __CUDA_ARCH__ == 800
#define QF_BLOCKS (QF_COUNTERS > 4096u ? 3 : 5)
#else
#define QF_BLOCKS (QF_COUNTERS > 4096u ? 2 : 3)
#endif

extern "C" __global__ void __launch_bounds__(QF_BLOCK, QF_BLOCKS)
colour(const ColourJob *jobs, u32 job_count, const u32 *sets, ColourSums *sums, Progress *progress) {
    extern __shared__ __align__(16) u32 memory[];
    typedef ColourBlock<QF_COUNTERS> Block;
    u32 *of_warps = memory + sizeof(Block) / sizeof(u32);
    colour_thread<QF_COUNTERS>(jobs, job_count, sets, sums, progress, *reinterpret_cast<Block *>(memory),
                               of_warps + threadIdx.x / QF_LANES * colour_warp_words(), threadIdx.x, blockDim.x);
}
