// Makes the lists of keys of half boards: the part of the join that `src/join/kernel/cross.rs` and
// `src/join/kernel/buckets.rs` do on a CPU.
//
// A half board is a board of its left quadrant and one of its right quadrant that do not attack each other. Which
// boards may meet is a matter of runs: for each choice of the rows in the left quadrant, the boards of either quadrant.
// The jobs of a list cross them twice:
//
//   count     counts the keys of each bucket. The last of these jobs makes offsets of the numbers.
//   write     writes the keys to their buckets. Each takes a place by counting the number of its bucket down, so that
//             no key is written in a place that was not counted.
//
// A job waits for those that it builds on. They come before it, so some block has them already and waits for none that
// comes later.

#pragma once

#include "device.h"
#include "pairs.h"

/// Boards of the left quadrant and of the right that may meet: where they begin and end among those of their quadrant.
struct CrossRun {
    u32 begins[2], ends[2];
};

struct CrossList {
    /// Words of the tables: the runs, how many they are, and the boards of the left and of the right quadrant. First
    /// the diagonals that the queens of a board attack, of all boards; then the low parts of the keys; then the high
    /// ones, if the group has such.
    u32 runs, run_count, boards[2];
    /// How many boards there are of either quadrant.
    u32 counts[2];
    /// Low and high bits of keys that are left out: a middle queen attacks them.
    u32 attacked[2];
    /// The number of its jobs that count, and of those that write.
    u32 jobs;
    /// Words of the scratch memory: the ListState, the number of keys of each bucket, offsets, keys.
    u32 state, numbers, offsets, keys;
};

/// How far a list is, zero at the start: jobs that counted, whether there are offsets, jobs that wrote.
struct ListState {
    u32 counted, ready, written;
};

/// Two lists whose pairs are counted.
struct PairsGroup {
    /// Logarithm of the number of buckets. The highest bits of their numbers are the `sorted` highest bits of the high
    /// part of a key, the others its lowest bits; the first bit of either is the highest.
    u32 bits, sorted;
    /// Whether boards have high parts.
    u32 high;
    CrossList lists[2];
};

/// What a job does.
enum JobKind { QF_COUNT, QF_WRITE, QF_PAIRS };

struct JoinJob {
    u32 group;
    /// In the low byte the kind. Above it the list, of a job that crosses boards; the depth, of one that counts pairs.
    u32 what;
    /// The first run and the number of runs. Or the path to a node of the division: for each bit that is settled the
    /// list that was split, and whether this is the part with the bit.
    u32 first, second;
};

// The tables of a launch begin with the number of groups and the word at which the groups lie.
QF_INLINE const PairsGroup &group_of(const u32 *tables, u32 group) {
    return reinterpret_cast<const PairsGroup *>(tables + tables[1])[group];
}

QF_INLINE ListState *state_of(const CrossList &list, u32 *scratch) {
    return reinterpret_cast<ListState *>(scratch + list.state);
}

/// Waits until a counter has this number. Returns whether it has: if not, the launch was ended.
QF_INLINE bool wait_for(const u32 *counter, u32 number, const Progress *progress) {
    while (arrivals(counter) < number) {
        if (is_ended(progress))
            return false;
        pause();
    }
    return true;
}

/// Waits until a job can begin. Returns whether it can.
QF_INLINE bool is_ready(const JoinJob &job, const u32 *tables, u32 *scratch,
                        const Progress *progress) {
    const PairsGroup &group = group_of(tables, job.group);
    const u32 kind = job.what & 0xffu;
    if (kind == QF_PAIRS) {
        for (u32 side = 0; side < 2u; side++)
            if (!wait_for(&state_of(group.lists[side], scratch)->written, group.lists[side].jobs,
                          progress))
                return false;
    }
    if (kind == QF_WRITE)
        return wait_for(&state_of(group.lists[job.what >> 8], scratch)->ready, 1u, progress);
    return true;
}

