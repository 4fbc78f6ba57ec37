// The last rows of those that a colour has left, in the colour kernel. They take nearly all of its time, and there a warp
// works by levels.
//
// A *node* of level m has m rows to fill: it consists of the columns that are taken, below the number of the unit, and
// of the free squares of each of these rows. Each lane keeps one node of every level in registers. Its children go to
// the level's buffer in shared memory, and a lane whose node has no free square left takes a node from there. A level
// is worked on as long as enough nodes wait in its buffer; when enough wait in the buffer below, that level comes first.
// On the low levels, which take most of the time, all lanes have a node then, but for the end of a colour.
//
// The compiler knows that all lanes agree on what comes from votes: on how many nodes wait, and so on the way through
// these loops. Branches on anything else would cost three instructions more each, and registers.

#pragma once

#include "block.h"

// The free squares of a row lie in the high half of a word, so that one multiplication makes the three squares that a
// queen attacks in another row: what it moves below is not free anyway, what it moves above is cut off.
#define QF_BASE 16u
#define QF_SQUARES 0xffff0000u

/// Placements that a node with two rows left makes at once for each of its queens, of the first colour and of the second
/// one: few have more.
#define QF_AT_ONCE_FIRST 2u
#define QF_AT_ONCE_SECOND 3u

/// The highest level. What rows a colour has left before these is searched like own rows: it is few placements, and each
/// level takes registers and memory of every warp.
#define QF_TOP 8u

/// So many nodes must wait in the buffer of a level before it is worked on. High levels have large nodes and take little
/// time.
QF_INLINE constexpr u32 enough(u32 level) { return level <= 3u ? 32u : level == 4u ? 8u : level <= 6u ? 4u : 1u; }

/// Nodes that the buffer of a level has room for: each lane adds one child at most in a step.
QF_INLINE constexpr u32 room(u32 level) { return enough(level) - 1u + QF_LANES; }

/// Words of a node: columns and the first row, then two rows each.
QF_INLINE constexpr u32 node_words(u32 level) { return (level + 2u) / 2u; }

/// The words of the buffers below that of a level.
QF_INLINE constexpr u32 words_below(u32 level) {
    u32 words = 0;
    for (u32 below = 1; below < level; below++)
        words += node_words(below) * room(below);
    return words;
}

/// The node of a lane on level M, and those on the levels below.
template <u32 M>
struct ColourNode {
    /// The other columns taken (second colour: left), below the number of the unit; above them the free squares of the first
    /// row. Then two rows in each word, the first of them in the low half; a last one alone is in the high half.
    u32 words[node_words(M)];
    ColourNode<M - 1u> below;
    /// Nodes of this level in the buffer.
    u32 waiting;
};
template <>
struct ColourNode<0> {};

/// What the lanes of a warp have in common, and what each of them found.
struct ColourWarp {
    Place buffers, counters;
    /// For pairs of rows, what a queen in the first one attacks in the second one: a factor.
    Place attacks;
    u32 placements;
    u64 solutions;
};

QF_INLINE void clear(ColourNode<0> &) {}
template <u32 M>
QF_INLINE void clear(ColourNode<M> &node) {
    node.waiting = 0;
    QF_UNROLL
    for (u32 word = 0; word < node_words(M); word++)
        node.words[word] = 0;
    clear(node.below);
}

QF_INLINE u32 smaller(u32 a, u32 b) { return a < b ? a : b; }

/// A difference of small numbers, or 0 if it is negative.
QF_INLINE u32 or_zero(u32 difference) {
    return difference & ~static_cast<u32>(static_cast<int>(difference) >> 31);
}

QF_INLINE u32 lowest_bit(u32 word) { return word & (0u - word); }

/// The number of a pair of rows of the levels, each of which is numbered from the last one, 1.
QF_INLINE constexpr u32 pair_of(u32 first, u32 second) { return (first - 1u) * (first - 2u) / 2u + second - 1u; }

/// All of these pairs.
#define QF_PAIRS (QF_TOP * (QF_TOP - 1u) / 2u)

/// The free squares of a row after the first one.
template <u32 M>
QF_INLINE u32 free_squares(const ColourNode<M> &node, u32 row) {
    const u32 word = node.words[(row + 1u) / 2u];
    return row % 2u == 1u && row + 1u < M ? word << 16 : word & QF_SQUARES;
}

/// Where a node of a level's buffer is.
template <u32 M>
QF_INLINE Place in_buffer(const ColourWarp &warp, u32 number) {
    constexpr u32 begin = words_below(M);
    return warp.buffers + 4u * begin + 4u * number;
}

/// Adds the living children of the lanes to the buffer of their level.
template <u32 M>
QF_INLINE void keep(ColourWarp &warp, ColourNode<M> &level, bool alive, u32 columns, const u32 *free) {
    const u32 living = vote(alive);
    const Place to = in_buffer<M>(warp, level.waiting + bits_of(living & lanes_below()));
    set_word_if(alive, to, columns | free[0]);
    QF_UNROLL
    for (u32 row = 1; row < M; row += 2u) {
        const u32 word = row + 1u < M ? high_halves(free[row], free[row + 1u]) : free[row];
        set_word_if(alive, to + 4u * ((row + 1u) / 2u * room(M)), word);
    }
    level.waiting += bits_of(living);
    meet_warp();
}

