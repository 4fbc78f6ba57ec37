// The colour kernel: a job is some units of a row set, counted by the threads of a block together.
//
// A board has two forms. In the first one *own* columns are the even ones, black is the first colour and white the second.
// Transposed, own columns are the odd ones, white is the first colour and black the second: no list of placements, no
// counter and no sum of a unit is the same.
//
// A unit is a row set and the own columns whose queen stands on the second colour. Each colour fills rows twice: first the
// *own* rows, whose queens stand in own columns, exactly those of the unit (second colour) or all others (first); then
// the rows that are *left*, whose queens stand in the other columns. For each placement of the first colour the counter of
// the other columns that it takes is raised. The counters are multiplied by the weights of their columns. Then for each
// placement of the second colour, the counter of the columns that it leaves is the number of solutions.
//
// The placements of a colour take the same number of other columns. So the other bits tell the first one, and a
// counter has half the index of its columns. Counters have 16 bits, two in a word. A counter that overflows makes
// the sum of all smaller than the number of placements counted, and the host compares the two.

#pragma once

#include "colour_own.h"

/// Units to count together: the next `count` words of own columns from `first` on, of those with as many bits.
struct QF_JOB ColourJob {
    /// Which row set they are of; `count` and `first` are not 0.
    u32 set, first, count, unused;
};

/// What the jobs of a row set gave together.
struct ColourSums {
    /// Solutions, each as often as its weight says.
    u64 solutions;
    /// Placements of the first colour, and what the counters held before they were weighed: the same number.
    u64 first, held;
    /// Placements of the second colour.
    u64 second;
};

/// Units that are counted at a time, at most: so many numbers fit above QF_UNIT.
#define QF_MOST_UNITS (1u << (32u - QF_UNIT))

/// Rows of a colour, at most: own rows and rows left are at most 12 each, and on boards of odd size there is one more of the
/// one or of the other.
#define QF_COLOUR_ROWS 23u

/// Words of a row set: the board, the class of the rows, a byte each for the numbers of own rows and rows left, and the
/// rows themselves, own ones first; of the first colour and then of the second one.
#define QF_SET_HEAD 3u
#define QF_SET_WORDS (QF_SET_HEAD + 2u * QF_COLOUR_ROWS)

// The board: the numbers of own and of other columns in a byte each, then these flags.
#define QF_EVEN_SIZE (1u << 16)
#define QF_ORIENTED (1u << 17)
#define QF_MIRRORED (1u << 18)
#define QF_TRANSPOSED (1u << 19)

/// Words of shared memory of a warp: the buffers of all levels, and for each lane half a word for each row that it
/// searches after those of a beginning. A multiple of 8.
QF_INLINE constexpr u32 colour_warp_words() {
    const u32 halves = (QF_COLOUR_ROWS - QF_TOP - QF_BEGINNING) * QF_LANES;
    return (words_below(QF_TOP + 1u) + (halves + 1u) / 2u + 7u) / 8u * 8u;
}

/// What the threads of a block share besides, at the beginning of its memory. Its counters are those of one unit of the
/// largest board that it counts, at least.
template <u32 Counters>
struct ColourBlock {
    /// The job under way, and which row set it is of.
    u32 job, of_set;
    /// Twice the number of warps.
    u32 parts;
    /// The next word of own columns, and how many are left of the job.
    u32 next, left;
    /// Units being counted; 0 after the last ones.
    u32 units;
    /// How many beginnings of own rows are taken, of each colour.
    u32 taken[2];
    /// What the job has given so far.
    ColourSums found;
    /// The own columns of each unit, and its weights.
    u32 columns[QF_MOST_UNITS], weights[QF_MOST_UNITS];
    u32 reciprocals[QF_RECIPROCALS];
    /// The row set.
    u32 set[QF_SET_WORDS];
    /// For each colour, and pairs of rows of the levels: the multiplier that makes what a queen in the first row attacks
    /// in the second one.
    u32 attacks[2][QF_PAIRS];
    u32 counters[Counters / 2u];
};

