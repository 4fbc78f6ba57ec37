#include "machine.h"
#include <algorithm>
#include <cstring>
#include <atomic>
#include <list>
#include <random>
#include <unordered_map>

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

const u64 SHARED = 0x400, LOCAL = 0x1000;
const u32 FULL = ~0u;
std::atomic<u32> launches{0};

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

void join(Clock &into, const Clock &from) {
    for (size_t at = 0; at < from.size(); at++)
        into[at] = std::max(into[at], from[at]);
}

struct Machine {
    const Kernel &k;
    const LaunchShape &shape;
    const std::vector<u64> &params;
    DeviceMemory &memory;
    const Settings &set;
    Report &report;
    std::vector<u32> words;
    std::vector<u64> longs;
    u32 launch = ++launches;
    std::mt19937 random;
    std::list<Block> blocks;
    std::unordered_map<u64, Clock> released;
    std::vector<Allocation *> cache;
    Effort effort;
    bool stuck = false;

    Machine(const Kernel &kernel, const LaunchShape &s, const std::vector<u64> &p, DeviceMemory &m, const Settings &t,
            Report &r)
        : k(kernel), shape(s), params(p), memory(m), set(t), report(r), random(t.seed * 7919 + launch) {
        // An immediate value is a register that has it in every lane.
        for (u64 value : k.immediates) {
            words.insert(words.end(), 32, (u32)value);
            longs.insert(longs.end(), 32, value);
        }
        cache.resize(k.code.size());
    }

    void defect(const Instr &i, const std::string &what) {
        report.add(k.name + " line " + std::to_string(i.line) + ": " + what + "   [" + k.lines[i.line - 1] + "]");
    }

    // Registers
    u32 *W(Warp &w, const Operand &o) { return o.cls == Class::WORD ? &w.words[o.reg * 32] : &words[o.reg * 32]; }
    u64 *L(Warp &w, const Operand &o) { return o.cls == Class::LONG ? &w.longs[o.reg * 32] : &longs[o.reg * 32]; }
    u32 P(Warp &w, const Operand &o) {
        if (o.cls == Class::PRED)
            return o.negated ? ~w.preds[o.reg] : w.preds[o.reg];
        return words[o.reg * 32] ? FULL : 0; // an immediate value
    }
    void set_pred(Warp &w, const Operand &o, u32 mask, u32 bits) {
        if (o.cls == Class::PRED)
            w.preds[o.reg] = (w.preds[o.reg] & ~mask) | (bits & mask);
    }
    template <class T, class F> static void each(T *d, u32 mask, F f) {
        if (mask == FULL)
            for (u32 l = 0; l < 32; l++)
                d[l] = f(l);
        else
            for (u32 l = 0; l < 32; l++) {
                T value = f(l);
                d[l] = mask >> l & 1 ? value : d[l];
            }
    }
    template <class F> void arithmetic(const Instr &i, Warp &w, u32 mask, F f) {
        if (i.bits == 64) {
            u64 *a = L(w, i.src[0]), *b = L(w, i.src[i.sources > 1]), *c = L(w, i.src[i.sources > 2 ? 2 : 0]);
            each(L(w, i.dst[0]), mask, [=](u32 l) { return f(a[l], b[l], c[l]); });
        } else if (i.bits == 16) {
            u32 *a = W(w, i.src[0]), *b = W(w, i.src[i.sources > 1]), *c = W(w, i.src[i.sources > 2 ? 2 : 0]);
            each(W(w, i.dst[0]), mask, [=](u32 l) { return (u32)f(a[l], b[l], c[l]) & 0xffffu; });
        } else {
            u32 *a = W(w, i.src[0]), *b = W(w, i.src[i.sources > 1]), *c = W(w, i.src[i.sources > 2 ? 2 : 0]);
            each(W(w, i.dst[0]), mask, [=](u32 l) { return f(a[l], b[l], c[l]); });
        }
    }
    template <class T> u32 compare(Cmp cmp, const T *a, const T *b) {
        u32 bits = 0;
        auto all = [&](auto f) {
            for (u32 l = 0; l < 32; l++)
                bits |= (u32)f(a[l], b[l]) << l;
        };
        switch (cmp) {
        case Cmp::EQ: all([](T x, T y) { return x == y; }); break;
        case Cmp::NE: all([](T x, T y) { return x != y; }); break;
        case Cmp::LT: all([](T x, T y) { return x < y; }); break;
        case Cmp::LE: all([](T x, T y) { return x <= y; }); break;
        case Cmp::GT: all([](T x, T y) { return x > y; }); break;
        case Cmp::GE: all([](T x, T y) { return x >= y; }); break;
        }
        return bits;
    }

