// The chain kernel's entry on a CUDA device. QF_DEPTH is given to the compiler.

#include "chain.h"

extern "C" __global__ void __launch_bounds__(256)
chain(const ChainJob *jobs, u32 job_count, const u32 *group_rows, ChainSum *sums,
      Progress *progress) {
    extern __shared__ __align__(16) char memory[];
    const u32 warp = threadIdx.x / QF_LANES, lane = threadIdx.x % QF_LANES;
    const Place shared = static_cast<Place>(__cvta_generic_to_shared(memory));
    chain_thread<QF_DEPTH>(jobs, job_count, group_rows, sums, progress,
                           shared + warp * chain_shared(QF_DEPTH), lane);
}
