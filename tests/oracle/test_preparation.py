import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixoracle.errors import InvalidInputError
from mixoracle.model import GaussianComponents
from mixoracle.observations import Observations
from mixoracle.oracle.preparation import MAX_WIDTH, prepare


def drawn(seed, n_samples=60):
    """A few variables of unlike widths and units."""
    rng = np.random.default_rng(seed)
    blocks = {}
    for i in range(int(rng.integers(1, 5))):
        width = int(rng.integers(1, 5))
        block = rng.normal(size=(n_samples, width)) @ rng.normal(size=(width, width))
        blocks[f"V{i}"] = block * 10.0 ** rng.integers(-3, 4) + rng.normal(size=width)
    return Observations.from_arrays(blocks), rng


def shuffled(observations, rng, change=lambda block: block):
    """The same rows, columns and variables in another order."""
    rows = rng.permutation(observations.n_samples)
    blocks = {}
    for i in rng.permutation(observations.n_observed):
        block = observations[int(i)][rows]
        columns = rng.permutation(block.shape[1])
        blocks[observations.names[i]] = change(block)[:, columns]
    return Observations.from_arrays(blocks)


def drawn_components(rng, n_components, width):
    roots = rng.normal(size=(n_components, width, width + 2))
    return GaussianComponents(
        rng.normal(size=(n_components, width)), roots @ np.swapaxes(roots, 1, 2)
    )


@settings(deadline=None)
@given(st.integers(0, 10_000))
def test_any_order_gives_the_same_blocks(seed):
    observations, rng = drawn(seed)
    first, second = prepare(observations), prepare(shuffled(observations, rng))
    assert len(first.blocks) == len(second.blocks)
    for one, other in zip(first.blocks, second.blocks, strict=True):
        np.testing.assert_array_equal(one, other)


@settings(deadline=None)
@given(st.integers(0, 10_000))
def test_any_units_give_the_same_blocks(seed):
    observations, rng = drawn(seed)

    def change(block):
        width = block.shape[1]
        return block * np.exp(rng.normal(size=width)) + 10.0 * rng.normal(size=width)

    first, second = prepare(observations), prepare(shuffled(observations, rng, change))
    for one, other in zip(first.blocks, second.blocks, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-7)


@pytest.mark.parametrize("seed", range(20))
def test_positions_and_encoders_lead_back_to_the_observations(seed):
    observations, _ = drawn(seed)
    prepared = prepare(observations)
    assert sorted(prepared.variables) == list(range(observations.n_observed))
    assert sorted(prepared.rows) == list(range(observations.n_samples))
    for variable, encoder, block in zip(
        prepared.variables, prepared.encoders, prepared.blocks, strict=True
    ):
        own = observations[int(variable)][prepared.rows]
        # Columns of a block are in canonical order, those of an encoded block too.
        np.testing.assert_allclose(encoder.encode(own), block, atol=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_columns_have_no_mean_and_unit_variance(seed):
    observations, _ = drawn(seed)
    for block in prepare(observations).blocks:
        np.testing.assert_allclose(block.mean(axis=0), 0.0, atol=1e-9)
        np.testing.assert_allclose(block.std(axis=0), 1.0)


@pytest.mark.parametrize("seed", range(20))
def test_decoded_components_are_the_same_density_in_own_units(seed):
    """The change of variables: log p(x) = log p(coordinates) - Σ log scale."""
    observations, rng = drawn(seed)
    prepared = prepare(observations)
    for variable, encoder in zip(prepared.variables, prepared.encoders, strict=True):
        block = observations[int(variable)]
        components = drawn_components(rng, 3, block.shape[1])
        expected = components.log_density(encoder.encode(block)) - np.log(encoder.scale).sum()
        np.testing.assert_allclose(
            encoder.decode(components).log_density(block), expected, rtol=1e-7, atol=1e-6
        )


@pytest.mark.parametrize("constant", [0.0, 0.1, -3e9])
def test_constant_columns_are_set_aside(constant):
    rng = np.random.default_rng(0)
    varying = rng.normal(size=(50, 2))
    with_constant = np.insert(varying, 1, constant, axis=1)
    prepared = prepare(Observations.from_arrays({"V": with_constant}))
    alone = prepare(Observations.from_arrays({"V": varying}))
    np.testing.assert_array_equal(prepared.blocks[0], alone.blocks[0])
    components = drawn_components(rng, 3, 2)
    encoder = prepared.encoders[0]
    coordinates = components.log_density(encoder.encode(with_constant))
    # A column that is always the same adds the same to every row in every component.
    added = encoder.decode(components).log_density(with_constant) - coordinates
    np.testing.assert_allclose(added, added[0, 0], rtol=1e-7)


def test_a_wholly_constant_variable_has_one_silent_coordinate():
    prepared = prepare(Observations.from_arrays({"V": np.full((10, 3), 7.0)}))
    np.testing.assert_array_equal(prepared.blocks[0], np.zeros((10, 1)))


def test_duplicated_columns_make_proper_components():
    column = np.random.default_rng(0).normal(size=(100, 1))
    prepared = prepare(Observations.from_arrays({"V": np.hstack([column, column, 2 * column])}))
    family = prepared.encoders[0].family
    statistics = prepared.features(0, slice(None)).sum(axis=0, keepdims=True)
    components = family.components(statistics, family.prior(statistics))
    decoded = prepared.encoders[0].decode(components)
    np.testing.assert_allclose(decoded.means[0], column.mean() * np.array([1, 1, 2]))


@pytest.mark.parametrize("n_samples", [200, 15])
def test_wide_blocks_are_seen_through_their_leading_directions(n_samples):
    rng = np.random.default_rng(0)
    block = rng.normal(size=(n_samples, 3)) @ rng.normal(size=(3, 40))
    block += 0.1 * rng.normal(size=(n_samples, 40))
    prepared = prepare(Observations.from_arrays({"V": block}))
    encoder = prepared.encoders[0]
    width = encoder.rotation.shape[1]
    assert width <= MAX_WIDTH
    assert prepared.blocks[0].shape == (n_samples, width)
    np.testing.assert_allclose(encoder.rotation.T @ encoder.rotation, np.eye(width), atol=1e-10)
    components = drawn_components(rng, 3, width)
    # What is outside of the directions says nothing about which component a row is in.
    outside = encoder.decode(components).log_density(block) - components.log_density(
        encoder.encode(block)
    )
    size = np.abs(outside).max()
    np.testing.assert_allclose(outside, np.tile(outside[:, :1], 3), atol=1e-6 * size)


def test_features_are_those_of_the_rows_asked_for():
    observations, _ = drawn(3)
    prepared = prepare(observations)
    rows = np.array([4, 1, 7])
    np.testing.assert_array_equal(
        prepared.features(0, rows), prepared.encoders[0].family.features(prepared.blocks[0][rows])
    )


def test_categorical_variables_are_refused():
    observations = Observations.from_arrays({"a": [0.0, 1.0], "mode": ["on", "off"]})
    with pytest.raises(InvalidInputError, match=r"mode is categorical; .*: drop it, or"):
        prepare(observations)


def test_missing_values_are_refused():
    observations = Observations.from_arrays({"a": [0.0, 1.0, 2.0], "b": [0.0, np.nan, 1.0]})
    with pytest.raises(InvalidInputError, match=r"b has missing values in 1 of 3 rows; .*fill"):
        prepare(observations)


def test_a_single_row_is_refused():
    with pytest.raises(InvalidInputError, match="at least 2 rows; got 1"):
        prepare(Observations.from_arrays({"a": [0.0]}))
