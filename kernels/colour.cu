// The colour kernel's entry on a CUDA device. QF_ROWS, the most rows that a colour has left, is given to
// the compiler.

#include "colour.h"

// Threads of a block, as in colour/program.rs, and as many blocks as the shared memory of a multiprocessor holds: the
// compiler leaves registers for them. That is 228 KiB here, 164 KiB on an A100 and 100 KiB or less elsewhere. What a
// program carries along is made for 7.5 and runs on all of them: it would lose more by fewer warps than by a few words
// that lie elsewhere.
#define QF_BLOCK (QF_ROWS > 10u ? 256 : QF_ROWS > 8u ? 96 : 64)
#if __CUDA_ARCH__ == 750 || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1200)
#define QF_BLOCKS (QF_ROWS > 10u ? 3 : QF_ROWS > 8u ? 8 : 11)
#elif __CUDA_ARCH__ == 800
#define QF_BLOCKS (QF_ROWS > 10u ? 2 : QF_ROWS > 8u ? 5 : 8)
#else
#define QF_BLOCKS (QF_ROWS > 10u ? 1 : QF_ROWS > 8u ? 3 : 5)
#endif

extern "C" __global__ void __launch_bounds__(QF_BLOCK, QF_BLOCKS)
colour(const ColourJob *jobs, u32 job_count, const u32 *sets, ColourSums *sums, Progress *progress) {
    extern __shared__ __align__(16) u32 memory[];
    typedef ColourBlock<QF_ROWS> Block;
    u32 *of_warps = memory + sizeof(Block) / sizeof(u32);
    colour_thread<QF_ROWS>(jobs, job_count, sets, sums, progress, *reinterpret_cast<Block *>(memory),
                           of_warps + threadIdx.x / QF_LANES * colour_warp_words(QF_ROWS), threadIdx.x,
                           blockDim.x);
}
