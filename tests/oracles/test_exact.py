from itertools import combinations
from math import log, prod

import numpy as np
import pytest

from mixoracle.errors import InvalidInputError
from mixoracle.model import CPDAG, GaussianComponents, JointTable, LatentModel
from mixoracle.oracles.exact import ExactOracle
from mixoracle.oracles.protocol import BatchMixtureOracle


def model(bipartite, table, means=None):
    """A model with given P(H) and, if wanted, unit normal components at given means."""
    bipartite, table = np.asarray(bipartite), np.asarray(table, dtype=float)
    n, m = bipartite.shape
    components = None
    if means is not None:
        components = tuple(
            GaussianComponents(np.array(row, dtype=float)[:, None], np.ones((len(row), 1, 1)))
            for row in means
        )
    return LatentModel(
        observed_names=tuple(f"X{i + 1}" for i in range(n)),
        latent_names=tuple(f"H{j + 1}" for j in range(m)),
        bipartite=bipartite,
        domain_sizes=table.shape,
        joint=JointTable(table),
        latent_graph=CPDAG(m),
        components=components,
    )


def random_model(seed, with_components=True):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    bipartite = rng.random((n, m)) < 0.6
    sizes = tuple(rng.integers(2, 4, m).tolist())
    table = rng.dirichlet(np.ones(prod(sizes))).reshape(sizes)
    means = None
    if with_components:
        means = [rng.standard_normal(prod(np.array(sizes)[row])) for row in bipartite]
    return model(bipartite, table, means)


def subsets(n):
    return [s for size in range(n + 1) for s in combinations(range(n), size)]


@pytest.mark.parametrize("seed", range(40))
def test_nondegenerate_counts_are_products(seed):
    truth = random_model(seed)
    oracle = ExactOracle(truth)
    assert oracle.is_nondegenerate
    for subset in subsets(truth.n_observed):
        parents = {j for i in subset for j in truth.parents(i)}
        assert oracle.count(subset) == prod(truth.domain_sizes[j] for j in parents)
        assert len(np.unique(oracle.projection().labels[:, list(subset)], axis=0)) == oracle.count(
            subset
        )


@pytest.mark.parametrize("seed", range(20))
def test_projection_goes_through_the_states_in_c_order(seed):
    truth = random_model(seed, with_components=False)
    truth = model(np.vstack([truth.bipartite, np.ones(truth.n_latent)]), truth.joint.table)
    states = np.array([*np.ndindex(*truth.domain_sizes)], dtype=np.int64)
    found = ExactOracle(truth).projection()
    np.testing.assert_array_equal(
        found.labels, truth.component_of_states(states.reshape(-1, truth.n_latent))
    )
    np.testing.assert_array_equal(found.weights, truth.joint.table.ravel())


@pytest.mark.parametrize("seed", range(20))
def test_batches_agree_with_single_counts(seed):
    truth = random_model(seed)
    for empty in (False, True):
        if empty:
            table = truth.joint.table.copy()
            table.flat[0] = 0
            truth = model(truth.bipartite, table / table.sum())
        oracle = ExactOracle(truth)
        for size in range(truth.n_observed + 1):
            rows = np.array(list(combinations(range(truth.n_observed), size)), dtype=np.int64)
            expected = [log(oracle.count(row)) for row in rows.tolist()]
            np.testing.assert_allclose(oracle.log_counts(rows), expected, rtol=0, atol=1e-12)


def test_no_latents_make_one_component():
    oracle = ExactOracle(model(np.zeros((2, 0)), 1.0))
    assert oracle.count([0, 1]) == 1
    np.testing.assert_array_equal(oracle.projection().labels, [[0, 0]])
    np.testing.assert_array_equal(oracle.log_counts(np.array([[0, 1]])), [0.0])


def test_repeated_members_are_harmless():
    oracle = ExactOracle(random_model(3))
    assert oracle.count([0, 0]) == oracle.count([0])
    assert oracle.log_counts(np.array([[0, 0]])) == oracle.log_counts(np.array([[0]]))


