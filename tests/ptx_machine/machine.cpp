// Warps and blocks: which of them goes on, and where they wait.
#include "machine.h"
#include <algorithm>
#include <atomic>
#include <list>
#include <random>

#include "lanes.h"

u64 DeviceMemory::allocate(u64 bytes) {
    std::unique_lock<std::shared_mutex> guard(lock);
    u64 base = next;
    next += (bytes + 0x2000) & ~u64(0xfff);
    Allocation &a = all[base];
    u64 words = bytes / 4 + 1;
    a.base = base;
    a.bytes = bytes;
    a.data.reset(new u8[words * 4]);
    memset(a.data.get(), 0xa5, words * 4);
    a.filled.reset(new u32[words]());
    a.shadows.resize(words / PAGE + 1);
    return base;
}
bool DeviceMemory::free(u64 base) {
    std::unique_lock<std::shared_mutex> guard(lock);
    return all.erase(base) != 0;
}
Allocation *DeviceMemory::find(u64 address) {
    std::shared_lock<std::shared_mutex> guard(lock);
    auto it = all.upper_bound(address);
    if (it == all.begin())
        return nullptr;
    Allocation &a = std::prev(it)->second;
    return address - a.base < a.bytes ? &a : nullptr;
}

namespace {

std::atomic<u32> launches{0};

struct Machine : Lanes {
    std::mt19937 random;
    std::list<Block> blocks;
    Effort effort;
    bool stuck = false;

    Machine(Lanes lanes) : Lanes(std::move(lanes)), random(set.seed * 7919 + launch) { effort.counts.resize(k.code.size()); }

    static bool is_sync(Op op) {
        return op == Op::VOTE_ALL || op == Op::BALLOT || op == Op::SHUF_IDX || op == Op::SHUF_BFLY || op == Op::MEET || op == Op::BAR;
    }
    void count(u32 pc, u32 mask) {
        effort.steps++;
        effort.counts[pc].times++;
        effort.counts[pc].lanes += __builtin_popcount(mask);
    }
    void merge(Warp &w) {
        for (size_t a = 0; a < w.parts.size(); a++)
            for (size_t b = a + 1; b < w.parts.size();)
                if (w.parts[a].pc == w.parts[b].pc) {
                    w.parts[a].mask |= w.parts[b].mask;
                    w.parts[a].waiting = false; // looks again whether all are here
                    w.parts.erase(w.parts.begin() + b);
                } else
                    b++;
    }
    /// The part of the warp to go on with; -1 if all wait.
    int choose(Warp &w) {
        if (w.parts.size() > 1 && (!set.chaos || random() % 8 == 0 || w.parts.size() > 12))
            merge(w);
        int best = -1;
        u32 seen = 0;
        for (size_t at = 0; at < w.parts.size(); at++) {
            if (w.parts[at].waiting)
                continue;
            seen++;
            if (best < 0 || (set.chaos ? random() % seen == 0 : w.parts[at].pc < w.parts[best].pc))
                best = at;
        }
        return best;
    }
    void release(Block &b) {
        effort.barriers++;
        for (Warp &w : b.warps)
            if (!w.done) {
                w.at_barrier = false;
                w.parts[0].pc++;
                w.parts[0].waiting = false;
                w.sync++;
            }
        b.epoch++;
    }
    bool all_here(Block &b) {
        for (Warp &w : b.warps)
            if (!w.done && !w.at_barrier)
                return false;
        return true;
    }
    /// Runs a warp for a while.
    void run(Warp &w, u32 steps) {
        int at = choose(w);
        while (at >= 0 && steps-- > 0) {
            Part &part = w.parts[at];
            const Instr &i = k.code[part.pc];
            if (is_sync(i.op)) {
                u32 members = i.op == Op::BAR ? w.live : W(w, i.src[i.sources - 1])[__builtin_ctz(part.mask)];
                if (members & ~w.live)
                    defect(i, "names lanes that have ended"), members &= w.live;
                if (part.mask & ~members)
                    defect(i, "is executed by a lane that it does not name");
                if ((part.mask & members) != members) {
                    part.waiting = true;
                    for (size_t other = 0; other < w.parts.size(); other++)
                        if ((int)other != at && w.parts[other].pc == part.pc) {
                            merge(w);
                            break;
                        }
                    for (Part &p : w.parts)
                        if (p.waiting && (p.mask & members) == members && k.code[p.pc].line == i.line)
                            p.waiting = false;
                    at = choose(w);
                    if (at < 0) {
                        defect(i, "lanes of a warp wait at different places");
                        stuck = true;
                    }
                    continue;
                }
                if (i.op == Op::BAR) {
                    count(part.pc, part.mask);
                    w.at_barrier = true;
                    part.waiting = true;
                    if (all_here(*w.block))
                        release(*w.block);
                    return;
                }
                // Votes and shuffles wait for lanes, but order no memory.
                if (i.op == Op::MEET)
                    w.sync++;
            }
            u32 mask = part.mask;
            if (i.guard >= 0)
                mask &= i.guard_not ? ~w.preds[i.guard] : w.preds[i.guard];
            u32 pc = part.pc;
            count(pc, mask);
            if (mask)
                execute(i, w, mask);
            if (i.op == Op::RET && mask) {
                w.live &= ~mask;
                part.mask &= ~mask;
                if (!part.mask)
                    w.parts.erase(w.parts.begin() + at);
                else
                    part.pc++;
                if (!w.live) {
                    w.done = true;
                    Block &b = *w.block;
                    b.running--;
                    if (b.running) {
                        for (Warp &other : b.warps)
                            if (other.at_barrier)
                                defect(i, "a warp ends while others wait at a barrier");
                        if (all_here(b))
                            release(b);
                    }
                    return;
                }
                at = choose(w);
                continue;
            }
            if (i.op == Op::BRA && mask != 0) {
                u32 stay = part.mask & ~mask;
                part.pc = i.target;
                part.mask = mask;
                if (stay) {
                    w.parts.push_back({pc + 1, stay, false});
                    at = choose(w);
                    continue;
                }
            } else
                part.pc++;
            if (k.code[w.parts[at].pc].leader) {
                if (set.chaos && random() % 16 == 0 && w.parts.size() < 12) {
                    u32 some = w.parts[at].mask & random();
                    if (some && some != w.parts[at].mask) {
                        w.parts[at].mask &= ~some;
                        w.parts.push_back({w.parts[at].pc, some, false});
                    }
                }
                if (w.parts.size() > 1)
                    at = choose(w);
            }
        }
    }