// ---------------------------------------------------------------------------------------------- weights

/// The first `lines` bits of a word in reverse order.
QF_INLINE u32 backwards(u32 word, u32 lines) { return reversed_bits(word) >> (32u - lines); }

/// The rank of a word of own or other columns: the same for its images under the reflections.
QF_INLINE u32 rank_of(u32 board, u32 word, bool is_other) {
    const u32 lines = board >> (is_other ? 8 : 0) & 0xffu;
    if (!(board & QF_EVEN_SIZE))
        return smaller(word, backwards(word, lines));
    const u32 of_odd = is_other == !(board & QF_TRANSPOSED) ? backwards(word, lines) : word;
    return smaller(of_odd, ((1u << lines) - 1u) & ~of_odd);
}

// Weights by the rank of the other columns: below a threshold (in the upper half) the lowest four bits, at the threshold
// the next ones, above it 0.
QF_INLINE u32 weights_of(u32 threshold, u32 below, u32 at) {
    return threshold << 16 | at << 4 | below;
}

QF_INLINE u32 weight_of(u32 weights, u32 rank) {
    const u32 threshold = weights >> 16;
    return rank < threshold ? weights & 15u : rank == threshold ? weights >> 4 & 15u : 0u;
}

/// How often one of two images of each other counts: twice if it is the smaller, once if it is both.
QF_INLINE u32 as_often(u32 own, u32 other) { return own < other ? 2u : own == other ? 1u : 0u; }

/// The weights of the unit of these own columns; 0 if it does not count. `weights` in colour/counter.rs says why.
QF_INLINE u32 unit_weights(u32 board, u32 rows_class, u32 unit) {
    const u32 word = board & QF_TRANSPOSED ? ((1u << (board & 0xffu)) - 1u) & ~unit : unit;
    u32 times = 1;
    if (!(board & QF_EVEN_SIZE) && board & QF_MIRRORED) {
        times = as_often(word, backwards(word, board & 0xffu));
        if (times == 0)
            return 0;
    }
    if (!(board & QF_ORIENTED))
        return weights_of(0xffffu, times, times);
    const u32 first = rows_class & 0xffffu, second = rows_class >> 16;
    const u32 rank = rank_of(board, word, false);
    if (board & QF_EVEN_SIZE || !(board & QF_TRANSPOSED)) {
        if (rank > first)
            return 0;
        if (rank == first)
            return weights_of(second, 2u * times, times);
    }
    if (board & (QF_EVEN_SIZE | QF_TRANSPOSED))
        return weights_of(first, 2u * times, as_often(rank, second) * times);
    return weights_of(0xffffu, 2u * times, 2u * times);
}

/// The next word with as many bits.
QF_INLINE u32 next_word(u32 word) {
    const u32 lowest = lowest_bit(word), up = word + lowest;
    return up | (up ^ word) >> 2 >> zeros_below(lowest);
}

/// Chooses the next units of the job that count, as many as the counters have room for.
template <u32 Counters>
QF_INLINE void choose_units(ColourBlock<Counters> &block) {
    const u32 board = block.set[0], own = board & 0xffu, others = board >> 8 & 0xffu;
    const u32 room = smaller(Counters >> (others - 1u), QF_MOST_UNITS);
    u32 units = 0, next = block.next, left = block.left;
    while (units < room && left > 0 && next >> own == 0) {
        const u32 weights = unit_weights(board, block.set[1], next);
        if (weights != 0) {
            block.columns[units] = next;
            block.weights[units] = weights;
            units++;
        }
        next = next_word(next);
        left--;
    }
    block.next = next;
    block.left = left;
    block.units = units;
    block.taken[0] = block.taken[1] = 0;
}

// ------------------------------------------------------------------------------------------- a colour

/// Adds what the lanes of a warp have found.
QF_INLINE void tell(u64 &sum, u64 found, bool is_first_lane) {
    found = sum_of_warp(found);
    if (is_first_lane)
        add_to(&sum, found);
}