def test_it_satisfies_the_protocol():
    assert isinstance(ExactOracle(random_model(0)), BatchMixtureOracle)


def test_counts_are_plain_integers():
    bipartite = np.eye(12, dtype=bool)
    truth = model(bipartite, np.full((2,) * 12, 2.0**-12))
    assert ExactOracle(truth).count(range(12)) == 2**12
    assert isinstance(ExactOracle(truth).count(np.arange(12)), int)


def test_a_latent_without_children_is_invisible():
    truth = model([[1, 0]], [[0.1, 0.2], [0.3, 0.4]])
    oracle = ExactOracle(truth)
    assert oracle.count([0]) == 2
    np.testing.assert_array_equal(oracle.projection().labels, [[0], [1]])
    np.testing.assert_allclose(oracle.projection().weights, [0.3, 0.7])


def test_an_empty_state_of_an_invisible_latent_does_no_harm():
    oracle = ExactOracle(model([[1, 0]], [[0.5, 0.0], [0.25, 0.25]]))
    assert oracle.is_nondegenerate
    np.testing.assert_allclose(oracle.projection().weights, [0.5, 0.5])


def test_the_three_models_of_the_appendix_look_alike():
    """``app:example-nonidentifiable``: one mixture, three models, no two counts that differ.

    In model S_3, too, two states of H_1 give X_1 the same component, so k({X_1}) is 2, not 3: it
    breaks nondegeneracy (b) for S = {X_1}, against the remark that follows the example.
    """
    model_a = model([[1, 0], [1, 1]], np.full((2, 2), 0.25), [[0, 1], [0, 0, 0, 1]])
    model_b = model([[1, 0], [0, 1]], [[0.5, 0.0], [0.25, 0.25]], [[0, 1], [0, 1]])
    model_s3 = model([[1], [1]], [0.5, 0.25, 0.25], [[0, 1, 1], [0, 0, 1]])
    for truth in (model_a, model_b, model_s3):
        oracle = ExactOracle(truth)
        assert not oracle.is_nondegenerate
        assert [oracle.count(s) for s in ([], [0], [1], [0, 1])] == [1, 2, 2, 3]
        projection = oracle.projection()
        np.testing.assert_array_equal(projection.labels, [[0, 0], [1, 0], [1, 1]])
        np.testing.assert_allclose(projection.weights, [0.5, 0.25, 0.25])


@pytest.mark.parametrize("seed", range(20))
def test_components_that_coincide_are_one_wherever_they_stand(seed):
    rng = np.random.default_rng(seed)
    means = rng.integers(0, 20, 60).astype(float)
    oracle = ExactOracle(model([[1]], np.full(60, 1 / 60), [means]))
    assert oracle.count([0]) == len(np.unique(means))


def test_a_large_model_is_not_enumerated():
    truth = model(np.ones((3, 15)), np.full((2,) * 15, 2.0**-15))
    oracle = ExactOracle(truth)
    assert oracle.count([0]) == 2**15
    assert oracle.log_counts(np.array([[0, 1]])) == pytest.approx(15 * log(2))
    assert "_projection" not in vars(oracle)


@pytest.mark.parametrize("subset", [[-1], [2], [0.5], ["X1"], [None]])
def test_subsets_that_name_nothing_are_refused(subset):
    with pytest.raises(InvalidInputError, match="from 0 to 1; got"):
        ExactOracle(model([[1], [1]], [0.5, 0.5])).count(subset)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.array([0, 1]), "shape"),
        (np.array([[0.0]]), "integer array"),
        (np.array([[0, 2]]), "from 0 to 1; got 0 to 2"),
        (np.array([[-1]]), "from 0 to 1; got -1 to -1"),
    ],
)
def test_batches_that_name_nothing_are_refused(rows, message):
    with pytest.raises(InvalidInputError, match=message):
        ExactOracle(model([[1], [1]], [0.5, 0.5])).log_counts(rows)


def test_repr_says_whether_the_model_is_degenerate():
    assert repr(ExactOracle(random_model(1))).endswith("nondegenerate)")
