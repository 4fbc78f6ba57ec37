// The join kernel: makes the lists of keys of both halves of a board and counts their pairs that share no bit, for the
// columns of each group. Blocks take jobs: they cross boards (crossing.h), or divide the pairs of two lists into parts
// that fit the memory of a block, and count these (pairs.h).
//
// A division settles one bit after the other, those that the lists are sorted by. At each it splits the list that has
// more keys left, as `src/join/pairs.rs` does; only the numbers of keys in buckets are needed for that. A node is the
// path to it: for each bit that is settled the list that was split, and whether this is the part with the bit. The part
// with the bit comes first, so the next node follows from the path alone.

#pragma once

#include "crossing.h"

/// The most bits of the one list that are free: its runs must fit the memory of a block.
#define QF_MOST_FREE 10u
static_assert(1u << QF_MOST_FREE == QF_MOST_RUNS, "a list has at most so many runs");

/// A node of the division. The highest `depth` bits of bucket numbers are settled.
struct Division {
    u32 depth;
    /// For each settled bit, whether the second list was split, and whether this is the part with the bit.
    u32 second, with;
};

/// The bits that keys of a list have, and those that they may have: a key of the other list then lacks them.
QF_INLINE u32 own_bits(const Division &node, u32 side) {
    return node.with & (side == 0 ? ~node.second : node.second);
}
QF_INLINE u32 free_bits(const Division &node, u32 side, u32 bits) {
    const u32 settled = (1u << bits) - (1u << (bits - node.depth));
    return settled & ~node.with & (side == 0 ? node.second : ~node.second);
}

QF_INLINE void clear_sizes(u32 (*sizes)[2]) {
    for (u32 at = 0; at < 4u; at++)
        sizes[at / 2u][at % 2u] = 0;
}

/// Adds the keys of one list of a node without and with the next bit to `sizes`. After the last bit, all keys are
/// those with it.
QF_INLINE void add_sizes(const u32 *offsets, u32 own, u32 free, u32 length, u32 *sizes,
                         const Member &member) {
    u32 without = 0, with = 0;
    const u32 runs = 1u << bits_of(free);
    for (u32 run = member.thread; run < runs; run += member.threads) {
        const u32 bucket = own | subset(free, run);
        const u32 begin = offsets[bucket], middle = offsets[bucket + length / 2u];
        without += middle - begin;
        with += offsets[bucket + length] - middle;
    }
    without = warp_sum(without);
    with = warp_sum(with);
    if (member.lane == 0) {
        take_numbers(&sizes[0], without);
        take_numbers(&sizes[1], with);
    }
}

/// For each list the keys of a node without and with the next bit. All threads must meet before the next call.
QF_INLINE const u32 (*measure(const Division &node, u32 bits, const SortedList &top, const SortedList &bottom,
                              u32 &parity, const PairsMemory &memory, const Member &member))[2] {
    u32(*sizes)[2] = memory.control->sizes[parity];
    const u32 length = 1u << (bits - node.depth);
    add_sizes(top.offsets, own_bits(node, 0), free_bits(node, 0, bits), length, sizes[0], member);
    add_sizes(bottom.offsets, own_bits(node, 1), free_bits(node, 1, bits), length, sizes[1], member);
    meet(member);
    parity ^= 1u;
    if (member.thread == 0)
        clear_sizes(memory.control->sizes[parity]);
    return sizes;
}

/// Counts the pairs of a node that is not divided further, in pieces if its keys do not fit the block.
template <u32 Keys, u32 Leaf, u32 Build, u32 LookUp>
QF_INLINE void count_node(const Division &node, u32 bits, u32 top_keys, u32 bottom_keys,
                          const SortedList &top, const SortedList &bottom, u32 &turn,
                          const PairsMemory &memory, PairsSum *sum, const Member &member) {
    const u32 shorter = top_keys < bottom_keys ? top_keys : bottom_keys;
    const u32 least = shorter < Keys / 2u ? shorter : Keys / 2u;
    const u32 most_top = top_keys <= least ? top_keys : Keys - least;
    const u32 most_bottom = bottom_keys <= least ? bottom_keys : Keys - least;
    for (u32 first = 0; first < top_keys; first += most_top)
        for (u32 second = 0; second < bottom_keys; second += most_bottom) {
            meet(member);
            if (member.thread == 0) {
                PairsPart *part = &memory.control->part;
                part->run = bits - node.depth;
                const u32 tops = top_keys - first, bottoms = bottom_keys - second;
                part->lists[0] = {own_bits(node, 0), free_bits(node, 0, bits), first,
                                  tops < most_top ? tops : most_top};
                part->lists[1] = {own_bits(node, 1), free_bits(node, 1, bits), second,
                                  bottoms < most_bottom ? bottoms : most_bottom};
            }
            count_part<Leaf, Build, LookUp>(top, bottom, turn, memory, sum, member);
        }
}

