// The colour kernel: a job is some units of a row set, counted by the threads of a block together.
//
// A unit is a row set and the even columns whose queen stands on white. Each colour fills rows twice: first the
// *own* rows, whose queens stand in even columns, exactly those of the unit (white) or all others (black); then
// the rows that are *left*, whose queens stand in odd columns. Black comes first: for each of its placements the
// counter of the odd columns that it takes is raised. The counters are multiplied by the weights of their columns.
// Then white: for each of its placements, the counter of the columns that it leaves is the number of solutions.
//
// Own rows are few and have few placements, so each lane searches some of them by itself (`Source`). The rows
// that are left take nearly all of the time, and there a warp works by levels. A *node* of level m has m rows to
// fill: it consists of the columns that are taken, below the number of the unit, and of the free squares of each
// of these rows. Each lane keeps one node of every level in registers. Its children go to the level's buffer in
// shared memory, and a lane whose node has no free square left takes a node from there. A level is worked on as
// long as its buffer fills all lanes; when the buffer below is full, that level comes first. So lanes are idle
// at the end of a colour alone.
//
// Free squares lie in the bits from QF_BASE on, so that one multiplication makes the three squares that a queen
// attacks in another row: what it moves below the base is not free anyway, what it moves above is cut off.
//
// The placements of a colour take the same number of odd columns. So the other bits tell the first one, and a
// counter has half the index of its columns. Counters have 16 bits, two in a word. A counter that overflows makes
// the sum of all smaller than the number of placements counted, and the host compares the two.

#pragma once

#include "block.h"

/// Units to count together: the next `count` words of even columns from `first` on, of those with as many bits.
struct QF_JOB ColourJob {
    /// Which row set they are of; `count` and `first` are not 0.
    u32 set, first, count, unused;
};

/// What the jobs of a row set gave together.
struct ColourSums {
    /// Solutions, each as often as its weight says.
    u64 solutions;
    /// Placements on black, and what the counters held before they were weighed: the same number.
    u64 black, held;
    /// Placements on white.
    u64 white;
};

/// Where free squares begin in a word.
#define QF_BASE 15u
#define QF_SQUARES 0x7fff8000u

/// So many nodes must wait in the buffer of a level before it is worked on.
#define QF_DEEP 32u
/// Nodes that it has room for: each lane adds one child at most in a step.
#define QF_BUFFER (QF_DEEP + QF_LANES)

/// Units that are counted at a time, at most.
#define QF_MOST_UNITS 16u

/// Rows of a beginning, from which a lane searches own rows.
#define QF_BEGINNING 3u

/// Words of a placement on own rows that a lane hands to another one.
#define QF_HANDED 2u

/// Lists of rows in a row set: own rows and rows left, of black and of white.
#define QF_LISTS 4u

/// Counters of a block: those of one unit of the largest board at least.
QF_INLINE constexpr u32 colour_counters(u32 rows) { return rows > 10u ? 8192u : 4096u; }

/// Rows of a list, at most: boards of odd size have one own row more than rows left.
QF_INLINE constexpr u32 colour_list(u32 rows) { return rows + 1u; }

/// Words of a row set: the board, the class of the rows, the numbers of rows of the lists, and the lists.
QF_INLINE constexpr u32 colour_set_words(u32 rows) { return 3u + QF_LISTS * colour_list(rows); }

// The board: the numbers of even and of odd lines in a byte each, then these flags.
#define QF_EVEN_SIZE (1u << 16)
#define QF_ORIENTED (1u << 17)
#define QF_MIRRORED (1u << 18)

// A row: how far diagonals by column - row and by column + row are shifted to become its squares, five bits each;
// and from bit 16 on the squares on which queens may stand.
QF_INLINE u32 falling_of(u32 row) { return row & 31u; }
QF_INLINE u32 rising_of(u32 row) { return row >> 5 & 31u; }
QF_INLINE u32 open_of(u32 row) { return row >> 16; }

/// Words of a node: columns and the first row, then two rows each.
QF_INLINE constexpr u32 node_words(u32 rows) { return (rows + 2u) / 2u; }

/// Where the buffer of a level begins: after a node for each lane without free squares, which lanes take when
/// there is no other.
QF_INLINE constexpr u32 buffer_begin(u32 rows) {
    return rows <= 1u ? QF_LANES
                      : buffer_begin(rows - 1u) + node_words(rows - 1u) * QF_BUFFER + QF_LANES;
}

