// Counts a part of the pairs of two lists of keys that share no bit: the keys of some buckets of the one list against
// those of some buckets of the other. It is what `src/join/pairs.rs` does on a CPU. The threads of a block count a
// part together, in the memory that they share:
//
//   gather    copies the keys of the part's buckets, which lie in runs, into two lists
//   split     by a bit that occurs in both lists, as long as the shorter list is too long for a leaf:
//             pairs(longer, shorter) = pairs(longer with, shorter without) + pairs(longer without, shorter)
//             The bit is settled then, and pairs in which both keys have it are discarded. The keys are
//             reordered in place; the second part waits on a stack.
//   leaf      if no bit is left, all pairs count. If there are few pairs, all are compared. Else the
//             shorter list are the patterns of tables: row x of table f says which patterns lack all bits
//             that x has, the 7 f-th bit and the next six. A key of the other list is looked up in each.
//
// The bits of a key are sorted, those that are settled by the most useful splits first. So splits take
// the lowest bit that is left, and the bits that are left at a leaf lie close together.
//
// The shared memory, in words: PairsControl, a row for each bit, the tables (or the keys on their way
// while a list is split, or the runs while keys are gathered), the keys.

#pragma once

#include "device.h"

/// Some keys of two lists. For each set of bits of `free`, a run of 2^`run` buckets begins at these bits and `own`. Of
/// all keys in these runs, `count` after the first `skip`.
struct PairsPart {
    u32 run;
    struct {
        u32 own, free, skip, count;
    } lists[2];
};

/// Where the keys of a list are that is sorted by buckets, and for each bucket where it begins; one more offset for the
/// end of the last.
struct SortedList {
    const u32 *offsets, *keys;
};

/// What the jobs of a group gave together. Pairs that were compared or looked up, and pairs that share a bit by which they
/// were split. For each list the pairs of boards that were crossed, both times, the keys that were counted, and those that
/// were written. The pairs that share no bit.
struct PairsSum {
    u64 tested, discarded;
    u64 crossed[2], counted[2], written[2];
    u64 found;
};

/// The bits that index a table, the tables of a leaf, and the bits of all.
#define QF_FIELD 7u
#define QF_FIELDS 4u
#define QF_WINDOW (QF_FIELD * QF_FIELDS)
/// Words of a row of a table: a bit for each pattern.
#define QF_ROW_WORDS 16u
/// Words from one row to the next: there are two copies of each, so that two lanes can read any two
/// rows from different banks.
#define QF_ROW_STRIDE (2u * QF_ROW_WORDS)
#define QF_TABLE_WORDS (QF_FIELDS * (1u << QF_FIELD) * QF_ROW_STRIDE)
/// A row that all patterns have, below the rows of the bits.
#define QF_PRESENT QF_WINDOW

/// The most runs of a list in a part.
#define QF_MOST_RUNS (1u << 10)

/// Lanes that look up a key together; each reads this many of the 128-bit parts of a row.
#define QF_ROW_LANES (QF_LANES < 4u ? 1u : 4u)

/// 128 bits of a row.
struct alignas(16) RowPart {
    u32 words[4];
};

/// Two lists within the keys of a block: where they begin, how many keys they have, which bits occur.
struct PairsNode {
    u32 at[2], count[2], used[2];
};

/// What splitting a list counts: keys with the bit and without it that have found their place, and the
/// bits that occur in either.
struct PairsSplit {
    u32 with, without, used_with, used_without;
};

/// What the threads of a block tell each other. Its size is a multiple of 16 bytes.
struct alignas(16) PairsControl {
    u32 job;
    /// Whether the block goes on with it.
    u32 goes_on;
    /// Whether its job was the last one that a list waited for.
    u32 is_last;
    /// The bits that occur in the lists of the part.
    u32 used[2];
    /// Keys without and with the next bit, of each list. Those of every other division are set to zero during the others.
    u32 sizes[2][2][2];
    PairsPart part;
    /// Those of every other split are set to zero during the others.
    PairsSplit splits[2][2];
    /// Nodes to be counted. Each split settles one of 32 bits.
    PairsNode stack[32];
};

/// Bytes of shared memory of a block that has room for so many keys.
QF_INLINE constexpr u32 pairs_shared(u32 keys) {
    return static_cast<u32>(sizeof(PairsControl)) +
           4u * ((QF_WINDOW + 1u) * QF_ROW_WORDS + QF_TABLE_WORDS + keys);
}