    void start(u32 number) {
        blocks.emplace_back();
        Block &b = blocks.back();
        b.number = number;
        b.shared.assign(shape.shared + 16, 0xa5);
        for (u8 &byte : b.shared)
            byte = random();
        b.shadows.resize(shape.shared / 2 + 8);
        b.filled.resize(shape.shared / 2 + 8);
        b.warps.resize((shape.threads + 31) / 32);
        b.running = b.warps.size();
        for (u32 at = 0; at < b.warps.size(); at++) {
            Warp &w = b.warps[at];
            w.block = &b;
            w.index = at;
            u32 threads = std::min(32u, shape.threads - 32 * at);
            w.live = threads == 32 ? FULL : (1u << threads) - 1;
            w.parts.push_back({0, w.live, false});
            w.words.resize(k.words * 32);
            w.longs.resize(k.longs * 32);
            w.preds.resize(k.preds);
            w.local.resize(k.local_bytes * 32);
            w.local_filled.resize(k.local_bytes * 8);
            for (u32 l = 0; l < 32; l++) {
                const u32 values[SPECIALS] = {at * 32 + l, shape.threads, number, (1u << l) - 1};
                for (u32 which = 0; which < SPECIALS; which++)
                    w.words[k.special[which] * 32 + l] = values[which];
            }
        }
    }

    Effort all() {
        u32 next = 0, room = shape.per_sm * set.sms;
        while (next < shape.blocks && next < room)
            start(next++);
        std::vector<Warp *> can;
        u32 idle = 0; // rounds in which no warp went on
        while (!blocks.empty() && !stuck) {
            can.clear();
            for (auto b = blocks.begin(); b != blocks.end();) {
                if (b->running == 0) {
                    b = blocks.erase(b);
                    if (next < shape.blocks) {
                        start(next++);
                        if (b == blocks.end())
                            b = std::prev(blocks.end());
                    }
                    continue;
                }
                for (Warp &w : b->warps)
                    if (!w.done && !w.at_barrier)
                        can.push_back(&w);
                ++b;
            }
            if (can.empty() || idle == 100) {
                if (!blocks.empty())
                    report.add(k.name + ": no warp can go on");
                break;
            }
            if (effort.steps > set.most_steps) {
                report.add(k.name + ": it does not end");
                break;
            }
            std::shuffle(can.begin(), can.end(), random);
            const u64 before = effort.steps;
            for (Warp *w : can)
                if (!w->done && !w->at_barrier)
                    run(*w, set.chaos ? 1 + random() % 64 : 512);
            idle = effort.steps == before ? idle + 1 : 0;
        }
        if (stuck)
            report.add(k.name + ": stopped");
        return effort;
    }
};

} // namespace

Effort run_kernel(const Kernel &kernel, const LaunchShape &shape, const std::vector<u64> &params, DeviceMemory &memory,
                  const Settings &settings, Report &report) {
    Order order{kernel, shape, report, ++launches};
    return Machine(Lanes(order, params, memory, settings)).all();
}
