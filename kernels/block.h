// What kernels need whose threads work together: the votes of a warp, and the memory and the barriers of
// a block. On the emulated device a block is one warp with one lane, so that all of it does nothing.

#pragma once

#include "device.h"

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)

#define QF_UNROLL _Pragma("unroll")
#define QF_ONE_BY_ONE _Pragma("unroll 1")

/// A bit for each lane of the warp: whether `yes` holds there. All lanes must come here.
QF_INLINE u32 vote(bool yes) { return __ballot_sync(0xffffffffu, yes); }

/// A bit for each lane of the warp below this one.
QF_INLINE u32 lanes_below() {
    u32 lanes;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lanes));
    return lanes;
}

/// The value of the warp's first lane.
QF_INLINE u32 of_first_lane(u32 value) { return __shfl_sync(0xffffffffu, value, 0); }

/// The sum over the lanes of the warp.
QF_INLINE u64 sum_of_warp(u64 value) {
    for (u32 distance = QF_LANES / 2u; distance > 0; distance /= 2u)
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
}

/// Waits for the lanes of the warp: each sees what the others wrote before.
QF_INLINE void meet_warp() { __syncwarp(); }

/// Waits for the threads of the block: each sees what the others wrote before.
QF_INLINE void meet_block() { __syncthreads(); }

/// Adds to a word of the block. Returns what was there.
QF_INLINE u32 add_in_block(u32 *word, u32 term) { return atomicAdd(word, term); }

/// Half number `index` of some words of the block, the low half of a word first.
QF_INLINE u32 half_at(const u32 *words, u32 index) {
    return reinterpret_cast<const unsigned short *>(words)[index];
}

/// The bits of a word in reverse order.
QF_INLINE u32 reversed_bits(u32 word) { return __brev(word); }

/// The number of zeros below the lowest bit of a word that is not 0.
QF_INLINE u32 zeros_below(u32 word) { return static_cast<u32>(__ffs(static_cast<int>(word)) - 1); }

#else

#define QF_UNROLL
#define QF_ONE_BY_ONE

QF_INLINE u32 vote(bool yes) { return yes ? 1u : 0u; }
QF_INLINE u32 lanes_below() { return 0; }
QF_INLINE u32 of_first_lane(u32 value) { return value; }
QF_INLINE u64 sum_of_warp(u64 value) { return value; }
QF_INLINE void meet_warp() {}
QF_INLINE void meet_block() {}

QF_INLINE u32 add_in_block(u32 *word, u32 term) {
    const u32 before = *word;
    *word += term;
    return before;
}

QF_INLINE u32 half_at(const u32 *words, u32 index) {
    return words[index / 2u] >> 16u * (index % 2u) & 0xffffu;
}

QF_INLINE u32 reversed_bits(u32 word) {
    u32 reversed = 0;
    for (u32 bit = 0; bit < 32u; bit++)
        reversed |= (word >> bit & 1u) << (31u - bit);
    return reversed;
}

QF_INLINE u32 zeros_below(u32 word) { return static_cast<u32>(__builtin_ctz(word)); }

#endif
