// Reads PTX: the subset that the kernels use. An instruction that is not known is an error that names its line.
#pragma once
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef int32_t i32;
typedef uint64_t u64;
typedef int64_t i64;

enum class Op : u8 {
    MOV, ADD, SUB, MUL, MULWIDE, MULHI, MAD, DIV, MIN, NEG, AND, OR, XOR, NOT, SHL, SHR, SHFL_L, SHF_R,
    LOP3, POPC, BFIND, BREV, CVT, SELP, SETP, BRA, RET, LDPARAM, LD, ST, ATOM, RED, BAR, VOTE_ALL, BALLOT,
    MEET, SHUF_BFLY, SHUF_IDX, BFI, PRMT,
};
enum class Cmp : u8 { EQ, NE, LT, LE, GT, GE };
enum class Space : u8 { GLOBAL, SHARED, LOCAL };
enum class Class : u8 { PRED, WORD, LONG, NONE };

struct Operand {
    Class cls = Class::NONE; // registers; NONE: an immediate value
    u32 reg = 0;             // number within its class, or of the immediate value
    bool negated = false;
};

struct Instr {
    Op op;
    u8 bits = 32;          // of the operation
    bool is_signed = false, is_volatile = false, leader = false;
    Cmp cmp = Cmp::EQ;
    Space space = Space::GLOBAL;
    u8 vec = 1, bytes = 4;
    int guard = -1;
    bool guard_not = false;
    Operand dst[4], pred, src[5];
    u8 sources = 0;
    i64 offset = 0;
    int target = -1;
    u32 lut = 0;
    u32 line = 0;          // of the text, from 1
};

/// The registers in which a thread finds what it is.
const char *const SPECIAL[] = {"%tid.x", "%ntid.x", "%ctaid.x", "%lanemask_lt"};
const u32 SPECIALS = 4;

struct Kernel {
    std::string name;
    std::vector<Instr> code;
    std::vector<u64> immediates;
    u32 special[SPECIALS];
    std::vector<u32> param_bytes;
    u32 words = 0, longs = 0, preds = 0, local_bytes = 0, max_threads = 1024;
    std::vector<std::string> lines;
};

Kernel parse_ptx(const char *text);
