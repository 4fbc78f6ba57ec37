#!/usr/bin/env python3
"""Checks a certificate of N-Queens counts as CERTIFICATE.md explains. Needs Python 3.8; for signatures and
runs of the chain check_signature.py and check_chain.py beside it; nothing of the program that wrote it."""
import argparse, hashlib, itertools, json, multiprocessing, re, sys

sha256 = lambda data: hashlib.sha256(data).digest()
def fill(rows, leaf, queens=(), taken=0, rising=0, falling=0):  # row r may use the columns rows[r]
    if len(queens) == len(rows): return leaf(queens)
    free, total = rows[len(queens)] & ~(taken | rising | falling), 0
    while free:
        queen = free & -free
        free ^= queen
        total += fill(rows, leaf, queens + (queen,), taken | queen, (rising | queen) << 1, (falling | queen) >> 1)
    return total

def turned(square, symmetry, last):
    (r, c), (x, y) = square, (last - square[0], last - square[1])
    return [(r, c), (c, x), (x, y), (y, r), (r, y), (x, c), (c, r), (y, x)][symmetry]
class Board:  # The squares on which queens may stand, as a mask of columns for each row, and what is given.
    def __init__(self, n, queens=(), holes=()):
        attack = lambda a, b: a[0] == b[0] or a[1] == b[1] or abs(a[0] - b[0]) == abs(a[1] - b[1])
        self.n, self.queens, self.holes = n, frozenset(queens), frozenset(holes)
        need(not any(a in self.holes or attack(a, b) for a in queens for b in queens if a != b), "this cannot be given")
        free = lambda square: square not in self.holes and not any(q != square and attack(q, square) for q in queens)
        self.rows = [sum(1 << c for c in range(n) if free((r, c))) for r in range(n)]
        self.is_given = bool(self.queens or self.holes)
        self.kept = [s for s in range(8) if self.image(s) == (self.queens, self.holes)]
    def image(self, symmetry):
        return tuple(frozenset(turned(square, symmetry, self.n - 1) for square in of) for of in (self.queens, self.holes))
    def is_open(self, row, column):
        return self.rows[row] >> column & 1
    def given(n, head):  # Squares have the names of chess; the columns after z are aa, ab and so on.
        names = [chr(97 + c) if c < 26 else "a" + chr(71 + c) for c in range(n)]
        sets = [[re.fullmatch("([a-z]+)([1-9][0-9]?)", name).groups() for name in head[of].split(",") if name]
                for of in ("queens", "holes") if of in head]
        board = Board(n, *([(n - int(row), names.index(column)) for column, row in of] for of in sets))
        need(all(0 <= r for r, _ in board.queens | board.holes), "a square is not on the board")
        return board

