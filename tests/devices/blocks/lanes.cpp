// Runs the kernels' code for warps of 32 lanes on the host: the helpers against what arrays of 32 values say, and
// the join kernel in blocks of one warp to four against comparing all pairs. Prints what differs, and fails.

#include "lanes.h"

#include "../../../kernels/join.h"

#include "lists.h"

namespace {

bool right = true;

void check(bool holds, const char *what) {
    if (!holds && right)
        std::printf("%s\n", what);
    right = right && holds;
}

/// The helpers, on random values of 32 lanes.
void helpers(bool downwards) {
    u32 values[32], sum = 0, bits = 0, odd = 0, sums_below[32];
    for (u32 lane = 0; lane < 32u; lane++) {
        values[lane] = random_word();
        sums_below[lane] = sum;
        sum += values[lane];
        bits |= values[lane];
        odd |= (values[lane] & 1u) << lane;
    }
    lanes::run(32, downwards, [&](u32 lane) {
        const u32 x = values[lane];
        check(warp_sum(x) == sum, "warp_sum");
        check(warp_union(x) == bits, "warp_union");
        check(votes(x & 1u) == odd, "votes");
        check(everywhere(x != 7u) && !everywhere(lane != 9u), "everywhere");
        check(of_first_lane(x) == values[0], "of_first_lane");
        for (u32 by = 1; by < 32u; by++)
            check(of_lane_below(x, lane, by) == (lane < by ? 0u : values[lane - by]), "of_lane_below");
        check(sum_below(x, lane) == sums_below[lane], "sum_below");
    });
    const u32 x = values[0], by = values[1] % 31u + 1u;
    check(up(x, by) == x << by && down(x, by) == x >> by, "up and down");
    check(bits_below(x) == 32u - u32(__builtin_clz(x)) && bits_below(0) == 0u, "bits_below");
    u32 turned = 0;
    for (u32 bit = 0; bit < 32u; bit++)
        turned |= (x >> bit & 1u) << (31u - bit);
    check(reversed(x) == turned, "reversed");
    check(lowest_bit(x) == u32(__builtin_ctz(x)) && lowest_bit(0) == 0u, "lowest_bit");
}

/// The rows of bits of up to 32 patterns.
void rows(u32 count, u32 shift, bool downwards) {
    u32 patterns[32], made[(QF_WINDOW + 1u) * QF_ROW_WORDS] = {};
    for (u32 at = 0; at < 32u; at++)
        patterns[at] = random_word();
    lanes::run(32, downwards, [&](u32 lane) { lacking(patterns, count, shift, made, lane); });
    for (u32 bit = 0; bit <= QF_WINDOW; bit++) {
        u32 row = 0;
        for (u32 at = 0; at < count; at++)
            row |= u32(bit == QF_PRESENT || !(patterns[at] >> shift >> bit & 1u)) << at;
        check(made[bit * QF_ROW_WORDS] == row, "lacking");
    }
}

/// Makes the lists and counts their pairs.
template <u32 Keys, u32 Leaf, u32 Build, u32 LookUp>
void join(const Lists &lists, u32 threads, bool downwards) {
    PairsSum sum = {};
    Progress progress = {0, 0};
    std::vector<u32> scratch(lists.scratch);
    std::vector<RowPart> memory(pairs_shared(Keys) / sizeof(RowPart) + 1u);
    lanes::run(threads, downwards, [&](u32 thread) {
        const Member member = {thread, threads, thread / 32u, threads / 32u, thread % 32u};
        join_thread<Keys, Leaf, Build, LookUp>(lists.jobs.data(), static_cast<u32>(lists.jobs.size()),
                                               lists.tables.data(), &sum, &progress, scratch.data(),
                                               reinterpret_cast<u32 *>(memory.data()), member);
    });
    if (!is_right(lists, sum, progress))
        check(false, "join");
}

} // namespace

int main() {
    for (bool downwards : {false, true}) {
        for (u32 turn = 0; turn < 20u; turn++)
            helpers(downwards);
        for (u32 count = 0; count <= 32u; count++)
            rows(count, count % 5u, downwards);
        for (u32 threads : {32u, 64u, 128u})
            for (u32 bits : {6u, 20u, 28u, 32u})
                for (u32 sorted : {0u, 4u}) {
                    join<96, 16, 64, 2>(make(60, 50, bits, sorted, 0), threads, downwards);
                    join<96, 16, 64, 2>(make(200, 94, bits, sorted, 3), threads, downwards);
                    join<1024, 512, 500, 2>(make(600, 700, bits, sorted, 2), threads, downwards);
                    join<1024, 512, 500, 2>(make(40, 1000, bits, sorted, 0), threads, downwards);
                    join<8192, 512, 12000, 64>(make(1500, 2600, bits, sorted, 1), threads, downwards);
                    join<8192, 512, 12000, 64>(make(0, 10, bits, sorted, 0), threads, downwards);
                }
    }
    return right ? 0 : 1;
}
