"""Counts the solutions of the N-Queens problem, all and unique.

>>> import queenfold
>>> queenfold.count(8).total
92
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from typing import Any, Literal, TypeAlias, TypedDict, final

__version__: str

# These are names of the stub; the module has no such names.
Squares: TypeAlias = str | Sequence[str] | Sequence[Sequence[int]]
Picture: TypeAlias = str | Iterable[str] | Iterable[Iterable[str]]

class Error(Exception):
    """Why there is no result. The base of all exceptions of this module."""

class ContradictionError(Error):
    """The counts contradict each other or a known count, so they are no result."""

class LedgerError(Error):
    """The directory of a run cannot be used."""

class CertificateError(Error):
    """There is no certificate, or it has a defect."""

class StoppedError(Error):
    """The time limit ended the run. With a directory, `resume` continues it."""

class Classes(TypedDict):
    """The numbers of orbits by size. This is the type of a dict; the module has no such name."""

    c1: int
    c2: int
    c4: int
    c8: int

@final
class Progress:
    """How far a run is."""

    @property
    def share(self) -> float | None:
        """The share of the work that is done, 0 to 1; None before it is known."""
    @property
    def seconds(self) -> float:
        """Seconds since the call began."""
    @property
    def seconds_left(self) -> float | None:
        """Seconds that are left; None before they can be estimated."""
    @property
    def tasks_done(self) -> int:
        """Tasks counted."""
    @property
    def tasks_total(self) -> int | None:
        """All tasks; None before it is known."""
    @property
    def solutions(self) -> int:
        """Solutions found so far."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def _asdict(self) -> dict[str, object]:
        """The fields by name, for a DataFrame from a list of them."""
    @staticmethod
    def _from_dict(fields: dict[str, object]) -> Progress:
        """The record with these fields: what pickle calls, so that results pass between processes."""

@final
class Count:
    """The counts of a board, checked against every identity and known count. Equal to another of the same board with the
    same counts, however they were counted."""

    @property
    def n(self) -> int:
        """The size of the board."""
    @property
    def given(self) -> str | None:
        """What is given on it, as in "queens d5,b4 and holes a8"; None of a free board."""
    @property
    def total(self) -> int:
        """All solutions; on a board with given queens or holes, all completions."""
    @property
    def unique(self) -> int | None:
        """Solutions that differ by more than a symmetry of the board; None without the census."""
    @property
    def classes(self) -> Classes | None:
        """The numbers of orbits by size, "c1", "c2", "c4" and "c8"; None without the census."""
    @property
    def r180(self) -> int | None:
        """Solutions that the half turn fixes; None without the census."""
    @property
    def r90(self) -> int | None:
        """Solutions that the quarter turn fixes; None without the census."""
    @property
    def checked(self) -> str:
        """How the counts were checked: "known" if they equal published ones; otherwise "twice" if every task was counted
        twice, "sampled 1/1000" if one in so many was, and "once"."""
    @property
    def engine(self) -> Literal["chain", "colour"]:
        """The engine that counted all solutions: "chain" or "colour"."""
    @property
    def workers(self) -> int:
        """The number of CPU workers."""
    @property
    def seconds(self) -> float:
        """Wall time in seconds, of all processes that worked on the run."""
    @property
    def cpu_seconds(self) -> float | None:
        """CPU time in seconds, of all of them; None if a part of the run was counted by a version that did not record it."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def _asdict(self) -> dict[str, object]:
        """The fields by name, for a DataFrame from a list of them."""
    @staticmethod
    def _from_dict(fields: dict[str, object]) -> Count:
        """The record with these fields: what pickle calls, so that results pass between processes."""

@final
class Interval:
    """An expected value, and the interval that contains the true value in 95 of 100 cases."""

    @property
    def low(self) -> float:
        """The lower end."""
    @property
    def expected(self) -> float:
        """The expected value."""
    @property
    def high(self) -> float:
        """The upper end."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def _asdict(self) -> dict[str, object]:
        """The fields by name, for a DataFrame from a list of them."""
    @staticmethod
    def _from_dict(fields: dict[str, object]) -> Interval:
        """The record with these fields: what pickle calls, so that results pass between processes."""

