"""Components of another shape: how right densities and posteriors are on rows not seen before.

Problems of ``faults.py`` whose components are skewed, bent, heavy-tailed or of several lumps. Half
of the rows are learned from. On the other half stand, for the model as learned and for one with a
single normal component for each configuration, fitted to the same states: the mean log density of
a row, the share of rows in the true joint state, and how far the mean probability of the most
likely state is from how often it is true. Only problems with the right structure are compared.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from faults import fault_problem
from mixoracle import LatentGraphLearner, LatentModel
from mixoracle.datasets import paper_problem
from mixoracle.errors import AssumptionWarning, DataWarning
from mixoracle.families import GaussianFamily
from mixoracle.metrics import compare
from mixoracle.model.joint_states import configurations, flat
from mixoracle.model.responsibilities import log_joint
from settings import SETTINGS

Floats = NDArray[np.float64]
SHAPES = ("lognormal(1)", "t(3)", "boxes", "bananas", "submodes 3 sd", "submodes 6 sd")


def with_normal_components(
    model: LatentModel, states: NDArray[np.int64], blocks: list[Floats]
) -> LatentModel:
    """The same model with one normal component for each configuration, fitted to these states."""
    codes = configurations(model.bipartite, model.domain_sizes)[flat(states, model.domain_sizes)]
    found = []
    for block, code, held in zip(blocks, codes.T, model.components or (), strict=True):
        family, spread = GaussianFamily(block.shape[1]), block.std(axis=0)
        whole = ~np.isnan(block).any(axis=1)
        features = family.features(block[whole] / spread)
        statistics = np.stack(
            [features[code[whole] == c].sum(axis=0) for c in range(held.n_components)]
        )
        fitted = family.components(statistics, family.prior(statistics))
        scales = fitted.covariances * np.outer(spread, spread)
        found.append(replace(fitted, means=fitted.means * spread, covariances=scales))
    return replace(model, components=tuple(found))


def judged(model: LatentModel, blocks: list[Floats], true: NDArray[np.int64]) -> Floats:
    """Mean log density; share of rows in the right state; probability less share that is right.

    Joint states are matched to the true ones by what most of their rows are.
    """
    with np.errstate(divide="ignore"):
        weights = np.log(model.joint.table.ravel())
    codes = configurations(model.bipartite, model.domain_sizes)
    densities = [
        held.log_density(block) for held, block in zip(model.components or (), blocks, strict=True)
    ]
    joint = log_joint(weights, densities, codes)
    posterior = softmax(joint, axis=1)
    best = posterior.argmax(axis=1)
    together = np.zeros((posterior.shape[1], int(true.max()) + 1))
    np.add.at(together, (best, true), 1)
    right = together.argmax(axis=1)[best] == true
    density = np.logaddexp.reduce(joint, axis=1).mean()
    return np.array([density, right.mean(), posterior.max(axis=1).mean() - right.mean()])


def main(argv: list[str] | None = None) -> None:
    """Print one line for each shape."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--samples", type=int, default=2_000, help="rows that are learned from")
    parser.add_argument("--settings", type=int, default=3, help="how many of the ten settings")
    parser.add_argument("--first-seed", type=int, default=0)
    choices = parser.parse_args(argv)
    n, seed = choices.samples, choices.first_seed
    print(f"{'':<16}{'':>6}{'log density':>22}{'rows right %':>20}{'overconfident %':>20}")
    print(f"{'shape':<16}{'exact':>6}" + 3 * f"{'learned':>12}{'normal':>9}")
    for shape in SHAPES:
        found = []
        for setting in SETTINGS[1 : 1 + choices.settings]:
            observations, truth = fault_problem(shape, setting, 2 * n, seed)
            states = paper_problem(model=truth, n_samples=2 * n, random_state=seed).states
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", AssumptionWarning)
                warnings.simplefilter("ignore", DataWarning)
                learner = LatentGraphLearner(random_state=seed).fit(observations.take(slice(0, n)))
            same = compare(truth, learner.model_)
            if not (same.bipartite_exact and same.domains_exact):
                continue
            seen, fresh = (
                [observations[name][rows] for name in observations.names]
                for rows in (slice(0, n), slice(n, None))
            )
            true = flat(states[n:], truth.domain_sizes)
            normal = with_normal_components(learner.model_, learner.states_, seen)
            found.append([judged(learner.model_, fresh, true), judged(normal, fresh, true)])
        if found:
            (d, r, o), (d2, r2, o2) = np.mean(found, axis=0)
            print(
                f"{shape:<16}{len(found):>6}{d:>12.2f}{d2:>9.2f}{100 * r:>12.2f}{100 * r2:>9.2f}"
                f"{100 * o:>12.2f}{100 * o2:>9.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
