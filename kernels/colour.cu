// The colour kernel's entry on a CUDA device. QF_COUNTERS, the counters of a block, is given to the compiler.

#include "colour.h"

// Threads of a block, as in colour/program.rs, and as many blocks as the shared memory of a multiprocessor holds where that
// is most, 228 KiB: the compiler leaves registers for them. In 64 registers it has to keep some words elsewhere for devices
// older than that, which run fewer blocks and have 80. What a program carries along is made for 7.5 and runs on all.
#define QF_BLOCK (QF_COUNTERS > 4096u ? 256 : 96)
#if __CUDA_ARCH__ == 750 || __CUDA_ARCH__ >= 900
#define QF_BLOCKS (QF_COUNTERS > 4096u ? 4 : 9)
#else
#define QF_BLOCKS (QF_COUNTERS > 4096u ? 3 : 9)
#endif

extern "C" __global__ void __launch_bounds__(QF_BLOCK, QF_BLOCKS)
colour(const ColourJob *jobs, u32 job_count, const u32 *sets, ColourSums *sums, Progress *progress) {
    extern __shared__ __align__(16) u32 memory[];
    typedef ColourBlock<QF_COUNTERS> Block;
    u32 *of_warps = memory + sizeof(Block) / sizeof(u32);
    colour_thread<QF_COUNTERS>(jobs, job_count, sets, sums, progress, *reinterpret_cast<Block *>(memory),
                               of_warps + threadIdx.x / QF_LANES * colour_warp_words(), threadIdx.x, blockDim.x);
}
