"""Counts, their identities, and what is refused."""

import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

import queenfold

# OEIS A000170 and A002562, from n = 1.
TOTALS = [1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512]
UNIQUE = [1, 0, 0, 1, 2, 1, 6, 12, 46, 92, 341, 1787, 9233, 45752, 285053, 1846955]


@pytest.mark.parametrize("n", range(1, 17))
def test_counts_are_the_published_ones(n: int) -> None:
    counted = queenfold.count(n)
    assert (counted.n, counted.total, counted.unique) == (n, TOTALS[n - 1], UNIQUE[n - 1])
    assert counted.checked == "known"
    assert counted.r180 is not None and counted.r90 is not None and counted.classes is not None
    assert 8 * UNIQUE[n - 1] == counted.total + counted.r180 + 2 * counted.r90 or n == 1
    of = counted.classes
    assert counted.total == of["c1"] + 2 * of["c2"] + 4 * of["c4"] + 8 * of["c8"]


@pytest.mark.parametrize("engine", ["chain", "colour"])
def test_both_engines_count_without_the_census(engine: str) -> None:
    counted = queenfold.count(11, engine=engine, unique=False, workers=1, gpu="off")  # type: ignore[arg-type]
    assert (counted.total, counted.engine, counted.workers) == (2680, engine, 1)
    assert (counted.unique, counted.classes, counted.r180, counted.r90) == (None,) * 4
    assert repr(counted) == "Count(n=11, given=None, total=2680, unique=None)"


def test_given_squares_are_names_or_a_text() -> None:
    for queens in ("b4,d5", ["b4", "d5"]):
        assert queenfold.count(8, queens=queens).total == 2
    assert queenfold.count(8, holes="a1").total == 88


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"n": 0}, "`0` is not a whole number from 1 to 32"),
        ({"n": -3}, "`-3` is not a whole number from 1 to 32"),
        ({"n": 2**40}, "is not a whole number from 1 to 32"),
        ({"n": 10**30}, "is not a whole number from 1 to 32"),
        ({"n": 8, "workers": -(2**64)}, "workers: expected a number from 0 to 1024, not -18446744073709551616"),
        ({"n": 8, "engine": "fast"}, "engine: expected 'auto', 'chain' or 'colour', not 'fast'"),
        ({"n": 8, "gpu": "tpu"}, "gpu: expected 'auto', 'off' or 'cuda', not 'tpu'"),
        ({"n": 8, "workers": -1}, "workers: expected a number from 0 to 1024, not -1"),
        ({"n": 8, "workers": 1025}, "workers: expected"),
        ({"n": 8, "workers": 0, "gpu": "off"}, "0 workers count nothing"),
        ({"n": 8, "time_limit": -1.0}, "time_limit: expected seconds from 0 on, not -1"),
        ({"n": 8, "time_limit": float("nan")}, "time_limit: expected seconds"),
        ({"n": 8, "queens": "z9"}, "z9"),
        ({"n": 8, "queens": "a1,b2"}, "a1"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, object], says: str) -> None:
    with pytest.raises(ValueError, match="^.*") as refused:
        queenfold.count(**arguments)  # type: ignore[arg-type]
    assert says in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"n": "8"}, "board size `'8'` is not a whole number from 1 to 32"),
        ({"n": True}, "board size `True` is not a whole number from 1 to 32"),
        ({"n": 8, "workers": 1.5}, "workers: expected a number from 0 to 1024, not 1.5"),
        ({"n": 8, "engine": 3}, "engine: expected 'auto', 'chain' or 'colour', not 3"),
        ({"n": 8, "gpu": 0}, "gpu: expected 'auto', 'off' or 'cuda', not 0"),
        ({"n": 8, "resume": True}, "resume: give dir, too"),
        ({"n": 8, "queens": ["a1", 3]}, 'expected squares as "c3,a7", ["c3", "a7"] or pairs'),
        ({"n": 8, "holes": 5}, 'expected squares as "c3,a7", ["c3", "a7"] or pairs'),
        ({"n": 8, "unique": 0}, "unique: expected True or False, not 0"),
        ({"n": 8, "time_limit": "1h"}, "time_limit: expected seconds from 0 on, not '1h'"),
        ({"n": 8, "progress": 5}, "progress: expected a function, not 'int'"),
    ],
)
def test_wrong_types_are_refused_with_one_line(arguments: dict[str, object], says: str) -> None:
    with pytest.raises(TypeError) as refused:
        queenfold.count(**arguments)  # type: ignore[arg-type]
    assert says in str(refused.value) and "\n" not in str(refused.value)
    # Tracebacks show it below the message, from Python 3.11 on.
    name = list(arguments)[-1]
    said = str(refused.value) + "".join(getattr(refused.value, "__notes__", [f"'{name}'"]))
    assert name in said


