// The bit-board kernel's entry on a CUDA device: at least as many threads as nodes.

#include "bit_board.h"

extern "C" __global__ void __launch_bounds__(1024)
bit_board(const u32 *nodes, u32 node_count, const BitBoardStart *start, BitBoardSums *sums,
          Progress *progress) {
    bit_board_thread(nodes, node_count, *start, sums, progress);
}
