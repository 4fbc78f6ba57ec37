"""Ledgers as tables."""

import sqlite3
from pathlib import Path

import pytest

import queenfold


def test_the_table_adds_up_to_the_result(tmp_path: Path) -> None:
    directory = tmp_path / "n12"
    counted = queenfold.count(12, engine="chain", dir=directory)
    table = queenfold.read_ledger(directory)
    rows = [dict(zip(table, row)) for row in zip(*table.values())]
    assert {len(column) for column in table.values()} == {len(rows)}
    chain = [row for row in rows if row["engine"] == "chain"]
    census = [row for row in rows if row["engine"] == "census"]
    assert len(chain) + len(census) == len(rows)
    assert sum(row["solutions"] for row in chain) == counted.total == 14200
    assert sum(row["r180"] for row in census) == counted.r180
    # The ranks of the tasks follow one another.
    assert [row["task"] for row in chain] == list(range(len(chain)))
    assert all(one["end_rank"] == next["first_rank"] for one, next in zip(chain, chain[1:]))
    assert all(str(row["worker"]).startswith("worker-") and row["counted_by"] for row in rows)
    assert not any(row["counted_twice"] for row in rows)


def test_a_directory_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(queenfold.LedgerError, match=str(tmp_path)):
        queenfold.read_ledger(tmp_path)


def test_a_damaged_record_is_refused(tmp_path: Path) -> None:
    queenfold.count(10, dir=tmp_path / "run")
    with sqlite3.connect(tmp_path / "run" / "ledger.db") as database:
        database.execute("UPDATE record SET nodes = nodes + 1 WHERE task = 0")
    database.close()
    with pytest.raises(queenfold.LedgerError):
        queenfold.read_ledger(tmp_path / "run")
