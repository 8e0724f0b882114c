"""Where the limit is: the learner beside a decoder that is given the true component densities.

The same problems in the regimes where components overlap most. The learner has to find the
components of each variable; the decoder is told their true densities and only has to find out
which of them are dependent. Where both miss, it is not the estimated components that are to blame.
"""

from __future__ import annotations

import warnings

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from bench_overlap import REGIMES, Regime, draw
from mixoracle import LatentGraphLearner
from mixoracle.datasets import Problem
from mixoracle.decoding import decode
from mixoracle.errors import AssumptionWarning
from mixoracle.labels.tuples import find_joint_components
from mixoracle.metrics import compare
from mixoracle.mixtures.merging import pool
from mixoracle.mixtures.preparation import Prepared, prepare
from mixoracle.mixtures.table import ComponentTable
from mixoracle.settings import Settings
from settings import SETTINGS, problem_options

_NAMES = ("σ=0.1 R^5", "σ=0.01 R^3", "σ=0.01 R^2")
# As many components over X as the learner allows itself.
_MAX_JOINT_COMPONENTS = 400


def is_learned(problem: Problem, seed: int) -> bool:
    """Whether the learner finds Γ and all domain sizes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        learner = LatentGraphLearner(random_state=seed).fit(problem.observations)
    found = compare(problem.model, learner.model_)
    return found.bipartite_exact and found.domains_exact


def is_decoded(problem: Problem) -> bool:
    """Whether the decoder finds them from the true densities of each variable's components."""
    prepared = prepare(problem.observations)
    with threadpool_limits(limits=1):
        best = decode(true_table(problem, prepared))[0]
    model = problem.model
    columns = zip(model.bipartite[prepared.variables].T, model.domain_sizes, strict=True)
    return best.structure == tuple(sorted((column.tobytes(), size) for column, size in columns))


def true_table(problem: Problem, prepared: Prepared) -> ComponentTable:
    """The components over X that the true densities show, with their statistics."""
    components, observations = problem.model.components, problem.observations
    assert components is not None  # problems are drawn with components
    log_densities = [
        components[i].log_density(observations[int(i)][prepared.rows]) for i in prepared.variables
    ]
    labels = np.stack([held.argmax(axis=1) for held in log_densities], axis=1)
    joint = find_joint_components(labels, log_densities, _MAX_JOINT_COMPONENTS, Settings())
    families = tuple(encoder.family for encoder in prepared.encoders)
    features = [prepared.features(place, slice(None)) for place in range(len(families))]
    priors = tuple(
        family.prior(pool(held, column, components[i].n_components))
        for family, held, column, i in zip(
            families, features, labels.T, prepared.variables, strict=True
        )
    )
    statistics = tuple(joint.responsibilities.T @ held for held in features)
    counts = joint.responsibilities.sum(axis=0)
    return ComponentTable(joint.labels, statistics, families, priors, counts)


def run(regime: Regime, setting: tuple[int, int, int], seed: int) -> tuple[bool, bool]:
    """Whether the learner was exact, and whether the decoder with true densities was."""
    problem = draw(regime, setting, seed)
    return is_learned(problem, seed), is_decoded(problem)


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    parser = problem_options(__doc__)
    parser.add_argument("--regimes", default="", help="only those whose name contains this")
    choices = parser.parse_args(argv)
    print(f"{'regime':<20}{'problems':>9}{'learner':>9}{'%':>8}{'true densities':>16}{'%':>8}")
    seeds = range(choices.first_seed, choices.first_seed + choices.seeds)
    for regime in REGIMES:
        if regime.name not in _NAMES or choices.regimes not in regime.name:
            continue
        outcomes = Parallel(n_jobs=choices.jobs)(
            delayed(run)(regime, setting, seed) for setting in SETTINGS for seed in seeds
        )
        learned, decoded = (np.array(column) for column in zip(*outcomes, strict=True))
        print(
            f"{regime.name:<20}{len(outcomes):>9}{learned.sum():>9}{100 * learned.mean():>8.1f}"
            f"{decoded.sum():>16}{100 * decoded.mean():>8.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
