"""Estimates."""

import time

import pytest

import queenfold


def test_an_estimate_has_intervals_and_the_same_sample_for_a_seed() -> None:
    told: list[queenfold.Progress] = []
    estimate = queenfold.estimate(16, workers=4, sample=16, seed=1, progress=told.append)
    assert (estimate.n, estimate.workers, estimate.tasks) == (16, 4, 16)
    for interval in [estimate.core_seconds, estimate.seconds]:
        assert 0 <= interval.low <= interval.expected <= interval.high
    assert estimate.core_seconds.expected > estimate.seconds.low
    assert all(now.tasks_total == 16 for now in told)
    assert "n=16" in repr(estimate)


def test_an_estimate_can_be_ended() -> None:
    def stop(_: queenfold.Progress) -> None:
        raise LookupError("enough")

    begun = time.monotonic()
    with pytest.raises(LookupError, match="enough"):
        queenfold.estimate(24, progress=stop)
    assert time.monotonic() - begun < 30


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"workers": 0}, "workers: expected a number from 1 to 1024, not 0"),
        ({"sample": 7}, "sample: expected a number from 8 to 1000000, not 7"),
        ({"sample": -1}, "sample: expected a number from 8 to 1000000, not -1"),
        ({"seed": -1}, "seed: expected a number from 0 to 18446744073709551615, not -1"),
        ({"seed": 2**64}, "seed: expected a number from 0 to 18446744073709551615, not 18446744073709551616"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, int], says: str) -> None:
    with pytest.raises(ValueError) as refused:
        queenfold.estimate(16, **arguments)  # type: ignore[arg-type]
    assert str(refused.value) == says
