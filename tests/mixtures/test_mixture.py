"""One mixture over all variables: how many components, from how many starts."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from mixoracle.datasets import item_problem, kind_problem, with_gaps
from mixoracle.families import CategoricalFamily, GaussianFamily
from mixoracle.mixtures.mixture import fit_mixture
from mixoracle.mixtures.preparation import prepare
from mixoracle.mixtures.rows import VariableRows, unit_variance
from mixoracle.observations import Observations
from mixoracle.settings import Budget, Settings


@pytest.fixture(autouse=True)
def _one_thread():
    """As the oracle runs it."""
    with threadpool_limits(limits=1):
        yield


def fitted(observations, families=None, max_starts=2, seed=0, max_components=100):
    rows = prepare(observations, families).searched_rows(slice(None))
    return fitted_rows(rows, max_starts, seed, max_components)


def fitted_rows(rows, max_starts=1, seed=0, max_components=100):
    coordinates = np.hstack([unit_variance(variable.embedding) for variable in rows])
    settings = Settings(Budget(compared=max_components))
    rng = np.random.default_rng(seed)
    return fit_mixture(rows, coordinates, max_starts, rng, settings)


def n_present(problem):
    """Joint states with at least one row."""
    return len(np.unique(problem.states, axis=0))


@pytest.mark.parametrize(("n_latent", "n_items"), [(2, 12), (3, 18)])
@pytest.mark.parametrize("seed", range(2))
def test_single_items_together_show_all_joint_states(n_latent, n_items, seed):
    problem = item_problem(n_latent, n_items, 800, random_state=seed)
    assert fitted(problem.observations, max_starts=1).n_components == n_present(problem)


@pytest.mark.parametrize("kind", ["categorical", "counts", "gamma", "mixed"])
@pytest.mark.parametrize("seed", range(2))
def test_blocks_of_every_kind(kind, seed):
    problem = kind_problem(2, 4, 2, 300, random_state=seed, kind=kind, width=4)
    families = "gamma" if kind == "gamma" else None
    found = fitted(problem.observations, families, max_starts=1)
    assert found.n_components == n_present(problem)


@pytest.mark.parametrize("share", [0.1, 0.3])
@pytest.mark.parametrize("seed", range(2))
def test_missing_values_do_not_hide_components(share, seed):
    problem = item_problem(2, 14, 1000, random_state=seed)
    observations = with_gaps(problem.observations, share, seed)
    assert fitted(observations, max_starts=1).n_components == n_present(problem)


@pytest.mark.parametrize("kind", ["items", "numbers", "counts"])
@pytest.mark.parametrize("seed", range(2))
def test_independent_noise_is_one_component(kind, seed):
    rng = np.random.default_rng(seed)
    if kind == "items":
        values = (rng.random((500, 10)) < rng.uniform(0.2, 0.8, 10)).astype(float)
    elif kind == "numbers":
        values = rng.normal(size=(400, 5))
    else:
        values = rng.poisson(rng.uniform(1, 20, 4), (300, 4)).astype(float)
    assert fitted(Observations.from_array(values), max_starts=1).n_components == 1


def test_responsibilities_are_shares_of_rows():
    problem = item_problem(2, 12, 600, random_state=0)
    found = fitted(problem.observations)
    assert found.responsibilities.shape == (600, found.n_components)
    assert found.responsibilities.min() >= 0.0
    np.testing.assert_allclose(found.responsibilities.sum(axis=1), 1.0)


@pytest.mark.parametrize("seed", range(2))
def test_the_same_generator_gives_the_same_mixture(seed):
    observations = item_problem(2, 12, 500, random_state=seed).observations
    first, again = fitted(observations, seed=seed), fitted(observations, seed=seed)
    np.testing.assert_array_equal(first.responsibilities, again.responsibilities)
    assert first.log_evidence == again.log_evidence
    assert (first.n_starts, first.n_agreed) == (again.n_starts, again.n_agreed)


@pytest.mark.parametrize("seed", range(2))
def test_starts_end_when_two_agree(seed):
    observations = item_problem(2, 12, 500, random_state=seed).observations
    once = fitted(observations, max_starts=1)
    assert (once.n_starts, once.n_agreed) == (1, 1)
    several = fitted(observations, max_starts=5)
    assert 1 <= several.n_agreed <= several.n_starts <= 5
    assert several.n_agreed == 2 or several.n_starts == 5
    # The first start is the same one; the best of several is never worse.
    assert several.log_evidence >= once.log_evidence


@pytest.mark.parametrize("limit", [1, 2])
def test_no_more_components_than_allowed(limit):
    observations = item_problem(2, 12, 500, random_state=0).observations
    assert fitted(observations, max_components=limit).n_components <= limit


def test_a_few_rows_and_equal_rows_are_one_component():
    for values in (np.eye(3)[[0, 1, 2, 0, 1]], np.zeros((300, 3))):
        family = CategoricalFamily([2] * 3)
        variable = VariableRows(family, values, family.features(values), None, False)
        assert fitted_rows([variable], max_components=50).n_components == 1


def test_variables_of_any_width_weigh_the_same():
    rng = np.random.default_rng(0)
    for width in (1, 4):
        embedding = GaussianFamily(width).embedding(3.0 * rng.normal(size=(200, width)))
        assert unit_variance(embedding).var(axis=0).sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(unit_variance(np.zeros((5, 2))), np.zeros((5, 2)))
