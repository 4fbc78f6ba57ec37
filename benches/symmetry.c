/* The yardstick of the ladder: what its method `symmetry` does, as a plain C program would have it.
 *
 * The first queen in a corner or not (BOUND1 and BOUND2), masks for the sides and the last row, at
 * most three rotation tests at the leaf; recursive, in the manner of takaken. It prints the total,
 * the unique count and the CPU seconds of the search.
 *
 *     cc -O3 -o symmetry benches/symmetry.c && ./symmetry 16
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int size, last;
static uint32_t board[32];
static uint32_t full, sides, last_row;
static int bound1, bound2;
static uint64_t count2, count4, count8;

/* Compares the board with one of its turns, given the column of the image's queen in each row:
 * negative if the image is smaller, 0 if it is the same. */
static int compare(int (*turned)(int row))
{
    for (int row = 0; row < size; row++) {
        uint32_t image = 1u << turned(row);
        if (image != board[row])
            return image < board[row] ? -1 : 1;
    }
    return 0;
}

static int column_of(uint32_t bit) { return __builtin_ctz(bit); }

static int row_in_column(int column)
{
    int row = 0;
    while (board[row] != 1u << column)
        row++;
    return row;
}

static int quarter(int row) { return last - row_in_column(row); }
static int half(int row) { return last - column_of(board[last - row]); }
static int three_quarter(int row) { return row_in_column(last - row); }

/* A turn can tie only if a queen stands as far from her corner as the first queen from hers. */
static void classify(void)
{
    int order;
    if (board[bound2] == 1) {
        if ((order = compare(quarter)) < 0)
            return;
        if (order == 0) {
            count2++;
            return;
        }
    }
    if (board[last] == 1u << bound2) {
        if ((order = compare(half)) < 0)
            return;
        if (order == 0) {
            count4++;
            return;
        }
    }
    if (board[bound1] == 1u << last && compare(three_quarter) < 0)
        return;
    count8++;
}

/* The first queen in the corner. */
static void corner(int row, uint32_t left, uint32_t down, uint32_t right)
{
    uint32_t bit, free = full & ~(left | down | right);
    if (row == last) {
        if (free) {
            board[row] = free;
            count8++;
        }
        return;
    }
    if (row < bound1)
        free &= ~2u;
    while (free) {
        bit = free & -free;
        free ^= bit;
        board[row] = bit;
        corner(row + 1, (left | bit) << 1, down | bit, (right | bit) >> 1);
    }
}

/* The first queen not in a corner. */
static void side(int row, uint32_t left, uint32_t down, uint32_t right)
{
    uint32_t bit, free = full & ~(left | down | right);
    if (row == last) {
        if (free & ~last_row) {
            board[row] = free;
            classify();
        }
        return;
    }
    if (row < bound1) {
        free &= ~sides;
    } else if (row == bound2) {
        if (!(down & sides))
            return;
        if ((down & sides) != sides)
            free &= sides;
    }
    while (free) {
        bit = free & -free;
        free ^= bit;
        board[row] = bit;
        side(row + 1, (left | bit) << 1, down | bit, (right | bit) >> 1);
    }
}

int main(int argc, char **argv)
{
    size = argc == 2 ? atoi(argv[1]) : 0;
    if (size < 4 || size > 31) {
        fprintf(stderr, "usage: symmetry N, from 4 to 31\n");
        return 2;
    }
    clock_t start = clock();
    last = size - 1;
    full = (1u << size) - 1;
    sides = 1u << last | 1;
    board[0] = 1;
    for (bound1 = 2; bound1 < last; bound1++) {
        uint32_t bit = 1u << bound1;
        board[1] = bit;
        corner(2, (2 | bit) << 1, 1 | bit, bit >> 1);
    }
    last_row = sides;
    for (bound1 = 1, bound2 = last - 1; bound1 < bound2; bound1++, bound2--) {
        uint32_t bit = 1u << bound1;
        board[0] = bit;
        side(1, bit << 1, bit, bit >> 1);
        last_row |= last_row << 1 | last_row >> 1;
    }
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    printf("%llu %llu %.3f\n", (unsigned long long)(2 * count2 + 4 * count4 + 8 * count8),
           (unsigned long long)(count2 + count4 + count8), seconds);
    return 0;
}