/// The shared memory.
struct PairsMemory {
    PairsControl *control;
    u32 *bit_rows, *tables, *keys;
};

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)

/// For 32 patterns, of which `count` exist: word `QF_ROW_WORDS * b` of `rows` says which of them lack
/// bit `b` of the window, and the one after the last bit which exist.
QF_INLINE void lacking(const u32 *patterns, u32 count, u32 shift, u32 *rows, u32 lane) {
    const bool exists = lane < count;
    const u32 key = exists ? patterns[lane] >> shift : ~0u;
    u32 row = votes(exists);
QF_UNROLL
    for (u32 bit = 0; bit < QF_WINDOW; bit++) {
        const u32 lacks = votes(!(key >> bit & 1u));
        if (lane == bit)
            row = lacks;
    }
    if (lane <= QF_PRESENT)
        rows[lane * QF_ROW_WORDS] = row;
}

/// The number of bits set.
QF_INLINE u32 bits_of(const RowPart &part) {
    return bits_of(part.words[0]) + bits_of(part.words[1]) + bits_of(part.words[2]) +
           bits_of(part.words[3]);
}

#else

QF_INLINE void lacking(const u32 *patterns, u32 count, u32 shift, u32 *rows, u32) {
    // A matrix of 32 times 32 bits, transposed by swapping blocks of half the size each time.
    u32 matrix[32];
    for (u32 at = 0; at < 32u; at++)
        matrix[at] = at < count ? ~(patterns[at] >> shift) : 0u;
    u32 mask = 0xffffu;
    for (u32 half = 16u; half != 0u; half >>= 1u, mask ^= mask << half)
        for (u32 at = 0; at < 32u; at = ((at | half) + 1u) & ~half) {
            const u32 swapped = (matrix[at] >> half ^ matrix[at | half]) & mask;
            matrix[at] ^= swapped << half;
            matrix[at | half] ^= swapped;
        }
    for (u32 bit = 0; bit < QF_WINDOW; bit++)
        rows[bit * QF_ROW_WORDS] = matrix[bit];
    rows[QF_PRESENT * QF_ROW_WORDS] = count < 32u ? (1u << count) - 1u : ~0u;
}

QF_INLINE u32 bits_of(const RowPart &part) {
    const u64 pairs = 0x5555555555555555u, fours = 0x3333333333333333u, bytes = 0x0f0f0f0f0f0f0f0fu;
    u64 sum = 0;
    for (u32 at = 0; at < 4u; at += 2u) {
        u64 bits = part.words[at] | u64(part.words[at + 1u]) << 32;
        bits -= bits >> 1 & pairs;
        sum += (bits & fours) + (bits >> 2 & fours);
    }
    sum = (sum & bytes) + (sum >> 4 & bytes);
    return static_cast<u32>(sum * 0x0101010101010101u >> 56);
}

#endif

/// The set of bits of `mask` with the number `index`.
QF_INLINE u32 subset(u32 mask, u32 index) {
    u32 bits = 0;
    for (; index != 0; index >>= 1u, mask &= mask - 1u)
        bits |= index & 1u ? mask & (0u - mask) : 0u;
    return bits;
}

