// What an instruction does in the lanes of a warp that execute it, and the checks of every access to memory.
#pragma once
#include <cstring>

#include "order.h"

const u64 SHARED = 0x400, LOCAL = 0x1000;
const u32 FULL = ~0u;

struct Lanes : Order {
    const std::vector<u64> &params;
    DeviceMemory &memory;
    const Settings &set;
    std::vector<u32> words;
    std::vector<u64> longs;
    std::vector<Allocation *> cache;

    Lanes(Order order, const std::vector<u64> &p, DeviceMemory &m, const Settings &t)
        : Order(std::move(order)), params(p), memory(m), set(t) {
        // An immediate value is a register that has it in every lane.
        for (u64 value : k.immediates) {
            words.insert(words.end(), 32, (u32)value);
            longs.insert(longs.end(), 32, value);
        }
        cache.resize(k.code.size());
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
            // Lanes may have a half of a word each.
            for (u64 half = at / 2; half < (at + bytes + 1) / 2; half++) {
                if (reads && !b.filled[half])
                    defect(i, "reads shared memory that nobody wrote");
                if (writes)
                    b.filled[half] = 1;
                touch(i, b.shadows[half], w, lane, writes, reads, atomic);
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
        case Op::MULHI: arithmetic(i, w, mask, [](auto a, auto b, auto) { return (u32)((u64)(u32)a * (u32)b >> 32); }); break;
        case Op::DIV: {
            u32 *a = W(w, i.src[0]), *b = W(w, i.src[1]), *d = W(w, i.dst[0]);
            for (u32 l = 0; l < 32; l++)
                if (mask >> l & 1) {
                    if (b[l] == 0)
                        defect(i, "divides by zero");
                    u32 by = b[l] ? b[l] : 1;
                    d[l] = a[l] / by;
                }
            break;
        }
        case Op::MIN: arithmetic(i, w, mask, [](auto a, auto b, auto) { return a < b ? a : b; }); break;
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
        case Op::ATOM:
        case Op::RED: {
            u64 address[32];
            addresses(i, w, address);
            for (u32 n = 0; n < 32; n++) {
                u32 l = set.chaos ? n ^ (w.sync & 31) : n;
                if (!(mask >> l & 1))
                    continue;
                u8 *at = place(i, w, l, address[l], i.bytes, true, true, true);
                if (!at)
                    continue;
                if (i.op == Op::RED)
                    __atomic_fetch_add((u32 *)at, W(w, i.src[1])[l], __ATOMIC_RELAXED);
                else if (i.bytes == 8)
                    L(w, i.dst[0])[l] = __atomic_fetch_add((u64 *)at, L(w, i.src[1])[l], __ATOMIC_RELAXED);
                else
                    W(w, i.dst[0])[l] = __atomic_fetch_add((u32 *)at, W(w, i.src[1])[l], __ATOMIC_RELAXED);
            }
            break;
        }
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
};