@final
class Estimate:
    """What counting a board is expected to take, judged by a sample of its tasks."""

    @property
    def n(self) -> int:
        """The size of the board."""
    @property
    def engine(self) -> Literal["chain", "colour"]:
        """The engine: "chain" or "colour"."""
    @property
    def workers(self) -> int:
        """The workers that `seconds` is for."""
    @property
    def core_seconds(self) -> Interval:
        """CPU time of all workers together, in seconds."""
    @property
    def seconds(self) -> Interval:
        """Wall time, in seconds."""
    @property
    def memory_per_worker(self) -> int | None:
        """Memory of a worker in bytes; None where the system does not tell."""
    @property
    def tasks(self) -> int:
        """Tasks in the sample."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def _asdict(self) -> dict[str, object]:
        """The fields by name, for a DataFrame from a list of them."""
    @staticmethod
    def _from_dict(fields: dict[str, object]) -> Estimate:
        """The record with these fields: what pickle calls, so that results pass between processes."""

@final
class Known:
    """The known counts of a board."""

    @property
    def n(self) -> int:
        """The size of the board."""
    @property
    def total(self) -> int:
        """All solutions."""
    @property
    def unique(self) -> int:
        """Solutions that differ by more than a rotation or reflection."""
    @property
    def r180(self) -> int:
        """Solutions that the half turn fixes."""
    @property
    def r90(self) -> int:
        """Solutions that the quarter turn fixes."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def _asdict(self) -> dict[str, object]:
        """The fields by name, for a DataFrame from a list of them."""
    @staticmethod
    def _from_dict(fields: dict[str, object]) -> Known:
        """The record with these fields: what pickle calls, so that results pass between processes."""

@final
class Census:
    """The symmetric solutions of a board. Equal as a Count is."""

    @property
    def n(self) -> int:
        """The size of the board."""
    @property
    def given(self) -> str | None:
        """What is given on it, as in a Count."""
    @property
    def r180(self) -> int:
        """Solutions that the half turn fixes."""
    @property
    def r90(self) -> int:
        """Solutions that the quarter turn fixes."""
    @property
    def checked(self) -> str:
        """How they were checked, as in a Count."""
    @property
    def seconds(self) -> float:
        """Wall time in seconds."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def _asdict(self) -> dict[str, object]:
        """The fields by name, for a DataFrame from a list of them."""
    @staticmethod
    def _from_dict(fields: dict[str, object]) -> Census:
        """The record with these fields: what pickle calls, so that results pass between processes."""

@final
class Verified:
    """What a second look at a run showed: every record is whole, and none that was counted again is wrong."""

    @property
    def tasks_done(self) -> int:
        """Tasks recorded."""
    @property
    def tasks_total(self) -> int:
        """Tasks of the run, or of its shard."""
    @property
    def recounted(self) -> int:
        """Tasks that were counted again."""
    @property
    def total(self) -> int | None:
        """All solutions; None while tasks are missing."""
    @property
    def unique(self) -> int | None:
        """Solutions that differ by more than a symmetry of the board; None without the census."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def _asdict(self) -> dict[str, object]:
        """The fields by name, for a DataFrame from a list of them."""
    @staticmethod
    def _from_dict(fields: dict[str, object]) -> Verified:
        """The record with these fields: what pickle calls, so that results pass between processes."""

