// The colour kernel's entry on a CUDA device. QF_ROWS, the most rows that a colour has left, is given to
// the compiler.

#include "colour.h"

// Registers for as many blocks on a multiprocessor as its shared memory holds on the largest devices.
extern "C" __global__ void __launch_bounds__(QF_ROWS > 10u ? 256 : 128, QF_ROWS > 10u ? 2 : QF_ROWS > 8u ? 4 : 5)
colour(const ColourJob *jobs, u32 job_count, const u32 *sets, ColourSums *sums, Progress *progress) {
    extern __shared__ __align__(16) u32 memory[];
    typedef ColourBlock<QF_ROWS> Block;
    u32 *of_warps = memory + sizeof(Block) / sizeof(u32);
    colour_thread<QF_ROWS>(jobs, job_count, sets, sums, progress, *reinterpret_cast<Block *>(memory),
                           of_warps + threadIdx.x / QF_LANES * colour_warp_words(QF_ROWS), threadIdx.x,
                           blockDim.x);
}
