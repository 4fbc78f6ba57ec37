// The bit-board kernel: the last rows of the symmetry search. A thread of its own searches each node
// of row `mark`, and finds the class of every solution at the leaf.
//
// Of the eight images of a solution, the one with the smallest rows is counted; bits are compared from
// the top. The first queen decides which images can be smaller. If she stands in the corner, it is only
// the reflection in the diagonal through this corner, and a second queen off column 1 rules it out. If
// she stands on the side, at a distance from the corner, it is any image with a queen nearer to a
// corner, which closed squares rule out, or a turn with a queen just as near, which is checked at the
// leaf.

#pragma once

#include "rows.h"

/// What all nodes of a launch have in common.
struct BitBoardStart {
    /// The size of the board, and the row that the nodes have reached.
    u32 n, mark;
    /// 1 with the first queen in the corner, 0 with her on the side.
    u32 corner;
    /// In the corner: the column of the second queen. On the side: the column of the first.
    u32 bound;
};

// A node is 3 + mark words: left, down, right, and the bit of the queen in each row above.

/// What the nodes of a launch gave together: queens placed, and orbits of 2, 4 and 8 solutions.
struct BitBoardSums {
    u64 nodes, orbits_of_2, orbits_of_4, orbits_of_8;
};

/// The rules of the symmetry search, and what it has found.
struct Symmetry {
    BitBoardStart start;
    u32 board[QF_MOST_ROWS];
    BitBoardSums found;
};

QF_INLINE u32 column_of(u32 bit) { return bits_of(bit - 1u); }

/// Which of the `free` squares of `row` can lead to a smallest image.
QF_INLINE u32 allowed(const Symmetry &rules, u32 row, Taken taken, u32 free) {
    const u32 bound = rules.start.bound, last = rules.start.n - 1u;
    if (rules.start.corner)
        return row < bound ? free & ~2u : free;
    const u32 sides = 1u << last | 1u;
    if (row < bound)
        free &= ~sides;
    if (row == last) {
        const u32 near = (1u << bound) - 1u;
        free &= ~(near | near << (rules.start.n - bound));
    }
    if (row == last - bound) {
        // The last row in which the side columns may get their queens.
        const u32 there = taken.down & sides;
        if (there == 0)
            return 0;
        if (there != sides)
            free &= sides;
    }
    return free;
}

QF_INLINE void placed(Symmetry &rules, u32 row, u32 bit) { rules.board[row] = bit; }

/// How a board compares with one of its images.
enum Image { SMALLER, EQUAL, LARGER };

/// The board turned by `quarters`, 1 to 3, against the board itself. `row_of` is the row of the queen
/// in each column.
QF_INLINE Image turned(const Symmetry &rules, const u32 *row_of, u32 quarters) {
    const u32 last = rules.start.n - 1u;
    for (u32 row = 0; row <= last; row++) {
        const u32 own = column_of(rules.board[row]);
        const u32 image = quarters == 1   ? last - row_of[row]
                          : quarters == 2 ? last - column_of(rules.board[last - row])
                                          : row_of[last - row];
        if (image != own)
            return image < own ? SMALLER : LARGER;
    }
    return EQUAL;
}

/// The size of a solution's orbit, 0 if one of its images is smaller.
QF_INLINE u32 orbit_size(const Symmetry &rules) {
    if (rules.start.corner)
        return 8;
    const u32 bound = rules.start.bound, last = rules.start.n - 1u;
    // A turn can only tie where a queen stands as near to the corner of her side as the first does.
    const bool ties[] = {
        rules.board[last - bound] == 1u,
        rules.board[last] == 1u << (last - bound),
        rules.board[bound] == 1u << last,
    };
    if (!(ties[0] || ties[1] || ties[2]))
        return 8;
    u32 row_of[QF_MOST_ROWS];
    for (u32 row = 0; row <= last; row++)
        row_of[column_of(rules.board[row])] = row;
    // A board that equals its quarter turn equals its half turn too, so the quarter turn comes first.
    for (u32 quarters = 1; quarters <= 3; quarters++) {
        if (!ties[quarters - 1])
            continue;
        const Image image = turned(rules, row_of, quarters);
        if (image == SMALLER)
            return 0;
        if (image == EQUAL)
            return quarters == 2 ? 4 : 2;
    }
    return 8;
}

QF_INLINE void filled(Symmetry &rules) {
    const u32 size = orbit_size(rules);
    rules.found.orbits_of_2 += size == 2;
    rules.found.orbits_of_4 += size == 4;
    rules.found.orbits_of_8 += size == 8;
}

/// Runs one thread: one node, if there is one left.
QF_INLINE void bit_board_thread(const u32 *nodes, u32 node_count, BitBoardStart start,
                                BitBoardSums *sums, Progress *progress) {
    const u32 number = take_number(&progress->next_job);
    if (number >= node_count)
        return;
    const u32 *node = nodes + u64(number) * (3u + start.mark);
    Symmetry rules;
    rules.start = start;
    rules.found = {0, 0, 0, 0};
    for (u32 row = 0; row < start.mark; row++)
        rules.board[row] = node[3 + row];
    const Taken taken = {node[0], node[1], node[2]};
    if (!search(start.n, start.mark, taken, rules, progress, rules.found.nodes))
        return;
    add_to(&sums->orbits_of_2, rules.found.orbits_of_2);
    add_to(&sums->orbits_of_4, rules.found.orbits_of_4);
    add_to(&sums->orbits_of_8, rules.found.orbits_of_8);
    add_to(&sums->nodes, rules.found.nodes);
    add_to(&progress->jobs_done, 1u);
}
