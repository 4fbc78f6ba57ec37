// The search of the last rows below one node, for the kernels that give each thread one node: depth
// first, with arrays in place of a call stack. The arrays lie in the thread's own memory, so that
// any number of rows may be left.
//
// A row of the board is a word, column 0 its lowest bit. `n` is at most 32.

#pragma once

#include "device.h"

#define QF_MOST_ROWS 32u

/// What the queens above take of a row.
struct Taken {
    /// Along diagonals that run to the next higher column with each row, along columns, and along
    /// diagonals that run to the next lower column.
    u32 left, down, right;
};

/// A row on a thread's stack.
struct Row {
    Taken taken;
    /// The squares that have not been tried.
    u32 free;
};

/// Fills the rows of a board of size `n` in every way, from `row` on. `taken` is what is taken of that
/// row. Adds the queens placed to `nodes`. Returns false if the host ended the launch before all was
/// done.
///
/// Three functions make up the `Rules` of a kernel: `allowed(rules, row, taken, free)` returns the free
/// squares that are worth trying, `placed(rules, row, bit)` is called for every queen, `filled(rules)`
/// for every solution.
template <typename Rules>
QF_INLINE bool search(u32 n, u32 row, Taken taken, Rules &rules, const Progress *progress,
                      u64 &nodes) {
    Row rows[QF_MOST_ROWS];
    const u32 full = ~0u >> (32u - n), first = row;
    for (;;) {
        // A row has been reached from above.
        if (row < n) {
            const u32 free = full & ~(taken.left | taken.down | taken.right);
            rows[row] = {taken, allowed(rules, row, taken, free)};
        } else {
            filled(rules);
            if (row == first)
                return true;
            row--;
        }
        // Back to the deepest row with a square to try.
        while (rows[row].free == 0) {
            if (row == first)
                return true;
            row--;
        }
        const u32 bit = rows[row].free & (0u - rows[row].free);
        rows[row].free ^= bit;
        placed(rules, row, bit);
        nodes++;
        taken = rows[row].taken;
        taken = {(taken.left | bit) << 1, taken.down | bit, (taken.right | bit) >> 1};
        row++;
        // Rarely enough to cost nothing, and often enough to end within a moment.
        if (nodes % 0x10000 == 0 && is_ended(progress))
            return false;
    }
}
