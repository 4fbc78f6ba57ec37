// Runs a kernel: warps of 32 lanes, blocks with shared memory, a memory of the device. Checks what hardware does not tell.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "ptx.h"

/// Who touched a word last. Times are numbers of barriers of the block and of synchronisations of the warp.
struct Touch {
    u32 epoch = 0, sync = 0;
    u16 block = 0, thread = 0;
    bool atomic = false, by_many = false, by_warps = false;
};
struct Shadow {
    u32 launch = 0;
    Touch write, read;
};

const u64 PAGE = 256;

struct Allocation {
    u64 base, bytes;
    std::unique_ptr<u8[]> data;
    std::unique_ptr<u32[]> filled; // for each word the generation that wrote it
    std::vector<std::unique_ptr<Shadow[]>> shadows; // in pages, made when they are touched
    u32 generation = 1;
    Shadow &shadow(u64 word) {
        auto &page = shadows[word / PAGE];
        if (!page)
            page.reset(new Shadow[PAGE]());
        return page[word % PAGE];
    }
    /// The host or a launch has written this.
    void fill(u64 from, u64 count) {
        for (u64 word = from / 4; word < (from + count + 3) / 4; word++)
            filled[word] = generation;
    }
};

class DeviceMemory {
    std::map<u64, Allocation> all;
    std::shared_mutex lock;
    u64 next = 0x700000000000;

  public:
    u64 allocate(u64 bytes);
    bool free(u64 base);
    /// The allocation of an address; null if it has none.
    Allocation *find(u64 address);
};

struct Settings {
    /// Whether the lanes of a warp run apart, and meet where they have to alone.
    bool chaos = false;
    u32 sms = 2, seed = 1, shared_per_sm = 228 << 10;
    /// Instructions that the warps of a launch may execute.
    u64 most_steps = ~0ull;
};

struct Report {
    std::mutex lock;
    std::map<std::string, u64> defects;
    void add(const std::string &what) {
        std::lock_guard<std::mutex> guard(lock);
        defects[what]++;
    }
};

struct LaunchShape {
    u32 blocks, threads, shared, per_sm;
};

/// How often warps executed an instruction, and with how many lanes in all.
struct Count {
    u64 times = 0, lanes = 0;
};

/// What a launch took.
struct Effort {
    u64 barriers = 0, steps = 0;
    std::vector<Count> counts; // of each instruction
};

Effort run_kernel(const Kernel &kernel, const LaunchShape &shape, const std::vector<u64> &params, DeviceMemory &memory,
                  const Settings &settings, Report &report);
