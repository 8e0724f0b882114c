"""Own units to coordinates and back: nothing but the units may change."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixoracle.families import (
    CategoricalFamily,
    CountFamily,
    DiagonalFamily,
    GammaFamily,
    GaussianFamily,
    ProductFamily,
    StudentFamily,
)
from mixoracle.families.ellipsoids import MAX_WIDTH
from mixoracle.families.encoding import Encoder, fit_encoder
from mixoracle.model import (
    CategoricalComponents,
    CountComponents,
    DiagonalComponents,
    GammaComponents,
    GaussianComponents,
    ProductComponents,
    StudentComponents,
)
from mixoracle.settings import Priors

KINDS = ("gaussian", "diagonal", "student", "gamma", "counts", "categorical")
N_LEVELS = 4


def drawn_column(kind, n, rng):
    """A column of some kind in a unit of its own."""
    unit = 10.0 ** rng.integers(-3, 4)
    if kind == "categorical":
        return rng.integers(N_LEVELS, size=n).astype(float)
    if kind == "counts":
        return rng.poisson(np.exp(rng.uniform(0, 3)), n).astype(float)
    if kind == "gamma":
        return unit * rng.gamma(2.0, size=n)
    return unit * (rng.normal(size=n) + 5.0 * rng.normal())


def drawn_block(seed, kinds, missing=0.0, n=60):
    rng = np.random.default_rng(seed)
    block = np.column_stack([drawn_column(kind, n, rng) for kind in kinds])
    block[rng.random(block.shape) < missing] = np.nan
    # The first rows are whole, so that every column holds something.
    block[:5] = np.column_stack([drawn_column(kind, 5, rng) for kind in kinds])
    return block, rng


def drawn_components(family, rng, k=3):
    """Any components of a family over coordinates."""
    if isinstance(family, ProductFamily):
        parts = tuple(drawn_components(one, rng, k) for one in family.families)
        return ProductComponents(parts, tuple(tuple(held) for held in family.columns))
    if isinstance(family, CategoricalFamily):
        by_column = [rng.dirichlet(np.ones(n), size=k) for n in family.n_levels]
        return CategoricalComponents(np.hstack(by_column), family.n_levels)
    means = rng.normal(size=(k, family.width))
    spread = rng.uniform(1.0, 9.0, means.shape)
    roots = rng.normal(size=(k, family.width, family.width + 2))
    matrices = roots @ np.swapaxes(roots, 1, 2) / (family.width + 2)
    made = {
        CountFamily: lambda: CountComponents(np.exp(means), spread),
        GammaFamily: lambda: GammaComponents(np.exp(means), spread),
        DiagonalFamily: lambda: DiagonalComponents(means, spread / 4.0),
        StudentFamily: lambda: StudentComponents(means, matrices, Priors().student_degrees),
        GaussianFamily: lambda: GaussianComponents(means, matrices),
    }
    return made[type(family)]()


def encoder_of(block, kinds):
    return fit_encoder(block, kinds, [N_LEVELS if kind == "categorical" else 0 for kind in kinds])


def moved_encoder(block, kinds, order):
    """An encoder learned from a block in another order, for the block as it is."""
    taken = encoder_of(block[:, order], [kinds[c] for c in order])
    return Encoder(tuple(part.moved(order) for part in taken.parts))


def check_densities(encoder, block, rng):
    """Density in own units = density over coordinates + what the units add, row by row."""
    components = drawn_components(encoder.family, rng)
    coordinates = encoder.encode(block)
    over_coordinates = components.log_density(coordinates)
    own = encoder.decode(components).log_density(block)
    added = [encoder.log_units(block[[row]], coordinates[[row]]) for row in range(len(block))]
    np.testing.assert_allclose(own, over_coordinates + np.array(added)[:, None], rtol=1e-7)
    assert encoder.log_units(block, coordinates) == pytest.approx(np.sum(added))


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_densities_in_own_units_of_each_kind(kind, seed, missing):
    kinds = [kind] * (1 + seed)
    block, rng = drawn_block(seed, kinds, missing)
    check_densities(encoder_of(block, kinds), block, rng)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=7),
    missing=st.sampled_from([0.0, 0.3]),
)
def test_densities_of_mixed_blocks_learned_in_any_order_of_columns(seed, kinds, missing):
    block, rng = drawn_block(seed, kinds, missing)
    order = rng.permutation(len(kinds))
    encoder = moved_encoder(block, kinds, order)
    check_densities(encoder, block, rng)
    np.testing.assert_allclose(
        encoder.encode(block),
        encoder_of(block[:, order], [kinds[c] for c in order]).encode(block[:, order]),
    )


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), missing=st.sampled_from([0.0, 0.2]))
def test_units_change_nothing(seed, missing):
    kinds = ["gaussian", "gamma", "gaussian", "diagonal", "student"]
    block, rng = drawn_block(seed, kinds, missing)
    units = np.exp(3.0 * rng.normal(size=5))
    shifts = np.where(np.array(kinds) == "gamma", 0.0, rng.normal(size=5) * units)
    changed = block * units + shifts
    np.testing.assert_allclose(
        encoder_of(block, kinds).encode(block),
        encoder_of(changed, kinds).encode(changed),
        atol=1e-8,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_missing_values_stay_missing(kind):
    kinds = [kind, "gaussian", kind]
    block, _ = drawn_block(3, kinds, 0.3)
    encoder = encoder_of(block, kinds)
    places = np.concatenate([part.columns for part in encoder.parts])
    np.testing.assert_array_equal(np.isnan(encoder.encode(block)), np.isnan(block[:, places]))


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("constant", [0.0, 0.1, -3e9])
def test_constant_columns_say_the_same_of_every_row(constant, missing):
    kinds = ["gaussian", "counts", "gaussian", "gaussian"]
    block, rng = drawn_block(1, kinds, missing)
    block[:, 2] = np.where(np.isnan(block[:, 2]), np.nan, constant)
    encoder = encoder_of(block, kinds)
    assert encoder.encode(block).shape[1] == 3
    check_densities(encoder, block, rng)


class TestWideBlocks:
    WIDTH = MAX_WIDTH + 16

    def block(self, seed, n=200, missing=0.0):
        rng = np.random.default_rng(seed)
        block = rng.normal(size=(n, 3)) @ rng.normal(size=(3, self.WIDTH))
        block += 0.1 * rng.normal(size=(n, self.WIDTH))
        block[rng.random(block.shape) < missing] = np.nan
        return block * np.exp(rng.normal(size=self.WIDTH)), rng

    @pytest.mark.parametrize("kind", ["gaussian", "student"])
    @pytest.mark.parametrize("n_samples", [200, 15])
    def test_they_are_seen_through_their_leading_directions(self, kind, n_samples):
        block, rng = self.block(0, n_samples)
        # What is said of normal components holds for the part that the search uses.
        part = encoder_of(block, [kind] * self.WIDTH).for_search().parts[0]
        assert part.n_coordinates == MAX_WIDTH
        np.testing.assert_allclose(part.rotation.T @ part.rotation, np.eye(MAX_WIDTH), atol=1e-10)
        scaled = (block - part.shift) / part.scale
        # Three directions made the block: hardly anything is outside of 24.
        assert np.sum(part.encode(block) ** 2) > 0.99 * np.sum(scaled**2)
        components = drawn_components(GaussianFamily(MAX_WIDTH), rng)
        outside = part.decode(components).log_density(block)
        outside = outside - components.log_density(part.encode(block))
        # What is outside says nothing about which component a row is in.
        size = np.abs(outside).max()
        np.testing.assert_allclose(outside, np.tile(outside[:, :1], 3), atol=1e-6 * size)

    @pytest.mark.parametrize("seed", range(5))
    def test_normal_densities_are_those_in_own_units(self, seed):
        block, rng = self.block(seed)
        check_densities(encoder_of(block, ["gaussian"] * self.WIDTH), block, rng)

    @pytest.mark.parametrize("seed", range(5))
    def test_with_missing_values_columns_are_taken_as_independent(self, seed):
        block, rng = self.block(seed, missing=0.05)
        encoder = encoder_of(block, ["gaussian"] * self.WIDTH)
        assert isinstance(encoder.family, DiagonalFamily)
        assert encoder.encode(block).shape == block.shape
        check_densities(encoder, block, rng)

    def test_declared_independent_they_are_not_rotated(self):
        block, rng = self.block(0)
        encoder = encoder_of(block, ["diagonal"] * self.WIDTH)
        assert encoder.encode(block).shape == block.shape
        check_densities(encoder, block, rng)

    def test_constant_columns_do_not_count_towards_the_width(self):
        block, _ = self.block(0)
        block[:, MAX_WIDTH:] = 3.0
        encoder = encoder_of(block, ["gaussian"] * self.WIDTH)
        assert encoder.encode(block).shape[1] == MAX_WIDTH
        np.testing.assert_allclose(encoder.encode(block).std(axis=0), 1.0)


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        (["categorical"], False),
        (["categorical"] * 2, False),
        (["categorical"] * 3, True),
        (["categorical", "counts"], True),
        (["gaussian"], True),
        (["counts"], True),
    ],
)
def test_levels_need_three_columns_to_be_told_alone(kinds, expected):
    block, _ = drawn_block(0, kinds)
    assert encoder_of(block, kinds).is_identifiable is expected


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        (["gaussian"] * 2, True),
        (["student"] * 3, True),
        (["diagonal"] * 2, False),
        (["counts"], False),
        (["categorical"] * 3, False),
        (["gaussian", "counts"], False),
    ],
)
def test_shapes_are_judged_where_all_columns_are_dependent_numbers(kinds, expected):
    block, _ = drawn_block(0, kinds)
    assert encoder_of(block, kinds).is_shape_judged == expected


def test_the_search_uses_normal_components_where_tails_are_heavy():
    kinds = ["student", "student", "counts"]
    block, _ = drawn_block(0, kinds)
    encoder = encoder_of(block, kinds)
    searched = encoder.for_search()
    assert [type(part.family) for part in encoder.parts] == [StudentFamily, CountFamily]
    assert [type(part.family) for part in searched.parts] == [GaussianFamily, CountFamily]
    np.testing.assert_array_equal(searched.encode(block), encoder.encode(block))
    plain = encoder_of(block[:, 2:], ["counts"])
    assert plain.for_search() is plain
