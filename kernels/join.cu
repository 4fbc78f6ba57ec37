// The join kernel's entry on a CUDA device. QF_KEYS, the number of keys that a block has room for, is
// given to the compiler.

#include "join.h"

extern "C" __global__ void __launch_bounds__(512, 1)
join(const JoinJob *jobs, u32 job_count, const u32 *tables, PairsSum *sums, Progress *progress, u32 *scratch) {
    extern __shared__ __align__(16) u32 shared[];
    const Member member = {threadIdx.x, blockDim.x, threadIdx.x / QF_LANES, blockDim.x / QF_LANES,
                           threadIdx.x % QF_LANES};
    join_thread<QF_KEYS, 512, 12000, 64>(jobs, job_count, tables, sums, progress, scratch, shared, member);
}
