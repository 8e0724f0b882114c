"""Many causes and many measurements: seconds, memory, and whether Γ and all domain sizes are exact.

Graphs are sparse: each measurement has 1 to 3 causes and each cause at most two causes of its own.
Components are those of the paper: means on the unit sphere of R^5, covariances of its text.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
import warnings

from mixoracle import LatentGraphLearner, LatentModel
from mixoracle.datasets import Problem, sparse_problem
from mixoracle.decoding.explanation import structure_of
from mixoracle.errors import AssumptionWarning, DataWarning
from mixoracle.metrics import structural_distance
from mixoracle.model import CPDAG
from mixoracle.structure import StateCounts, learn

# The rows of the table: latents, measurements, the most states of a latent.
ROWS = ((8, 40, 2), (10, 100, 2), (15, 60, 2), (5, 200, 3))


def is_exact(truth: LatentModel, found: LatentModel) -> bool:
    """Whether Γ and the domain sizes are those of the truth, up to the order of the latents."""
    return structure_of(truth.bipartite, truth.domain_sizes) == structure_of(
        found.bipartite, found.domain_sizes
    )


def distance_of_graphs(problem: Problem, learner: LatentGraphLearner) -> tuple[float, float] | None:
    """SHD of Λ as learned, and by the same search on the true states; None unless Γ is exact."""
    if not is_exact(problem.model, learner.model_):
        return None
    found, truth = learner.model_, problem.model
    children = {bytes(column): j for j, column in enumerate(found.bipartite.T)}
    order = [children[bytes(column)] for column in truth.bipartite.T]  # ours at each true place
    place = {ours: true for true, ours in enumerate(order)}
    graph = CPDAG(
        found.n_latent,
        frozenset((place[i], place[j]) for i, j in found.latent_graph.directed),
        frozenset(frozenset(place[i] for i in pair) for pair in found.latent_graph.undirected),
    )
    rows = StateCounts(problem.states, truth.domain_sizes)
    from_truth = learn(rows, len(problem.states))
    return tuple(structural_distance(truth.latent_graph, each) for each in (graph, from_truth))


def add_sizes(parser: argparse.ArgumentParser) -> None:
    """Let a benchmark of many causes take other sizes than those of :data:`ROWS`."""
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument(
        "--row",
        type=int,
        nargs=3,
        action="append",
        metavar=("LATENTS", "MEASUREMENTS", "STATES"),
        help="these instead of the rows of the table",
    )


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_sizes(parser)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    choices = parser.parse_args(argv)
    print(
        f"{'m':>3}{'n':>5}{'N':>8}{'joint states':>20}{'wall s':>8}{'CPU s':>8}{'peak GB':>9}"
        "  exact   SHD  SHD by true states"
    )
    for m, n, largest in choices.row or ROWS:
        problem = sparse_problem(m, n, largest, choices.samples, choices.seed)
        start, began = cpu_seconds(), time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            warnings.simplefilter("ignore", DataWarning)
            learner = LatentGraphLearner(random_state=0, n_jobs=choices.jobs)
            learner.fit(problem.observations)
        wall, seconds = time.perf_counter() - began, cpu_seconds() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        states = problem.model.joint.sizes_in_words
        graphs = distance_of_graphs(problem, learner)
        shown = "" if graphs is None else f"{graphs[0]:>6}{graphs[1]:>20}"
        print(
            f"{m:>3}{n:>5}{choices.samples:>8}{states:>20}{wall:>8.1f}{seconds:>8.1f}{peak:>9.2f}"
            f"  {is_exact(problem.model, learner.model_)!s:5}{shown}",
            flush=True,
        )


def cpu_seconds() -> float:
    """Seconds of this process and of those that it started and that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


if __name__ == "__main__":
    main()
