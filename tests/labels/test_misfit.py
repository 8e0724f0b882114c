"""Signs that labels are finer than states, which overlap alone does not give."""

import numpy as np
import pytest

from mixoracle.labels.misfit import are_cut_through, are_lumps, is_family_wrong
from mixoracle.labels.together import label_along, settle
from mixoracle.mixtures.preparation import prepare
from mixoracle.observations import Observations
from mixoracle.settings import Settings


def rows_of(blocks):
    names = {f"X{i + 1}": block for i, block in enumerate(blocks)}
    return prepare(Observations.from_arrays(names)).searched_rows(slice(None))


def overlapping(seed, n_rows=900):
    """Two states 3 standard deviations apart, which five variables show."""
    rng = np.random.default_rng(seed)
    state = rng.integers(2, size=n_rows)
    return [3.0 * state[:, None] + rng.normal(size=(n_rows, 1)) for _ in range(5)]


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_normal_components_are_of_their_family(making, missing):
    for seed in range(12):
        rows, _, _ = making.blobs(seed, n_rows=900, missing=missing)
        labelling = settle(rows, making.labelled(rows, seed), 20, Settings())
        assert not is_family_wrong(rows, labelling, Settings())


@pytest.mark.parametrize("seed", range(4))
def test_skewed_components_are_not(making, seed):
    rng = np.random.default_rng(seed)
    rows, _, _ = making.blobs(seed, n_rows=900, noise=lambda size: rng.gamma(1.0, size=size))
    labelling = making.labelled(rows, seed)
    assert is_family_wrong(rows, labelling, Settings())


@pytest.mark.parametrize("seed", range(2))
def test_components_of_several_lumps_shatter_rows_beyond_doubt(making, seed):
    rng = np.random.default_rng(seed)
    n_rows = 900
    state = rng.integers(2, size=n_rows)
    blocks = [
        30.0 * state[:, None]
        + 10.0 * rng.integers(2, size=(n_rows, 1))
        + rng.normal(size=(n_rows, 1))
        for _ in range(9)
    ]
    rows = rows_of(blocks)
    alone = making.labelled(rows, seed)
    assert are_lumps(rows, alone, Settings())
    assert not is_family_wrong(rows, alone, Settings())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("nuisance", [0.0, 3.0])
@pytest.mark.parametrize("cuts", [1, 2])
def test_pieces_along_something_that_variables_share_are_better_joined(seed, nuisance, cuts):
    rng = np.random.default_rng(seed)
    state, shared = rng.integers(3, size=900), rng.normal(size=(900, 1))
    blocks = [
        20.0 * np.stack([state == 1, state == 2], axis=1)
        + nuisance * shared * rng.normal(size=2)
        + rng.normal(size=(900, 2))
        for _ in range(4)
    ]
    prepared = prepare(Observations.from_arrays({f"X{i}": held for i, held in enumerate(blocks)}))
    rows = prepared.searched_rows(slice(None))
    pieces = (cuts * state + (cuts > 1) * (shared[:, 0] > 0))[prepared.rows]
    labelling = label_along(rows, np.eye(3 * cuts)[pieces], 20)
    # Without a nuisance the cut is not seen in any variable, and whole states stay apart.
    assert are_cut_through(rows, labelling, Settings()) == (cuts == 2 and nuisance > 0)


@pytest.mark.parametrize("seed", range(4))
def test_overlap_alone_is_no_sign(making, seed):
    rows = rows_of(overlapping(seed))
    alone = making.labelled(rows, seed)
    assert not are_lumps(rows, alone, Settings())
    assert not are_cut_through(rows, settle(rows, alone, 20, Settings()), Settings())
