"""More values out of place than are set aside without a question: set aside by chance, and told."""

import numpy as np
import pytest

from mixoracle import LatentGraphLearner
from mixoracle.datasets import paper_problem
from mixoracle.metrics import compare
from mixoracle.observations import Observations


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("share", [0.22, 0.25, 0.35])
def test_a_quarter_of_the_values_out_of_place_is_set_aside_and_doubted(seed, share):
    problem = paper_problem(3, 6, 3, n_samples=1_500, random_state=seed, covariance="text")
    rng = np.random.default_rng(seed)
    blocks = {name: problem.observations[name].copy() for name in problem.observations.names}
    for block in blocks.values():
        wrong = rng.random(len(block)) < share
        block[wrong] = 20.0 * rng.normal(size=(wrong.sum(), block.shape[1]))
    learner = LatentGraphLearner(random_state=0).fit(Observations.from_arrays(blocks))
    found = compare(problem.model, learner.model_)
    assert found.bipartite_exact
    assert found.domains_exact
    assert learner.verdict_.level != "believe"
    assert any("far from all others" in reason for reason in learner.verdict_.reasons)


@pytest.mark.parametrize("seed", range(3))
def test_a_wide_state_that_others_show_is_kept(seed):
    rng = np.random.default_rng(seed)
    wide = rng.random(2_000) < 0.3
    table = rng.normal(np.where(wide[:, None], 6.0, 0.0), 1.0, (2_000, 3))
    table[:, 0] = rng.normal(0.0, np.where(wide, 500.0, 1.0))
    learner = LatentGraphLearner(random_state=0).fit(table)
    assert learner.set_aside_[:, 0].mean() < 0.05
    assert learner.model_.bipartite.all()
    # Pieces of the wide state, which fit better, are no answer that is believed.
    states = learner.states_[:, 0]
    is_right = learner.model_.domain_sizes == (2,) and set(states[wide]).isdisjoint(states[~wide])
    assert is_right == (learner.verdict_.level == "believe")
