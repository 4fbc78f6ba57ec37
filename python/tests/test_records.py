"""What is known of a board, what a run proves, and results as records."""

import pickle
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

import queenfold


def test_known_counts() -> None:
    known = queenfold.known(26)
    assert known and (known.total, known.r90) == (22317699616364044, 0)
    assert queenfold.known(28) is None
    with pytest.raises(ValueError, match="33"):
        queenfold.known(33)


def test_the_census_counts_symmetric_solutions() -> None:
    census = queenfold.census(12)
    assert (census.r180, census.r90, census.checked) == (80, 8, "known")


def test_a_run_is_verified_and_certified(tmp_path: Path) -> None:
    run, file = tmp_path / "n13", tmp_path / "n13.cert"
    queenfold.count(13, dir=run)
    verified = queenfold.verify(run, share=1.0)
    assert (verified.total, verified.unique) == (73712, 9233)
    assert verified.recounted == verified.tasks_done == verified.tasks_total > 1
    assert 0 < queenfold.verify(run, seed=1).recounted < verified.tasks_total
    certificate = queenfold.certify(run, file)
    assert (certificate.n, certificate.total, len(certificate.root)) == (13, 73712, 64)
    assert queenfold.check(file) == certificate
    with pytest.raises(queenfold.CertificateError, match="n13.cert exists already; name another file"):
        queenfold.certify(run, file)
    file.write_text(file.read_text().replace("73712", "73713"))
    with pytest.raises(queenfold.CertificateError, match=r"n13\.cert: line \d+: the root"):
        queenfold.check(file)
    with pytest.raises(ValueError, match="share: expected a number above 0 up to 1, not 0"):
        queenfold.verify(run, share=0.0)


def test_a_directory_is_resumed_if_there_is_one(tmp_path: Path) -> None:
    run = tmp_path / "n14"
    with pytest.raises(queenfold.StoppedError):
        queenfold.count(14, dir=run, resume=True, time_limit=0.0)
    assert queenfold.count(14, dir=run, resume=True).total == 365596
    assert queenfold.count(14, dir=run, resume=True).total == 365596
    with pytest.raises(ValueError, match="holds a run of n = 14, not of n = 13"):
        queenfold.count(13, dir=run, resume=True)


RECORDS = [
    queenfold.count(8),
    queenfold.count(8, unique=False),
    queenfold.count(8, queens="b4", holes="a1"),
    queenfold.census(8),
    queenfold.known(8),
    queenfold.estimate(10, sample=8, seed=1, workers=1),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_records_are_values(record: queenfold.Count) -> None:
    again = pickle.loads(pickle.dumps(record))
    assert again == record and hash(again) == hash(record) and again is not record
    assert record != queenfold.known(9) and record != 5
    fields = record._asdict()
    assert fields["n"] == record.n and type(record)._from_dict(fields) == record
    assert repr(record).startswith(f"{type(record).__name__}(n={record.n}, ")


def test_a_pool_of_processes_returns_counts() -> None:
    with ProcessPoolExecutor(2) as pool:
        totals = [count.total for count in pool.map(queenfold.count, range(4, 10))]
    assert totals == [2, 10, 4, 40, 92, 352]