/// Copies the keys of a part's buckets into shared memory, and notes which bits occur.
QF_INLINE void gather(const SortedList &top, const SortedList &bottom, const PairsMemory &memory,
                      const Member &member) {
    const PairsPart &part = memory.control->part;
    const u32 runs[2] = {1u << bits_of(part.lists[0].free), 1u << bits_of(part.lists[1].free)};
    const u32 all = runs[0] + runs[1];
    // For each run where it begins, and how many keys are in it, then before it.
    u32 *begins = memory.tables, *befores = memory.tables + all;
    for (u32 run = member.thread; run < all; run += member.threads) {
        const u32 side = run < runs[0] ? 0u : 1u;
        const u32 *offsets = side == 0 ? top.offsets : bottom.offsets;
        const u32 bucket = part.lists[side].own |
                           subset(part.lists[side].free, side == 0 ? run : run - runs[0]);
        const u32 begin = offsets[bucket];
        begins[run] = begin;
        befores[run] = offsets[bucket + (1u << part.run)] - begin;
    }
    meet(member);
    // The keys of both lists together: those of the second list follow those of the first.
    if (member.warp == 0) {
        u32 sum = 0;
        for (u32 first = 0; first < all; first += QF_LANES) {
            const u32 run = first + member.lane;
            const u32 length = run < all ? befores[run] : 0u;
            const u32 before = sum + sum_below(length, member.lane);
            if (run < all)
                befores[run] = before;
            sum += warp_sum(length);
        }
        if (member.lane == 0)
            befores[all] = sum;
    }
    meet(member);
    // Each warp takes a run, or where there are few runs, all threads take it together.
    const bool together = all < member.warps;
    const u32 lane = together ? member.thread : member.lane;
    const u32 lanes = together ? member.threads : QF_LANES;
    u32 used[2] = {0, 0};
    for (u32 run = together ? 0u : member.warp; run < all; run += together ? 1u : member.warps) {
        const u32 side = run < runs[0] ? 0u : 1u;
        const u32 skip = part.lists[side].skip, count = part.lists[side].count;
        // Numbers of keys are those among the keys of the list from here on.
        const u32 before_list = side == 0 ? 0u : befores[runs[0]];
        const u32 before = befores[run] - before_list, after = befores[run + 1u] - before_list;
        const u32 first = before > skip ? before : skip;
        const u32 end = after < skip + count ? after : skip + count;
        const u32 *from = (side == 0 ? top.keys : bottom.keys) + begins[run];
        u32 *to = memory.keys + (side == 0 ? 0u : part.lists[0].count);
        u32 bits = 0;
        for (u32 at = first + lane; at < end; at += lanes) {
            const u32 key = from[at - before];
            to[at - skip] = key;
            bits |= key;
        }
        used[0] |= side == 0 ? bits : 0u;
        used[1] |= side == 0 ? 0u : bits;
    }
QF_UNROLL
    for (u32 side = 0; side < 2u; side++) {
        const u32 bits = warp_union(used[side]);
        if (member.lane == 0)
            add_bits(&memory.control->used[side], bits);
    }
    meet(member);
}

/// Moves the keys of a list that have a bit to the front of `to` and the others to its end.
QF_INLINE void divide(const u32 *keys, u32 count, u32 bit, u32 *to, PairsSplit *split,
                      const Member &member) {
    // Each warp takes a part of the list. It counts first, so that it needs only two places.
    const u32 begin = count * member.warp / member.warps;
    const u32 end = count * (member.warp + 1u) / member.warps;
    u32 with = 0, used_with = 0, used_without = 0;
    for (u32 at = begin + member.lane; at < end; at += QF_LANES) {
        const u32 key = keys[at], has = key >> bit & 1u;
        with += has;
        used_with |= key & (0u - has);
        used_without |= key & (has - 1u);
    }
    with = warp_sum(with);
    used_with = warp_union(used_with);
    used_without = warp_union(used_without);
    u32 front = 0, back = 0;
    if (member.lane == 0) {
        front = take_numbers(&split->with, with);
        back = take_numbers(&split->without, end - begin - with);
        add_bits(&split->used_with, used_with);
        add_bits(&split->used_without, used_without);
    }
    front = of_first_lane(front);
    back = of_first_lane(back);
    for (u32 first = begin; first < end; first += QF_LANES) {
        const u32 at = first + member.lane;
        const bool is_key = at < end;
        const u32 key = is_key ? keys[at] : 0u;
        const bool has = key >> bit & 1u;
        const u32 with_bit = votes(is_key && has), without_bit = votes(is_key && !has);
        const u32 below = (1u << member.lane) - 1u;
        if (is_key)
            to[has ? front + bits_of(with_bit & below)
                   : count - 1u - back - bits_of(without_bit & below)] = key;
        front += bits_of(with_bit);
        back += bits_of(without_bit);
    }
}