class Join:  # A part: the columns of the queens in the top half (bit c: column c), and that of the middle row.
    def __init__(self, board):
        n = board.n
        self.n, self.h, self.board, score = n, n // 2, board, {}
        self.exchanged = any(s in board.kept for s in (1, 6, 7))  # a symmetry that exchanges rows and columns
        for mark, word in itertools.product([0, *(1 << i for i in range(self.h * (n % 2)))], range(1 << self.h)):
            other = (1 << self.h) - 1 & ~mark ^ word
            if not word & mark and word <= other:
                pairs = [bin(side & side >> d).count("1") * (self.h - d) for side in (word, other) for d in range(1, self.h)]
                score[mark, word] = 2 * sum(pairs) + max(mark.bit_length() - 1, 0) * (self.h - 1)
        kinds = ([s for (mark, _), s in score.items() if bool(mark) == kind] for kind in (False, True))
        mean = [(sum(kind) << 16) // max(len(kind), 1) for kind in kinds]
        order = sorted(score, key=lambda w: (mean[w[0] > 0] - (score[w] << 16), w))
        self.ranks = {word: rank for rank, word in enumerate(order)}
    def mirror(self, columns):
        return int(f"{columns:0{self.n}b}"[::-1], 2)
    def parts(self, _=()):  # of each class under reversal and exchange of the halves the smallest, and its size
        for middle in [1 << c for c in range(self.n)] if self.n % 2 else [0]:
            for top in itertools.combinations([1 << c for c in range(self.n) if not middle >> c & 1], self.h):
                top, other, m = sum(top), (1 << self.n) - 1 ^ sum(top) ^ middle, self.mirror
                images = {0: (top, middle), 5: (other, middle), 4: (m(top), m(middle)), 2: (m(other), m(middle))}
                images = {image for symmetry, image in images.items() if symmetry in self.board.kept}
                if (top, middle) == min(images) and self.rows(top, middle, other):
                    yield f"{top:x}" + f".{middle.bit_length() - 1}" * (self.n % 2), str(len(images))
    def rows(self, top, middle, other):  # none if a row or column has no open square that the middle queen leaves
        rows = [top] * self.h + [middle] * (self.n % 2) + [other] * self.h
        if self.board.is_given:
            for r, distance in ((r, abs(r - self.h)) for r in range(self.n)):
                rows[r] &= self.board.rows[r] & ~(middle << distance | middle >> distance if distance else 0)
            if not all(rows) or sum(1 << c for c in range(self.n) if any(row >> c & 1 for row in rows)) + 1 != 1 << self.n:
                return None
        return rows
    def bounds(self, lines, marks):  # the ranks of the words of both sides, the larger one first
        half, sides = (1 << self.h) - 1, ((lines, marks), (self.mirror(lines), self.mirror(marks)))
        words = [(mark & half, min(line & half & ~mark, ~line & half & ~mark)) for line, mark in sides]
        return sorted((self.ranks[word] for word in words), reverse=True)
    def count(self, part):
        top, middle = int(part.split(".")[0], 16), sum(1 << int(column) for column in part.split(".")[1:])
        columns = self.bounds(top, middle)
        def leaf(queens):  # A quarter turn exchanges rows and columns; of the two, one is counted, twice.
            if not self.exchanged: return 1
            left = sum(1 << row for row, queen in enumerate(queens) if queen < 1 << self.h)
            marks = sum(1 << row for row, queen in enumerate(queens) if self.n % 2 and queen == 1 << self.h)
            return (self.bounds(left, marks) <= columns) + (self.bounds(left, marks) < columns)
        return fill(self.rows(top, middle, (1 << self.n) - 1 ^ top ^ middle), leaf)

class Census:  # A part: the solutions fixed by a quarter turn, or by a half turn with these two inner queens.
    def __init__(self, board):
        self.n, self.board, last = board.n, board, board.n - 1
        squares = [s for s in itertools.product(range(board.n), repeat=2) if all(board.is_open(*turned(s, t, last)) for t in (0, 2))]
        self.mirrored = {turned(square, 4, last) for square in squares} == {*squares}
    def parts(self, _=()):
        first = [a for a in range(self.n) if 2 * a + 1 < self.n or not self.mirrored and 2 * a + 1 != self.n]
        pairs = [f"{a}.{b}" for a in first for b in range(self.n)] if self.n > 3 else ["half"]
        return [(pair, "r180") for pair in pairs] + [("quarter", "r90")]
    def count(self, part):
        last, fixed = self.n - 1, [[int(column)] for column in re.findall(r"\d+", part)]
        fixed = {self.n // 2 - 1 - above: column for above, column in enumerate(fixed)}
        def search(queens):  # row -> column
            row = next((row for row in [*fixed, *range(self.n)] if row not in queens), None)
            return 1 if row is None else sum(place(queens, row, column) for column in fixed.get(row, range(self.n)))
        def place(queens, row, column):  # with its images
            added, r, c = dict(queens), row, column
            while self.board.is_open(r, c) and not any(r == x or c == y or abs(r - x) == abs(c - y) for x, y in added.items()):
                added[r] = c
                r, c = (c, last - r) if part == "quarter" else (last - r, last - c)
                if (r, c) == (row, column):
                    return search(added)
            return 0
        return search({}) * (2 if fixed and self.mirrored else 1)

ENGINES = {"census": Census, "join": Join, "chain": lambda board: __import__("check_chain").Chain(board)}
def need(holds, what, error=ValueError):  # ArithmeticError: counts contradict each other
    if not holds: raise error(what)
def lines(path, at):
    with open(path, "rb") as file:
        for at[0], line in enumerate(iter(lambda: file.readline(1 << 16), b""), 1):
            need(re.fullmatch(rb'{"(certificate|origin|task|correction|root|host)":[ -~]+\n', line), "no line of a certificate")
            value = json.loads(line)
            need(json.dumps(value, separators=(",", ":")).encode() == line[:-1], "not the canonical form of a line")
            yield line[:-1], next(iter(value)), value
def tally(count):
    need(all(re.fullmatch("0|[1-9][0-9]{0,24}", text) for text in count["tally"].values()), "a count is no number below 10^25")
    return {key: int(text) for key, text in count["tally"].items()}
def tree(hashes):  # RFC 6962
    left = 1 << (len(hashes) - 1).bit_length() - 1 if len(hashes) > 1 else 0
    return sha256(b"\1" + tree(hashes[:left]) + tree(hashes[left:])) if left else hashes[0]

def check(path, at):
    root, leaves, sums, seen = "", [], {"r180": 0, "r90": 0}, {}
    for line, kind, value in lines(path, at):
        need((at[0] == 1) == (kind == "certificate") and bool(root) == (kind == "host"), f"{kind!a} has no place here")
        if kind == "certificate":
            head, n = value, value["n"]
            need(type(n) is int and 0 < n < 30, "the board has no size from 1 to 29")
            board = Board.given(n, head)
            need(value[kind] == 1 + board.is_given, "this is no certificate of format 1 or 2")
            engines = {plan: ENGINES[plan.split("-")[0]](board) for plan in head["plans"]}
            need([type(e) is Census for e in engines.values()] in ([True, False], [False]), "no run has these plans")
            tasks = ([plan, index] for plan, size in head["plans"].items() for index in range(size))
        elif kind == "task":
            plan, counts, again = value["plan"], tally(value), value["again"]
            need(([plan, value[kind]], [*counts]) == (next(tasks, 0), [*value["parts"]]), "another task or tally comes here")
            need(again is None or tally(again) == counts, "the second count differs", ArithmeticError)
            for key, part in ((key, part) for key, parts in value["parts"].items() for part in parts.split(" ")):
                need((plan, part) not in seen, f"the part {part!a} is listed twice")
                seen[plan, part] = key
            sums.update({key: sums.get(key, 0) + count for key, count in counts.items()})
        elif kind == "root":
            root = tree(leaves).hex()
            need(next(tasks, None) is None, "tasks are missing above")
            need(value[kind] == root, f"the root of the lines above is {root}")
        elif kind == "host":
            need(__import__("check_signature").is_signed(value, root), "the signature is not of this root, host and key")
        leaves.append(sha256(b"\0" + line))
    need(root, "the end of the file is missing, there is no root")
    for plan, (part, key) in ((plan, part) for plan in engines for part in engines[plan].parts([*seen])):
        need(seen.pop((plan, part), None) == key, f"part {part} of {plan} is missing, or its weight is not {key}")
    need(not seen, f"there is no such part: {[*seen][:1]}")
    counted = {"total": sum(int(key) * sums[key] for key in sums if key.isdigit()), **sums}
    if len(engines) > 1:
        census, one, t, r180, r90 = [*engines.values()][0], int(n == 1), counted["total"], sums["r180"], sums["r90"]
        # Solutions that only the identity of the symmetries in `kept` fixes, those that the half turn fixes too, and so on.
        order, fixed = len(board.kept), [t, r180 * (2 in board.kept), r90 * (1 in board.kept), 0]
        orbits = [divmod(a - b, order >> i) if a > b else (a - b, 0) for i, (a, b) in enumerate(zip(fixed, fixed[1:]))]
        orbits = [(t, 0)] if one else orbits
        counted["unique"] = sum(number for number, _ in orbits)
        need(t >= r180 >= r90 and all(number >= 0 == rest for number, rest in orbits), f"no board has {counted}", ArithmeticError)
        own = {key: sum(census.count(part) for part, k in census.parts() if k == key) for key in ("r180", "r90") if n < 17}
        need(own.items() <= sums.items(), f"the symmetric solutions are {own}", ArithmeticError)
    says = {k: str(counted[k]) if k == "total" or len(engines) > 1 else None for k in ("total", "unique", "r180", "r90")}
    need(says.items() <= head.items(), f"the tasks add up to {says}, not to what line 1 says", ArithmeticError)
    given = "".join(f", {of} {head[of]}" for of in ("queens", "holes") if head.get(of))
    print(f"n = {n}{given}: {head['total']} solutions, {head['unique']} unique; all parts once, all sums right; root {root}")
    return engines, root, sum(head["plans"].values())
def recount(job):
    return job[1], {k: sum(map(job[0].count, parts.split(" "))) for k, parts in job[1]["parts"].items()} == tally(job[1])
def challenge(path, engines, root, tasks, seed, m):
    drawn = {int(sha256(f"{root} {seed} {i}".encode()).hex(), 16) % tasks for i in range(m)}
    values = enumerate(value for _, kind, value in lines(path, [0]) if kind == "task")
    with multiprocessing.Pool() as pool:
        for value, equal in pool.imap_unordered(recount, ((engines[v["plan"]], v) for i, v in values if i in drawn)):
            need(equal, f"task {value['task']} of {value['plan']} was counted wrong", ArithmeticError)
    print(f"{m} tasks drawn, {len(drawn)} of them different, and counted again: all right. At 95 %, fewer than "
          f"{100 * (1 - 0.05 ** (1 / m)):.3g} % of all {tasks} are wrong, if nobody knew the seed; a few can be.")

if __name__ == "__main__":
    parser, at = argparse.ArgumentParser(description=__doc__), [0]
    for flag, how in (("certificate", {}), ("--challenge", {"metavar": "SEED"}), ("-m", {"type": int, "default": 20})):
        parser.add_argument(flag, **how)
    given = parser.parse_args()
    try:
        found = check(given.certificate, at)
        given.challenge is None or challenge(given.certificate, *found, given.challenge, given.m)
    except Exception as error:  # of whatever a stranger's file provokes: one line
        print(f"{given.certificate!a}, line {at[0]}: {type(error).__name__}: {str(error)[:200]!a}", file=sys.stderr)
        sys.exit(3 if type(error) is ArithmeticError else 1)
