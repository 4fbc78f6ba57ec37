#include "ptx.h"
#include <cstring>
#include <sstream>

namespace {

std::string trim(const std::string &s) {
    size_t a = s.find_first_not_of(" \t\r\n"), b = s.find_last_not_of(" \t\r\n");
    return a == std::string::npos ? "" : s.substr(a, b - a + 1);
}

std::vector<std::string> split(const std::string &s, char by) {
    std::vector<std::string> parts;
    std::string part;
    int depth = 0;
    for (char c : s) {
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        if (c == by && depth == 0) {
            parts.push_back(trim(part));
            part.clear();
        } else
            part += c;
    }
    if (!trim(part).empty())
        parts.push_back(trim(part));
    return parts;
}

struct Parser {
    Kernel k;
    std::map<std::string, Operand> names;
    std::map<std::string, u32> params, labels;
    std::map<u64, u32> constants;
    std::vector<std::pair<u32, std::string>> jumps;
    std::map<std::string, Class> prefixes;

    [[noreturn]] void fail(u32 line, const std::string &why) {
        throw std::runtime_error("line " + std::to_string(line) + ": " + why);
    }
    Operand immediate(u64 value) {
        auto [it, is_new] = constants.emplace(value, (u32)k.immediates.size());
        if (is_new)
            k.immediates.push_back(value);
        Operand o;
        o.reg = it->second;
        return o;
    }
    Operand declare(const std::string &name, Class cls) {
        Operand o;
        o.cls = cls;
        o.reg = cls == Class::PRED ? k.preds++ : cls == Class::WORD ? k.words++ : k.longs++;
        return names[name] = o;
    }
    Operand operand(std::string s, u32 line) {
        bool negated = false;
        if (!s.empty() && s[0] == '!') {
            negated = true;
            s = trim(s.substr(1));
        }
        for (const char *name : SPECIAL)
            if (s == name) {
                auto it = names.find(s);
                return it != names.end() ? it->second : declare(s, Class::WORD);
            }
        auto it = names.find(s);
        if (it != names.end()) {
            Operand o = it->second;
            o.negated = negated;
            return o;
        }
        // Registers of a range are made when they are seen first.
        size_t digits = s.find_last_not_of("0123456789");
        if (s[0] == '%' && digits != std::string::npos) {
            auto prefix = prefixes.find(s.substr(0, digits + 1));
            if (prefix == prefixes.end())
                fail(line, "unknown register " + s);
            Operand o = declare(s, prefix->second);
            o.negated = negated;
            return o;
        }
        if (isdigit(s[0]) || s[0] == '-')
            return immediate(s[0] == '-' ? (u64)-(i64)strtoull(s.c_str() + 1, nullptr, 0)
                                         : strtoull(s.c_str(), nullptr, 0));
        // Shared memory and a thread's own memory begin at fixed places.
        if (s == "shared" || s == "memory")
            return immediate(0x400);
        if (s.rfind("__local_depot", 0) == 0)
            return immediate(0x1000);
        fail(line, "unknown operand " + s);
    }
    void address(const std::string &s, Instr &i, u32 line) {
        std::string in = trim(s.substr(1, s.find(']') - 1));
        size_t plus = in.find('+');
        i.src[0] = operand(trim(in.substr(0, plus)), line);
        i.offset = plus == std::string::npos ? 0 : strtoll(in.c_str() + plus + 1, nullptr, 0);
        i.sources = 1;
    }