/// Splits a node by a bit. Returns the part to be counted next; the other goes to the stack. Adds the
/// pairs that the bit excludes to `discarded`.
QF_INLINE PairsNode split(const PairsNode &node, u32 bit, u32 height, u32 turn, u32 &discarded,
                          const PairsMemory &memory, const Member &member) {
    PairsSplit *splits = memory.control->splits[turn & 1u];
    u32 *moved = memory.tables;
QF_UNROLL
    for (u32 side = 0; side < 2u; side++)
        divide(memory.keys + node.at[side], node.count[side], bit,
               moved + (side == 0 ? 0u : node.count[0]), &splits[side], member);
    meet(member);
    const u32 longer = node.count[0] >= node.count[1] ? 0u : 1u;
    PairsNode next = node, later = node;
QF_UNROLL
    for (u32 side = 0; side < 2u; side++) {
        const PairsSplit &split = splits[side];
        if (side == longer) {
            next.count[side] = split.with;
            next.used[side] = split.used_with;
            later.at[side] += split.with;
            later.count[side] -= split.with;
            later.used[side] = split.used_without;
        } else {
            next.at[side] += split.with;
            next.count[side] -= split.with;
            next.used[side] = split.used_without;
        }
    }
    discarded += splits[0].with * splits[1].with;
    if (member.thread == 0) {
        memory.control->stack[height] = later;
    QF_UNROLL
    for (u32 side = 0; side < 2u; side++)
            memory.control->splits[(turn + 1u) & 1u][side] = {0, 0, 0, 0};
    }
QF_UNROLL
    for (u32 side = 0; side < 2u; side++) {
        u32 *keys = memory.keys + node.at[side];
        const u32 *from = moved + (side == 0 ? 0u : node.count[0]);
        for (u32 at = member.thread; at < node.count[side]; at += member.threads)
            keys[at] = from[at];
    }
    meet(member);
    return next;
}

/// The number of disjoint pairs that this thread finds, by comparing all.
QF_INLINE u32 compare(const u32 *items, u32 item_count, const u32 *patterns, u32 pattern_count,
                      const Member &member) {
    u32 found = 0;
    if (item_count >= member.threads) {
        for (u32 at = member.thread; at < item_count; at += member.threads) {
            const u32 item = items[at];
            for (u32 pattern = 0; pattern < pattern_count; pattern++)
                found += (item & patterns[pattern]) == 0u;
        }
        return found;
    }
    // With few items several threads share one, and take every so many-th pattern.
    const u32 sharing = member.threads / item_count;
    const u32 first = member.thread / item_count;
    if (first >= sharing)
        return 0;
    const u32 item = items[member.thread % item_count];
    for (u32 pattern = first; pattern < pattern_count; pattern += sharing)
        found += (item & patterns[pattern]) == 0u;
    return found;
}

/// Fills the tables: `width` bits from `shift` on.
QF_INLINE void build(const u32 *patterns, u32 count, u32 shift, u32 width,
                     const PairsMemory &memory, const Member &member) {
    for (u32 word = member.warp; word < QF_ROW_WORDS; word += member.warps) {
        const u32 left = count > 32u * word ? count - 32u * word : 0u;
        lacking(patterns + 32u * word, left < 32u ? left : 32u, shift, memory.bit_rows + word,
                member.lane);
    }
    meet(member);
    // A thread makes a column of one word: 32 rows that differ in the lowest five bits.
    const u32 columns = (width + QF_FIELD - 1u) / QF_FIELD * 4u * QF_ROW_WORDS;
    for (u32 column = member.thread; column < columns; column += member.threads) {
        const u32 word = column % QF_ROW_WORDS, part = column / QF_ROW_WORDS % 4u;
        const u32 field = column / QF_ROW_WORDS / 4u;
        const u32 *rows = memory.bit_rows + word, *bits = rows + field * QF_FIELD * QF_ROW_WORDS;
        u32 made[32];
        // The first table knows which patterns exist.
        made[0] = field == 0 ? rows[QF_PRESENT * QF_ROW_WORDS] : ~0u;
        if (part & 1u)
            made[0] &= bits[5u * QF_ROW_WORDS];
        if (part & 2u)
            made[0] &= bits[6u * QF_ROW_WORDS];
        u32 lacks[5];
QF_UNROLL
        for (u32 bit = 0; bit < 5u; bit++)
            lacks[bit] = bits[bit * QF_ROW_WORDS];
QF_UNROLL
        for (u32 row = 1; row < 32u; row++)
            made[row] = made[row & (row - 1u)] & lacks[lowest_bit(row)];
        // Threads whose parts are odd write the copies in the other order, to other banks.
        u32 *to = memory.tables + ((field << QF_FIELD) + part * 32u) * QF_ROW_STRIDE + word;
        // A single lane reads the first copies alone.
        const u32 first = QF_LANES > 1u ? (part & 1u) * QF_ROW_WORDS : 0u, second = QF_ROW_WORDS - first;
QF_UNROLL
        for (u32 row = 0; row < 32u; row++) {
            to[row * QF_ROW_STRIDE + first] = made[row];
            if (QF_LANES > 1u)
                to[row * QF_ROW_STRIDE + second] = made[row];
        }
    }
    meet(member);
}

