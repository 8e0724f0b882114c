"""Real data with a known grouping: what is found, and how far it agrees.

Iris, wine and breast cancer are scikit-learn's; the hydraulic rig needs its folder (``--data`` or
``MIXORACLE_DATA``) and is learned from the eight blocks of ``examples/rig.py`` and from the mean of
each of its 17 sensors over three spans. Agreement is the adjusted mutual information (AMI) of each
cause with the known grouping; the best cause is shown. The grouping never reaches the learner.
"""

from __future__ import annotations

import argparse
import os
import runpy
import time
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import adjusted_mutual_info_score

from mixoracle import LatentGraphLearner, Observations
from mixoracle.errors import AssumptionWarning, DataWarning

Case = tuple[str, Observations, Mapping[str, NDArray[np.float64]]]
_RIG = runpy.run_path(str(Path(__file__).parents[1] / "examples" / "rig.py"))
_WINE_BLOCKS = 3


def tables() -> Iterator[Case]:
    """Tables of scikit-learn, as single columns and in blocks."""
    for name, load in (("iris", load_iris), ("wine", load_wine), ("cancer", load_breast_cancer)):
        values, classes = load(return_X_y=True)
        yield f"{name}, columns", Observations.from_array(values), {"class": classes}
        n_blocks = 2 if name == "iris" else _WINE_BLOCKS
        split = np.array_split(values, n_blocks, axis=1)
        blocks = {f"block {place + 1}": block for place, block in enumerate(split)}
        yield f"{name}, {n_blocks} blocks", Observations.from_arrays(blocks), {"class": classes}


def rig(folder: Path) -> Iterator[Case]:
    """The hydraulic rig from eight blocks, and from all its sensors."""
    with np.load(folder / "hydraulic" / "hydraulic_60pt.npz") as held:
        stable = held["profile"][:, _RIG["STABLE"]] == 0
        settings = dict(zip(_RIG["SETTINGS"], held["profile"][stable].T, strict=False))
        sensors = {str(name): held[name][stable] for name in held["sensor_names"]}
    yield "rig, eight blocks", Observations.from_arrays(_RIG["blocks"](sensors)), settings
    spans = {
        name: np.stack([part.mean(axis=1) for part in np.array_split(values, 3, axis=1)], axis=1)
        for name, values in sensors.items()
    }
    yield "rig, 17 sensors", Observations.from_arrays(spans), settings


def run(case: Case) -> None:
    """Learn one table and print a line."""
    name, observations, known = case
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        warnings.simplefilter("ignore", DataWarning)
        learner = LatentGraphLearner(random_state=0).fit(observations)
    seconds = time.perf_counter() - start
    agreement = (f"{what} {_best(learner.states_, groups):.2f}" for what, groups in known.items())
    sizes = " × ".join(map(str, learner.model_.domain_sizes)) or "none"
    failed = sum(verdict.holds is False for verdict in learner.assumptions_)
    print(
        f"{name:<20}{sizes:>22}   {', '.join(agreement):<56}{failed:>3} failed{seconds:>8.1f} s",
        flush=True,
    )


def _best(states: NDArray[np.int64], groups: NDArray[np.float64]) -> float:
    """The largest agreement of one cause."""
    return max((adjusted_mutual_info_score(groups, own) for own in states.T), default=0.0)


def main(argv: list[str] | None = None) -> None:
    """Print a line for each table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", default=os.environ.get("MIXORACLE_DATA"))
    parser.add_argument("--only", default="", help="only tables whose name contains this")
    choices = parser.parse_args(argv)
    cases = [*tables(), *(rig(Path(choices.data)) if choices.data else ())]
    for case in cases:
        if choices.only in case[0]:
            run(case)


if __name__ == "__main__":
    main()
