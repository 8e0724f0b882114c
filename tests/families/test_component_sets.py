"""What every family of components promises."""

import pickle

import numpy as np
import pytest
from scipy import integrate

from mixoracle.errors import FileFormatError, InvalidInputError
from mixoracle.model import CPDAG, ComponentSet, JointTable, LatentModel

FAMILIES = ["gaussian", "student", "diagonal", "categorical", "counts", "gamma", "product"]
SEEDS = range(5)


@pytest.fixture
def draw(draw_components):
    return draw_components


def with_missing(block, rng, share=0.3):
    seen_only = block.copy()
    seen_only[rng.random(block.shape) < share] = np.nan
    return seen_only


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", SEEDS)
def test_whole_rows_have_the_same_density_among_incomplete_ones(family, seed, draw):
    held, rng = draw(family, seed), np.random.default_rng(seed)
    block = held.sample(rng.integers(0, 3, 40), rng)
    seen_only = with_missing(block, rng)
    whole = ~np.isnan(seen_only).any(axis=1)
    assert 0 < whole.sum() < 40
    np.testing.assert_allclose(held.log_density(seen_only)[whole], held.log_density(block)[whole])
    assert np.all(np.isfinite(held.log_density(seen_only)))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", SEEDS)
def test_each_row_has_a_density_of_its_own(family, seed, draw):
    held, rng = draw(family, seed), np.random.default_rng(seed)
    seen_only = with_missing(held.sample(rng.integers(0, 3, 20), rng), rng)
    one_by_one = np.vstack([held.log_density(row[None]) for row in seen_only])
    np.testing.assert_allclose(held.log_density(seen_only), one_by_one, rtol=1e-12)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_row_with_nothing_in_it_says_nothing(family, draw):
    held = draw(family, 0)
    np.testing.assert_array_equal(held.log_density(np.full((2, 3), np.nan)), np.zeros((2, 3)))
    assert held.log_density(np.empty((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("family", ["gaussian", "student", "diagonal", "gamma"])
@pytest.mark.parametrize("seed", range(3))
def test_a_missing_number_is_integrated_out(family, seed, draw):
    held, rng = draw(family, seed, k=2, d=2), np.random.default_rng(seed)
    row = held.sample(np.array([1]), rng)[0]
    low = 0.0 if family == "gamma" else -np.inf
    for missing in (0, 1):
        seen_only = row.copy()
        seen_only[missing] = np.nan
        for j in range(2):

            def density(value, missing=missing, j=j):
                changed = row.copy()
                changed[missing] = value
                return np.exp(held.log_density(changed[None])[0, j])

            total = integrate.quad(density, low, np.inf, epsabs=0.0, epsrel=1e-9, limit=200)[0]
            found = held.log_density(seen_only[None])[0, j]
            assert found == pytest.approx(np.log(total), rel=1e-6)


@pytest.mark.parametrize("family", ["categorical", "counts"])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_missing_code_or_count_is_summed_out(family, seed, draw):
    held, rng = draw(family, seed, k=3, d=2), np.random.default_rng(seed)
    row = held.sample(np.array([1]), rng)[0]
    # Beyond 600 events lies less than a billionth of a mean of 8 and size 0.5.
    values = np.arange(held.n_levels[1] if family == "categorical" else 600)
    every = np.column_stack([np.full(len(values), row[0]), values.astype(float)])
    summed = np.log(np.exp(held.log_density(every)).sum(axis=0))
    found = held.log_density(np.array([[row[0], np.nan]]))[0]
    np.testing.assert_allclose(found, summed, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("family", FAMILIES)
def test_samples_follow_their_labels(family, draw):
    """The log density of the component that a row came from is, on average, the largest."""
    held, rng = draw(family, 3, k=3, d=4), np.random.default_rng(0)
    labels = rng.permutation(np.repeat(np.arange(3), 2_000))
    density = held.log_density(held.sample(labels, rng))
    means = np.stack([density[labels == j].mean(axis=0) for j in range(3)])
    np.testing.assert_array_equal(means.argmax(axis=1), [0, 1, 2])


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_no_block_or_label_is_refused(family, draw):
    held = draw(family, 0)
    with pytest.raises(InvalidInputError, match=r"should have shape \(N, 3\); got \(2, 4\)"):
        held.log_density(np.ones((2, 4)))
    with pytest.raises(InvalidInputError, match="labels should run from 0 to 2; got 0 to 3"):
        held.sample(np.array([0, 3]), np.random.default_rng(0))
    assert held.sample(np.array([], dtype=int), np.random.default_rng(0)).shape == (0, 3)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", SEEDS)
def test_take_reorders_and_equal_ones_are_found(family, seed, draw):
    held, rng = draw(family, seed), np.random.default_rng(seed)
    turned = held.take(np.array([2, 0, 0]))
    assert (turned.n_components, turned.width) == (3, 3)
    assert turned.first_equal().tolist() == [0, 1, 1]
    assert turned != held
    assert turned.take(np.array([1])) == held.take(np.array([0]))
    block = held.sample(rng.integers(0, 3, 10), rng)
    expected = held.log_density(block)[:, [2, 0, 0]]
    np.testing.assert_allclose(turned.log_density(block), expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", SEEDS)
def test_arrays_are_plain_and_rebuild_the_components(family, seed, draw):
    held = draw(family, seed)
    arrays = held.arrays()
    assert held.family == family
    assert all(array.dtype.kind in "fiU" for array in arrays.values())
    again = ComponentSet.from_arrays(family, arrays)
    assert again == held
    assert hash(again) == hash(held)
    assert pickle.loads(pickle.dumps(held)) == held
    assert held != draw(family, seed + 100)


@pytest.mark.parametrize("seed", SEEDS)
def test_models_with_all_families_are_saved_and_loaded(seed, draw, tmp_path):
    components = tuple(draw(family, seed, k=2) for family in FAMILIES)
    model = LatentModel(
        observed_names=tuple(f"X{i}" for i in range(len(FAMILIES))),
        latent_names=("H1",),
        bipartite=np.ones((len(FAMILIES), 1), dtype=bool),
        domain_sizes=(2,),
        joint=JointTable([0.4, 0.6]),
        latent_graph=CPDAG(1, frozenset(), frozenset()),
        components=components,
    )
    model.save(tmp_path)
    loaded = LatentModel.load(tmp_path)
    assert loaded == model
    assert [held.family for held in loaded.components] == FAMILIES


@pytest.mark.parametrize("family", FAMILIES)
def test_parameters_cannot_be_changed(family, draw):
    for array in draw(family, 0).arrays().values():
        if array.dtype.kind == "f":
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0.5


def test_an_unknown_family_is_named():
    with pytest.raises(FileFormatError, match=r"unknown component family 'cauchy'; .* categorical"):
        ComponentSet.from_arrays("cauchy", {})