/// The number of patterns disjoint with the keys that this thread looks up, or a part of it.
template <u32 Fields>
QF_INLINE u32 look_up(const u32 *items, u32 count, u32 used, u32 shift, const PairsMemory &memory,
                      const Member &member) {
    const u32 per_warp = QF_LANES / QF_ROW_LANES;
    const u32 copy = member.lane / QF_ROW_LANES % 2u;
    u32 found = 0;
    for (u32 at = member.warp * per_warp + member.lane / QF_ROW_LANES; at < count;
         at += member.warps * per_warp) {
        const u32 key = (items[at] & used) >> shift;
QF_UNROLL
        for (u32 turn = 0; turn < QF_ROW_WORDS / 4u / QF_ROW_LANES; turn++) {
            const u32 part = turn * QF_ROW_LANES + member.lane % QF_ROW_LANES;
            const RowPart *rows = reinterpret_cast<const RowPart *>(
                memory.tables + copy * QF_ROW_WORDS + part * 4u);
            RowPart fits = {{~0u, ~0u, ~0u, ~0u}};
QF_UNROLL
            for (u32 field = 0; field < Fields; field++) {
                const u32 row = (key >> QF_FIELD * field & ((1u << QF_FIELD) - 1u)) +
                                (field << QF_FIELD);
                const RowPart lacks = rows[row * (QF_ROW_STRIDE / 4u)];
QF_UNROLL
                for (u32 word = 0; word < 4u; word++)
                    fits.words[word] &= lacks.words[word];
            }
            found += bits_of(fits);
        }
    }
    return found;
}

/// Counts the pairs of the part in `control->part`. The shorter list of a leaf with tables has at most `Leaf` keys;
/// pairs are compared if they are fewer than `Build`, and `LookUp` for each key of the longer list, more.
template <u32 Leaf, u32 Build, u32 LookUp>
QF_INLINE void count_part(const SortedList &top, const SortedList &bottom, u32 &turn,
                          const PairsMemory &memory, PairsSum *sum, const Member &member) {
    if (member.thread == 0)
        memory.control->used[0] = memory.control->used[1] = 0;
    meet(member);
    gather(top, bottom, memory, member);
    const u32 count = memory.control->part.lists[0].count;
    PairsNode node = {{0, count},
                      {count, memory.control->part.lists[1].count},
                      {memory.control->used[0], memory.control->used[1]}};
    u32 height = 0, found = 0, tested = 0, discarded = 0;
    for (;;) {
        // An index that is not known to the compiler would move the node to the thread's own memory.
        const bool first = node.count[0] >= node.count[1];
        const u32 items = first ? node.count[0] : node.count[1];
        const u32 patterns = first ? node.count[1] : node.count[0];
        const u32 *item_keys = memory.keys + (first ? node.at[0] : node.at[1]);
        const u32 *pattern_keys = memory.keys + (first ? node.at[1] : node.at[0]);
        const u32 used = node.used[0] & node.used[1], all = items * patterns;
        const u32 shift = lowest_bit(used), width = bits_below(used >> shift);
        if (used == 0u || patterns == 0u) {
            found += member.thread == 0 ? all : 0u;
        } else if (all < Build + LookUp * items) {
            found += compare(item_keys, items, pattern_keys, patterns, member);
        } else if (patterns <= Leaf && width <= QF_WINDOW) {
            // If either list can be the patterns, the shorter one is looked up.
            const bool swap = items <= Leaf;
            const u32 *looked_up = swap ? pattern_keys : item_keys;
            build(swap ? item_keys : pattern_keys, swap ? items : patterns, shift, width,
                  memory, member);
            const u32 count = swap ? patterns : items;
            if (width <= QF_FIELD)
                found += look_up<1>(looked_up, count, used, shift, memory, member);
            else if (width <= 2u * QF_FIELD)
                found += look_up<2>(looked_up, count, used, shift, memory, member);
            else if (width <= 3u * QF_FIELD)
                found += look_up<3>(looked_up, count, used, shift, memory, member);
            else
                found += look_up<4>(looked_up, count, used, shift, memory, member);
            // What follows may use the memory of the tables.
            meet(member);
        } else {
            node = split(node, shift, height, turn, discarded, memory, member);
            height++;
            turn++;
            continue;
        }
        tested += all;
        if (height == 0)
            break;
        height--;
        node = memory.control->stack[height];
    }
    found = warp_sum(found);
    if (member.lane == 0)
        add_to(&sum->found, u64(found));
    if (member.thread == 0) {
        add_to(&sum->tested, u64(tested));
        add_to(&sum->discarded, u64(discarded));
    }
}
