"""Ten thousand joint states: four latents with ten states each, learned end to end.

Most joint states hold a handful of rows or none, so what is learned rests on the labels of single
variables, and EM looks at the states that are plausible for each row only.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np

from mixoracle import CPDAG, JointTable, LatentGraphLearner, LatentModel
from mixoracle.datasets import paper_problem
from mixoracle.errors import AssumptionWarning
from mixoracle.metrics import compare, compare_states
from mixoracle.model import GaussianComponents

_WIDTH = 5
_SPREAD = 3.0
_VARIANCE = 0.05
# Concentration of the Dirichlet that P(H) is drawn from: most joint states are rare.
_CONCENTRATION = 0.3


def draw(n_states: int, rng: np.random.Generator) -> LatentModel:
    """Four latents; each drives one variable alone and shares two with its neighbours."""
    own = np.eye(4, dtype=bool)
    adjacency = np.vstack([own, own | np.roll(own, 1, axis=1)])
    sizes = (n_states,) * 4
    table = rng.dirichlet(np.full(n_states**4, _CONCENTRATION)).reshape(sizes)
    components = []
    for parents in adjacency:
        means = _SPREAD * rng.normal(size=(n_states ** int(parents.sum()), _WIDTH))
        covariances = np.repeat(_VARIANCE * np.eye(_WIDTH)[None], len(means), axis=0)
        components.append(GaussianComponents(means, covariances))
    return LatentModel(
        observed_names=tuple(f"X{i + 1}" for i in range(len(adjacency))),
        latent_names=tuple(f"H{j + 1}" for j in range(4)),
        bipartite=adjacency,
        domain_sizes=sizes,
        joint=JointTable(table / table.sum()),
        latent_graph=CPDAG.from_dag([], 4),
        components=tuple(components),
    )


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--states", type=int, nargs="+", default=[4, 7, 10])
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    choices = parser.parse_args(argv)
    print(f"N = {choices.samples}, seed {choices.seed}")
    print(f"{'joint states':>12}{'exact':>8}{'rows right %':>14}{'seconds':>9}")
    for n_states in choices.states:
        model = draw(n_states, np.random.default_rng(choices.seed))
        problem = paper_problem(model=model, n_samples=choices.samples, random_state=choices.seed)
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            learner = LatentGraphLearner(random_state=choices.seed).fit(problem.observations)
        seconds = time.perf_counter() - start
        found = compare(model, learner.model_)
        exact = found.bipartite_exact and found.domains_exact
        right = 100 * compare_states(problem.states, learner.states_).joint_accuracy
        print(f"{n_states**4:>12}{exact!s:>8}{right:>14.2f}{seconds:>9.1f}", flush=True)


if __name__ == "__main__":
    main()
