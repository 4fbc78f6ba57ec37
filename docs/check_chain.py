"""The parts of a run of the chain, for check_certificate.py: what FORMATS.md says of `chain-1`.

A part is a border: the queens in the first and last row and column, as top.bottom.left.right (columns
of the first two, rows of the others). Of the images of a border under the eight symmetries, the one with
the smallest (bottom, top, left, right) stands for all. `border:from-to` are the placements of it whose
queens in the first free rows stand in the columns from … to, compared like words."""
import itertools, re
from check_certificate import Board, fill, need, turned

PART = "N.N.N.N(:N(.N)*-N(.N)*)?(@[0-7])?".replace(".", r"\.").replace("N", "(0|[1-9][0-9]?)")

class Chain:
    def __init__(self, board):
        n = board.n
        self.n, self.first, self.kept = n, 0 if n < 7 else 2 if n < 28 else 3, board.kept
        # The different images of the given board, by the first symmetry whose inverse makes each.
        self.images, sets = {}, []
        for symmetry in range(8):
            image = board.image({1: 3, 3: 1}.get(symmetry, symmetry))
            if image not in sets:
                sets.append(image)
                self.images[f"@{symmetry}" * board.is_given] = symmetry, Board(n, *image)

    def squares(self, border):
        top, bottom, left, right = border
        return {(0, top), (self.n - 1, bottom), (left, 0), (right, self.n - 1)}

    def image(self, border, turn):
        last = self.n - 1
        squares = {turned(square, turn, last) for square in self.squares(border)}
        column, row = {r: c for r, c in squares}, {c: r for r, c in squares}
        return column[0], column[last], row[0], row[last]

    def borders(self):
        """Each border that is the smallest of its images."""
        attack = lambda a, b: a[0] == b[0] or a[1] == b[1] or abs(a[0] - b[0]) == abs(a[1] - b[1])
        order = lambda border: (border[1], border[0], *border[2:])
        for border in itertools.product(range(self.n), repeat=4):
            bottom, squares = border[1], self.squares(border)
            if bottom > (self.n - 1) // 2 or any(a != b and attack(a, b) for a in squares for b in squares):
                continue
            images = {self.image(border, turn) for turn in range(8)}
            if order(border) == min(map(order, images)):
                yield border

    def representatives(self):
        """The borders that are counted on each image of the given board, and how many borders each stands for: its
        images under the symmetries that fix the given board, unless it stood for them on an earlier image."""
        for border in self.borders():
            counted = set()
            for image, (symmetry, board) in self.images.items():
                own = self.image(border, symmetry)
                images = {self.image(own, kept) for kept in self.kept}
                if own not in counted and all(board.is_open(*square) for square in self.squares(border)):
                    yield border, image, str(len(images))
                counted |= images

    def read(self, part):
        """The border of a part, the numbers of its placements among all of that border, and the image."""
        need(re.fullmatch(PART, part), f"the part {part!a} is not written like one")
        border, *ends = re.split("[:-]", part.split("@")[0])
        ends = [[int(column) - 1 for column in end.split(".")] for end in ends]
        numbers = [sum(digit * (self.n - 2) ** power for power, digit in enumerate(reversed(end))) for end in ends]
        first, last = numbers or (0, max(self.n - 2, 1) ** self.first - 1)
        return tuple(int(place) for place in border.split(".")), range(first, last + 1), part[len(part.split("@")[0]):]

    def parts(self, listed):
        """The listed parts with their weights if they are all placements of all borders, each once."""
        of_border = {}
        for plan, part in listed:
            if plan.startswith("chain-"):
                border, numbers, image = self.read(part)
                of_border.setdefault((border, image), []).append((numbers.start, numbers.stop, part))
        for border, image, weight in self.representatives():
            end = 0
            for start, stop, part in sorted(of_border.get((border, image), [])):
                need(start == end < stop, f"the placements of part {part!a} are listed twice, or not all before it")
                yield part, weight
                end = stop
            need(end == max(self.n - 2, 1) ** self.first, f"placements of border {border}{image} are missing")

    def count(self, part):
        (top, bottom, left, right), numbers, image = self.read(part)
        board = self.images[image][1]
        rows = [open & ~1 & ~(1 << self.n - 1) for open in board.rows]
        for row, column in self.squares((top, bottom, left, right)):
            rows[row] = 1 << column
        free = [row for row in range(self.n) if row not in (0, self.n - 1, left, right)][:self.first]
        total = 0
        for number in numbers if ":" in part else [None]:
            for row in reversed(free if ":" in part else []):
                number, digit = divmod(number, self.n - 2)
                rows[row] = 2 << digit & board.rows[row]
            total += fill(rows, lambda queens: 1)
        return total