/// The numbers of own rows and of rows left of a colour, and where its rows are.
template <u32 Counters>
QF_INLINE const u32 *rows_in_set(const ColourBlock<Counters> &block, bool is_second, u32 &own, u32 &left) {
    const u32 counts = block.set[2] >> (is_second ? 16u : 0u);
    own = counts & 0xffu;
    left = counts >> 8 & 0xffu;
    return block.set + QF_SET_HEAD + (is_second ? QF_COLOUR_ROWS : 0u);
}

/// The rows of a colour.
template <bool IsSecond, u32 Counters>
QF_INLINE ColourRows rows_of(ColourBlock<Counters> &block, Place places) {
    const u32 board = block.set[0];
    ColourRows rows;
    u32 left;
    rows.all = rows_in_set(block, IsSecond, rows.own_count, left);
    rows.level_count = same_for_all(smaller(left, QF_TOP));
    rows.searched = rows.own_count + left - rows.level_count;
    rows.of_levels = rows.all + rows.searched;
    rows.units = block.columns;
    rows.all_own = (1u << (board & 0xffu)) - 1u;
    rows.others = board >> 8 & 0xffu;
    rows.all_others = (1u << rows.others) - 1u;
    rows.begun = 0;
    rows.of_unit = 1;
    rows.beginnings = block.units;
    while (rows.begun < rows.own_count &&
           (rows.begun < QF_BEGINNING || rows.beginnings < QF_BEGINNINGS / 2u * block.parts)) {
        rows.of_unit *= rows.own_count - rows.begun;
        rows.beginnings = block.units * rows.of_unit;
        rows.begun++;
    }
    rows.reciprocal_of_unit = reciprocal(rows.of_unit);
    rows.reciprocals = block.reciprocals;
    rows.taken = &block.taken[IsSecond ? 1u : 0u];
    rows.parts = block.parts;
    rows.places = places;
    return rows;
}

/// The part of a warp in the placements of a colour.
template <bool IsSecond, u32 Counters>
QF_INLINE void count_colour(ColourWarp &warp, ColourBlock<Counters> &block, Place places) {
    const ColourRows rows = rows_of<IsSecond>(block, places);
    warp.attacks = place_of(block.attacks[IsSecond ? 1u : 0u]);
    warp.placements = 0;
    warp.solutions = 0;
    ColourNode<QF_TOP> node;
    clear(node);
    ColourSource source = {0, 0, 0, QF_NOWHERE, 0, 0, false, 0, 0, 0};
    bool more = true, is_end;
    do {
        const u32 before = waiting_at(node, rows.level_count);
        u32 waiting = before;
        is_end = begin_nodes<IsSecond>(source, rows, warp.buffers, more, waiting, warp.placements);
        add_waiting(node, rows.level_count, waiting - before);
        // At the end, each level is worked on until nothing is left there.
        u32 top = rows.level_count;
        do {
            work_through<IsSecond>(warp, node, top, is_end ? QF_LANES - 1u : 0u);
            top--;
        } while (is_end && top > 0);
    } while (!is_end);
}

/// Multiplies the counters by the weights of their columns. Returns what they held; less if one was so large that
/// it may not be multiplied.
template <u32 Counters>
QF_INLINE u64 weigh(ColourBlock<Counters> &block, u32 thread, u32 threads) {
    const u32 board = block.set[0], others = board >> 8 & 0xffu, all = (1u << others) - 1u;
    // White leaves what black takes.
    const u32 flips = board & QF_TRANSPOSED ? 0u : all, too_large = board & QF_EVEN_SIZE ? 0x80008000u : 0xc000c000u;
    const u32 rows_left = block.set[2] >> 8 & 0xffu;
    u64 held = 0;
    for (u32 at = thread; at < block.units << (others - 1u) >> 1; at += threads) {
        const u32 word = block.counters[at];
        if (word == 0)
            continue;
        if ((word & too_large) == 0)
            held += (word & 0xffffu) + (word >> 16);
        u32 weighed = 0;
        QF_UNROLL
        for (u32 part = 0; part < 2u; part++) {
            const u32 counter = 2u * at + part, unit = counter >> (others - 1u);
            const u32 rest = 2u * counter & all;
            // The first column is taken if the others are not as many as the rows.
            const u32 taken = rest | ((bits_of(rest) ^ rows_left) & 1u);
            const u32 rank = rank_of(board, taken ^ flips, true);
            const u32 value = word >> 16u * part & 0xffffu;
            weighed |= (value * weight_of(block.weights[unit], rank) & 0xffffu) << 16u * part;
        }
        block.counters[at] = weighed;
    }
    return held;
}

