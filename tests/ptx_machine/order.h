// Which accesses are ordered: by a thread itself, by the lanes of a warp that meet, by barriers of a block, and
// between blocks by fences and atomics (the memory model of PTX). What is not ordered is a race.
#pragma once
#include <algorithm>
#include <unordered_map>

#include "machine.h"

typedef std::vector<u32> Clock; // for each block the epochs that are known

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
    // What its threads know of other blocks: all of them, and single threads since the last barrier.
    Clock known;
    std::map<u32, Clock> pending, fenced, read;
};

inline void join(Clock &into, const Clock &from) {
    for (size_t at = 0; at < from.size(); at++)
        into[at] = std::max(into[at], from[at]);
}

struct Order {
    const Kernel &k;
    const LaunchShape &shape;
    Report &report;
    u32 launch;
    std::unordered_map<u64, Clock> released;

    void defect(const Instr &i, const std::string &what) {
        report.add(k.name + " line " + std::to_string(i.line) + ": " + what + "   [" + k.lines[i.line - 1] + "]");
    }

    bool before(const Touch &t, Block &b, u32 thread, u32 sync) {
        if (t.block == b.number) {
            if (t.epoch < b.epoch)
                return true;
            if (t.by_warps)
                return false;
            if (!t.by_many && t.thread == thread)
                return true;
            return t.thread / 32 == thread / 32 && t.sync < sync;
        }
        if (t.by_warps)
            return false;
        u32 knows = b.known[t.block];
        auto it = b.pending.find(thread);
        if (it != b.pending.end())
            knows = std::max(knows, it->second[t.block]);
        return t.epoch <= knows;
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
    Clock clock_of(Block &b, u32 thread) {
        Clock c = b.known;
        auto it = b.pending.find(thread);
        if (it != b.pending.end())
            join(c, it->second);
        c[b.number] = b.epoch - 1;
        return c;
    }
    void fence(Warp &w, u32 mask) {
        Block &b = *w.block;
        for (u32 l = 0; l < 32; l++)
            if (mask >> l & 1) {
                u32 thread = w.index * 32 + l;
                auto it = b.read.find(thread);
                if (it != b.read.end()) {
                    Clock &pending = b.pending[thread];
                    pending.resize(shape.blocks);
                    join(pending, it->second);
                    b.read.erase(it);
                }
                b.fenced[thread] = clock_of(b, thread);
            }
    }
    void synchronises(Block &b, u32 thread, u64 address, bool writes) {
        auto rel = released.find(address);
        if (rel != released.end()) {
            Clock &read = b.read[thread];
            read.resize(shape.blocks);
            join(read, rel->second);
        }
        auto fenced = b.fenced.find(thread);
        if (writes && fenced != b.fenced.end()) {
            Clock &into = released[address];
            into.resize(shape.blocks);
            join(into, fenced->second);
        }
    }
};
