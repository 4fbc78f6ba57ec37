"""Boards with given squares, in each form that a program has them in."""

from typing import Any

import pytest

import queenfold

PICTURE = "\n".join(["........"] * 3 + ["...Q...."] + [".Q......"] + ["........"] * 3)


def test_a_solution_can_be_given_back() -> None:
    solution = next(queenfold.solutions(8))
    assert queenfold.count(8, queens=list(enumerate(solution))).total == 1
    assert list(queenfold.solutions(8, queens=list(enumerate(solution))[:6]))[0] == solution


@pytest.mark.parametrize(
    "board",
    [PICTURE, PICTURE.split("\n"), [list(row) for row in PICTURE.split("\n")]],
    ids=["text", "rows", "matrix"],
)
def test_a_picture_is_a_board(board: str | list[str] | list[list[str]]) -> None:
    # Nauck's board of 1850.
    assert queenfold.count(board=board).total == 2
    assert queenfold.count(8, board=board).total == 2
    assert len(list(queenfold.solutions(board=board))) == 2


def test_arrays_of_numpy_are_boards_and_squares() -> None:
    numpy: Any = pytest.importorskip("numpy")
    board = numpy.full((8, 8), ".")
    board[4, 1] = board[3, 3] = "Q"
    assert queenfold.count(board=board).total == 2
    queens = numpy.array([[4, 1], [3, 3]])
    assert queenfold.count(8, queens=queens).total == 2
    assert queenfold.census(8, holes=[(0, 0), (0, 7), (7, 0), (7, 7)]).r180 == 4


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"n": 8, "queens": [(8, 0)]}, ValueError, "queens: (8, 0) is no square of n = 8: rows and columns are 0 to 7"),
        ({"n": 8, "holes": [(0, -1)]}, ValueError, "holes: (0, -1) is no square"),
        ({"n": 8, "queens": 5}, TypeError, "expected squares as"),
        ({"n": "8"}, TypeError, "board size `'8'` is not a whole number"),
        ({}, TypeError, "give n, the size of the board, or board"),
        ({"board": "..\n"}, ValueError, "board: line 1 has 2 squares"),
        ({"board": 5}, TypeError, "expected a picture as text"),
        ({"n": 7, "board": PICTURE}, ValueError, "board: this is a picture of n = 8, and n is 7"),
        ({"board": PICTURE, "queens": "a1"}, ValueError, "board shows all that is given"),
    ],
)
def test_what_cannot_be_given_is_named(arguments: dict[str, object], error: type[Exception], says: str) -> None:
    with pytest.raises(error) as refused:
        queenfold.count(**arguments)  # type: ignore[arg-type]
    assert says in str(refused.value) and "\n" not in str(refused.value)
