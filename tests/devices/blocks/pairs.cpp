// Counts the pairs of random lists by the pairs kernel, in blocks of several host threads, and by comparing
// all. Compiled with a sanitizer, it shows whether a thread reads what another one writes before both have
// met. Prints what differs, and fails.

#include "../../../kernels/pairs.h"

#include "lists.h"

namespace {

/// Counts all pairs in three jobs.
template <u32 Keys, u32 Leaf, u32 Build, u32 LookUp>
bool agrees(u32 first, u32 second, u32 bits, u32 threads) {
    const Lists lists = make(first, second, bits);
    PairsSum sum = {0, 0, 0};
    Progress progress = {0, 0};
    std::vector<RowPart> memory(pairs_shared(Keys) / sizeof(RowPart) + 1u);
    Meeting meeting = {0, 0};
    std::vector<std::thread> running;
    for (u32 thread = 0; thread < threads; thread++)
        running.emplace_back([&, thread] {
            const Member member = {thread, threads, thread, threads, 0, &meeting};
            pairs_thread<Keys, Leaf, Build, LookUp>(lists.jobs, 3, lists.tables.data(), &sum,
                                                    &progress,
                                                    reinterpret_cast<u32 *>(memory.data()), member);
        });
    for (std::thread &thread : running)
        thread.join();
    if (is_right(lists, first, second, sum, progress))
        return true;
    std::printf("in blocks of %u keys and %u threads\n", Keys, threads);
    return false;
}

} // namespace

int main() {
    bool right = true;
    for (u32 threads = 1; threads <= 4u; threads++)
        for (u32 bits : {6u, 20u, 28u, 32u}) {
            right &= agrees<96, 16, 64, 2>(50, 46, bits, threads);
            right &= agrees<96, 16, 64, 2>(2, 94, bits, threads);
            right &= agrees<96, 16, 64, 2>(17, 17, bits, threads);
            right &= agrees<1024, 512, 500, 2>(500, 524, bits, threads);
            right &= agrees<1024, 512, 500, 2>(33, 991, bits, threads);
            right &= agrees<8192, 512, 12000, 64>(3000, 5192, bits, threads);
            right &= agrees<8192, 512, 12000, 64>(0, 10, bits, threads);
        }
    return right ? 0 : 1;
}