    void instruction(std::string s, u32 line) {
        Instr i{};
        i.line = line;
        if (s[0] == '@') {
            size_t end = s.find_first_of(" \t");
            std::string guard = s.substr(1, end - 1);
            i.guard_not = guard[0] == '!';
            i.guard = operand(i.guard_not ? guard.substr(1) : guard, line).reg;
            s = trim(s.substr(end));
        }
        size_t end = s.find_first_of(" \t");
        std::string name = s.substr(0, end);
        std::vector<std::string> args = end == std::string::npos ? std::vector<std::string>() : split(s.substr(end), ',');
        std::vector<std::string> parts;
        std::stringstream stream(name);
        for (std::string part; std::getline(stream, part, '.');)
            parts.push_back(part);
        auto has = [&](const char *what) {
            for (auto &part : parts)
                if (part == what)
                    return true;
            return false;
        };
        const std::string &base = parts[0], type = parts.back();
        if (type == "pred")
            i.bits = 1;
        else if (isdigit(type[1]))
            i.bits = atoi(type.c_str() + 1);
        i.is_signed = type[0] == 's';
        auto sources = [&](size_t from) {
            for (size_t at = from; at < args.size(); at++)
                i.src[i.sources++] = operand(args[at], line);
        };
        auto destination = [&]() {
            std::string d = args[0];
            size_t bar = d.find('|');
            if (bar != std::string::npos) {
                i.pred = operand(trim(d.substr(bar + 1)), line);
                d = trim(d.substr(0, bar));
            }
            i.dst[0] = operand(d, line);
        };
        auto vector = [&](const std::string &d) {
            if (d[0] != '{') {
                i.dst[0] = operand(d, line);
                return;
            }
            auto each = split(d.substr(1, d.size() - 2), ',');
            i.vec = each.size();
            for (size_t at = 0; at < each.size(); at++)
                i.dst[at] = operand(each[at], line);
        };
        auto where = [&]() {
            i.space = has("shared") ? Space::SHARED : has("local") ? Space::LOCAL : Space::GLOBAL;
            i.bytes = i.bits / 8;
            i.is_volatile = has("volatile");
        };
        static const std::map<std::string, Op> plain = {
            {"mov", Op::MOV}, {"add", Op::ADD}, {"sub", Op::SUB}, {"div", Op::DIV}, {"min", Op::MIN},
            {"neg", Op::NEG}, {"and", Op::AND}, {"or", Op::OR}, {"xor", Op::XOR}, {"not", Op::NOT},
            {"shl", Op::SHL}, {"shr", Op::SHR}, {"popc", Op::POPC}, {"brev", Op::BREV},
            {"selp", Op::SELP}, {"cvta", Op::MOV}, {"cvt", Op::CVT}, {"mad", Op::MAD}, {"bfind", Op::BFIND},
            {"bfi", Op::BFI}, {"prmt", Op::PRMT}};
        if (base == "mul") {
            i.op = has("wide") ? Op::MULWIDE : has("hi") ? Op::MULHI : Op::MUL;
            if (i.op == Op::MULHI && type != "u32")
                fail(line, name);
            destination();
            sources(1);
        } else if (base == "shf") {
            i.op = has("l") ? Op::SHFL_L : Op::SHF_R;
            destination();
            sources(1);
        } else if (base == "lop3") {
            i.op = Op::LOP3;
            destination();
            i.lut = strtoul(args[4].c_str(), nullptr, 0);
            for (int at = 1; at < 4; at++)
                i.src[i.sources++] = operand(args[at], line);
        } else if (base == "setp") {
            static const std::map<std::string, Cmp> cmps = {{"eq", Cmp::EQ}, {"ne", Cmp::NE}, {"lt", Cmp::LT},
                                                            {"le", Cmp::LE}, {"gt", Cmp::GT}, {"ge", Cmp::GE}};
            if (parts.size() != 3)
                fail(line, name);
            i.op = Op::SETP;
            i.cmp = cmps.at(parts[1]);
            destination();
            sources(1);
        } else if (base == "bra") {
            i.op = Op::BRA;
            jumps.push_back({(u32)k.code.size(), args[0]});
        } else if (base == "ret") {
            i.op = Op::RET;
        } else if (base == "ld" && has("param")) {
            i.op = Op::LDPARAM;
            i.dst[0] = operand(args[0], line);
            i.lut = params.at(trim(args[1].substr(1, args[1].size() - 2)));
        } else if (base == "ld") {
            i.op = Op::LD;
            where();
            vector(args[0]);
            address(args[1], i, line);
        } else if (base == "st") {
            i.op = Op::ST;
            where();
            address(args[0], i, line);
            vector(args[1]);
        } else if (base == "atom") {
            i.op = Op::ATOM;
            where();
            if (!has("add"))
                fail(line, name);
            i.dst[0] = operand(args[0], line);
            address(args[1], i, line);
            i.src[i.sources++] = operand(args[2], line);
        } else if (base == "red") {
            i.op = Op::RED;
            where();
            if (!has("add") || type != "u32")
                fail(line, name);
            address(args[0], i, line);
            i.src[i.sources++] = operand(args[1], line);
        } else if (base == "bar" && has("warp")) {
            i.op = Op::MEET;
            sources(0);
        } else if (base == "bar" && has("sync")) {
            i.op = Op::BAR;
            if (args != std::vector<std::string>{"0"})
                fail(line, s);
        } else if (base == "vote") {
            i.op = has("all") ? Op::VOTE_ALL : Op::BALLOT;
            destination();
            sources(1);
        } else if (base == "shfl") {
            i.op = has("bfly") ? Op::SHUF_BFLY : Op::SHUF_IDX;
            destination();
            sources(1);
        } else if (plain.count(base)) {
            i.op = plain.at(base);
            if (i.op == Op::CVT && (type[0] == 's' || parts[1][0] == 's'))
                fail(line, name);
            destination();
            sources(1);
        } else
            fail(line, "unknown instruction " + name);
        k.code.push_back(i);
    }

