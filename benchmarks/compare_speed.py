"""Has a change made learning slower? Two versions in turn, on the same problems, in one run.

``python benchmarks/compare_speed.py OTHER/src`` learns a problem of each of the ten settings with
the version in that folder and with this one, each in a process of its own, one after the other,
and prints the CPU seconds of the quickest of some fits: a busy machine matters less to them.
With ``--plain`` this version does what the first one did: no value is looked at for being alone.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from settings import SETTINGS

_OWN = Path(__file__).resolve().parents[1] / "src"
_FITS = 3
# Run with either version: it must only use what both have.
_TIMED = """
import sys, time, warnings
from mixoracle import LatentGraphLearner
from mixoracle.datasets import paper_problem
warnings.simplefilter("ignore")
m, n, k, samples, seed, fits, plain = map(int, sys.argv[1:])
settings = {"set_aside": False, "resolution": None} if plain else {}
problem = paper_problem(m, n, k, samples, seed, covariance="code")
seconds = []
for _ in range(fits):
    start = time.process_time()
    LatentGraphLearner(random_state=seed, **settings).fit(problem.observations)
    seconds.append(time.process_time() - start)
print(min(seconds))
"""


def seconds(
    source: Path, setting: tuple[int, int, int], samples: int, seed: int, plain: bool
) -> float:
    """CPU seconds of the quickest of some fits by the version in ``source``."""
    numbers = map(str, (*setting, samples, seed, _FITS, int(plain)))
    done = subprocess.run(
        [sys.executable, "-c", _TIMED, *numbers],
        env={**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("other", type=Path, help="the src folder of the other version")
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plain", action="store_true", help="leave out what is new to data")
    choices = parser.parse_args(argv)
    print(f"N = {choices.samples}, covariances 'code', seed {choices.seed}; CPU seconds")
    print(f"{'setting':<12}{'other':>8}{'this':>8}{'this/other':>12}")
    ratios = []
    for setting in SETTINGS:
        other, own = (
            seconds(source.resolve(), setting, choices.samples, choices.seed, plain)
            for source, plain in ((choices.other, False), (_OWN, choices.plain))
        )
        ratios.append(own / other)
        print(f"{setting!s:<12}{other:>8.2f}{own:>8.2f}{ratios[-1]:>12.2f}", flush=True)
    print(f"{'median':<28}{np.median(ratios):>12.2f}")


if __name__ == "__main__":
    main()
