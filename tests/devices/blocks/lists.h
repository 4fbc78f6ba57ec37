// Random boards of quadrants as the join kernel reads them, and what it should count. Include the kernel before.

#pragma once

#include <cstdio>
#include <vector>

namespace {

u64 state = 1;

u32 random_word() {
    state = state * 6364136223846793005u + 99u;
    return static_cast<u32>(state >> 31);
}

/// Two lists, whose keys are crossed from boards with random lines and keys.
struct Lists {
    std::vector<JoinJob> jobs;
    std::vector<u32> tables;
    /// Words of scratch memory.
    u32 scratch;
    /// What the kernel should find.
    u64 keys[2], disjoint;
    /// Pairs of boards.
    u64 crossed[2];
    /// How often the pairs are counted.
    u64 times;
};

/// Lists of about so many keys, whose low parts have so many bits, sorted by `sorted` bits of their high parts and
/// `more` bits of the low ones. Their pairs are counted by one job, and again by four.
Lists make(u32 first, u32 second, u32 bits, u32 sorted, u32 more) {
    Lists made;
    const u32 counts[2] = {first, second}, depth = sorted + more < 2u ? 0u : 2u;
    const u32 window = bits < 32u ? (1u << bits) - 1u : ~0u;
    const u32 attacked[2] = {1u << 5, sorted == 0 ? 0u : 1u << 3};
    std::vector<u64> keys[2];
    made.tables = {1, 0};
    PairsGroup group = {sorted + more, sorted, sorted == 0 ? 0u : 1u, {}};
    for (u32 side = 0; side < 2u; side++) {
        CrossList &list = group.lists[side];
        // Five runs, one of which is empty. With one bit of four in the lines, 94 % of boards meet.
        list.run_count = 5;
        list.runs = static_cast<u32>(made.tables.size());
        made.tables.resize(made.tables.size() + 20u);
        u32 lefts = 0, rights = 0;
        for (u32 run = 0; run < 5u; run++) {
            const u32 own = run == 2u ? 0u : 1u + run, others = counts[side] / (4u + 4u * run);
            const u32 words[4] = {lefts, rights, lefts + own, rights + others};
            for (u32 at = 0; at < 4u; at++)
                made.tables[list.runs + 4u * run + at] = words[at];
            lefts += own;
            rights += others;
        }
        list.counts[0] = lefts;
        list.counts[1] = rights;
        list.attacked[0] = attacked[0];
        list.attacked[1] = attacked[1];
        for (u32 quadrant = 0; quadrant < 2u; quadrant++) {
            list.boards[quadrant] = static_cast<u32>(made.tables.size());
            const u32 count = list.counts[quadrant];
            for (u32 at = 0; at < count; at++)
                made.tables.push_back(1u << random_word() % 16u);
            for (u32 at = 0; at < count; at++) {
                const u32 key = random_word() & (random_word() | (random_word() & 0xffffu)) & window;
                made.tables.push_back(key & (random_word() | ~attacked[0]));
            }
            for (u32 at = 0; at < count && group.high != 0u; at++)
                made.tables.push_back(random_word() & random_word());
        }
        // The first job has two runs, the second none, the third the others.
        list.jobs = 3;
        const u32 shares[4] = {0, 2, 2, 5};
        for (u32 job = 0; job < 3u; job++)
            made.jobs.push_back({0, u32(QF_COUNT) | side << 8, shares[job], shares[job + 1u] - shares[job]});
        made.crossed[side] = 0;
        for (u32 run = 0; run < 5u; run++) {
            const u32 *words = &made.tables[list.runs + 4u * run];
            made.crossed[side] += u64(words[2] - words[0]) * (words[3] - words[1]);
            for (u32 left = words[0]; left < words[2]; left++)
                for (u32 right = words[1]; right < words[3]; right++) {
                    const u32 *one = &made.tables[list.boards[0] + left], *other = &made.tables[list.boards[1] + right];
                    const u32 low = one[list.counts[0]] | other[list.counts[1]];
                    const u32 high = group.high == 0u ? 0u : one[2u * list.counts[0]] | other[2u * list.counts[1]];
                    if ((*one & *other) != 0u || (low & attacked[0]) != 0u || (high & attacked[1]) != 0u)
                        continue;
                    const u32 top = sorted == 0 ? 0u : high >> (32u - sorted);
                    keys[side].push_back(u64(top) << 32 | low);
                }
        }
        made.keys[side] = keys[side].size();
    }
    for (u32 at = 0; at < 6u; at++)
        made.jobs.push_back({0, u32(QF_WRITE) | made.jobs[at].what, made.jobs[at].first, made.jobs[at].second});
    made.jobs.push_back({0, QF_PAIRS, 0, 0});
    const u32 last = sorted + more - depth;
    for (u32 with = 0; with < 1u << depth; with++)
        made.jobs.push_back({0, u32(QF_PAIRS) | depth << 8, depth == 0 ? 0u : 1u << last, with << last});
    made.times = 2;
    // States and numbers first, which begin at zero, then offsets and keys.
    u32 words = 0;
    for (CrossList &list : group.lists) {
        list.state = words;
        list.numbers = words + 3u;
        words += 3u + (1u << group.bits);
    }
    for (u32 side = 0; side < 2u; side++) {
        group.lists[side].offsets = words;
        group.lists[side].keys = words + (1u << group.bits) + 1u;
        words += (1u << group.bits) + 1u + static_cast<u32>(made.crossed[side]);
    }
    made.scratch = words;
    made.tables[1] = static_cast<u32>(made.tables.size());
    const u32 *from = reinterpret_cast<const u32 *>(&group);
    made.tables.insert(made.tables.end(), from, from + sizeof(group) / 4u);
    made.disjoint = 0;
    for (u64 key : keys[0])
        for (u64 other : keys[1])
            made.disjoint += (key & other) == 0u;
    return made;
}

/// Whether the jobs of lists gave what they should. Says so if not.
bool is_right(const Lists &lists, const PairsSum &sum, const Progress &progress) {
    const u64 all = lists.times * lists.keys[0] * lists.keys[1], found = lists.times * lists.disjoint;
    bool right = sum.found == found && sum.tested + sum.discarded == all && progress.jobs_done == lists.jobs.size();
    for (u32 side = 0; side < 2u; side++)
        right = right && sum.crossed[side] == 2u * lists.crossed[side] && sum.counted[side] == lists.keys[side] &&
                sum.written[side] == lists.keys[side];
    if (right)
        return true;
    const auto number = [](u64 x) { return static_cast<unsigned long long>(x); };
    std::printf("%llu and %llu keys: %llu found of %llu, %llu tested and %llu discarded of %llu; counted %llu and %llu, "
                "wrote %llu and %llu\n",
                number(lists.keys[0]), number(lists.keys[1]), number(sum.found), number(found), number(sum.tested),
                number(sum.discarded), number(all), number(sum.counted[0]), number(sum.counted[1]),
                number(sum.written[0]), number(sum.written[1]));
    return false;
}

} // namespace