    void declaration(const std::string &s, u32 line) {
        std::stringstream in(s);
        std::string what, type, rest;
        in >> what;
        if (what == ".reg") {
            in >> type;
            std::getline(in, rest);
            Class cls = type == ".pred" ? Class::PRED : type.find("64") != std::string::npos ? Class::LONG : Class::WORD;
            for (auto &name : split(rest, ',')) {
                size_t angle = name.find('<');
                if (angle != std::string::npos)
                    prefixes[name.substr(0, angle)] = cls;
                else if (!names.count(name))
                    declare(name, cls);
            }
        } else if (what == ".local") {
            size_t open = s.find('[');
            k.local_bytes = atoi(s.c_str() + open + 1);
        } else if (what != ".pragma" && what != ".extern" && what != ".version")
            fail(line, "unknown declaration " + s);
    }

    Kernel parse(const char *text) {
        std::stringstream in(text);
        u32 number = 0;
        bool inside = false;
        std::string statement;
        for (std::string line; std::getline(in, line);) {
            number++;
            k.lines.push_back(line);
            size_t comment = line.find("//");
            std::string s = trim(comment == std::string::npos ? line : line.substr(0, comment));
            if (s.empty() || (s == "{" && inside) || s == "}" || s == "(" || s == ")")
                continue;
            if (!inside) {
                size_t entry = s.find(".entry ");
                if (entry != std::string::npos)
                    k.name = s.substr(entry + 7, s.find('(') - entry - 7);
                if (s.rfind(".param", 0) == 0) {
                    std::stringstream words(s);
                    std::string a, type, name;
                    words >> a >> type >> name;
                    if (name.back() == ',')
                        name.pop_back();
                    params[name] = k.param_bytes.size();
                    k.param_bytes.push_back(type == ".u64" ? 8 : 4);
                }
                if (s.rfind(".maxntid", 0) == 0)
                    k.max_threads = atoi(s.c_str() + 8);
                inside = s == "{";
                continue;
            }
            // Names of a block within the kernel are names of the kernel: they have one meaning.
            if (s.front() == '{' && s.back() == '}')
                s = trim(s.substr(1, s.size() - 2));
            if (s.back() == ':') {
                labels[s.substr(0, s.size() - 1)] = k.code.size();
                continue;
            }
            while (!s.empty()) {
                size_t end = s.find(';');
                if (end == std::string::npos)
                    fail(number, "no end: " + s);
                std::string one = trim(s.substr(0, end));
                s = trim(s.substr(end + 1));
                if (one[0] == '.')
                    declaration(one, number);
                else
                    instruction(one, number);
            }
        }
        for (auto &[at, label] : jumps)
            k.code[at].target = labels.at(label);
        for (auto &[name, at] : labels)
            if (at < k.code.size())
                k.code[at].leader = true;
        for (size_t at = 0; at + 1 < k.code.size(); at++)
            if (k.code[at].op == Op::BRA || k.code[at].op == Op::RET)
                k.code[at + 1].leader = true;
        for (u32 at = 0; at < SPECIALS; at++)
            k.special[at] = operand(SPECIAL[at], 0).reg;
        return k;
    }
};

} // namespace

Kernel parse_ptx(const char *text) { return Parser().parse(text); }
