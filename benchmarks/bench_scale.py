"""Many causes and many measurements: seconds, memory, and whether Γ and all domain sizes are exact.

Graphs are sparse: each measurement has 1 to 3 causes and each cause at most two causes of its own.
Components are those of the paper: means on the unit sphere of R^5, covariances of its text.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings

from mixoracle import LatentGraphLearner
from mixoracle.datasets import Problem, sparse_problem
from mixoracle.errors import AssumptionWarning, DataWarning

# The rows of the table: latents, measurements, the most states of a latent.
ROWS = ((8, 40, 2), (10, 100, 2), (15, 60, 2), (5, 200, 3))


def is_exact(problem: Problem, learner: LatentGraphLearner) -> bool:
    """Whether Γ and the domain sizes are those of the truth, up to the order of the latents."""
    model = learner.model_
    truth = problem.model
    expected = sorted(zip(map(bytes, truth.bipartite.T), truth.domain_sizes, strict=True))
    found = sorted(zip(map(bytes, model.bipartite.T), model.domain_sizes, strict=True))
    return expected == found


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--row", type=int, choices=range(len(ROWS)), help="only this one")
    choices = parser.parse_args(argv)
    print(f"{'m':>3}{'n':>5}{'joint states':>14}{'CPU s':>8}{'peak GB':>9}  exact")
    for m, n, largest in ROWS if choices.row is None else [ROWS[choices.row]]:
        problem = sparse_problem(m, n, largest, choices.samples, choices.seed)
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            warnings.simplefilter("ignore", DataWarning)
            learner = LatentGraphLearner(random_state=0).fit(problem.observations)
        seconds = time.process_time() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        n_states = problem.model.joint.n_joint
        print(
            f"{m:>3}{n:>5}{n_states:>14}{seconds:>8.1f}{peak:>9.2f}  {is_exact(problem, learner)}",
            flush=True,
        )


if __name__ == "__main__":
    main()
