// Which accesses are ordered: by a thread itself, by the lanes of a warp that meet, and by barriers of a block. What is
// not ordered is a race. Blocks are not: they may only use atomics together, for the kernels have no fences.
#pragma once
#include "machine.h"

/// Lanes of a warp that are at the same instruction.
struct Part {
    u32 pc, mask;
    bool waiting;
};

struct Block;
struct Warp {
    Block *block;
    u32 index, live, sync = 1;
    std::vector<Part> parts;
    std::vector<u32> words, preds;
    std::vector<u64> longs;
    std::vector<u8> local, local_filled;
    bool at_barrier = false, done = false;
};

struct Block {
    u32 number, epoch = 1, running;
    std::vector<Warp> warps;
    std::vector<u8> shared;
    std::vector<Shadow> shadows;
    std::vector<u8> filled;
};

struct Order {
    const Kernel &k;
    const LaunchShape &shape;
    Report &report;
    u32 launch;

    void defect(const Instr &i, const std::string &what) {
        report.add(k.name + " line " + std::to_string(i.line) + ": " + what + "   [" + k.lines[i.line - 1] + "]");
    }

    bool before(const Touch &t, Block &b, u32 thread, u32 sync) {
        if (t.block != b.number)
            return false;
        if (t.epoch < b.epoch)
            return true;
        if (t.by_warps)
            return false;
        if (!t.by_many && t.thread == thread)
            return true;
        return t.thread / 32 == thread / 32 && t.sync < sync;
    }
    void touch(const Instr &i, Shadow &s, Warp &w, u32 lane, bool writes, bool reads, bool atomic) {
        Block &b = *w.block;
        u32 thread = w.index * 32 + lane;
        if (s.launch != launch) {
            s = Shadow();
            s.launch = launch;
        }
        if (s.write.epoch && !(atomic && s.write.atomic) && !before(s.write, b, thread, w.sync))
            defect(i, std::string(writes ? "write" : "read") + " races with a write by " +
                          (s.write.block != b.number ? "another block" : s.write.thread / 32 != w.index ? "another warp" : "another lane of the warp"));
        if (writes && s.read.epoch && !(atomic && s.read.atomic) && !before(s.read, b, thread, w.sync))
            defect(i, std::string("write races with a read by ") +
                          (s.read.block != b.number ? "another block" : s.read.by_warps || s.read.thread / 32 != w.index ? "another warp" : "another lane of the warp"));
        Touch now;
        now.epoch = b.epoch;
        now.sync = w.sync;
        now.block = b.number;
        now.thread = thread;
        now.atomic = atomic;
        if (writes)
            s.write = now;
        if (reads) {
            bool fresh = s.read.epoch && !before(s.read, b, thread, w.sync);
            if (fresh) {
                // Several readers since the last order between them: remember that they are many.
                now.by_many = true;
                now.by_warps = s.read.by_warps || s.read.block != b.number || s.read.thread / 32 != w.index;
                now.atomic = now.atomic && s.read.atomic;
            }
            s.read = now;
        }
    }
};
