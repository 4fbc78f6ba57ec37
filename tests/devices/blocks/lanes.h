// CUDA's intrinsics on the host: each lane of a block is a fiber, and the fibers run in turn on one thread. So the
// kernels' own code for warps of 32 lanes runs without a GPU. A lane runs until it waits for others: at a barrier,
// or where the lanes of a warp exchange values. All lanes of a warp must wait at the same place.
//
// Include this before the kernels.

#pragma once

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <ucontext.h>
#include <vector>

#define __CUDACC__
#define __device__ static
#define __forceinline__ inline __attribute__((always_inline))

namespace lanes {

/// Why lanes wait.
enum Reason { BARRIER, ALL, BALLOT, ADD, OR, FIRST, ABOVE };

struct Lane {
    /// Where it begins, and where it goes on: to switch contexts takes a call of the system, a jump does not.
    ucontext_t context;
    jmp_buf next;
    bool begun;
    std::vector<char> stack;
    unsigned thread, round;
    bool done;
};

/// What the lanes of a warp exchange, in turns of two.
struct Exchange {
    unsigned values[2][32];
    Reason reasons[2][32];
    /// Lanes that have been here, in all turns.
    unsigned long long here[2];
};

inline std::vector<std::unique_ptr<Lane>> all;
inline std::vector<Exchange> warps;
inline unsigned long long at_barrier;
inline std::vector<unsigned long long> barriers;
inline Lane *running;
inline jmp_buf scheduler;
inline const std::function<void(unsigned)> *body;
/// How often a lane went on.
inline unsigned long long steps;

[[noreturn]] inline void fail(const char *why) {
    std::printf("thread %u: %s\n", running->thread, why);
    std::fflush(stdout);
    std::_Exit(1);
}

inline void yield() {
    if (_setjmp(running->next) == 0)
        _longjmp(scheduler, 1);
}

/// Lets the running lane go on until it yields.
__attribute__((noinline)) inline void resume() {
    if (_setjmp(scheduler) != 0)
        return;
    if (running->begun)
        _longjmp(running->next, 1);
    running->begun = true;
    setcontext(&running->context);
}

inline void begin() {
    (*body)(running->thread);
    running->done = true;
    yield();
}

/// Runs a block of so many threads, each of which calls `each` with its number. The lanes take turns upwards or
/// downwards: what depends on that is a race.
inline void run(unsigned threads, bool downwards, const std::function<void(unsigned)> &each) {
    all.clear();
    warps.assign(threads / 32u, Exchange{});
    barriers.assign(threads, 0);
    at_barrier = 0;
    body = &each;
    for (unsigned thread = 0; thread < threads; thread++) {
        all.push_back(std::make_unique<Lane>());
        Lane &lane = *all.back();
        lane.stack.resize(256 << 10);
        lane.thread = thread;
        lane.round = 0;
        lane.begun = false;
        lane.done = false;
        getcontext(&lane.context);
        lane.context.uc_stack.ss_sp = lane.stack.data();
        lane.context.uc_stack.ss_size = lane.stack.size();
        lane.context.uc_link = nullptr;
        makecontext(&lane.context, begin, 0);
    }
    for (unsigned left = threads; left > 0;) {
        const unsigned long long before = steps;
        left = 0;
        for (unsigned at = 0; at < threads; at++) {
            running = all[downwards ? threads - 1u - at : at].get();
            if (running->done)
                continue;
            resume();
            left += !running->done;
            steps += running->done;
        }
        if (left > 0 && steps == before)
            fail("it waits for lanes that wait elsewhere, or have ended");
    }
}

/// Gives a value to the lanes of the warp. Returns those of all.
inline const unsigned *exchange(unsigned value, Reason reason) {
    const unsigned lane = running->thread % 32u, turn = running->round % 2u;
    Exchange &warp = warps[running->thread / 32u];
    const unsigned long long all_here = 32ull * (running->round / 2u + 1u);
    warp.values[turn][lane] = value;
    warp.reasons[turn][lane] = reason;
    warp.here[turn]++;
    steps++;
    while (warp.here[turn] < all_here)
        yield();
    for (Reason other : warp.reasons[turn])
        if (other != reason)
            fail("the lanes of its warp wait for different reasons");
    running->round++;
    return warp.values[turn];
}

inline void barrier() {
    const unsigned long long all_here = all.size() * ++barriers[running->thread];
    at_barrier++;
    steps++;
    while (at_barrier < all_here)
        yield();
}

template <class Fold> unsigned fold(unsigned value, Reason reason, Fold with) {
    const unsigned *values = exchange(value, reason);
    unsigned result = values[0];
    for (unsigned lane = 1; lane < 32u; lane++)
        result = with(result, values[lane]);
    return result;
}

} // namespace lanes

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __ffs(unsigned x) { return __builtin_ffs(static_cast<int>(x)); }
inline int __clz(unsigned x) { return x == 0u ? 32 : __builtin_clz(x); }
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) {
    const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
    return static_cast<unsigned>(both << (by & 31u) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
    const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
    return static_cast<unsigned>(both >> (by & 31u));
}
inline int __all_sync(unsigned, bool yes) {
    return lanes::fold(yes, lanes::ALL, [](unsigned a, unsigned b) { return a & b; });
}
inline unsigned __ballot_sync(unsigned, bool yes) {
    return lanes::fold(unsigned(yes) << lanes::running->thread % 32u, lanes::BALLOT,
                       [](unsigned a, unsigned b) { return a | b; });
}
inline unsigned __reduce_add_sync(unsigned, unsigned x) {
    return lanes::fold(x, lanes::ADD, [](unsigned a, unsigned b) { return a + b; });
}
inline unsigned __reduce_or_sync(unsigned, unsigned x) {
    return lanes::fold(x, lanes::OR, [](unsigned a, unsigned b) { return a | b; });
}
inline unsigned __shfl_sync(unsigned, unsigned x, unsigned from) {
    return lanes::exchange(x, lanes::FIRST)[from];
}
inline unsigned __shfl_up_sync(unsigned, unsigned x, unsigned by) {
    const unsigned lane = lanes::running->thread % 32u;
    return lanes::exchange(x, lanes::ABOVE)[lane < by ? lane : lane - by];
}
inline unsigned __brev(unsigned x) {
    unsigned turned = 0;
    for (unsigned bit = 0; bit < 32u; bit++)
        turned |= (x >> bit & 1u) << (31u - bit);
    return turned;
}
// There is one block on one thread: what a lane writes is there for all others.
inline void __threadfence() {}
inline void __nanosleep(unsigned) { lanes::fail("it waits for a job that no block has"); }
inline void __syncthreads() { lanes::barrier(); }
template <class Number> Number atomicAdd(Number *to, Number term) {
    const Number before = *to;
    *to += term;
    return before;
}
inline unsigned atomicOr(unsigned *to, unsigned bits) {
    const unsigned before = *to;
    *to |= bits;
    return before;
}
