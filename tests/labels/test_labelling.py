"""Labels that speak for themselves: more joint states than any mixture could hold."""

import numpy as np
import pytest

from mixoracle import CPDAG, JointTable, LatentModel, SignatureOracle
from mixoracle.datasets import paper_problem
from mixoracle.labels.labelling import Labelling
from mixoracle.mixtures.preparation import prepare
from mixoracle.model import GaussianComponents


def crowded(seed, n_states=6):
    """Four latents with clear variables; most of their joint states hold a row or two."""
    rng = np.random.default_rng(seed)
    own = np.eye(4, dtype=bool)
    adjacency = np.vstack([own, own | np.roll(own, 1, axis=1)])
    sizes = (n_states,) * 4
    components = []
    for parents in adjacency:
        means = 4.0 * rng.normal(size=(n_states ** int(parents.sum()), 5))
        covariances = np.repeat(0.02 * np.eye(5)[None], len(means), axis=0)
        components.append(GaussianComponents(means, covariances))
    return LatentModel(
        observed_names=tuple(f"X{i + 1}" for i in range(8)),
        latent_names=tuple(f"H{j + 1}" for j in range(4)),
        bipartite=adjacency,
        domain_sizes=sizes,
        joint=JointTable(rng.dirichlet(np.full(n_states**4, 2.0)).reshape(sizes)),
        latent_graph=CPDAG.from_dag([], 4),
        components=tuple(components),
    )


@pytest.mark.parametrize("seed", range(3))
def test_thousands_of_joint_states_are_found_by_single_variables(seed):
    problem = paper_problem(model=crowded(seed), n_samples=4000, random_state=seed)
    oracle = SignatureOracle(random_state=0).fit(problem.observations)
    best = oracle.candidates_[0].graph
    assert sorted(best.domain_sizes) == [6, 6, 6, 6]
    columns = sorted(column.tobytes() for column in best.adjacency.T)
    assert columns == sorted(column.tobytes() for column in problem.model.bipartite.T)


def test_few_joint_states_are_found_as_components():
    problem = paper_problem(2, 5, 3, n_samples=1000, random_state=0, covariance="code")
    rng = np.random.default_rng(0)
    seen = Labelling.draw(prepare(problem.observations), rng)
    seen.segment_all(50, 1, rng)
    seen.settle(50)
    assert seen.joint is not None
    np.testing.assert_allclose(seen.table().counts.sum(), 1000)
