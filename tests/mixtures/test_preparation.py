import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixoracle.datasets import item_problem, kind_problem, with_gaps
from mixoracle.errors import DataWarning, InvalidInputError
from mixoracle.mixtures.preparation import prepare
from mixoracle.model import GaussianComponents
from mixoracle.observations import Observations


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
    added = 0.0
    for variable, encoder in zip(prepared.variables, prepared.encoders, strict=True):
        block = observations[int(variable)]
        components = drawn_components(rng, 3, block.shape[1])
        log_scale = np.log(block.std(axis=0)).sum()
        expected = components.log_density(encoder.encode(block)) - log_scale
        np.testing.assert_allclose(
            encoder.decode(components).log_density(block), expected, rtol=1e-7, atol=1e-6
        )
        added -= len(block) * log_scale
    assert prepared.log_units == pytest.approx(added)


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


def test_features_are_those_of_the_rows_asked_for():
    observations, _ = drawn(3)
    prepared = prepare(observations)
    rows = np.array([4, 1, 7])
    np.testing.assert_array_equal(
        prepared.features(0, rows), prepared.encoders[0].family.features(prepared.blocks[0][rows])
    )


def test_a_single_row_is_refused():
    with pytest.raises(InvalidInputError, match="at least 2 rows; got 1"):
        prepare(Observations.from_arrays({"a": [0.0]}))


def moved(observations, rng):
    """The same cases with rows, columns and variables in another order, kinds kept."""
    rows = rng.permutation(observations.n_samples)
    starts = np.cumsum((0, *observations.widths))
    values, names, widths, levels = [], [], [], []
    for i in rng.permutation(observations.n_observed):
        order = rng.permutation(observations.widths[i])
        values.append(observations.values[rows][:, starts[i] + order])
        names.append(observations.names[i])
        widths.append(observations.widths[i])
        levels.append(tuple(observations.levels[i][c] for c in order))
    return Observations(np.hstack(values), tuple(names), tuple(widths), tuple(levels))


class TestOtherKinds:
    @pytest.mark.parametrize("gaps", [0.0, 0.2])
    @pytest.mark.parametrize("kind", ["items", "categorical", "counts", "gamma", "mixed"])
    @pytest.mark.parametrize("seed", range(4))
    def test_any_order_gives_the_same_blocks(self, kind, seed, gaps):
        rng = np.random.default_rng(seed)
        if kind == "items":
            problem = item_problem(2, 8, 200, random_state=seed)
        else:
            problem = kind_problem(2, 5, 3, 200, random_state=seed, kind=kind)
        observations = with_gaps(problem.observations, gaps, rng) if gaps else problem.observations
        families = "gamma" if kind == "gamma" else None
        other = moved(observations, rng)
        first, second = prepare(observations, families), prepare(other, families)
        assert [observations.names[i] for i in first.variables] == [
            other.names[i] for i in second.variables
        ]
        for one, same in zip(first.blocks, second.blocks, strict=True):
            np.testing.assert_array_equal(one, same)
        assert second.log_units == pytest.approx(first.log_units)
        # Rows that are the same case stand at the same place, up to rows that are equal.
        mine = np.sort(np.nan_to_num(observations.values[first.rows], nan=-1.0), axis=1)
        theirs = np.sort(np.nan_to_num(other.values[second.rows], nan=-1.0), axis=1)
        np.testing.assert_array_equal(mine, theirs)

    @pytest.mark.parametrize("kind", ["categorical", "counts", "gamma", "mixed"])
    def test_encoders_lead_from_the_observations_to_the_blocks(self, kind):
        problem = kind_problem(2, 5, 3, 100, random_state=1, kind=kind)
        observations = with_gaps(problem.observations, 0.2, 0)
        prepared = prepare(observations, "gamma" if kind == "gamma" else None)
        for variable, encoder, block in zip(
            prepared.variables, prepared.encoders, prepared.blocks, strict=True
        ):
            own = observations[int(variable)][prepared.rows]
            np.testing.assert_allclose(encoder.encode(own), block)

    def test_numbers_that_are_answers_become_levels(self):
        marks = np.tile([1.0, 2.0, 3.0, 4.0], 30)
        prepared = prepare(Observations.from_arrays({"q": marks}))
        np.testing.assert_array_equal(np.unique(prepared.blocks[0]), [0, 1, 2, 3])
        assert not prepared.encoders[0].is_shape_judged
        declared = prepare(Observations.from_arrays({"q": marks}), {"q": "gaussian"})
        assert declared.blocks[0].std() == pytest.approx(1.0)

    def test_declarations_reach_the_encoders(self):
        amounts = np.random.default_rng(0).gamma(2.0, size=(50, 2))
        prepared = prepare(Observations.from_arrays({"a": amounts}), {"a": "gamma"})
        np.testing.assert_allclose(prepared.blocks[0].mean(axis=0), 1.0)
        with pytest.raises(InvalidInputError, match="a is declared categorical"):
            prepare(Observations.from_arrays({"a": amounts}), "categorical")


