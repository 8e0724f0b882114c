"""Against the paper's oracle and a mixture over all of X, on the same problems in the same run.

One problem of each of the ten settings, learned end to end one after the other on one core: by the
default oracle, by scikit-learn's ``GaussianMixture`` that is told the true number of components
(which finds these, and nothing of latents or graphs), and with ``--paper`` by the paper's own
oracle. ``first fit`` is a program that does nothing else: its start and all imports are included.
CPU seconds; a busy machine changes them, but hardly the ratios.

    OMP_NUM_THREADS=1 python benchmarks/bench_speed.py --paper
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import warnings
from math import prod
from pathlib import Path

import numpy as np
from sklearn.mixture import GaussianMixture

from bench_scale import cpu_seconds
from mixoracle import LatentGraphLearner
from mixoracle.datasets import Problem, paper_problem
from mixoracle.errors import AssumptionWarning
from mixoracle.metrics import compare
from settings import SETTINGS

_COMPILES_ANEW = "PYTHONDONTWRITEBYTECODE"
FIRST_FIT = {
    "ours": "from mixoracle import LatentGraphLearner as L; L(random_state=0).fit(data)",
    "mixture": (
        "from sklearn.mixture import GaussianMixture as M; import numpy as np; "
        "M({n_components}, random_state=0).fit(np.hstack(list(data.values())))"
    ),
}


def learn(oracle: str, problem: Problem, seed: int) -> tuple[float, bool]:
    """CPU seconds, and whether Γ and all domain sizes came out exactly."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        learner = LatentGraphLearner(oracle=oracle, random_state=seed).fit(problem.observations)
    seconds = time.process_time() - start
    found = compare(problem.model, learner.model_)
    return seconds, found.bipartite_exact and found.domains_exact


def fit_mixture(problem: Problem, seed: int) -> float:
    """CPU seconds of a mixture over all of X that knows how many components there are."""
    n_components = prod(problem.model.domain_sizes)
    start = time.process_time()
    GaussianMixture(n_components, random_state=seed).fit(problem.observations.values)
    return time.process_time() - start


def first_fit(who: str, problem: Problem) -> float:
    """CPU seconds of a program that reads the data and fits them."""
    program = FIRST_FIT[who].format(n_components=prod(problem.model.domain_sizes))
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "data.npz"
        blocks = {name: problem.observations[name] for name in problem.observations.names}
        np.savez(path, **blocks)
        read = f"import numpy as np; data = dict(np.load({str(path)!r})); "
        # An installed package is compiled once, not in every program.
        keeps = {name: held for name, held in os.environ.items() if name != _COMPILES_ANEW}
        start = cpu_seconds()
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", read + program], check=True, env=keeps
        )
        return cpu_seconds() - start


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--paper", action="store_true", help="the paper's oracle too")
    parser.add_argument("--warm", action="store_true", help="no first fits: a third of the time")
    choices = parser.parse_args(argv)
    first_fits = [] if choices.warm else list(FIRST_FIT)
    print(f"N = {choices.samples}, covariances 'code', seed {choices.seed}, CPU seconds")
    warm_up = paper_problem(1, 3, 2, 500, choices.seed, covariance="code")
    learn("signature", warm_up, choices.seed)  # imports are not what is timed
    fit_mixture(warm_up, choices.seed)
    for who in first_fits:
        first_fit(who, warm_up)
    columns = ["ours", "mixture", *(f"{who}, first fit" for who in first_fits)]
    columns += ["paper's oracle"] if choices.paper else []
    print(f"{'setting':<12}" + "".join(f"{column:>20}" for column in columns) + "  exact")
    rows = []
    for setting in SETTINGS:
        problem = paper_problem(*setting, choices.samples, choices.seed, covariance="code")
        ours, exact = learn("signature", problem, choices.seed)
        row = [ours, fit_mixture(problem, choices.seed)]
        row += [first_fit(who, problem) for who in first_fits]
        right = [exact]
        if choices.paper:
            seconds, paper_exact = learn("kmeans", problem, choices.seed)
            row.append(seconds)
            right.append(paper_exact)
        rows.append(row)
        shown = "".join(f"{seconds:>20.2f}" for seconds in row)
        print(f"{setting!s:<12}{shown}  {', '.join(map(str, right))}", flush=True)
    table = np.array(rows)
    print(f"{'median':<12}" + "".join(f"{seconds:>20.2f}" for seconds in np.median(table, axis=0)))
    print(f"ours beside the mixture: {np.median(table[:, 0] / table[:, 1]):.2f} (median ratio)")
    if first_fits:
        print(f"the same, first fit: {np.median(table[:, 2] / table[:, 3]):.2f}")
    if choices.paper:
        print(f"the paper's oracle beside ours: {np.median(table[:, -1] / table[:, 0]):.1f}")


if __name__ == "__main__":
    main()
