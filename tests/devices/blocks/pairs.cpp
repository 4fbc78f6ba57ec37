// Counts the pairs of random lists by the pairs kernel, in blocks of several host threads, and by comparing
// all. Compiled with a sanitizer, it shows whether a thread reads what another one writes before both have
// met. Prints what differs, and fails.

#include "../../../kernels/pairs.h"

#include <cstdio>
#include <vector>

namespace {

u64 state = 1;

u32 random_word() {
    state = state * 6364136223846793005u + 99u;
    return static_cast<u32>(state >> 31);
}

/// Two lists of keys whose bits are set with a probability of 1/4 or 3/8, in buckets of their lowest two bits.
struct Lists {
    std::vector<u32> tables;
    std::vector<u32> keys[2];
};

Lists make(u32 first, u32 second, u32 bits) {
    Lists made;
    const u32 counts[2] = {first, second};
    const u32 window = bits < 32u ? (1u << bits) - 1u : ~0u;
    made.tables = {1, 0};
    u32 group[5] = {2, 0, 0, 0, 0};
    for (u32 side = 0; side < 2u; side++) {
        for (u32 at = 0; at < counts[side]; at++)
            made.keys[side].push_back(random_word() & (random_word() | (random_word() & 0xffffu)) & window);
        group[1u + 2u * side] = static_cast<u32>(made.tables.size());
        std::vector<u32> sorted;
        for (u32 bucket = 0; bucket < 4u; bucket++) {
            made.tables.push_back(static_cast<u32>(sorted.size()));
            for (u32 key : made.keys[side])
                if ((key & 3u) == bucket)
                    sorted.push_back(key);
        }
        made.tables.push_back(static_cast<u32>(sorted.size()));
        group[2u + 2u * side] = static_cast<u32>(made.tables.size());
        made.tables.insert(made.tables.end(), sorted.begin(), sorted.end());
    }
    made.tables[1] = static_cast<u32>(made.tables.size());
    made.tables.insert(made.tables.end(), group, group + 5);
    return made;
}

/// Counts all pairs in one job, several times so that threads meet in other orders.
template <u32 Keys, u32 Leaf, u32 Build, u32 LookUp>
bool agrees(u32 first, u32 second, u32 bits, u32 threads) {
    const Lists lists = make(first, second, bits);
    u64 expected = 0;
    for (u32 key : lists.keys[0])
        for (u32 other : lists.keys[1])
            expected += (key & other) == 0u;
    // All buckets as one run of four, as two runs of two, and as four of one.
    const PairsJob jobs[3] = {
        {0, 2u | 2u << 8, {{0, 0, 0, first}, {0, 0, 0, second}}},
        {0, 1u | 0u << 8, {{0, 2, 0, first}, {0, 3, 0, second}}},
        {0, 0u | 1u << 8, {{0, 3, 0, first}, {0, 2, 0, second}}},
    };
    PairsSum sum = {0, 0, 0};
    Progress progress = {0, 0};
    std::vector<RowPart> memory(pairs_shared(Keys) / sizeof(RowPart) + 1u);
    Meeting meeting = {0, 0};
    std::vector<std::thread> running;
    for (u32 thread = 0; thread < threads; thread++)
        running.emplace_back([&, thread] {
            const Member member = {thread, threads, thread, threads, 0, &meeting};
            pairs_thread<Keys, Leaf, Build, LookUp>(jobs, 3, lists.tables.data(), &sum, &progress,
                                                    reinterpret_cast<u32 *>(memory.data()), member);
        });
    for (std::thread &thread : running)
        thread.join();
    const u64 all = 3u * u64(first) * second;
    if (sum.found == 3u * expected && sum.tested + sum.discarded == all && progress.jobs_done == 3u)
        return true;
    std::printf("%u keys, %u and %u of %u bits, %u threads: %llu found of %llu, %llu tested and %llu "
                "discarded of %llu\n",
                Keys, first, second, bits, threads, static_cast<unsigned long long>(sum.found),
                static_cast<unsigned long long>(3u * expected),
                static_cast<unsigned long long>(sum.tested),
                static_cast<unsigned long long>(sum.discarded), static_cast<unsigned long long>(all));
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