/// Words of shared memory of a warp: the buffers of all levels but the first, the placements on own rows that lanes
/// hand to others, and for each lane its places in the own rows after those of a beginning.
QF_INLINE constexpr u32 colour_warp_words(u32 rows) {
    return buffer_begin(rows) + QF_HANDED * QF_LANES + (colour_list(rows) - QF_BEGINNING) * QF_LANES;
}

/// What the threads of a block share besides, at the beginning of its memory.
template <u32 Rows>
struct ColourBlock {
    /// The job under way, and which row set it is of.
    u32 job, of_set;
    /// Twice the number of warps.
    u32 parts;
    /// The next word of even columns, and how many are left of the job.
    u32 next, left;
    /// Units being counted; 0 after the last ones.
    u32 units;
    /// How many beginnings of own rows are taken, of black and of white.
    u32 taken[2];
    /// What the job has given so far.
    ColourSums found;
    /// The even columns of each unit, and its weights.
    u32 columns[QF_MOST_UNITS], weights[QF_MOST_UNITS];
    /// The row set.
    u32 set[colour_set_words(Rows)];
    /// For black and white, and two of the rows left, each by its number from the last one: the multiplier that
    /// makes what a queen attacks in the second one.
    u32 attacks[2][(Rows + 1u) * (Rows + 1u)];
    u32 counters[colour_counters(Rows) / 2u];
};

// ---------------------------------------------------------------------------------------------- weights

/// The first `lines` bits of a word in reverse order.
QF_INLINE u32 backwards(u32 word, u32 lines) { return reversed_bits(word) >> (32u - lines); }

QF_INLINE u32 smaller(u32 a, u32 b) { return a < b ? a : b; }

/// The rank of a word of columns: the same for its images under the reflections.
QF_INLINE u32 rank_of(u32 board, u32 word, bool odd) {
    const u32 lines = board >> (odd ? 8 : 0) & 0xffu;
    if (!(board & QF_EVEN_SIZE))
        return smaller(word, backwards(word, lines));
    const u32 own = odd ? backwards(word, lines) : word;
    return smaller(own, ((1u << lines) - 1u) & ~own);
}

// Weights by the rank of the odd columns: below a threshold (in the upper half) the lowest four bits, at the threshold
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

/// The weights of the unit of these even columns; 0 if it does not count. `weights` in colour/counter.rs says why.
QF_INLINE u32 unit_weights(u32 board, u32 rows_class, u32 word) {
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
    if (rank > first)
        return 0;
    if (rank == first)
        return weights_of(second, 2u * times, times);
    if (board & QF_EVEN_SIZE)
        return weights_of(first, 2u * times, as_often(rank, second) * times);
    return weights_of(0xffffu, 2u * times, 2u * times);
}

/// The next word with as many bits.
QF_INLINE u32 next_word(u32 word) {
    const u32 lowest = word & (0u - word), up = word + lowest;
    return up | (up ^ word) >> 2 >> zeros_below(lowest);
}

