#!/usr/bin/env python3
"""Checks a certificate of N-Queens counts as FORMATS.md explains. Needs Python 3.8; for signatures and
runs of the chain check_signature.py and check_chain.py beside it; nothing of the program that wrote it."""
import argparse, collections, hashlib, itertools, json, multiprocessing, re, sys

sha256 = lambda data: hashlib.sha256(data).digest()
def fill(rows, leaf, queens=(), taken=0, rising=0, falling=0):  # row r may use the columns rows[r]; None: no queen
    if len(queens) == len(rows): return leaf(queens)
    if rows[len(queens)] is None: return fill(rows, leaf, queens + (0,), taken, rising << 1, falling >> 1)
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
        sets = [[(n - int(row), names.index(column)) for column, row in of] for of in sets]
        need(all(of == sorted({*of}) and all(0 <= r for r, _ in of) for of in sets), "a square is not on the board, or not in order")
        return Board(n, *sets)

class Colour:  # A part: the rows (bit r: row r) whose queen stands on a white square, where row + column is even.
    def __init__(self, board):
        self.n, self.board, self.halves = board.n, board, ((board.n + 1) // 2, board.n // 2)
        self.all, self.even = (1 << board.n) - 1, sum(1 << line for line in range(0, board.n, 2))
        self.exchanged = any(s in board.kept for s in (1, 6, 7))  # a symmetry that exchanges rows and columns
    def mirror(self, lines):
        return int(f"{lines:0{self.n}b}"[::-1], 2)
    def parts(self, _=()):  # of each class under the reflections of columns and rows the smallest, and its size
        m = self.mirror
        for size in range(self.n % 2, self.halves[0] + 1):
            for even, odd in itertools.product(*(itertools.combinations(range(first, self.n, 2), s)
                                                 for first, s in ((0, size), (1, size - self.n % 2)))):
                rows = sum(1 << row for row in even + odd)
                other = rows if self.n % 2 else self.all ^ rows  # For even n, a reflection exchanges the colours.
                images = {0: rows, 4: other, 5: m(other), 2: m(rows)}
                images = {image for symmetry, image in images.items() if symmetry in self.board.kept}
                if rows == min(images):
                    yield f"{rows:x}", str(len(images))
    def order(self, lines):  # the same for all images of these rows, or columns, under the reflections
        m, odd, halves = self.mirror, self.n % 2, (self.even, self.all ^ self.even)
        ranks = [min(lines & half, (m(lines) if odd else ~lines) & half) for half in halves]
        if odd: return ranks
        other = m(lines) & self.even  # The odd lines of even boards, counted from the other side, are even ones.
        return sorted((ranks[0], min(other, ~other & self.even)), reverse=True)
    def count(self, part):
        rows, found = int(part, 16), []
        for colour in (0, 1):  # white, then black: how many ways there are to fill its rows, by the columns they take
            found.append(collections.Counter())
            def leaf(queens):
                found[colour][sum(queens)] += 1
                return 1
            columns = [(self.even if (row + colour) % 2 == 0 else ~self.even) & self.board.rows[row] for row in range(self.n)]
            fill([mine if (rows >> row & 1) != colour else None for row, mine in enumerate(columns)], leaf)
        def times(columns):  # The transposition exchanges rows and columns; of the two solutions, one is counted, twice.
            if not self.exchanged: return 1
            own, other = self.order(rows), self.order(columns)
            return (other <= own) + (other < own)
        return sum(ways * found[1][self.all ^ columns] * times(columns) for columns, ways in found[0].items())

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

KNOWN = """
1,1,1 0,0,0 0,0,0 2,2,2 10,2,2 4,4,0 40,8,0 92,4,0 352,16,0 724,12,0 2680,48,0 14200,80,8 73712,136,8
365596,420,0 2279184,1240,0 14772512,3000,64 95815104,8152,128 666090624,18104,0 4968057848,44184,0
39029188884,144620,480 314666222712,375664,704 2691008701644,1250692,0 24233937684440,3581240,0
227514171973736,11675080,3328 2207893435808352,34132592,3264 22317699616364044,115718268,0
234907967154122528,320403024,0""".split()  # total, r180, r90 of n = 1 to 27: OEIS A000170, A032522, A033148
FIELDS = {  # of each line, in their order; those of the first line where something is given have two more
    "certificate": "certificate program n plans total unique r180 r90 twice corrections",
    "origin": "origin session host processor program worker backend device", "root": "root",
    "task": "task plan parts tally origin again", "correction": "correction task plan counts decision method",
    "host": "host key signature"}
TYPES = {dict: "plans parts tally", list: "counts", int: "certificate n origin task correction twice corrections",
         str: "program session host processor worker backend device plan total queens holes root key signature"}
TYPES = {field: kind for kind, fields in TYPES.items() for field in fields.split()}
METHODS = ["the oracle", "another kernel", "the same kernel elsewhere"]
ENGINES = {"census": Census, "colour": Colour, "chain": lambda board: __import__("check_chain").Chain(board)}
def need(holds, what, error=ValueError):  # ArithmeticError: counts contradict each other
    if not holds: raise error(what)
def lines(path, at):
    with open(path, "rb") as file:
        for at[0], line in enumerate(iter(lambda: file.readline(1 << 20), b""), 1):
            need(re.fullmatch(rb'{"(certificate|origin|task|correction|root|host)":[ -~]+\n', line), "no line of a certificate")
            value = json.loads(line)
            need(json.dumps(value, separators=(",", ":")).encode() == line[:-1], "not the canonical form of a line")
            kind = next(iter(value))
            need(kind != "certificate" or value[kind] != 3, "a shard has no total to check: `queenfold check` reads format 3")
            own = FIELDS[kind].replace(" n ", " n queens holes " if value[kind] == 2 else " n ")
            whole(value, own if kind == "certificate" else FIELDS[kind])
            yield line[:-1], kind, value
def whole(value, fields):
    need([*value] == fields.split(), f"the fields here are {fields}")
    for field, of in value.items():
        need(type(of) is TYPES.get(field, type(of)), f"{field} is of another type")
        need(type(of) is not int or 0 <= of < 1 << 64, f"{field} is no whole number of 64 bits")
        need(TYPES.get(field) is not dict or [*of] == sorted(of), f"the keys of {field} are not in order")
        if type(of) is str: of.encode()  # fails for half of a character
def tally(count, engine, origins):
    need(count["origin"] < origins, "an origin is not described above")
    need({*count["tally"]} <= ({"r180", "r90"} if type(engine) is Census else {*"1248"}), "a count has no such key")
    need(all(re.fullmatch("0|[1-9][0-9]{0,24}", text) and int(text) < 1 << 80 for text in count["tally"].values()),
         "a count is no number below 2^80")
    return {key: int(text) for key, text in count["tally"].items()}
def tree(hashes):  # RFC 6962
    left = 1 << (len(hashes) - 1).bit_length() - 1 if len(hashes) > 1 else 0
    return sha256(b"\1" + tree(hashes[:left]) + tree(hashes[left:])) if left else hashes[0]

def check(path, at):
    root, leaves, sums, seen, origins, twice, corrections, signatures = "", [], {"r180": 0, "r90": 0}, {}, 0, 0, 0, 0
    last = decided = None  # the tally of the last task, and what its last correction decided for
    for line, kind, value in lines(path, at):
        need((at[0] == 1) == (kind == "certificate") and bool(root) == (kind == "host"), f"{kind!a} has no place here")
        if kind == "certificate":
            head, n = value, value["n"]
            need(0 < n < 33, "the board has no size from 1 to 32")
            board = Board.given(n, head)
            need(value[kind] == 1 + board.is_given, "this is no certificate of format 1 or 2")
            engines = {plan: ENGINES[plan.split("-")[0]](board) for plan in head["plans"]}
            need([type(e) is Census for e in engines.values()] in ([True, False], [False]), "no run has these plans")
            need(all(type(size) is int for size in head["plans"].values()), "a plan has a number of tasks")
            tasks = ([plan, index] for plan, size in head["plans"].items() for index in range(size))
        elif kind == "origin":
            need(value[kind] == origins < 1 << 16, "origins are numbered from 0")
            origins += 1
        elif kind == "task":
            need(decided == last, "the task above is not what was decided for", ArithmeticError)
            plan, task, again = value["plan"], [value["plan"], value[kind]], value["again"]
            need(task == next(tasks, 0), "another task comes here")
            last = decided = counts = tally(value, engines[plan], origins)
            need([*counts] == [*value["parts"]], "the tally does not have the keys of the parts")
            if again is not None:
                whole(again, "tally origin")
                need(tally(again, engines[plan], origins) == counts, "the second count differs", ArithmeticError)
                twice += 1
            for key, part in ((key, part) for key, parts in value["parts"].items() for part in parts.split(" ")):
                need((plan, part) not in seen, f"the part {part!a} is listed twice")
                seen[plan, part] = key
            sums.update({key: sums.get(key, 0) + count for key, count in counts.items()})
        elif kind == "correction":
            need(last is not None and [value["plan"], value["task"]] == task, "a correction must follow its task")
            need(value[kind] == corrections, "corrections are numbered from 0")
            for count in value["counts"]: whole(count, "tally origin")
            found, at_count = [tally(count, engines[plan], origins) for count in value["counts"]], value["decision"]
            need(len(found) > 1, "a correction has two counts or more")
            need(at_count is None or type(at_count) is int and 0 <= at_count < len(found), "the decision is none of the counts")
            need(value["method"] in ([None] if at_count is None else METHODS), "a decision has a method")
            decided, corrections = None if at_count is None else found[at_count], corrections + 1
        elif kind == "root":
            root = tree(leaves).hex()
            need(decided == last, "the task above is not what was decided for", ArithmeticError)
            need(next(tasks, None) is None, "tasks are missing above")
            need((twice, corrections) == (head["twice"], head["corrections"]), "line 1 has another twice or corrections")
            need(value[kind] == root, f"the root of the lines above is {root}")
        elif kind == "host":
            need(all(re.fullmatch(f"[0-9a-f]{{{size}}}", value[of]) for of, size in (("key", 64), ("signature", 128))),
                 "a key has 64 digits of 0-9 and a-f, a signature 128")
            signatures += 1
            need(signatures <= 1 << 16, "there are more than 65,536 signatures")
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
        even = one or max(board.kept) < 4 or (r180 | r90) % 2 == 0  # a reflection takes a solution that a turn fixes to another one
        need(even and t >= r180 >= r90 and all(number >= 0 == rest for number, rest in orbits), f"no board has {counted}", ArithmeticError)
        own = {key: sum(census.count(part) for part, k in census.parts() if k == key) for key in ("r180", "r90") if n < 17}
        need(own.items() <= sums.items(), f"the symmetric solutions are {own}", ArithmeticError)
    if n < 28 and not board.is_given:
        known = dict(zip(("total", "r180", "r90"), map(int, KNOWN[n - 1].split(",")[: 3 if len(engines) > 1 else 1])))
        need(known.items() <= counted.items(), f"the counts are not the known ones, {known}", ArithmeticError)
    says = {k: str(counted[k]) if k == "total" or len(engines) > 1 else None for k in ("total", "unique", "r180", "r90")}
    need(says.items() <= head.items(), f"the tasks add up to {says}, not to what line 1 says", ArithmeticError)
    given = "".join(f", {of} {head[of]}" for of in ("queens", "holes") if head.get(of))
    print(f"n = {n}{given}: {head['total']} solutions, {head['unique']} unique; all parts once, all sums right; root {root}")
    return engines, root, sum(head["plans"].values())
def recount(job):
    return job[1], {k: str(sum(map(job[0].count, parts.split(" ")))) for k, parts in job[1]["parts"].items()} == job[1]["tally"]
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
    for flag, how in (("certificate", {}), ("--challenge", {"metavar": "SEED"}), ("--sample", {"type": int, "default": 20})):
        parser.add_argument(flag, **how)
    given = parser.parse_args()
    try:
        found = check(given.certificate, at)
        given.challenge is None or challenge(given.certificate, *found, given.challenge, given.sample)
    except Exception as error:  # of whatever a stranger's file provokes: one line
        print(f"{given.certificate!a}, line {at[0]}: {type(error).__name__}: {str(error)[:200]!a}", file=sys.stderr)
        sys.exit(3 if type(error) is ArithmeticError else 1)
