// What the kernels need of the machine that they run on: a GPU, or host threads.
//
// Compiled for CUDA (NVRTC or nvcc), a thread is a lane of a warp, and these helpers are intrinsics or
// one or two PTX instructions. Compiled as C++17 for the emulated device, each host thread is a warp
// with one lane. Everything else is shared: what is tested without a GPU is what runs on one.

#pragma once

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)

typedef unsigned int u32;
typedef unsigned long long u64;

#define QF_INLINE __device__ __forceinline__
/// Before a loop whose number of turns is known and small.
#define QF_UNROLL _Pragma("unroll")
#define QF_LANES 32u

/// An address in the memory that the threads of a block share.
typedef u32 Place;

QF_INLINE u32 bits_of(u32 mask) { return __popc(mask); }

/// The place of the lowest bit; 0 if there is none.
QF_INLINE u32 lowest_bit(u32 mask) { return mask == 0u ? 0u : static_cast<u32>(__ffs(mask)) - 1u; }
/// One more than the place of the highest bit; 0 if there is none.
QF_INLINE u32 bits_below(u32 mask) { return 32u - static_cast<u32>(__clz(mask)); }

/// The bits in the opposite order.
QF_INLINE u32 reversed(u32 x) { return __brev(x); }

/// `x` moved up by the low five bits of `by`.
QF_INLINE u32 up(u32 x, u32 by) { return __funnelshift_l(0u, x, by); }

/// `x` moved down by the low five bits of `by`.
QF_INLINE u32 down(u32 x, u32 by) { return __funnelshift_r(x, 0u, by); }

// The hardware does any logic of three operands in one instruction. Without these functions the
// compiler uses two.
#define QF_LOGIC(name, table)                                                                      \
    QF_INLINE u32 name(u32 a, u32 b, u32 c) {                                                      \
        u32 result;                                                                                \
        asm("lop3.b32 %0, %1, %2, %3, " table ";" : "=r"(result) : "r"(a), "r"(b), "r"(c));        \
        return result;                                                                             \
    }
QF_LOGIC(or_without, "0xf4")   // a | (b & ~c)
QF_LOGIC(clear_both, "0x10")   // a & ~(b | c)
#undef QF_LOGIC

/// Whether `yes` holds in every thread of the warp.
QF_INLINE bool everywhere(bool yes) { return __all_sync(0xffffffffu, yes) != 0; }

/// One bit for each lane of the warp: whether `yes` holds there.
QF_INLINE u32 votes(bool yes) { return __ballot_sync(0xffffffffu, yes); }
/// The sum, and the bits that occur, over the lanes of the warp. Every lane gets them.
QF_INLINE u32 warp_sum(u32 x) { return __reduce_add_sync(0xffffffffu, x); }
QF_INLINE u32 warp_union(u32 x) { return __reduce_or_sync(0xffffffffu, x); }
/// What lane 0 of the warp has.
QF_INLINE u32 of_first_lane(u32 x) { return __shfl_sync(0xffffffffu, x, 0); }
/// What the lane `by` below this one has; 0 if there is none.
QF_INLINE u32 of_lane_below(u32 x, u32 lane, u32 by) {
    const u32 below = __shfl_up_sync(0xffffffffu, x, by);
    return lane < by ? 0u : below;
}

QF_INLINE u32 take_number(u32 *counter) { return atomicAdd(counter, 1u); }
QF_INLINE u32 take_numbers(u32 *counter, u32 count) { return atomicAdd(counter, count); }
QF_INLINE void add_bits(u32 *bits, u32 more) { atomicOr(bits, more); }
/// What is in the counter now.
QF_INLINE u32 number_in(const u32 *counter) { return *static_cast<const volatile u32 *>(counter); }
QF_INLINE void add_to(u32 *sum, u32 term) { atomicAdd(sum, term); }
QF_INLINE void add_to(u64 *sum, u64 term) { atomicAdd(sum, term); }

/// Adds one to a counter, and returns the number before. Whoever sees the new number sees what the threads of this
/// block wrote before they met last, and this thread what those wrote that added to it.
QF_INLINE u32 arrive(u32 *counter) {
    __threadfence();
    const u32 before = atomicAdd(counter, 1u);
    __threadfence();
    return before;
}
/// The number of arrivals, and sees what they wrote before.
QF_INLINE u32 arrivals(const u32 *counter) {
    const u32 number = number_in(counter);
    __threadfence();
    return number;
}
/// Lets others go on for a moment.
QF_INLINE void pause() { __nanosleep(200u); }

QF_INLINE u32 word_at(Place place) {
    u32 word;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(place));
    return word;
}

QF_INLINE void set_word(Place place, u32 word) {
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(place), "r"(word));
}

/// A thread of a block whose threads count together.
struct Member {
    /// Its number, and the number of threads.
    u32 thread, threads;
    /// The number of its warp and of warps, and its lane.
    u32 warp, warps, lane;
};