@final
class Certificate:
    """What a certificate says, all of which was checked."""

    @property
    def n(self) -> int:
        """The size of the board."""
    @property
    def total(self) -> int | None:
        """All solutions; None of a shard, or of a run that is not finished."""
    @property
    def unique(self) -> int | None:
        """Solutions that differ by more than a symmetry of the board; None without the census."""
    @property
    def plans(self) -> list[str]:
        """The plans, by name and version."""
    @property
    def tasks(self) -> int:
        """Tasks in it."""
    @property
    def twice(self) -> int:
        """Those that were counted twice."""
    @property
    def hosts(self) -> list[str]:
        """The hosts that counted, by their own names."""
    @property
    def root(self) -> str:
        """The Merkle root over all tasks, in hexadecimal."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def _asdict(self) -> dict[str, object]:
        """The fields by name, for a DataFrame from a list of them."""
    @staticmethod
    def _from_dict(fields: dict[str, object]) -> Certificate:
        """The record with these fields: what pickle calls, so that results pass between processes."""

@final
class Solutions:
    """An iterator over solutions: tuples with the column of the queen of each row from the top, from 0."""

    def __iter__(self) -> Iterator[tuple[int, ...]]: ...
    def __next__(self) -> tuple[int, ...]: ...
    def numpy(self) -> Any:
        """The solutions that are left as an array of NumPy, one in each row, of type uint8."""

def count(
    n: int | None = None,
    *,
    queens: Squares | None = None,
    holes: Squares | None = None,
    board: Picture | None = None,
    engine: Literal["auto", "chain", "colour"] = "auto",
    workers: int | None = None,
    gpu: Literal["auto", "off", "cuda"] = "auto",
    unique: bool = True,
    dir: str | PathLike[str] | None = None,
    resume: bool = False,
    time_limit: float | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> Count:
    """Counts the solutions of the n-queens board."""

def resume(
    dir: str | PathLike[str],
    *,
    workers: int | None = None,
    gpu: Literal["auto", "off", "cuda"] = "auto",
    time_limit: float | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> Count:
    """Continues the run in the directory `dir`, or gives the result of a finished one again."""

def estimate(
    n: int | None = None,
    *,
    queens: Squares | None = None,
    holes: Squares | None = None,
    board: Picture | None = None,
    engine: Literal["auto", "chain", "colour"] = "auto",
    workers: int | None = None,
    sample: int = 64,
    seed: int | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> Estimate:
    """Estimates what counting the n-queens board takes on CPU workers, by counting a sample of its tasks."""

def solutions(
    n: int | None = None,
    *,
    queens: Squares | None = None,
    holes: Squares | None = None,
    board: Picture | None = None,
    order: Literal["fast", "rows"] = "fast",
    unique: bool = False,
) -> Solutions:
    """Lists the solutions of the n-queens board, one after the other, in an order that is always the same."""

def read_ledger(dir: str | PathLike[str]) -> dict[str, list[object]]:
    """Reads the ledger of the run directory `dir` as a table: a list for each column."""

def random_solutions(
    n: int | None = None,
    count: int = 1,
    *,
    queens: Squares | None = None,
    holes: Squares | None = None,
    board: Picture | None = None,
    seed: int | None = None,
) -> list[tuple[int, ...]]:
    """Draws different solutions of the n-queens board at random, as a list of tuples."""

def known(n: int) -> Known | None:
    """Gives the known counts of the n-queens board, or None: those of the OEIS (A000170, A002562, A032522, A033148)."""

def census(
    n: int | None = None,
    *,
    queens: Squares | None = None,
    holes: Squares | None = None,
    board: Picture | None = None,
    workers: int | None = None,
) -> Census:
    """Counts the solutions of the n-queens board that a half turn and a quarter turn fix."""

def verify(
    dir: str | PathLike[str],
    *,
    share: float = 0.01,
    seed: int | None = None,
    workers: int | None = None,
) -> Verified:
    """Reads every record of the run in the directory `dir`, and counts a share of its tasks again by another kernel."""

def certify(dir: str | PathLike[str], path: str | PathLike[str]) -> Certificate:
    """Writes the certificate of the run or shard in the directory `dir` to the new file `path`, and checks it."""

def check(path: str | PathLike[str]) -> Certificate:
    """Reads the certificate in the file `path` to its end, and checks all that it says."""