/// Gives each of the `idle` lanes, `empty` by their bits, a node of the buffer, the last one first.
template <u32 M>
QF_INLINE void refill(ColourWarp &warp, ColourNode<M> &level, u32 empty, u32 idle) {
    const u32 before = bits_of(empty & lanes_below());
    const bool takes = (level.words[0] < 1u << QF_BASE) & (before < level.waiting);
    const Place from = in_buffer<M>(warp, level.waiting - 1u) - 4u * before;
    QF_UNROLL
    for (u32 word = 0; word < node_words(M); word++)
        take_word_if(takes, level.words[word], from + 4u * (word * room(M)));
    level.waiting = or_zero(level.waiting - idle);
    // The next children may take the places that were read. Other levels meet when they keep their own children.
    if constexpr (M == 1u)
        meet_warp();
}

/// A placement on all rows of the colour.
template <bool IsSecond>
QF_INLINE void complete(ColourWarp &warp, u32 columns, bool is_one) {
    // A counter has two bytes, and half the index of its columns.
    const Place counter = warp.counters + (columns & 0xfffeu);
    if constexpr (IsSecond)
        warp.solutions += half_if(is_one, counter);
    else
        add_word_if(is_one, counter & ~Place(3), columns & 2u ? 0x10000u : 1u);
}

/// Places a queen in the first row of each lane's node.
template <bool IsSecond, u32 M>
QF_INLINE void place(ColourWarp &warp, ColourNode<M> &level) {
    if constexpr (M == 1u) {
        // Two at a time.
        QF_UNROLL
        for (u32 time = 0; time < 2u; time++) {
            const u32 queen = lowest_bit(level.words[0] & QF_SQUARES);
            level.words[0] ^= queen;
            complete<IsSecond>(warp, level.words[0] ^ queen >> QF_BASE, queen != 0);
        }
    } else {
        u32 free[M - 1u];
        const u32 queen = lowest_bit(level.words[0] & QF_SQUARES), column = queen >> QF_BASE;
        level.words[0] ^= queen;
        bool alive = queen != 0;
        QF_UNROLL
        for (u32 row = 0; row < M - 1u; row++) {
            const u32 attacks = word_at(warp.attacks + 4u * pair_of(M, M - 1u - row));
            free[row] = free_squares(level, row + 1u) & ~(column * attacks);
            alive = alive && free[row] != 0;
        }
        const u32 columns = (level.words[0] & 0xffffu) ^ column;
        if constexpr (M == 2u) {
            if (!alive)
                free[0] = 0;
            warp.placements += bits_of(free[0]);
            QF_UNROLL
            for (u32 time = 0; time < (IsSecond ? QF_AT_ONCE_SECOND : QF_AT_ONCE_FIRST); time++) {
                const u32 last = lowest_bit(free[0]);
                complete<IsSecond>(warp, columns ^ last >> QF_BASE, last != 0);
                free[0] ^= last;
            }
            alive = free[0] != 0;
        }
        keep<M - 1u>(warp, level.below, alive, columns, free);
    }
}

/// Works on the levels up to M, of which `top` is the highest one with nodes. A level is left when too few nodes wait for
/// its idle lanes; the top one may have `missing` idle lanes besides.
template <bool IsSecond, u32 M>
QF_INLINE void work_through(ColourWarp &warp, ColourNode<M> &level, u32 top, u32 missing) {
    const u32 may_miss = M == top ? missing : 0, most = may_miss == 0 ? enough(M) : QF_LANES;
    for (;;) {
        if (M <= top) {
            const u32 empty = vote(level.words[0] < 1u << QF_BASE), idle = bits_of(empty);
            const u32 wanted = enough(M) < QF_LANES ? smaller(idle, most) : idle;
            if (wanted > level.waiting + may_miss)
                return;
            refill<M>(warp, level, empty, idle);
            place<IsSecond, M>(warp, level);
        }
        if constexpr (M > 1u) {
            if (M > top || level.below.waiting >= enough(M - 1u)) {
                work_through<IsSecond, M - 1u>(warp, level.below, top, missing);
                if (M > top)
                    return;
            }
        }
    }
}

QF_INLINE void add_waiting(ColourNode<0> &, u32, u32) {}
/// Adds to the nodes that wait at a level.
template <u32 M>
QF_INLINE void add_waiting(ColourNode<M> &node, u32 level, u32 more) {
    if (level == M)
        node.waiting += more;
    add_waiting(node.below, level, more);
}

QF_INLINE u32 waiting_at(const ColourNode<0> &, u32) { return 0; }
/// The nodes that wait at a level.
template <u32 M>
QF_INLINE u32 waiting_at(const ColourNode<M> &node, u32 level) {
    return level == M ? node.waiting : waiting_at(node.below, level);
}
