// What kernels need whose threads work together: the votes of a warp, and the memory and the barriers of
// a block.

#pragma once

#include "device.h"

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

/// A number of up to 32 that all lanes have. The compiler learns that it is the same for all, and leaves out what
/// brings the lanes of a branch together.
QF_INLINE u32 same_for_all(u32 number) { return bits_of(vote(bits_of(lanes_below()) < number)); }

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

// The following happen in the lanes in which `yes` holds. A branch would cost three instructions more. The compiler keeps
// volatile statements in their order, and before or after the barriers beside them; between two barriers, nothing else
// reads or writes these words.

QF_INLINE Place place_of(const u32 *word) { return static_cast<Place>(__cvta_generic_to_shared(word)); }

/// Takes the word at a place.
QF_INLINE void take_word_if(bool yes, u32 &word, Place from) {
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; @p ld.shared.u32 %0, [%2]; }"
                 : "+r"(word)
                 : "r"(static_cast<u32>(yes)), "r"(from));
}

QF_INLINE void set_word_if(bool yes, Place to, u32 word) {
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %0, 0; @p st.shared.u32 [%1], %2; }" ::"r"(
                     static_cast<u32>(yes)),
                 "r"(to), "r"(word));
}

QF_INLINE void add_word_if(bool yes, Place to, u32 term) {
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %0, 0; @p red.shared.add.u32 [%1], %2; }" ::"r"(
                     static_cast<u32>(yes)),
                 "r"(to), "r"(term));
}

/// The half of a word at a place; 0 in the lanes in which `yes` does not hold.
QF_INLINE u32 half_if(bool yes, Place from) {
    u32 half;
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; mov.u32 %0, 0; @p ld.shared.u16 %0, [%2]; }"
                 : "=&r"(half)
                 : "r"(static_cast<u32>(yes)), "r"(from));
    return half;
}

QF_INLINE void set_half(Place place, u32 half) {
    asm volatile("{ .reg .u16 h; cvt.u16.u32 h, %1; st.shared.u16 [%0], h; }" ::"r"(place), "r"(half));
}

/// The high halves of two words, that of the first one below.
QF_INLINE u32 high_halves(u32 low, u32 high) { return __byte_perm(low, high, 0x7632); }

/// The bits of a word in reverse order.
QF_INLINE u32 reversed_bits(u32 word) { return __brev(word); }

/// The number of zeros below the lowest bit of a word that is not 0.
QF_INLINE u32 zeros_below(u32 word) { return static_cast<u32>(__ffs(static_cast<int>(word)) - 1); }

/// The high word of a product.
QF_INLINE u32 high_product(u32 a, u32 b) { return __umulhi(a, b); }

/// The half of a word at a place.
QF_INLINE u32 half_at(Place place) { return half_if(true, place); }
