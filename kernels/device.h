// What the kernels need of a GPU: a thread is a lane of a warp, and these helpers are intrinsics or one or two PTX
// instructions.

#pragma once

typedef unsigned int u32;
typedef unsigned long long u64;

#define QF_INLINE __device__ __forceinline__
#define QF_LANES 32u

/// Jobs lie at multiples of 16 bytes, so that one load takes a job of four words.
#define QF_JOB alignas(16)

/// An address in the memory that the threads of a block share.
typedef u32 Place;

QF_INLINE u32 bits_of(u32 mask) { return __popc(mask); }

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

QF_INLINE u32 take_number(u32 *counter) { return atomicAdd(counter, 1u); }
/// What is in the counter now.
QF_INLINE u32 number_in(const u32 *counter) { return *static_cast<const volatile u32 *>(counter); }
QF_INLINE void add_to(u32 *sum, u32 term) { atomicAdd(sum, term); }
QF_INLINE void add_to(u64 *sum, u64 term) { atomicAdd(sum, term); }

QF_INLINE u32 word_at(Place place) {
    u32 word;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(place));
    return word;
}

QF_INLINE void set_word(Place place, u32 word) {
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(place), "r"(word));
}

/// The state of a launch, zero at its start. A host that writes 2³¹ into `next_job` ends the launch
/// early: no thread takes another job, and threads with long jobs leave the job they have.
struct Progress {
    u32 next_job, jobs_done;
};

/// Whether the host has ended the launch.
QF_INLINE bool is_ended(const Progress *progress) { return number_in(&progress->next_job) >> 31; }
