"""Draws how much longer each method of the ladder takes from one board to the next.

    pip install ./python matplotlib
    python docs/ladder_growth.py growth.svg

The times of the historical methods come from docs/ladder.jsonl, as `queenfold ladder --json` writes them. Those of
Queenfold itself are measured now, on one core.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

import matplotlib
import queenfold

matplotlib.use("Agg")
from matplotlib import pyplot

#: Shorter times show the resolution of the clock.
LEAST_SECONDS = 1e-4


def historical() -> dict[str, dict[int, float]]:
    """The CPU seconds of each method, by board. Of several styles, the recursive one stands for the method."""
    times: dict[str, dict[int, float]] = defaultdict(dict)
    for line in (Path(__file__).parent / "ladder.jsonl").read_text().splitlines():
        row = json.loads(line)
        # The rows of the engines have no method.
        if "method" in row:
            times[row["method"]].setdefault(row["n"], row["cpu_seconds"])
    return times


def measured() -> dict[int, float]:
    """The CPU seconds of Queenfold on one core, by board."""
    counts = (queenfold.count(n, workers=1, gpu="off", unique=False) for n in range(12, 19))
    return {counted.n: counted.cpu_seconds for counted in counts}


def main() -> None:
    to = sys.argv[1] if len(sys.argv) > 1 else "growth.svg"
    figure, axes = pyplot.subplots(figsize=(10, 6))
    # There are more methods than the ten colours of the default.
    axes.set_prop_cycle(color=matplotlib.colormaps["tab20"].colors)
    for method, times in historical().items():
        shown = [(n, seconds) for n, seconds in sorted(times.items()) if seconds >= LEAST_SECONDS]
        axes.plot(*zip(*shown), marker=".", linewidth=1, label=method) if shown else None
    axes.plot(*zip(*measured().items()), marker="o", color="black", label="Queenfold, one core")
    axes.set(yscale="log", xlabel="n", ylabel="seconds", title="Counting all solutions of the n-queens board")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    figure.tight_layout()
    figure.savefig(to)
    print(to)


if __name__ == "__main__":
    main()
