"""Which family a column has, by its kind or as declared."""

import numpy as np
import pytest

from mixoracle.errors import InvalidInputError
from mixoracle.families.choice import checked_families, column_kinds
from mixoracle.families.registry import names
from mixoracle.observations import Observations

RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(6.0, 300).astype(float)
NUMBERS = RNG.normal(size=300)
AMOUNTS = RNG.gamma(2.0, size=300)


def kinds(block, declared=None, **options):
    observations = Observations.from_arrays({"V": block}, **options)
    has_levels = [levels is not None for levels in observations.levels[0]]
    return column_kinds("V", observations["V"], has_levels, [declared] * len(has_levels))


class TestByTheValues:
    @pytest.mark.parametrize(
        ("column", "kind"),
        [
            (COUNTS, "counts"),
            (COUNTS - COUNTS.min() + 1.0, "counts"),
            (COUNTS + 40.0, "gaussian"),
            (-COUNTS, "gaussian"),
            (COUNTS + 0.5, "gaussian"),
            (NUMBERS, "gaussian"),
            (AMOUNTS, "gaussian"),
            (np.zeros(300), "gaussian"),
            (np.concatenate([COUNTS, NUMBERS]), "gaussian"),
        ],
        ids=[
            "from 0",
            "from 1",
            "sizes",
            "negative",
            "halves",
            "numbers",
            "amounts",
            "constant",
            "whole at first only",
        ],
    )
    def test_numbers(self, column, kind):
        assert kinds(column) == [kind]

    def test_missing_values_do_not_change_the_kind(self):
        for column, kind in ((COUNTS, "counts"), (NUMBERS, "gaussian")):
            with_missing = np.where(np.arange(300) % 3 == 0, np.nan, column)
            assert kinds(with_missing) == [kind]

    def test_levels_are_categorical_whatever_is_declared(self):
        words = np.array(["a", "b", "c"])[np.arange(300) % 3]
        assert kinds(words) == ["categorical"]
        for declared in names():
            assert kinds(words, declared) == ["categorical"]

    def test_each_column_of_a_block_has_its_own_kind(self):
        block = np.column_stack([COUNTS, NUMBERS, COUNTS % 3])
        assert kinds(block, categorical=["V[2]"]) == ["counts", "gaussian", "categorical"]


class TestDeclared:
    @pytest.mark.parametrize("declared", ["gaussian", "diagonal", "student"])
    def test_any_numbers_may_be_declared_these(self, declared):
        for column in (COUNTS, NUMBERS, AMOUNTS):
            assert kinds(column, declared) == [declared]

    def test_amounts_and_counts(self):
        assert kinds(AMOUNTS, "gamma") == ["gamma"]
        assert kinds(COUNTS + 40.0, "counts") == ["counts"]

    @pytest.mark.parametrize(
        ("column", "declared", "match"),
        [
            (COUNTS, "categorical", r"V is declared categorical, but holds .*categorical=\['V'\]"),
            (NUMBERS + 9.5, "counts", r"whole numbers from 0 on; V is declared so and holds \d"),
            (-COUNTS - 1.0, "counts", "from 0 on; V is declared so and holds -"),
            (NUMBERS, "gamma", r"gamma should be above 0; V .* holds -"),
            (COUNTS - COUNTS.min(), "gamma", "holds 0: leave zeros missing"),
        ],
        ids=["categorical", "fractions", "negative counts", "negative amounts", "zeros"],
    )
    def test_what_the_values_cannot_be_is_refused_in_a_sentence(self, column, declared, match):
        with pytest.raises(InvalidInputError, match=match) as caught:
            kinds(column, declared)
        assert "\n" not in str(caught.value)

    def test_a_family_for_all_or_for_some(self):
        assert checked_families(None, ("a", "b")) == {}
        assert checked_families("gamma", ("a", "b")) == {"a": "gamma", "b": "gamma"}
        assert checked_families({"b": "counts"}, ("a", "b")) == {"b": "counts"}

    @pytest.mark.parametrize(
        ("families", "match"),
        [
            ("normal", "the family of a should be one of gaussian, .*; got 'normal'"),
            ("normal", "got 'normal': gaussian is for numbers, .*; gamma is for positive amounts"),
            ({"b": "poisson"}, "the family of b .*; got 'poisson'"),
            ({"b": None}, "the family of b .*; got None"),
            ({"b": ["gamma"]}, "the family of b .*; got .'gamma'"),
            ({"z": "gamma"}, r"observed variables \(a, b.*; there is none called 'z'"),
        ],
    )
    def test_unknown_families_and_variables_are_named(self, families, match):
        with pytest.raises(InvalidInputError, match=match):
            checked_families(families, ("a", "b"))

    @pytest.mark.parametrize("families", [3, ["gamma"], {"gamma"}, 2.5])
    def test_what_is_no_declaration_at_all_is_refused(self, families):
        with pytest.raises(InvalidInputError, match="families should be"):
            checked_families(families, ("a", "b"))