/// Counts the pairs below a node.
template <u32 Keys, u32 Leaf, u32 Build, u32 LookUp>
QF_INLINE void divide(const JoinJob &job, const u32 *tables, const u32 *scratch, u32 &turn,
                      const PairsMemory &memory, PairsSum *sums, const Member &member) {
    const PairsGroup &group = group_of(tables, job.group);
    const u32 bits = group.bits, sorted = group.sorted, root = job.what >> 8;
    const SortedList top = {scratch + group.lists[0].offsets, scratch + group.lists[0].keys};
    const SortedList bottom = {scratch + group.lists[1].offsets, scratch + group.lists[1].keys};
    Division node = {root, job.first, job.second};
    u64 discarded = 0;
    u32 parity = 0;
    // The pairs that the nodes above the root discard belong to the first root below each of them.
    for (u32 depth = root; depth > 0u && (node.with >> (bits - depth) & 1u) != 0u; depth--) {
        const u32 settled = ~0u << (bits - depth) << 1u;
        const Division above = {depth - 1u, node.second & settled, node.with & settled};
        const u32(*sizes)[2] = measure(above, bits, top, bottom, parity, memory, member);
        discarded += u64(sizes[0][1]) * sizes[1][1];
        meet(member);
    }
    for (;;) {
        const u32(*sizes)[2] = measure(node, bits, top, bottom, parity, memory, member);
        const u32 top_with = sizes[0][1], bottom_with = sizes[1][1];
        const u32 tops = sizes[0][0] + top_with, bottoms = sizes[1][0] + bottom_with;
        const bool is_empty = tops == 0u || bottoms == 0u;
        const bool fits = node.depth >= sorted && tops + bottoms <= Keys;
        if (!is_empty && !fits && node.depth < bits) {
            discarded += u64(top_with) * bottom_with;
            bool second = tops < bottoms;
            // The list that is not split gets one more free bit.
            if (bits_of(free_bits(node, second ? 0u : 1u, bits)) == QF_MOST_FREE)
                second = !second;
            const u32 bit = 1u << (bits - node.depth) >> 1u;
            node.depth++;
            node.with |= bit;
            node.second = second ? node.second | bit : node.second & ~bit;
            meet(member);
            continue;
        }
        if (!is_empty)
            count_node<Keys, Leaf, Build, LookUp>(node, bits, tops, bottoms, top, bottom, turn, memory,
                                                  &sums[job.group], member);
        // The nearest node above whose part without the bit is left.
        const u32 below_root = (1u << (bits - root)) - 1u;
        const u32 left = node.with & below_root;
        if (left == 0u)
            break;
        const u32 place = lowest_bit(left);
        node.depth = bits - place;
        node.with &= ~(1u << place);
        node.second &= ~((1u << place) - 1u);
        meet(member);
    }
    if (member.thread == 0)
        add_to(&sums[job.group].discarded, discarded);
    meet(member);
    if (member.thread == 0) {
        clear_sizes(memory.control->sizes[0]);
        clear_sizes(memory.control->sizes[1]);
    }
}

/// Runs one thread. A block has room for `Keys` keys, an even number. `scratch` is the memory of the launch that its jobs
/// share. For the other parameters see `count_part`.
template <u32 Keys, u32 Leaf, u32 Build, u32 LookUp>
QF_INLINE void join_thread(const JoinJob *jobs, u32 job_count, const u32 *tables, PairsSum *sums,
                           Progress *progress, u32 *scratch, u32 *shared, const Member &member) {
    static_assert(Leaf <= 32u * QF_ROW_WORDS, "a row has a bit for each pattern");
    static_assert(Keys <= QF_TABLE_WORDS, "keys on their way lie in the tables");
    static_assert(4u * QF_MOST_RUNS + 1u <= QF_TABLE_WORDS, "runs lie in the tables");
    static_assert(sizeof(PairsControl) % 16 == 0, "rows are aligned");
    PairsMemory memory;
    memory.control = reinterpret_cast<PairsControl *>(shared);
    memory.bit_rows = shared + sizeof(PairsControl) / 4u;
    memory.tables = memory.bit_rows + (QF_WINDOW + 1u) * QF_ROW_WORDS;
    memory.keys = memory.tables + QF_TABLE_WORDS;

    if (member.thread == 0)
        for (u32 at = 0; at < 2u; at++) {
            memory.control->splits[at][0] = memory.control->splits[at][1] = {0, 0, 0, 0};
            clear_sizes(memory.control->sizes[at]);
        }
    u32 turn = 0;
    for (;;) {
        meet(member);
        if (member.thread == 0) {
            const u32 number = take_number(&progress->next_job);
            memory.control->job = number;
            memory.control->goes_on = number < job_count && is_ready(jobs[number], tables, scratch, progress);
        }
        meet(member);
        if (memory.control->goes_on == 0u)
            return;
        const JoinJob &job = jobs[memory.control->job];
        const u32 kind = job.what & 0xffu;
        if (kind == QF_COUNT)
            cross<false>(job, tables, scratch, sums, memory, member);
        else if (kind == QF_WRITE)
            cross<true>(job, tables, scratch, sums, memory, member);
        else
            divide<Keys, Leaf, Build, LookUp>(job, tables, scratch, turn, memory, sums, member);
        if (member.thread == 0)
            add_to(&progress->jobs_done, 1u);
    }
}