def test_a_result_cannot_be_changed() -> None:
    counted = queenfold.count(6)
    with pytest.raises(AttributeError):
        counted.total = 5  # type: ignore[misc]
    with pytest.raises(AttributeError):
        counted.note = 5  # type: ignore[attr-defined]


def test_counts_of_a_board_are_equal_however_they_were_counted() -> None:
    counted = queenfold.count(10, engine="chain", workers=1)
    again = queenfold.count(10, engine="colour", workers=2)
    assert again.seconds != counted.seconds and again.engine != counted.engine
    assert {counted, again} == {counted} and queenfold.census(10) == queenfold.census(10, workers=1)
    assert counted not in (queenfold.count(10, unique=False), queenfold.count(10, holes="a1"), queenfold.count(9))
    # The mirrored board has the same counts, and is another.
    mirrored = [queenfold.count(8, queens=queens) for queens in ("b4", "g4", "b4")]
    assert mirrored[0].total == mirrored[1].total
    assert mirrored[0] != mirrored[1] and mirrored[0] == mirrored[2] and len(set(mirrored)) == 2
    assert repr(mirrored[0]).startswith("Count(n=8, given='queens b4', total=")
    assert queenfold.census(8, holes="a1") != queenfold.census(8, holes="h1")


def test_results_pass_between_processes() -> None:
    counted = queenfold.count(8, workers=1)
    fields = counted._asdict()
    assert (fields["total"], fields["classes"]) == (92, {"c1": 0, "c2": 0, "c4": 1, "c8": 11})
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert [count.total for count in pool.map(queenfold.count, [6, 8])] == [4, 92]


def test_progress_is_told_and_other_threads_run() -> None:
    shares: list[float] = []
    ticks = 0
    over = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not over.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    begun = time.monotonic()
    counted = queenfold.count(17, engine="chain", workers=1, progress=lambda now: shares.append(now.share or 0.0))
    took = time.monotonic() - begun
    over.set()
    thread.join()
    assert counted.total == 95815104
    assert shares == sorted(shares) and all(0 <= share <= 1 for share in shares)
    assert len(shares) >= 1 or took < 0.3
    # With the lock of the interpreter held there would be a handful.
    assert ticks > 100 * took


def test_what_the_callback_raises_ends_the_run() -> None:
    def stop(now: queenfold.Progress) -> None:
        assert now.seconds > 0 and repr(now).startswith("Progress(")
        raise LookupError("enough")

    begun = time.monotonic()
    with pytest.raises(LookupError, match="enough"):
        queenfold.count(22, engine="chain", progress=stop)
    assert time.monotonic() - begun < 30


def test_a_time_limit_stops_and_resume_continues(tmp_path: Path) -> None:
    directory = tmp_path / "n16"
    with pytest.raises(queenfold.StoppedError, match="time limit"):
        queenfold.count(16, dir=directory, time_limit=0.0)
    assert queenfold.resume(directory, workers=2).total == 14772512
    assert queenfold.resume(str(directory)).unique == 1846955
    with pytest.raises(queenfold.LedgerError, match="holds a run already: n = 16 by .*; give resume=True"):
        queenfold.count(14, dir=directory)
    with pytest.raises(queenfold.Error):
        queenfold.resume(tmp_path / "nothing")


def counted_in(directory: Path) -> set[tuple[object, ...]]:
    """Which task was counted by which process."""
    table = queenfold.read_ledger(directory)
    return set(zip(table["engine"], table["task"], table["session"]))


CHILD = """
import queenfold, sys
def tell(now):
    print("counting", flush=True)
try:
    queenfold.count(19, workers=1, dir=sys.argv[1], progress=tell)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to one process")
def test_control_c_drains_and_keeps_what_was_counted(tmp_path: Path) -> None:
    directory = tmp_path / "n19"
    with subprocess.Popen([sys.executable, "-c", CHILD, str(directory)], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        for _ in range(3):
            assert child.stdout.readline() == "counting\n"
        child.send_signal(signal.SIGINT)
        rest = child.stdout.read()
    assert rest.splitlines()[-1] == "interrupted" and child.returncode == 0
    kept = counted_in(directory)
    assert kept
    # The run was not finished, and what was kept is not counted again.
    with pytest.raises(queenfold.StoppedError, match="counted"):
        queenfold.resume(directory, time_limit=0.0)
    assert queenfold.resume(directory).total == 4968057848
    assert kept < counted_in(directory)
