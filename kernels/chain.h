// The chain kernel: one subtree (job) per thread, searched depth first.
//
// A board row is a 32-bit word. Its inner columns (the outer two are the border's) take the bits
// 30 down to 31 - w, the leftmost column the lowest of them. A diagonal that moves up leaves the
// word at the top, one that moves down comes to rest below the columns; neither has to be cut off.
//
//   columns   bits of the columns taken; every bit outside the inner columns is set, so that
//             32 - bits_of(columns) is the number of rows that still have to be filled
//   up, down  the squares of the row that queens above attack along diagonals
//   free      the squares of the row still to be tried
//
// What the border does to a row is one word, from the job's group: the squares it leaves in the
// columns' bits, and in the low two bits how many rows lie between this row and the one filled
// before (1, or more where the border fixed the queen of a row between). Below the last row comes
// a word of bit 31 alone: no square, and a solution found.
//
// The loop handles one node a step and has no branch but its own: a dead end, a descent and a
// return differ in predicates only, so that the threads of a warp never wait for one another. The
// node is kept in registers and goes to the stack only if it has squares left to try. A thread that
// has finished its job takes the next, so that no thread idles while there are jobs.
//
// Depth, the number of rows that a job may leave to fill, is fixed when the kernel is compiled; the
// size of the board is in the data alone.

#pragma once

#include "device.h"

/// A subtree to search. Its row has at least one free square.
struct QF_JOB ChainJob {
    u32 columns, up, down;
    /// Which group it belongs to.
    u32 group;
};

// The row words of a group: Depth + 1 of them, those of the row with Depth rows to fill first. Words
// above the first row of a shallower group are 0.

/// What the jobs of a group gave together.
struct ChainSum {
    u64 solutions, nodes;
};

/// A node with squares left to try.
struct alignas(16) ChainNode {
    u32 columns, up, down, free;
};

/// Bytes from one entry of a thread's stack to the next, and from one row word to the next: the
/// lanes of a warp lie side by side, which keeps every access free of bank conflicts.
#define QF_NODE_STRIDE (QF_LANES * 16u)
#define QF_WORD_STRIDE (QF_LANES * 4u)

/// Bytes of shared memory for each warp: row words first, then stacks, with an entry for each row
/// that can have a second square and a child, and one below them that no search leaves.
QF_INLINE constexpr u32 chain_shared(u32 depth) {
    return (depth + 1u) * QF_WORD_STRIDE + depth * QF_NODE_STRIDE;
}

/// Moves on after a step. The square that was tried is cleared from the node's free squares, and the
/// columns taken from the child's. If the child has free squares, it becomes the node, and the parent
/// goes to the stack if it has squares left. If it has none, the parent stays the node; if the parent
/// has none left either, the node on top of the stack becomes the node.
///
/// This is assembly because the order of these lines decides whether the compiler needs 24 instructions
/// for a node or 27: with another order it copies registers.
QF_INLINE void move_on(ChainNode &node, Place &top, u32 stride, u32 below, ChainNode child) {
    asm volatile(
        "{\n\t"
        ".reg .pred alive, more, push, stay;\n\t"
        ".reg .u32 next;\n\t"
        "lop3.or.b32 %3|more, %3, %9, 0, 0xc0, 0;\n\t"
        "lop3.or.b32 next|alive, %8, %5, 0, 0x30, 0;\n\t"
        "and.pred push, alive, more;\n\t"
        "or.pred stay, alive, more;\n\t"
        "@push add.u32 %4, %4, %11;\n\t"
        "@push st.shared.v4.u32 [%4+%12], {%0, %1, %2, %3};\n\t"
        "@!stay ld.shared.v4.u32 {%0, %1, %2, %3}, [%4+%12];\n\t"
        "@!stay sub.u32 %4, %4, %10;\n\t"
        "selp.u32 %0, %5, %0, alive;\n\t"
        "selp.u32 %1, %6, %1, alive;\n\t"
        "selp.u32 %2, %7, %2, alive;\n\t"
        "selp.u32 %3, next, %3, alive;\n\t"
        "}"
        : "+r"(node.columns), "+r"(node.up), "+r"(node.down), "+r"(node.free), "+r"(top)
        : "r"(child.columns), "r"(child.up), "r"(child.down), "r"(child.free), "r"(below),
          "r"(stride), "n"(QF_NODE_STRIDE), "n"(-(int)QF_NODE_STRIDE)
        : "memory");
}