/// Chooses the next units of the job that count, as many as the counters have room for.
template <u32 Rows>
QF_INLINE void choose_units(ColourBlock<Rows> &block) {
    const u32 board = block.set[0], even = board & 0xffu, odd = board >> 8 & 0xffu;
    const u32 room = smaller(colour_counters(Rows) >> (odd - 1u), QF_MOST_UNITS);
    u32 units = 0, next = block.next, left = block.left;
    while (units < room && left > 0 && next >> even == 0) {
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

// -------------------------------------------------------------------------------------- rows that are left

template <u32 M>
struct ColourNode {
    /// The odd columns taken (white: left), below the number of the unit.
    u32 columns;
    /// The free squares of each row to fill.
    u32 free[M];
    ColourNode<M - 1u> below;
    /// Nodes of this level in the buffer.
    u32 waiting;
};
template <>
struct ColourNode<0> {};

/// What the lanes of a warp have in common, and what each of them found.
struct ColourWarp {
    u32 *buffers, *counters;
    const u32 *attacks;
    bool is_white;
    /// Placements.
    u32 placed;
    u64 solutions;
};

QF_INLINE void clear(ColourNode<0> &) {}
template <u32 M>
QF_INLINE void clear(ColourNode<M> &node) {
    node.columns = node.waiting = 0;
    QF_UNROLL
    for (u32 row = 0; row < M; row++)
        node.free[row] = 0;
    clear(node.below);
}

/// Adds the living children of the lanes to the buffer of their level.
template <u32 M>
QF_INLINE void keep(ColourWarp &warp, ColourNode<M> &level, bool alive, u32 columns, const u32 *free) {
    const u32 living = vote(alive);
    u32 *to = warp.buffers + buffer_begin(M) + level.waiting + bits_of(living & lanes_below());
    if (alive) {
        to[0] = columns | free[0] << 1;
    QF_UNROLL
        for (u32 row = 1; row < M; row += 2u)
            to[(row + 1u) / 2u * QF_BUFFER] =
                free[row] >> QF_BASE | (row + 1u < M ? free[row + 1u] << 1 : 0u);
    }
    level.waiting += bits_of(living);
    meet_warp();
}

/// Gives each of the `idle` lanes, `empty` by their bits, a node of the buffer, the last one first.
template <u32 M>
QF_INLINE void refill(ColourWarp &warp, ColourNode<M> &level, u32 empty, u32 idle) {
    if (level.free[0] == 0) {
        const int at = static_cast<int>(level.waiting) - 1 - static_cast<int>(bits_of(empty & lanes_below()));
        const u32 *from = warp.buffers + static_cast<int>(buffer_begin(M)) + at;
        u32 word = from[0];
        level.columns = word & 0xffffu;
        level.free[0] = M == 1u ? word >> 16 : word >> 1 & QF_SQUARES;
    QF_UNROLL
        for (u32 row = 1; row < M; row += 2u) {
            word = from[(row + 1u) / 2u * QF_BUFFER];
            level.free[row] = word << QF_BASE & QF_SQUARES;
            if (row + 1u < M)
                level.free[row + 1u] = word >> 1 & QF_SQUARES;
        }
    }
    level.waiting = level.waiting > idle ? level.waiting - idle : 0;
    // The next children may take the places that were read. Other levels meet when they keep their own children.
    if constexpr (M == 1u)
        meet_warp();
}

/// A placement on all rows of the colour.
QF_INLINE void complete(ColourWarp &warp, u32 columns, bool is_one) {
    if (!is_one)
        return;
    const u32 counter = columns >> 1;
    warp.placed++;
    if (warp.is_white)
        warp.solutions += half_at(warp.counters, counter);
    else
        add_in_block(warp.counters + counter / 2u, 1u << 16u * (counter % 2u));
}

template <u32 M>
QF_INLINE void work_through(ColourWarp &warp, ColourNode<M> &level, u32 stride, bool to_the_end);

/// Places a queen in the first row of each lane's node. At the end of this level there is none: then the levels
/// below are worked through.
template <u32 M>
QF_INLINE void place(ColourWarp &warp, ColourNode<M> &level, u32 stride, bool is_end) {
    if constexpr (M == 1u) {
        // Two at a time: nodes with one free square alone do not come here.
    QF_UNROLL
        for (u32 time = 0; time < 2u; time++) {
            const u32 queen = level.free[0] & (0u - level.free[0]);
            level.free[0] ^= queen;
            complete(warp, level.columns ^ queen, queen != 0);
        }
    } else {
        if (!is_end) {
            u32 queen = level.free[0] & (0u - level.free[0]), free[M - 1u];
            level.free[0] ^= queen;
            bool alive = queen != 0;
            queen >>= QF_BASE;
    QF_UNROLL
            for (u32 row = 0; row < M - 1u; row++) {
                free[row] = level.free[row + 1u] & ~(queen * warp.attacks[M * stride + M - 1u - row]);
                alive = alive && free[row] != 0;
            }
            const u32 columns = queen ^ level.columns;
            if (M == 2u) {
                // The first placement at once, so that nodes with one alone need no place in the buffer.
                const u32 last = free[0] & (0u - free[0]);
                complete(warp, columns ^ last >> QF_BASE, alive);
                free[0] ^= last;
                alive = alive && free[0] != 0;
            }
            keep<M - 1u>(warp, level.below, alive, columns, free);
        }
        if (is_end || level.below.waiting >= QF_DEEP)
            work_through<M - 1u>(warp, level.below, stride, is_end);
    }
}

/// Works on a level as long as its buffer fills all lanes; to the end, until nothing is left here and below.
template <u32 M>
QF_INLINE void work_through(ColourWarp &warp, ColourNode<M> &level, u32 stride, bool to_the_end) {
    for (;;) {
        const u32 empty = vote(level.free[0] == 0), idle = bits_of(empty);
        const bool is_end = idle == level.waiting + QF_LANES;
        if (idle > level.waiting && !to_the_end)
            return;
        if (is_end && M == 1u)
            return;
        if (!is_end)
            refill<M>(warp, level, empty, idle);
        place<M>(warp, level, stride, is_end);
        if (is_end)
            return;
    }
}

// ------------------------------------------------------------------------------------------- own rows

/// A lane's search for placements on the own rows of a colour: depth first from a beginning, the queens of the first
/// two rows.
struct ColourSource {
    /// The columns left to take, and the diagonals taken.
    u32 left, falling, rising;
    /// The row whose queen is placed next or moved; QF_NOWHERE without a beginning.
    u32 row;
    u32 unit;
    /// Whether all own rows are filled. The search waits until the placement is taken.
    bool is_full;
};
#define QF_NOWHERE 0xffu

/// Where the number of a unit begins in a word with diagonals: there are no more of them on the largest board.
#define QF_UNIT 28u

/// The own rows of a colour.
struct ColourOwn {
    const u32 *rows;
    u32 count;
};

QF_INLINE u32 free_squares(const ColourSource &source, u32 row) {
    return open_of(row) & source.left &
           ~(source.falling >> falling_of(row) | source.rising >> rising_of(row));
}

QF_INLINE void turn(ColourSource &source, u32 row, u32 queen) {
    source.left ^= queen;
    source.falling ^= queen << falling_of(row);
    source.rising ^= queen << rising_of(row);
}

/// Bit number `index` of those that are set in a word.
QF_INLINE u32 bit_number(u32 word, u32 index) {
    QF_ONE_BY_ONE
    for (; index > 0; index--)
        word &= word - 1u;
    return word & (0u - word);
}

/// Beginnings of a unit: ways to choose the columns of the first rows, one after the other.
QF_INLINE u32 beginnings(u32 own) {
    u32 all = 1;
    for (u32 row = 0; row < QF_BEGINNING && row < own; row++)
        all *= own - row;
    return all;
}

/// Begins with the columns `number` of those left. Returns whether the own rows are filled by it.
QF_INLINE bool begin(ColourSource &source, ColourOwn own, u32 number, u32 *places) {
    source.falling = source.rising = 0;
    QF_ONE_BY_ONE
    for (u32 row = 0; row < QF_BEGINNING && row < own.count; row++) {
        const u32 choices = own.count - row, queen = bit_number(source.left, number % choices);
        if (!(queen & free_squares(source, own.rows[row])))
            return false;
        turn(source, own.rows[row], queen);
        number /= choices;
    }
    if (own.count <= QF_BEGINNING)
        return true;
    source.row = QF_BEGINNING;
    places[0] = free_squares(source, own.rows[QF_BEGINNING]);
    return false;
}

/// One step of the search: the queen of the row moves to its next square, or leaves. Returns whether all own rows are
/// filled then. `places` holds for each row the squares still to try, and from bit 16 on its queen.
QF_INLINE bool go_on(ColourSource &source, ColourOwn own, u32 *places) {
    places += (source.row - QF_BEGINNING) * QF_LANES;
    const u32 place = *places, free = place & 0xffffu, queen = free & (0u - free);
    turn(source, own.rows[source.row], queen ^ place >> 16);
    *places = (free ^ queen) | queen << 16;
    const u32 next = queen != 0 ? source.row + 1u : source.row == QF_BEGINNING ? QF_NOWHERE : source.row - 1u;
    if (next == own.count)
        return true;
    source.row = next;
    if (queen != 0)
        places[QF_LANES] = free_squares(source, own.rows[next]);
    return false;
}

// ------------------------------------------------------------------------------------------- a colour

/// Adds what the lanes of a warp have found.
QF_INLINE void tell(u64 &sum, u64 found, bool is_first_lane) {
    found = sum_of_warp(found);
    if (is_first_lane)
        add_to(&sum, found);
}

/// The part of a thread in the placements of a colour with M rows left.
template <u32 M, u32 Rows>
QF_INLINE void count_colour(ColourWarp &warp, ColourBlock<Rows> &block, u32 *places) {
    const u32 board = block.set[0], even = board & 0xffu, odd = board >> 8 & 0xffu;
    const u32 colour = warp.is_white ? 1u : 0u;
    const u32 *lists = block.set + 3u + 2u * colour * colour_list(Rows);
    const ColourOwn own = {lists, block.set[2] >> 16u * colour & 0xffu};
    const u32 *rows_left = lists + colour_list(Rows);
    const u32 all_even = (1u << even) - 1u, all_odd = (1u << odd) - 1u;
    const u32 of_unit = beginnings(own.count), all = block.units * of_unit;

    u32 *handed = warp.buffers + buffer_begin(Rows);

    ColourNode<M> level;
    clear(level);
    ColourSource source = {0, 0, 0, QF_NOWHERE, 0, false};
    bool more = true;
    for (;;) {
        const bool is_empty = level.free[0] == 0;
        const u32 empty = vote(is_empty), wanted = bits_of(empty);
        // To search for a few lanes alone takes as long as for all of them.
        if (2u * wanted >= QF_LANES) {
            u32 full;
            for (;;) {
                full = vote(source.is_full);
                if (bits_of(full) >= wanted)
                    break;
                const u32 idle = vote(!source.is_full && source.row == QF_NOWHERE);
                const bool is_over = bits_of(idle) + bits_of(full) == QF_LANES;
                if (more && (is_over || 4u * bits_of(idle) >= QF_LANES)) {
                    u32 first = 0, some = 0;
                    if (lanes_below() == 0) {
                        // Fewer and fewer, so that all warps end together.
                        const u32 taken = smaller(number_in(&block.taken[colour]), all);
                        some = smaller(bits_of(idle), (all - taken) / block.parts + 1u);
                        first = add_in_block(&block.taken[colour], some);
                    }
                    first = of_first_lane(first);
                    some = of_first_lane(some);
                    more = first + some < all;
                    const u32 own_number = bits_of(idle & lanes_below()), number = first + own_number;
                    if (!source.is_full && source.row == QF_NOWHERE && own_number < some && number < all) {
                        source.unit = number / of_unit;
                        source.left = block.columns[source.unit];
                        if (!warp.is_white)
                            source.left ^= all_even;
                        source.is_full = begin(source, own, number % of_unit, places);
                    }
                } else if (is_over)
                    break;
                if (!source.is_full && source.row != QF_NOWHERE)
                    source.is_full = go_on(source, own, places);
            }
            const u32 to = bits_of(full & lanes_below()), from = bits_of(empty & lanes_below());
            if (source.is_full && to < wanted) {
                handed[to] = source.falling | source.unit << QF_UNIT;
                handed[QF_LANES + to] = source.rising;
                source.is_full = false;
            }
            meet_warp();
            if (is_empty && from < bits_of(full)) {
                const u32 falling = handed[from] & ((1u << QF_UNIT) - 1u), rising = handed[QF_LANES + from];
                bool alive = true;
    QF_UNROLL
                for (u32 row = 0; row < M; row++) {
                    const u32 squares = rows_left[row];
                    const u32 free = open_of(squares) &
                                     ~(falling >> falling_of(squares) | rising >> rising_of(squares));
                    level.free[row] = free << (M == 1u ? 0u : QF_BASE);
                    alive = alive && free != 0;
                }
                level.columns = handed[from] >> QF_UNIT << odd | (warp.is_white ? all_odd : 0u);
                if (!alive)
                    level.free[0] = 0;
            }
            meet_warp();
        }
        const u32 left = bits_of(vote(level.free[0] == 0));
        if (2u * left >= QF_LANES && (more || vote(source.is_full || source.row != QF_NOWHERE) != 0))
            continue;
        const bool is_end = left == QF_LANES;
        place<M>(warp, level, Rows + 1u, is_end);
        if (is_end)
            return;
    }
}

template <u32 M, u32 Rows>
QF_INLINE void count_colour_of(u32 rows, ColourWarp &warp, ColourBlock<Rows> &block, u32 *places) {
    if (rows == M)
        count_colour<M, Rows>(warp, block, places);
    else if constexpr (M > 1u)
        count_colour_of<M - 1u, Rows>(rows, warp, block, places);
}

/// Multiplies the counters by the weights of their columns. Returns what they held; less if one was so large that
/// it may not be multiplied.
template <u32 Rows>
QF_INLINE u64 weigh(ColourBlock<Rows> &block, u32 thread, u32 threads) {
    const u32 board = block.set[0], odd = board >> 8 & 0xffu, all_odd = (1u << odd) - 1u;
    const u32 rows_left = block.set[2] >> 8 & 0xffu;
    u64 held = 0;
    for (u32 at = thread; at < block.units << (odd - 1u) >> 1; at += threads) {
        const u32 word = block.counters[at];
        if (word == 0)
            continue;
        if ((word & 0xc000c000u) == 0)
            held += (word & 0xffffu) + (word >> 16);
        u32 weighed = 0;
    QF_UNROLL
        for (u32 part = 0; part < 2u; part++) {
            const u32 counter = 2u * at + part, unit = counter >> (odd - 1u);
            const u32 others = 2u * counter & all_odd;
            // The first column is taken if the others are not as many as the rows.
            const u32 black = others | ((bits_of(others) ^ rows_left) & 1u);
            const u32 rank = rank_of(board, all_odd & ~black, true);
            const u32 value = word >> 16u * part & 0xffffu;
            weighed |= (value * weight_of(block.weights[unit], rank) & 0xffffu) << 16u * part;
        }
        block.counters[at] = weighed;
    }
    return held;
}

/// Sets for both colours the multipliers of their rows.
template <u32 Rows>
QF_INLINE void set_attacks(ColourBlock<Rows> &block, u32 thread, u32 threads) {
    const u32 stride = Rows + 1u, all = stride * stride;
    for (u32 at = thread; at < 2u * all; at += threads) {
        const u32 colour = at / all, one = at % all / stride, other = at % stride;
        const u32 left = block.set[2] >> (16u * colour + 8u) & 0xffu;
        const u32 *rows = block.set + 3u + (2u * colour + 1u) * colour_list(Rows);
        u32 attacks = 0;
        if (other >= 1u && one > other && one <= left) {
            const u32 a = falling_of(rows[left - one]), b = falling_of(rows[left - other]);
            const u32 gap = a < b ? b - a : a - b;
            attacks = 1u << QF_BASE | 1u << (QF_BASE - gap) | 1u << (QF_BASE + gap);
        }
        block.attacks[colour][at % all] = attacks;
    }
}

/// Runs one thread of a block until no job is left to take. `warp_memory` is that of its warp.
template <u32 Rows>
QF_INLINE void colour_thread(const ColourJob *jobs, u32 job_count, const u32 *sets, ColourSums *sums,
                             Progress *progress, ColourBlock<Rows> &block, u32 *warp_memory,
                             u32 thread, u32 threads) {
    const u32 lane = thread % QF_LANES;
    u32 *places = warp_memory + buffer_begin(Rows) + QF_HANDED * QF_LANES + lane;
    ColourWarp warp;
    warp.buffers = warp_memory;
    warp.counters = block.counters;
    for (u32 at = lane; at < buffer_begin(Rows); at += QF_LANES)
        warp_memory[at] = 0;
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
        const u32 *set = sets + u64(block.of_set) * colour_set_words(Rows);
        for (u32 at = thread; at < colour_set_words(Rows); at += threads)
            block.set[at] = set[at];
        meet_block();
        set_attacks<Rows>(block, thread, threads);
        for (;;) {
            if (thread == 0)
                choose_units<Rows>(block);
            for (u32 at = thread; at < colour_counters(Rows) / 2u; at += threads)
                block.counters[at] = 0;
            meet_block();
            if (block.units == 0)
                break;
            for (u32 colour = 0; colour < 2u; colour++) {
                warp.is_white = colour == 1u;
                warp.attacks = block.attacks[colour];
                warp.placed = 0;
                warp.solutions = 0;
                count_colour_of<Rows, Rows>(block.set[2] >> (16u * colour + 8u) & 0xffu, warp, block,
                                            places);
                tell(warp.is_white ? block.found.white : block.found.black, warp.placed, lane == 0);
                meet_block();
                if (warp.is_white) {
                    tell(block.found.solutions, warp.solutions, lane == 0);
                } else {
                    tell(block.found.held, weigh<Rows>(block, thread, threads), lane == 0);
                    meet_block();
                }
            }
        }
        if (thread == 0) {
            ColourSums *to = sums + block.of_set;
            add_to(&to->solutions, block.found.solutions);
            add_to(&to->black, block.found.black);
            add_to(&to->held, block.found.held);
            add_to(&to->white, block.found.white);
            add_to(&progress->jobs_done, 1u);
        }
    }
}
