// Makes lists of random boards and counts their pairs by the join kernel, in blocks of several host threads, two blocks at
// a time, and by comparing all. Compiled with a sanitizer, it shows whether a thread reads what another one writes before
// both have met, or before the job that writes it is done. Prints what differs, and fails.

#include "../../../kernels/join.h"

#include "lists.h"

namespace {

template <u32 Keys, u32 Leaf, u32 Build, u32 LookUp>
bool agrees(const Lists &lists, u32 blocks, u32 threads) {
    PairsSum sum = {};
    Progress progress = {0, 0};
    std::vector<u32> scratch(lists.scratch);
    std::vector<std::vector<RowPart>> memories(blocks, std::vector<RowPart>(pairs_shared(Keys) / sizeof(RowPart) + 1u));
    std::vector<Meeting> meetings(blocks, Meeting{0, 0});
    std::vector<std::thread> running;
    for (u32 number = 0; number < blocks * threads; number++)
        running.emplace_back([&, number] {
            const u32 block = number / threads, thread = number % threads;
            const Member member = {thread, threads, thread, threads, 0, &meetings[block]};
            join_thread<Keys, Leaf, Build, LookUp>(lists.jobs.data(), static_cast<u32>(lists.jobs.size()),
                                                   lists.tables.data(), &sum, &progress, scratch.data(),
                                                   reinterpret_cast<u32 *>(memories[block].data()), member);
        });
    for (std::thread &thread : running)
        thread.join();
    if (is_right(lists, sum, progress))
        return true;
    std::printf("in %u blocks of %u keys and %u threads\n", blocks, Keys, threads);
    return false;
}

} // namespace

int main() {
    bool right = true;
    for (u32 blocks = 1; blocks <= 2u; blocks++)
        for (u32 threads = 1; threads <= 3u; threads++)
            for (u32 bits : {6u, 20u, 32u})
                for (u32 sorted : {0u, 4u}) {
                    right &= agrees<96, 16, 64, 2>(make(60, 50, bits, sorted, 0), blocks, threads);
                    right &= agrees<96, 16, 64, 2>(make(500, 300, bits, sorted, 3), blocks, threads);
                    right &= agrees<1024, 512, 500, 2>(make(600, 1100, bits, sorted, 2), blocks, threads);
                    right &= agrees<1024, 512, 500, 2>(make(40, 1000, bits, sorted, 0), blocks, threads);
                    right &= agrees<8192, 512, 12000, 64>(make(3000, 4400, bits, sorted, 1), blocks, threads);
                    right &= agrees<8192, 512, 12000, 64>(make(0, 10, bits, sorted, 0), blocks, threads);
                }
    return right ? 0 : 1;
}