/// One node: a queen on the lowest free square, and on to the child if a queen fits in its row.
QF_INLINE void chain_step(ChainNode &node, Place &top, u32 stride, Place rows, u32 &found) {
    const u32 word = word_at(rows + bits_of(node.columns) * QF_WORD_STRIDE);
    const u32 below = node.free - 1u;
    const u32 columns = or_without(node.columns, node.free, below);
    const u32 child_up = up(or_without(node.up, node.free, below), word);
    const u32 child_down = down(or_without(node.down, node.free, below), word);
    found += word >> 31;
    move_on(node, top, stride, below,
            {columns, child_up, child_down, clear_both(word, child_up, child_down)});
}

/// Runs one thread until no job is left to take. `shared` is where the memory of its warp begins, `lane` its
/// place in the warp.
template <u32 Depth>
QF_INLINE void chain_thread(const ChainJob *jobs, u32 job_count, const u32 *group_rows,
                            ChainSum *sums, Progress *progress, Place shared, u32 lane) {
    // A thread that has just finished may step once more. It then loads from an entry below its stack,
    // which must lie within the row words, and does not use what it loaded.
    static_assert(Depth >= 3, "the row words are shorter than a stack entry");
    const Place words = shared + lane * 4u;
    // The child of a node with c bits taken has 31 - c rows to fill, its own included.
    const Place rows = words - (31u - Depth) * QF_WORD_STRIDE;
    const Place bottom = shared + (Depth + 1u) * QF_WORD_STRIDE + lane * 16u;
    const Place floor = bottom + QF_NODE_STRIDE;

    // A node whose row is attacked completely. It lies below the stack: a search that is over finds
    // this node, and a thread without a job returns to it again and again.
    const ChainNode nothing = {~0u << Depth, ~0u, ~0u, 0u};
    set_word(bottom, nothing.columns);
    set_word(bottom + 4u, nothing.up);
    set_word(bottom + 8u, nothing.down);
    set_word(bottom + 12u, nothing.free);
    for (u32 row = 0; row <= Depth; row++)
        set_word(words + row * QF_WORD_STRIDE, 0u);

    ChainNode node = nothing;
    Place top = floor;
    u32 stride = 0, group = ~0u, found = 0, turn = 0, first_turn = 0;
    bool has_job = false;
    for (;;) {
        if (has_job && top < floor) {
            // Each step after the end has moved the top of the stack down once more.
            const u32 idle = static_cast<u32>(floor - top) / QF_NODE_STRIDE - 1u;
            add_to(&sums[group].solutions, u64(found));
            add_to(&sums[group].nodes, u64(2u * (turn - first_turn) - idle));
            add_to(&progress->jobs_done, 1u);
            has_job = false;
        }
        if (!has_job && (stride != 0 || turn == 0)) {
            const u32 number = take_number(&progress->next_job);
            top = floor;
            if (number < job_count) {
                const ChainJob job = jobs[number];
                if (job.group != group) {
                    group = job.group;
                    const u32 *rows_of_group = group_rows + u64(group) * (Depth + 1u);
                    for (u32 row = 0; row <= Depth; row++)
                        set_word(words + row * QF_WORD_STRIDE, rows_of_group[row]);
                }
                const u32 word = word_at(rows + (bits_of(job.columns) - 1u) * QF_WORD_STRIDE);
                node = {job.columns, job.up, job.down, word & ~(job.columns | job.up | job.down)};
                stride = QF_NODE_STRIDE;
                found = 0;
                first_turn = turn;
                has_job = true;
            } else {
                node = nothing;
                stride = 0;
            }
        }
        if (everywhere(!has_job))
            return;
        do {
            chain_step(node, top, stride, rows, found);
            chain_step(node, top, stride, rows, found);
            turn++;
        } while (everywhere(top >= floor));
    }
}