class TestGaps:
    def test_patterns_are_those_of_the_rows(self):
        rng = np.random.default_rng(0)
        values = rng.normal(size=(60, 4))
        values[rng.random(values.shape) < 0.3] = np.nan
        values[0] = 0.0
        values[:, 2:] = np.nan_to_num(values[:, 2:])
        prepared = prepare(Observations.from_array(values, groups=2), set_aside=False)
        place = int(np.flatnonzero(prepared.variables == 0)[0])
        assert prepared.patterns(1 - place, slice(None)) is None
        rows = np.array([5, 0, 17])
        patterns = prepared.patterns(place, rows)
        np.testing.assert_array_equal(
            patterns.seen[patterns.which], ~np.isnan(prepared.blocks[place][rows])
        )
        assert prepared.patterns(1 - place, rows) is None

    def test_a_column_without_any_value_is_refused(self):
        holes = np.column_stack([np.arange(5.0), np.full(5, np.nan)])
        with pytest.raises(InvalidInputError, match=r"V\[1\] has no value in any row: drop"):
            prepare(Observations.from_arrays({"V": holes}))
        with pytest.raises(InvalidInputError, match=r"^X2 has no value in any row: drop it"):
            prepare(Observations.from_array(holes))

    def test_a_column_of_levels_without_any_value_is_refused(self):
        levels = ((("a", "b"),), (None,))
        values = np.column_stack([np.full(5, np.nan), np.arange(5.0)])
        with pytest.raises(InvalidInputError, match=r"^q has no value in any row: drop it"):
            prepare(Observations(values, ("q", "x"), (1, 1), levels))

    def test_rows_without_any_value_are_kept_and_said(self):
        values = np.random.default_rng(0).normal(size=(20, 3))
        values[[3, 7]] = np.nan
        with pytest.warns(DataWarning, match="2 of 20 rows have no value at all"):
            prepared = prepare(Observations.from_array(values))
        assert prepared.n_samples == 20
        assert np.isnan(np.hstack(prepared.blocks)).all(axis=1).sum() == 2

    def test_rows_with_something_in_them_are_not_warned_of(self):
        values = np.random.default_rng(0).normal(size=(20, 3))
        values[[3, 7], :2] = np.nan
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert prepare(Observations.from_array(values)).n_samples == 20

    @pytest.mark.parametrize("size", [1e120, 1e-120])
    def test_numbers_whose_squares_cannot_be_computed_are_refused(self, size):
        values = size * np.arange(1.0, 31.0)
        values[4] = np.nan
        with pytest.raises(InvalidInputError, match=r"V has numbers of size .*: rescale it"):
            prepare(Observations.from_arrays({"V": values}))

    @pytest.mark.parametrize("size", [1e120, 1e-120, 1e-310])
    def test_so_are_they_beside_others_in_a_block(self, size):
        values = np.random.default_rng(0).normal(size=(30, 3))
        values[:, 1] *= size
        with pytest.raises(InvalidInputError, match=r"V has numbers of size .*: rescale it"):
            prepare(Observations.from_arrays({"V": values}))

    def test_a_large_constant_is_taken_away(self):
        values = np.random.default_rng(0).normal(size=(60, 2))
        moved = prepare(Observations.from_arrays({"V": values + 1e13}))
        plain = prepare(Observations.from_arrays({"V": values}))
        # Beside the constant, numbers have steps of 1/512.
        np.testing.assert_allclose(moved.blocks[0], plain.blocks[0], atol=1 / 128)

    def test_numbers_that_differ_by_rounding_are_named(self):
        values = np.random.default_rng(0).normal(size=(600, 2))
        values[:, 1] = 0.3 + 1e-16 * (np.arange(600) % 7)
        with pytest.warns(DataWarning, match=r"X2 has numbers of size .* counts as constant"):
            prepared = prepare(Observations.from_array(values))
        assert min(block.std() for block in prepared.blocks) < 1e-9

    @pytest.mark.parametrize("size", [1e90, 1e-90])
    def test_extremes_within_reach_are_accepted(self, size):
        values = np.random.default_rng(0).normal(size=(30, 2))
        prepared = prepare(Observations.from_arrays({"V": size * values}))
        np.testing.assert_allclose(
            prepared.blocks[0], prepare(Observations.from_arrays({"V": values})).blocks[0]
        )


def test_the_search_has_families_of_its_own():
    heavy = np.random.default_rng(0).standard_t(4, size=(60, 2))
    prepared = prepare(Observations.from_arrays({"V": heavy}), "student")
    searched = prepared.for_search()
    assert type(prepared.encoders[0].family).__name__ == "StudentFamily"
    assert type(searched.encoders[0].family).__name__ == "GaussianFamily"
    assert searched.blocks is prepared.blocks
