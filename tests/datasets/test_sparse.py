import numpy as np
import pytest

from mixoracle.assumptions import no_twins, subset_condition
from mixoracle.datasets import sparse_problem
from mixoracle.errors import InvalidInputError


@pytest.mark.parametrize("seed", range(10))
def test_graphs_are_sparse_and_honour_the_assumptions(seed):
    problem = sparse_problem(12, 50, 3, n_samples=20, random_state=seed, max_parents=4)
    model = problem.model
    n_parents = model.bipartite.sum(axis=1)
    assert (n_parents.min(), n_parents.max()) == (1, 4)
    assert max(map(len, model.joint.parents)) == 2
    assert set(model.domain_sizes) == {2, 3}
    assert no_twins(model).holds
    assert subset_condition(model).holds
    assert problem.dag == model.joint.edges
    assert all(np.all(table > 0) for table in model.joint.conditionals)


def test_one_seed_gives_one_model_for_every_sample_size():
    few, many = (sparse_problem(8, 30, n_samples=n, random_state=5) for n in (3, 400))
    assert few.model == many.model
    assert many.states.shape == (400, 8)
    assert few.model != sparse_problem(8, 30, n_samples=3, random_state=6).model


def test_rows_lie_about_the_means_of_their_states():
    problem = sparse_problem(20, 60, n_samples=200, random_state=1)
    labels = problem.model.component_of_states(problem.states)
    for i, held in enumerate(problem.model.components):
        rest = problem.observations[f"X{i + 1}"] - held.means[labels[:, i]]
        # Covariances have largest eigenvalue 0.01.
        assert np.abs(rest).max() < 0.6


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"n_latent": 9, "n_observed": 9, "max_parents": 9}, "met the subset condition"),
        ({"n_latent": 0, "n_observed": 9}, "n_latent should be a whole number of at least 1"),
        ({"n_latent": 2, "n_observed": 9, "max_domain": 1}, "max_domain"),
        ({"n_latent": 2, "n_observed": 9, "max_causes": -1}, "max_causes"),
    ],
)
def test_what_cannot_be_drawn_is_refused(arguments, sentence, monkeypatch):
    monkeypatch.setattr("mixoracle.datasets.sparse._GRAPH_DRAWS", 5)
    with pytest.raises(InvalidInputError, match=sentence):
        sparse_problem(**arguments)
