"""Numbers that are answers, and new rows read with the levels of the old ones."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixoracle.errors import DataWarning, InvalidInputError
from mixoracle.observations import Observations
from mixoracle.observations.answers import MOST_LEVELS, conform, recognise_answers


def column(values, **others):
    return Observations.from_arrays({"q": np.asarray(values, dtype=float), **others})


def levels_of(values):
    (held,) = recognise_answers(column(values)).levels
    return held[0]


def repeated(numbers, times=20):
    return np.tile(np.asarray(numbers, dtype=float), times)


class TestRecognition:
    @pytest.mark.parametrize(
        ("numbers", "levels"),
        [
            ([0, 1], ("0", "1")),
            ([1, 2, 3, 4, 5], ("1", "2", "3", "4", "5")),
            ([-1, 0, 1], ("-1", "0", "1")),
            ([0.25, -7.5], ("-7.5", "0.25")),
            (range(MOST_LEVELS), tuple(str(mark) for mark in range(MOST_LEVELS))),
        ],
        ids=["truth values", "marks", "signs", "two odd numbers", "as many as a scale has"],
    )
    def test_numbers_that_name_levels(self, numbers, levels):
        values = repeated(numbers)
        found = recognise_answers(column(values))
        assert found.levels == ((levels,),)
        np.testing.assert_array_equal([float(levels[int(c)]) for c in found["q"][:, 0]], values)

    @pytest.mark.parametrize(
        "values",
        [
            np.tile([0.0, 1.0], 9),
            repeated(range(MOST_LEVELS + 1)),
            repeated([0.5, 1.5, 2.5]),
            np.full(200, 3.0),
            np.full(200, np.nan),
            np.linspace(0.0, 1.0, 300),
        ],
        ids=["few rows", "too many", "not whole", "constant", "nothing", "readings"],
    )
    def test_numbers_that_do_not(self, values):
        observations = column(values)
        assert recognise_answers(observations) is observations

    def test_many_values_after_a_quiet_beginning_are_no_answers(self):
        assert levels_of(np.concatenate([repeated([0, 1], 100), np.linspace(0, 1, 400)])) is None

    def test_gaps_stay_gaps_and_do_not_count_as_rows(self):
        values = repeated([1, 2, 3])
        values[::5] = np.nan
        found = recognise_answers(column(values))
        np.testing.assert_array_equal(np.isnan(found["q"][:, 0]), np.isnan(values))
        assert found.levels == ((("1", "2", "3"),),)
        mostly_empty = np.full(400, np.nan)
        mostly_empty[:19] = np.arange(19) % 2
        assert levels_of(mostly_empty) is None

    def test_variables_whose_family_is_declared_are_left_as_they_are(self):
        marks = repeated([1, 2, 3])
        found = recognise_answers(column(marks, declared=marks), keep=["declared"])
        assert found.levels == ((("1", "2", "3"),), (None,))
        np.testing.assert_array_equal(found["declared"][:, 0], marks)

    def test_only_the_columns_of_a_block_that_are_answers_change(self):
        rng = np.random.default_rng(0)
        block = np.column_stack([rng.normal(size=100), rng.integers(1, 4, 100)])
        found = recognise_answers(Observations.from_arrays({"a": block, "b": rng.normal(size=100)}))
        assert found.levels == ((None, ("1", "2", "3")), (None,))
        np.testing.assert_array_equal(found["a"][:, 0], block[:, 0])
        assert found.names == ("a", "b")
        assert found.widths == (2, 1)

    @settings(max_examples=40, deadline=None)
    @given(st.integers(0, 10_000))
    def test_twice_is_once(self, seed):
        rng = np.random.default_rng(seed)
        values = rng.integers(0, rng.integers(2, 15), size=(int(rng.integers(5, 200)), 3)) * 1.0
        values[rng.random(values.shape) < 0.1] = np.nan
        once = recognise_answers(Observations.from_array(values))
        assert recognise_answers(once) is once

    def test_the_given_observations_are_not_changed(self):
        observations = column(repeated([4, 9]))
        recognise_answers(observations)
        assert observations.levels == ((None,),)
        assert observations["q"].max() == 9.0


def conformed(new, old, names=None):
    return conform(new, names or old.names, old)


class TestNewRows:
    def test_numbers_stay_numbers(self):
        old = Observations.from_arrays({"a": [[0.1, 0.2]], "b": [0.3]})
        new = Observations.from_arrays({"b": [1.0, np.nan], "a": [[2.0, 3.0], [4.0, 5.0]]})
        first, second = conformed(new, old)
        np.testing.assert_array_equal(first, [[2.0, 3.0], [4.0, 5.0]])
        np.testing.assert_array_equal(second, [[1.0], [np.nan]])

    @pytest.mark.parametrize("order", [["low", "mid", "high"], ["high", "low", "mid"], ["low"]])
    def test_levels_in_another_order_get_their_old_codes(self, order):
        old = Observations.from_frame(
            pd.DataFrame({"q": pd.Categorical(["mid"], ["high", "mid", "low"])})
        )
        new = Observations.from_frame(pd.DataFrame({"q": pd.Categorical(["low", None], order)}))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            (block,) = conformed(new, old)
        np.testing.assert_array_equal(block, [[2.0], [np.nan]])

    def test_levels_that_were_never_seen_are_missing_and_named(self):
        old = Observations.from_arrays({"q": ["a", "b"]})
        new = Observations.from_arrays({"q": ["b", "z", "a", "z", "y", None]})
        with pytest.warns(DataWarning, match=r"q: 3 of 6 new cells .*such as 'z'.*missing"):
            (block,) = conformed(new, old)
        np.testing.assert_array_equal(block[:, 0], [1, np.nan, 0, np.nan, np.nan, np.nan])

    def test_numbers_for_levels_that_were_numbers(self):
        old = recognise_answers(column(repeated([1, 2, 5])))
        (block,) = conformed(column([5, 1, np.nan, 2]), old)
        np.testing.assert_array_equal(block[:, 0], [2, 0, np.nan, 1])
        with pytest.warns(DataWarning, match="such as '3'"):
            (block,) = conformed(column([3, 1]), old)
        np.testing.assert_array_equal(block[:, 0], [np.nan, 0])

    def test_numbers_for_words_are_missing_and_named(self):
        old = Observations.from_arrays({"q": ["yes", "no"]})
        with pytest.warns(DataWarning, match=r"2 of 3 new cells .*such as '1'"):
            (block,) = conformed(column([1, np.nan, 0]), old)
        assert np.isnan(block).all()

    def test_new_rows_with_nothing_in_a_column_are_quiet(self):
        old = Observations.from_arrays({"q": ["yes", "no"]})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            (block,) = conformed(column([np.nan, np.nan]), old)
        assert np.isnan(block).all()

    def test_words_for_numbers_are_refused(self):
        new = Observations.from_arrays({"q": ["yes", "no"]})
        with pytest.raises(InvalidInputError, match=r"q held numbers .* hold 'yes': give numbers"):
            conformed(new, column([0.5, 1.5]))

    def test_a_categorical_column_without_any_level_is_a_gap_where_numbers_were(self):
        new = Observations.from_frame(pd.DataFrame({"q": pd.Categorical([None, None])}))
        (block,) = conformed(new, column([0.5, 1.5]))
        assert np.isnan(block).all()

    def test_other_widths_are_refused(self):
        old = Observations.from_arrays({"q": [[0.0, 1.0]]})
        with pytest.raises(InvalidInputError, match=r"q should have 2 columns .*; got 1"):
            conformed(column([0.0]), old)

    def test_rows_that_were_learned_from_keep_their_codes(self):
        old = recognise_answers(Observations.from_arrays({"q": ["b", "a", None], "x": [1.0, 2, 3]}))
        for block, name in zip(conformed(old, old), old.names, strict=True):
            np.testing.assert_array_equal(block, old[name])