/// Makes offsets of the numbers of keys of so many buckets.
QF_INLINE void make_offsets(const u32 *numbers, u32 buckets, u32 *offsets, const PairsMemory &memory,
                            const Member &member) {
    // Each warp takes a part of the buckets, and needs to know how many keys come before it.
    const u32 each = (buckets + member.warps - 1u) / member.warps;
    const u32 first = each * member.warp < buckets ? each * member.warp : buckets;
    const u32 end = first + each < buckets ? first + each : buckets;
    u32 sum = 0;
    for (u32 at = first + member.lane; at < end; at += QF_LANES)
        sum += numbers[at];
    sum = warp_sum(sum);
    if (member.lane == 0)
        memory.tables[member.warp] = sum;
    meet(member);
    u32 before = 0;
    for (u32 warp = 0; warp < member.warp; warp++)
        before += memory.tables[warp];
    for (u32 from = first; from < end; from += QF_LANES) {
        const u32 at = from + member.lane;
        const u32 own = at < end ? numbers[at] : 0u;
        const u32 below = sum_below(own, member.lane);
        if (at < end)
            offsets[at] = before + below;
        before += warp_sum(own);
    }
    if (member.warp + 1u == member.warps && member.lane == 0)
        offsets[buckets] = before;
}

/// Crosses the boards of a job's runs, to count their keys or to write them.
template <bool Writes>
QF_INLINE void cross(const JoinJob &job, const u32 *tables, u32 *scratch, PairsSum *sums,
                     const PairsMemory &memory, const Member &member) {
    const PairsGroup &group = group_of(tables, job.group);
    const u32 side = job.what >> 8, sorted = group.sorted, more = group.bits - sorted;
    const CrossList &list = group.lists[side];
    const CrossRun *runs = reinterpret_cast<const CrossRun *>(tables + list.runs) + job.first;
    u32 *numbers = scratch + list.numbers, *keys = scratch + list.keys;
    const u32 *offsets = scratch + list.offsets;
    u32 found = 0;
    u64 crossed = 0;
    for (u32 run = member.warp; run < job.second; run += member.warps) {
        const CrossRun &both = runs[run];
        const u32 lefts = both.ends[0] - both.begins[0], rights = both.ends[1] - both.begins[1];
        crossed += u64(lefts) * rights;
        // Each lane has a board of the one quadrant, and all meet those of the other: what takes fewer steps.
        const u32 many = (lefts + QF_LANES - 1u) / QF_LANES * rights <=
                                 (rights + QF_LANES - 1u) / QF_LANES * lefts ? 0u : 1u;
        const u32 few = 1u - many;
        const u32 *own = tables + list.boards[many], *others = tables + list.boards[few];
        const u32 count = list.counts[many], other_count = list.counts[few];
        for (u32 first = both.begins[many]; first < both.ends[many]; first += QF_LANES) {
            const u32 board = first + member.lane;
            const bool is_there = board < both.ends[many];
            const u32 lines = is_there ? own[board] : 0u, low = is_there ? own[count + board] : 0u;
            const u32 high = is_there && group.high != 0u ? own[2u * count + board] : 0u;
            for (u32 other = both.begins[few]; other < both.ends[few]; other++) {
                if (!is_there || (lines & others[other]) != 0u)
                    continue;
                const u32 key = low | others[other_count + other];
                const u32 top = group.high != 0u ? high | others[2u * other_count + other] : 0u;
                if (((key & list.attacked[0]) | (top & list.attacked[1])) != 0u)
                    continue;
                const u32 bucket = (reversed(top) & ((1u << sorted) - 1u)) << more |
                                   reversed(key) >> 1u >> (31u - more);
                if (!Writes) {
                    take_number(&numbers[bucket]);
                    found++;
                } else {
                    // If it was not counted, the number has passed zero: it is 2³¹ or more.
                    const u32 place = take_numbers(&numbers[bucket], ~0u) - 1u;
                    if (place < 1u << 31) {
                        keys[offsets[bucket] + place] = key;
                        found++;
                    }
                }
            }
        }
    }
    found = warp_sum(found);
    PairsSum *sum = &sums[job.group];
    if (member.lane == 0) {
        add_to(Writes ? &sum->written[side] : &sum->counted[side], u64(found));
        add_to(&sum->crossed[side], crossed);
    }
    meet(member);
    ListState *state = state_of(list, scratch);
    if (member.thread == 0)
        memory.control->is_last = arrive(Writes ? &state->written : &state->counted) + 1u == list.jobs;
    meet(member);
    if (!Writes && memory.control->is_last != 0u) {
        make_offsets(numbers, 1u << group.bits, scratch + list.offsets, memory, member);
        meet(member);
        if (member.thread == 0)
            arrive(&state->ready);
    }
}
