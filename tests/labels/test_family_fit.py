"""Whether components have the tails of their family."""

from dataclasses import replace

import numpy as np
import pytest

from mixoracle.labels.labelling import FamilyFit, judge_family
from mixoracle.settings import Priors, Settings


def laplace(seed):
    rng = np.random.default_rng(seed)
    return lambda size: rng.laplace(scale=0.5, size=size)


@pytest.mark.parametrize("seed", range(4))
def test_normal_components_are_of_their_family(making, seed):
    rows, truth, _ = making.blobs(seed)
    found = judge_family(rows, truth, FamilyFit(None, False), Settings())
    assert found.is_trusted
    assert found.tail_ratio < Priors().heavy_tails


@pytest.mark.parametrize("seed", range(4))
def test_heavy_tails_are_not(making, seed):
    rows, truth, _ = making.blobs(seed, noise=laplace(seed))
    found = judge_family(rows, truth, FamilyFit(), Settings())
    assert not found.is_trusted
    assert found.tail_ratio >= Priors().heavy_tails


@pytest.mark.parametrize("before", [FamilyFit(), FamilyFit(1.5, False)])
def test_where_no_rows_suffice_the_judgement_before_stands(making, before):
    rows, truth, _ = making.blobs(0, n_rows=100, noise=laplace(0))
    settings = Settings(priors=Priors(rows_to_judge=101))
    assert judge_family(rows, truth, before, settings) is before


def test_variables_that_show_no_shape_are_not_judged(making):
    rows, truth, _ = making.blobs(0, noise=laplace(0))
    silent = [replace(variable, shows_shape=False) for variable in rows]
    before = FamilyFit(0.9, True)
    assert judge_family(silent, truth, before, Settings()) is before


def test_all_components_with_enough_rows_are_judged(making):
    """One variable in two components; the smaller is heavy, the larger is normal."""
    rng = np.random.default_rng(0)
    rows, _, _ = making.blobs(0)
    column = np.repeat([0, 1], [400, 200])
    block = np.where(column[:, None] == 0, rng.normal(size=(600, 2)), rng.laplace(size=(600, 2)))
    variable = replace(rows[0], block=block + 40.0 * column[:, None])
    labels = column[:, None]

    def ratio(fewest_rows):
        settings = Settings(priors=Priors(rows_to_judge=fewest_rows))
        return judge_family([variable], labels, FamilyFit(), settings).tail_ratio

    assert ratio(300) < Priors().heavy_tails < ratio(60)


def test_nothing_is_changed_and_the_answer_is_the_same_twice(making):
    rows, truth, _ = making.blobs(2)
    before = [truth.copy(), *(variable.block.copy() for variable in rows)]
    first, again = (judge_family(rows, truth, FamilyFit(), Settings()) for _ in range(2))
    assert first == again
    for old, new in zip(before, [truth, *(v.block for v in rows)], strict=True):
        np.testing.assert_array_equal(old, new)
