"""What fits take, beside the bound that was said before: seconds of CPU, and peak memory.

Each fit is a process of its own, so that its peak memory is its own. The largest share of the bound
that was used is the figure to look at: above 100 % a bound would have been broken.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings

import numpy as np

from hostile_tables import COLUMNS

KINDS = {
    "noise": ("noise",),
    "clusters": ("clusters",),
    "overlap": ("overlap",),
    "heavy tails": ("heavy",),
    "counts": ("counts",),
    "rounded": ("rounded",),
    "zeros": ("zeros",),
    "everything": ("clusters", "overlap", "noise", "heavy", "rounded", "counts", "booleans"),
}
SHAPES = ((100, 5), (100, 30), (1_000, 5), (1_000, 30), (5_000, 10), (100_000, 10))


def one(kind: str, n_rows: int, n_columns: int) -> None:
    """Fit one table; print the shares of the bounds that it took, and the seconds."""
    import pandas as pd

    from mixoracle import LatentGraphLearner

    warnings.simplefilter("ignore")
    rng = np.random.default_rng(1)
    states, held = rng.integers(0, 3, (n_rows, 3)), KINDS[kind]
    frame = pd.DataFrame(
        {
            f"x{i}": COLUMNS[held[i % len(held)]](rng, states[:, i % 3]).astype(float)
            for i in range(n_columns)
        }
    )
    learner = LatentGraphLearner(random_state=0)
    cost, begin = learner.cost(frame), time.process_time()
    learner.fit(frame)
    took = time.process_time() - begin
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps([took, took / cost.seconds, peak, peak / cost.memory]))


def main() -> None:
    """Print a row for each kind and shape, and the largest shares."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=float, default=600.0, help="at most, for all of it")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        one(asked.one[0], int(asked.one[1]), int(asked.one[2]))
        return
    print(f"{'kind':14s}{'rows':>8s}{'columns':>9s}{'CPU s':>8s}{'of bound':>10s}", end="")
    print(f"{'peak GB':>9s}{'of bound':>10s}")
    begin, largest = time.perf_counter(), np.zeros(2)
    for n_rows, n_columns in SHAPES:
        for kind in KINDS:
            if time.perf_counter() - begin > asked.seconds:
                break
            command = [sys.executable, __file__, "--one", kind, str(n_rows), str(n_columns)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            took, of_time, peak, of_memory = json.loads(done.stdout)
            largest = np.maximum(largest, [of_time, of_memory])
            print(f"{kind:14s}{n_rows:8d}{n_columns:9d}{took:8.1f}{of_time:10.0%}", end="")
            print(f"{peak / 1e9:9.2f}{of_memory:10.0%}", flush=True)
    print(f"largest shares: time {largest[0]:.0%}, memory {largest[1]:.0%}")


if __name__ == "__main__":
    main()