    // Order of accesses
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

    // Memory
    u8 *place(const Instr &i, Warp &w, u32 lane, u64 address, u32 bytes, bool writes, bool reads, bool atomic) {
        Block &b = *w.block;
        if (address % bytes) {
            defect(i, "misaligned address");
            return nullptr;
        }
        if (i.space == Space::SHARED) {
            u64 at = (u32)address - SHARED;
            if (at + bytes > shape.shared) {
                defect(i, "outside of shared memory");
                return nullptr;
            }
            for (u64 word = at / 4; word < (at + bytes + 3) / 4; word++) {
                if (reads && !b.filled[word])
                    defect(i, "reads shared memory that nobody wrote");
                if (writes)
                    b.filled[word] = 1;
                touch(i, b.shadows[word], w, lane, writes, reads, atomic);
            }
            return &b.shared[at];
        }
        if (i.space == Space::LOCAL) {
            u64 at = address - LOCAL;
            if (at + bytes > k.local_bytes) {
                defect(i, "outside of local memory");
                return nullptr;
            }
            for (u64 word = at / 4; word < (at + bytes + 3) / 4; word++) {
                u8 &filled = w.local_filled[(lane * k.local_bytes) / 4 + word];
                if (reads && !filled)
                    defect(i, "reads local memory that was not written");
                if (writes)
                    filled = 1;
            }
            return &w.local[lane * k.local_bytes + at];
        }
        Allocation *&a = cache[&i - &k.code[0]];
        if (!a || address - a->base >= a->bytes)
            a = memory.find(address);
        if (!a || address - a->base + bytes > a->bytes) {
            defect(i, "outside of all allocations");
            a = nullptr;
            return nullptr;
        }
        u64 at = address - a->base;
        for (u64 word = at / 4; word < (at + bytes + 3) / 4; word++) {
            if (reads && a->filled[word] != a->generation)
                defect(i, "reads global memory that was not written for this launch");
            if (writes)
                a->filled[word] = a->generation;
            touch(i, a->shadow(word), w, lane, writes, reads, atomic);
        }
        if (atomic)
            synchronises(b, w.index * 32 + lane, address, writes);
        return &a->data[at];
    }
    void addresses(const Instr &i, Warp &w, u64 *to) {
        if (i.src[0].cls == Class::LONG) {
            u64 *a = L(w, i.src[0]);
            for (u32 l = 0; l < 32; l++)
                to[l] = a[l] + i.offset;
        } else {
            u32 *a = W(w, i.src[0]);
            for (u32 l = 0; l < 32; l++)
                to[l] = (u32)(a[l] + (u32)i.offset);
        }
    }
    /// Executes for the lanes of `mask`; these all are at `i`.
    void execute(const Instr &i, Warp &w, u32 mask) {
        switch (i.op) {
        case Op::MOV:
            if (i.bits == 1)
                set_pred(w, i.dst[0], mask, P(w, i.src[0]));
            else
                arithmetic(i, w, mask, [](auto a, auto, auto) { return a; });
            break;
        case Op::ADD: arithmetic(i, w, mask, [](auto a, auto b, auto) { return a + b; }); break;
        case Op::SUB: arithmetic(i, w, mask, [](auto a, auto b, auto) { return a - b; }); break;
        case Op::MUL: arithmetic(i, w, mask, [](auto a, auto b, auto) { return a * b; }); break;
        case Op::MAD: arithmetic(i, w, mask, [](auto a, auto b, auto c) { return a * b + c; }); break;
        case Op::MULWIDE:
            if (i.bits == 16) {
                u32 *a = W(w, i.src[0]), *b = W(w, i.src[1]);
                each(W(w, i.dst[0]), mask, [=](u32 l) { return (a[l] & 0xffff) * (b[l] & 0xffff); });
            } else {
                u32 *a = W(w, i.src[0]), *b = W(w, i.src[1]);
                each(L(w, i.dst[0]), mask, [=](u32 l) { return (u64)a[l] * b[l]; });
            }
            break;
        case Op::DIV:
        case Op::REM: {
            u32 *a = W(w, i.src[0]), *b = W(w, i.src[1]), *d = W(w, i.dst[0]);
            for (u32 l = 0; l < 32; l++)
                if (mask >> l & 1) {
                    if (b[l] == 0)
                        defect(i, "divides by zero");
                    u32 by = b[l] ? b[l] : 1;
                    d[l] = i.op == Op::DIV ? a[l] / by : a[l] % by;
                }
            break;
        }
        case Op::MIN:
            if (i.is_signed) arithmetic(i, w, mask, [](auto a, auto b, auto) { return (i32)a < (i32)b ? a : b; });
            else arithmetic(i, w, mask, [](auto a, auto b, auto) { return a < b ? a : b; });
            break;
        case Op::MAX:
            if (i.is_signed) arithmetic(i, w, mask, [](auto a, auto b, auto) { return (i32)a > (i32)b ? a : b; });
            else arithmetic(i, w, mask, [](auto a, auto b, auto) { return a > b ? a : b; });
            break;
        case Op::NEG: arithmetic(i, w, mask, [](auto a, auto, auto) { return 0 - a; }); break;
        case Op::AND:
        case Op::OR:
        case Op::XOR:
            if (i.bits == 1) {
                u32 a = P(w, i.src[0]), b = P(w, i.src[1]);
                set_pred(w, i.dst[0], mask, i.op == Op::AND ? a & b : i.op == Op::OR ? a | b : a ^ b);
            } else if (i.op == Op::AND)
                arithmetic(i, w, mask, [](auto a, auto b, auto) { return a & b; });
            else if (i.op == Op::OR)
                arithmetic(i, w, mask, [](auto a, auto b, auto) { return a | b; });
            else
                arithmetic(i, w, mask, [](auto a, auto b, auto) { return a ^ b; });
            break;
        case Op::NOT:
            if (i.bits == 1)
                set_pred(w, i.dst[0], mask, ~P(w, i.src[0]));
            else
                arithmetic(i, w, mask, [](auto a, auto, auto) { return ~a; });
            break;
        case Op::SHL:
        case Op::SHR:
            if (i.bits == 64) {
                u64 *a = L(w, i.src[0]);
                u32 *by = W(w, i.src[1]);
                bool left = i.op == Op::SHL;
                each(L(w, i.dst[0]), mask, [=](u32 l) { return by[l] > 63 ? 0 : left ? a[l] << by[l] : a[l] >> by[l]; });
            } else if (i.op == Op::SHL)
                arithmetic(i, w, mask, [](auto a, auto b, auto) { return b > 31 ? 0 : a << b; });
            else if (i.is_signed)
                arithmetic(i, w, mask, [](auto a, auto b, auto) { return (decltype(a))((i32)a >> (b > 31 ? 31 : b)); });
            else
                arithmetic(i, w, mask, [](auto a, auto b, auto) { return b > 31 ? 0 : a >> b; });
            break;
        case Op::SHFL_L: // shf.l.wrap: the high word of {b, a} << c
            arithmetic(i, w, mask, [](auto a, auto b, auto c) { return (u32)(((u64)(u32)b << 32 | (u32)a) << (c & 31) >> 32); });
            break;
        case Op::SHF_R:
            arithmetic(i, w, mask, [](auto a, auto b, auto c) { return (u32)(((u64)(u32)b << 32 | (u32)a) >> (c & 31)); });
            break;
        case Op::LOP3: {
            u32 *a = W(w, i.src[0]), *b = W(w, i.src[1]), *c = W(w, i.src[2]), *d = W(w, i.dst[0]), t = i.lut, bits = 0;
            u32 result[32];
            for (u32 l = 0; l < 32; l++) {
                u32 r = 0, x = a[l], y = b[l], z = c[l];
                if (t & 0x01) r |= ~x & ~y & ~z;
                if (t & 0x02) r |= ~x & ~y & z;
                if (t & 0x04) r |= ~x & y & ~z;
                if (t & 0x08) r |= ~x & y & z;
                if (t & 0x10) r |= x & ~y & ~z;
                if (t & 0x20) r |= x & ~y & z;
                if (t & 0x40) r |= x & y & ~z;
                if (t & 0x80) r |= x & y & z;
                result[l] = r;
                bits |= (u32)(r != 0) << l;
            }
            each(d, mask, [&](u32 l) { return result[l]; });
            set_pred(w, i.pred, mask, bits);
            break;
        }
        case Op::POPC: arithmetic(i, w, mask, [](auto a, auto, auto) { return (u32)__builtin_popcount(a); }); break;
        case Op::CLZ: arithmetic(i, w, mask, [](auto a, auto, auto) { return (u32)a ? (u32)__builtin_clz(a) : 32u; }); break;
        case Op::BFIND: // .shiftamt
            arithmetic(i, w, mask, [](auto a, auto, auto) { return (u32)a ? (u32)__builtin_clz(a) : FULL; });
            break;
        case Op::BREV:
            arithmetic(i, w, mask, [](auto x, auto, auto) {
                u32 a = x;
                a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
                a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
                a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
                return __builtin_bswap32(a);
            });
            break;
        case Op::CVT: {
            bool to_long = i.dst[0].cls == Class::LONG, from_long = i.src[0].cls == Class::LONG;
            u32 keep = k.lines[i.line - 1].find("cvt.u16") != std::string::npos ? 0xffff : FULL;
            if (to_long) {
                u32 *a = W(w, i.src[0]);
                each(L(w, i.dst[0]), mask, [=](u32 l) { return (u64)a[l]; });
            } else if (from_long) {
                u64 *a = L(w, i.src[0]);
                each(W(w, i.dst[0]), mask, [=](u32 l) { return (u32)a[l] & keep; });
            } else {
                u32 *a = W(w, i.src[0]);
                each(W(w, i.dst[0]), mask, [=](u32 l) { return a[l] & keep; });
            }
            break;
        }
        case Op::SELP: {
            u32 p = P(w, i.src[2]);
            if (i.bits == 64) {
                u64 *a = L(w, i.src[0]), *b = L(w, i.src[1]);
                each(L(w, i.dst[0]), mask, [=](u32 l) { return p >> l & 1 ? a[l] : b[l]; });
            } else {
                u32 *a = W(w, i.src[0]), *b = W(w, i.src[1]);
                each(W(w, i.dst[0]), mask, [=](u32 l) { return p >> l & 1 ? a[l] : b[l]; });
            }
            break;
        }
        case Op::SETP: {
            u32 bits;
            if (i.bits == 64)
                bits = i.is_signed ? compare(i.cmp, (i64 *)L(w, i.src[0]), (i64 *)L(w, i.src[1]))
                                   : compare(i.cmp, L(w, i.src[0]), L(w, i.src[1]));
            else if (i.bits == 16) {
                i32 a[32], b[32];
                for (u32 l = 0; l < 32; l++) {
                    u32 x = W(w, i.src[0])[l], y = W(w, i.src[1])[l];
                    a[l] = i.is_signed ? (int16_t)x : (i32)(x & 0xffff);
                    b[l] = i.is_signed ? (int16_t)y : (i32)(y & 0xffff);
                }
                bits = compare(i.cmp, a, b);
            } else
                bits = i.is_signed ? compare(i.cmp, (i32 *)W(w, i.src[0]), (i32 *)W(w, i.src[1]))
                                   : compare(i.cmp, W(w, i.src[0]), W(w, i.src[1]));
            set_pred(w, i.dst[0], mask, bits);
            break;
        }
        case Op::LDPARAM:
            if (i.dst[0].cls == Class::LONG)
                each(L(w, i.dst[0]), mask, [&](u32) { return params[i.lut]; });
            else
                each(W(w, i.dst[0]), mask, [&](u32) { return (u32)params[i.lut]; });
            break;
        case Op::LD:
        case Op::ST: {
            u64 address[32];
            addresses(i, w, address);
            u32 bytes = i.bytes * i.vec;
            bool load = i.op == Op::LD;
            for (u32 n = 0; n < 32; n++) {
                u32 l = set.chaos ? n ^ (w.sync & 31) : n;
                if (!(mask >> l & 1))
                    continue;
                u8 *at = place(i, w, l, address[l], bytes, !load, load, i.is_volatile);
                for (u32 v = 0; v < i.vec; v++) {
                    u64 value = 0;
                    if (load) {
                        if (at && i.is_volatile)
                            value = __atomic_load_n((u32 *)at, __ATOMIC_RELAXED);
                        else if (at)
                            memcpy(&value, at + v * i.bytes, i.bytes);
                        if (i.dst[v].cls == Class::LONG)
                            L(w, i.dst[v])[l] = value;
                        else
                            W(w, i.dst[v])[l] = value;
                    } else {
                        value = i.bytes == 8 ? L(w, i.dst[v])[l] : W(w, i.dst[v])[l];
                        if (at)
                            memcpy(at + v * i.bytes, &value, i.bytes);
                    }
                }
            }
            break;
        }
        case Op::ATOM: {
            u64 address[32];
            addresses(i, w, address);
            for (u32 n = 0; n < 32; n++) {
                u32 l = set.chaos ? n ^ (w.sync & 31) : n;
                if (!(mask >> l & 1))
                    continue;
                u8 *at = place(i, w, l, address[l], i.bytes, true, true, true);
                if (!at)
                    continue;
                if (i.bytes == 8)
                    L(w, i.dst[0])[l] = __atomic_fetch_add((u64 *)at, L(w, i.src[1])[l], __ATOMIC_RELAXED);
                else
                    W(w, i.dst[0])[l] = __atomic_fetch_add((u32 *)at, W(w, i.src[1])[l], __ATOMIC_RELAXED);
            }
            break;
        }
        case Op::FENCE:
            fence(w, mask);
            break;
        case Op::VOTE_ALL: set_pred(w, i.dst[0], mask, (P(w, i.src[0]) & mask) == mask ? FULL : 0); break;
        case Op::BALLOT: {
            u32 bits = P(w, i.src[0]) & mask;
            each(W(w, i.dst[0]), mask, [=](u32) { return bits; });
            break;
        }
        case Op::SHUF_BFLY:
        case Op::SHUF_IDX: {
            u32 *a = W(w, i.src[0]), *b = W(w, i.src[1]), *c = W(w, i.src[2]), result[32], bits = 0;
            for (u32 l = 0; l < 32; l++) {
                u32 limit = c[l] & 31, from;
                bool inside;
                from = i.op == Op::SHUF_BFLY ? l ^ (b[l] & 31) : b[l] & 31;
                inside = from <= limit;
                from = inside ? from : l;
                if (mask >> l & 1 && !(mask >> from & 1))
                    defect(i, "reads a register of a lane that takes no part");
                result[l] = a[from];
                bits |= (u32)inside << l;
            }
            each(W(w, i.dst[0]), mask, [&](u32 l) { return result[l]; });
            set_pred(w, i.pred, mask, bits);
            break;
        }
        case Op::BFI: {
            u32 *from = W(w, i.src[2]), *count = W(w, i.src[3]);
            auto insert = [=](u64 a, u64 b, u32 l) {
                u64 bits = count[l] > 63 ? ~u64(0) : (u64(1) << count[l]) - 1;
                bits = from[l] > 63 ? 0 : bits << from[l];
                return (b & ~bits) | (from[l] > 63 ? 0 : a << from[l] & bits);
            };
            if (i.bits == 64) {
                u64 *a = L(w, i.src[0]), *b = L(w, i.src[1]);
                each(L(w, i.dst[0]), mask, [=](u32 l) { return insert(a[l], b[l], l); });
            } else {
                u32 *a = W(w, i.src[0]), *b = W(w, i.src[1]);
                each(W(w, i.dst[0]), mask, [=](u32 l) { return (u32)insert(a[l], b[l], l); });
            }
            break;
        }
        case Op::PRMT:
            arithmetic(i, w, mask, [](auto a, auto b, auto choice) {
                u64 both = (u64)(u32)b << 32 | (u32)a;
                u32 result = 0;
                for (u32 byte = 0; byte < 4; byte++) {
                    u32 which = choice >> 4 * byte & 15, value = both >> 8 * (which & 7) & 0xff;
                    result |= (which & 8 ? (value & 0x80 ? 0xffu : 0u) : value) << 8 * byte;
                }
                return result;
            });
            break;
        case Op::MEET:
        case Op::BRA:
        case Op::RET:
        case Op::BAR: break;
        }
    }

    // Control
    static bool is_sync(Op op) {
        return op == Op::VOTE_ALL || op == Op::BALLOT || op == Op::SHUF_IDX || op == Op::SHUF_BFLY || op == Op::MEET || op == Op::BAR;
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
        for (auto &[thread, clock] : b.pending)
            join(b.known, clock);
        b.pending.clear();
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
            effort.steps++;
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
        b.shadows.resize(shape.shared / 4 + 4);
        b.filled.resize(shape.shared / 4 + 4);
        b.known.resize(shape.blocks);
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
            if (can.empty()) {
                if (!blocks.empty())
                    report.add(k.name + ": no warp can go on");
                break;
            }
            std::shuffle(can.begin(), can.end(), random);
            for (Warp *w : can)
                if (!w->done && !w->at_barrier)
                    run(*w, set.chaos ? 1 + random() % 64 : 512);
        }
        if (stuck)
            report.add(k.name + ": stopped");
        return effort;
    }
};

} // namespace

Effort run_kernel(const Kernel &kernel, const LaunchShape &shape, const std::vector<u64> &params, DeviceMemory &memory,
                  const Settings &settings, Report &report) {
    return Machine(kernel, shape, params, memory, settings, report).all();
}
