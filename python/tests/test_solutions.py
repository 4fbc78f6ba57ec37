"""Solutions one by one."""

from itertools import islice

import pytest

import queenfold


def is_solution(queens: tuple[int, ...]) -> bool:
    rows = range(len(queens))
    return all(
        len(set(line)) == len(queens)
        for line in (queens, [queens[row] + row for row in rows], [queens[row] - row for row in rows])
    )


@pytest.mark.parametrize(("n", "total"), [(1, 1), (2, 0), (3, 0), (4, 2), (5, 10), (6, 4), (8, 92), (10, 724)])
def test_all_solutions_come_once(n: int, total: int) -> None:
    found = list(queenfold.solutions(n))
    assert len(found) == len(set(found)) == total
    assert all(len(queens) == n and is_solution(queens) for queens in found)


def test_the_first_ones_of_a_large_board_come_at_once() -> None:
    first = list(islice(queenfold.solutions(32), 100))
    assert len(set(first)) == 100 and all(map(is_solution, first))
    assert first == list(islice(queenfold.solutions(32), 100))


def test_completions_have_the_given_queens() -> None:
    # b4 is the fourth row from the bottom.
    found = list(queenfold.solutions(8, queens=["b4", "d5"]))
    assert len(found) == 2 and all(queens[4] == 1 and queens[3] == 3 for queens in found)
    assert list(queenfold.solutions(8, holes=[f"a{row}" for row in range(1, 9)])) == []


def test_an_iterator_that_is_dropped_ends() -> None:
    for _ in range(50):
        next(queenfold.solutions(20))


def test_a_wrong_board_is_refused() -> None:
    with pytest.raises(ValueError, match="33"):
        queenfold.solutions(33)


def test_orders_and_orbits() -> None:
    by_rows = list(queenfold.solutions(8, order="rows"))
    assert by_rows == sorted(queenfold.solutions(8)) and by_rows[0] == (0, 4, 7, 5, 2, 6, 1, 3)
    assert len(list(queenfold.solutions(8, unique=True))) == 12
    with pytest.raises(ValueError, match="order: expected 'fast' or 'rows', not 'columns'"):
        queenfold.solutions(8, order="columns")  # type: ignore[arg-type]


def test_random_solutions() -> None:
    drawn = queenfold.random_solutions(16, 5, seed=3)
    assert len(set(drawn)) == 5 and all(map(is_solution, drawn))
    assert drawn == queenfold.random_solutions(16, 5, seed=3) != queenfold.random_solutions(16, 5, seed=4)
    assert len(queenfold.random_solutions(6, 100)) == 4


def test_an_array_of_numpy() -> None:
    pytest.importorskip("numpy")
    array = queenfold.solutions(8).numpy()
    assert array.shape == (92, 8) and str(array.dtype) == "uint8"
    assert [tuple(row) for row in array.tolist()] == list(queenfold.solutions(8))
    assert queenfold.solutions(3).numpy().shape == (0, 3)
