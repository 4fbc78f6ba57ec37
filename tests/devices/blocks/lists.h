// Random lists of keys as the pairs kernel reads them, and what it should count. Include the kernel before.

#pragma once

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
    /// Pairs that share no bit.
    u64 disjoint;
    /// All pairs three times: all buckets as one run of four, as two runs of two, and as four of one.
    PairsJob jobs[3];
};

Lists make(u32 first, u32 second, u32 bits) {
    Lists made;
    const u32 counts[2] = {first, second};
    const u32 window = bits < 32u ? (1u << bits) - 1u : ~0u;
    std::vector<u32> keys[2];
    made.tables = {1, 0};
    u32 group[5] = {2, 0, 0, 0, 0};
    for (u32 side = 0; side < 2u; side++) {
        for (u32 at = 0; at < counts[side]; at++)
            keys[side].push_back(random_word() & (random_word() | (random_word() & 0xffffu)) & window);
        group[1u + 2u * side] = static_cast<u32>(made.tables.size());
        std::vector<u32> sorted;
        for (u32 bucket = 0; bucket < 4u; bucket++) {
            made.tables.push_back(static_cast<u32>(sorted.size()));
            for (u32 key : keys[side])
                if ((key & 3u) == bucket)
                    sorted.push_back(key);
        }
        made.tables.push_back(static_cast<u32>(sorted.size()));
        group[2u + 2u * side] = static_cast<u32>(made.tables.size());
        made.tables.insert(made.tables.end(), sorted.begin(), sorted.end());
    }
    made.tables[1] = static_cast<u32>(made.tables.size());
    made.tables.insert(made.tables.end(), group, group + 5);
    made.disjoint = 0;
    for (u32 key : keys[0])
        for (u32 other : keys[1])
            made.disjoint += (key & other) == 0u;
    made.jobs[0] = {0, 2u | 2u << 8, {{0, 0, 0, first}, {0, 0, 0, second}}};
    made.jobs[1] = {0, 1u | 0u << 8, {{0, 2, 0, first}, {0, 3, 0, second}}};
    made.jobs[2] = {0, 0u | 1u << 8, {{0, 3, 0, first}, {0, 2, 0, second}}};
    return made;
}

/// Whether the three jobs of lists of so many keys gave what they should. Says so if not.
bool is_right(const Lists &lists, u32 first, u32 second, const PairsSum &sum,
              const Progress &progress) {
    const u64 all = 3u * u64(first) * second, found = 3u * lists.disjoint;
    if (sum.found == found && sum.tested + sum.discarded == all && progress.jobs_done == 3u)
        return true;
    std::printf("%u and %u keys: %llu found of %llu, %llu tested and %llu discarded of %llu\n", first,
                second, static_cast<unsigned long long>(sum.found),
                static_cast<unsigned long long>(found), static_cast<unsigned long long>(sum.tested),
                static_cast<unsigned long long>(sum.discarded),
                static_cast<unsigned long long>(all));
    return false;
}

} // namespace