/// Waits until all threads of the block are here, and sees what they wrote before.
QF_INLINE void meet(const Member &) { __syncthreads(); }

#else

#include <cstdint>
#include <thread>

typedef std::uint32_t u32;
typedef std::uint64_t u64;

#define QF_INLINE static inline
#define QF_UNROLL _Pragma("GCC unroll 32")
#define QF_LANES 1u

typedef std::uintptr_t Place;

QF_INLINE u32 bits_of(u32 mask) { return static_cast<u32>(__builtin_popcount(mask)); }
QF_INLINE u32 lowest_bit(u32 mask) {
    return mask == 0u ? 0u : static_cast<u32>(__builtin_ctz(mask));
}
QF_INLINE u32 bits_below(u32 mask) {
    return mask == 0u ? 0u : 32u - static_cast<u32>(__builtin_clz(mask));
}
QF_INLINE u32 reversed(u32 x) {
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
QF_INLINE u32 up(u32 x, u32 by) { return x << (by & 31u); }
QF_INLINE u32 down(u32 x, u32 by) { return x >> (by & 31u); }
QF_INLINE u32 or_without(u32 a, u32 b, u32 c) { return a | (b & ~c); }
QF_INLINE u32 clear_both(u32 a, u32 b, u32 c) { return a & ~(b | c); }
QF_INLINE bool everywhere(bool yes) { return yes; }
QF_INLINE u32 votes(bool yes) { return yes; }
QF_INLINE u32 warp_sum(u32 x) { return x; }
QF_INLINE u32 warp_union(u32 x) { return x; }
QF_INLINE u32 of_first_lane(u32 x) { return x; }
QF_INLINE u32 of_lane_below(u32, u32, u32) { return 0; }

// Host threads share the counters of a launch, as warps do.
QF_INLINE u32 take_number(u32 *counter) { return __atomic_fetch_add(counter, 1u, __ATOMIC_RELAXED); }
QF_INLINE u32 take_numbers(u32 *counter, u32 count) {
    return __atomic_fetch_add(counter, count, __ATOMIC_RELAXED);
}
QF_INLINE void add_bits(u32 *bits, u32 more) { __atomic_fetch_or(bits, more, __ATOMIC_RELAXED); }
QF_INLINE u32 number_in(const u32 *counter) { return __atomic_load_n(counter, __ATOMIC_RELAXED); }
QF_INLINE void add_to(u32 *sum, u32 term) { __atomic_fetch_add(sum, term, __ATOMIC_RELAXED); }
QF_INLINE void add_to(u64 *sum, u64 term) { __atomic_fetch_add(sum, term, __ATOMIC_RELAXED); }

QF_INLINE u32 arrive(u32 *counter) { return __atomic_fetch_add(counter, 1u, __ATOMIC_ACQ_REL); }
QF_INLINE u32 arrivals(const u32 *counter) { return __atomic_load_n(counter, __ATOMIC_ACQUIRE); }
QF_INLINE void pause() { std::this_thread::yield(); }

QF_INLINE u32 word_at(Place place) { return *reinterpret_cast<u32 *>(place); }
QF_INLINE void set_word(Place place, u32 word) { *reinterpret_cast<u32 *>(place) = word; }

/// Where the host threads of a block meet. Zero at the start.
struct Meeting {
    /// How many are here, and how often all have been.
    u32 here, times;
};

/// A host thread, which is a warp, of a block whose threads count together.
struct Member {
    u32 thread, threads;
    u32 warp, warps, lane;
    Meeting *meeting;
};

QF_INLINE void meet(const Member &member) {
    Meeting *meeting = member.meeting;
    const u32 times = __atomic_load_n(&meeting->times, __ATOMIC_RELAXED);
    if (__atomic_fetch_add(&meeting->here, 1u, __ATOMIC_ACQ_REL) + 1u == member.threads) {
        __atomic_store_n(&meeting->here, 0u, __ATOMIC_RELAXED);
        __atomic_store_n(&meeting->times, times + 1u, __ATOMIC_RELEASE);
        return;
    }
    while (__atomic_load_n(&meeting->times, __ATOMIC_ACQUIRE) == times)
        std::this_thread::yield();
}

#endif

/// The sum of what the lanes below this one have.
QF_INLINE u32 sum_below(u32 x, u32 lane) {
    u32 sum = of_lane_below(x, lane, 1u);
    for (u32 by = 1u; by < QF_LANES; by <<= 1u)
        sum += of_lane_below(sum, lane, by);
    return sum;
}

/// The state of a launch, zero at its start. A host that writes 2³¹ into `next_job` ends the launch
/// early: no thread takes another job, and threads with long jobs leave the job they have.
struct Progress {
    u32 next_job, jobs_done;
};

/// Whether the host has ended the launch.
QF_INLINE bool is_ended(const Progress *progress) { return number_in(&progress->next_job) >> 31; }