/// Sets for both colours the multipliers of the rows of the levels.
template <u32 Counters>
QF_INLINE void set_attacks(ColourBlock<Counters> &block, u32 thread, u32 threads) {
    for (u32 at = thread; at < 2u * QF_TOP * QF_TOP; at += threads) {
        const u32 colour = at / (QF_TOP * QF_TOP), first = at / QF_TOP % QF_TOP + 1u, second = at % QF_TOP + 1u;
        u32 own, left;
        const u32 *end = rows_in_set(block, colour == 1u, own, left) + own + left;
        if (first <= second || first > left)
            continue;
        const u32 a = falling_of(*(end - first)), b = falling_of(*(end - second)), gap = a < b ? b - a : a - b;
        block.attacks[colour][pair_of(first, second)] =
            1u << QF_BASE | 1u << (QF_BASE - gap) | 1u << (QF_BASE + gap);
    }
}

/// Runs one thread of a block until no job is left to take. `warp_memory` is that of its warp.
template <u32 Counters>
QF_INLINE void colour_thread(const ColourJob *jobs, u32 job_count, const u32 *sets, ColourSums *sums,
                             Progress *progress, ColourBlock<Counters> &block, u32 *warp_memory,
                             u32 thread, u32 threads) {
    const u32 lane = thread % QF_LANES;
    const Place places = place_of(warp_memory) + 4u * words_below(QF_TOP + 1u) + 2u * lane;
    ColourWarp warp;
    warp.buffers = place_of(warp_memory);
    warp.counters = place_of(block.counters);
    // Those who need them meet before.
    for (u32 at = thread; at < QF_RECIPROCALS; at += threads)
        block.reciprocals[at] = at == 0 ? 0u : reciprocal(at);
    for (;;) {
        // Since all have looked at the last job, they have met.
        if (thread == 0)
            block.job = take_number(&progress->next_job);
        meet_block();
        if (block.job >= job_count)
            return;
        if (thread == 0) {
            const ColourJob job = jobs[block.job];
            block.of_set = job.set;
            block.parts = 2u * threads / QF_LANES;
            block.next = job.first;
            block.left = job.count;
            block.found = {0, 0, 0, 0};
        }
        meet_block();
        const u32 *set = sets + u64(block.of_set) * QF_SET_WORDS;
        for (u32 at = thread; at < QF_SET_WORDS; at += threads)
            block.set[at] = set[at];
        meet_block();
        set_attacks<Counters>(block, thread, threads);
        for (;;) {
            if (thread == 0)
                choose_units<Counters>(block);
            for (u32 at = thread; at < Counters / 2u; at += threads)
                block.counters[at] = 0;
            meet_block();
            if (block.units == 0)
                break;
            count_colour<false>(warp, block, places);
            tell(block.found.first, warp.placements, lane == 0);
            meet_block();
            tell(block.found.held, weigh<Counters>(block, thread, threads), lane == 0);
            meet_block();
            count_colour<true>(warp, block, places);
            tell(block.found.second, warp.placements, lane == 0);
            tell(block.found.solutions, warp.solutions, lane == 0);
            meet_block();
        }
        if (thread == 0) {
            ColourSums *to = sums + block.of_set;
            add_to(&to->solutions, block.found.solutions);
            add_to(&to->first, block.found.first);
            add_to(&to->held, block.found.held);
            add_to(&to->second, block.found.second);
            add_to(&progress->jobs_done, 1u);
        }
    }
}
