"""Separated blobs in three variables, labelled: what the tests of this folder start from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from mixoracle.labels.labelling import Labelling, Rows
from mixoracle.labels.single import label_each
from mixoracle.labels.together import settle
from mixoracle.mixtures.preparation import prepare
from mixoracle.observations import Observations
from mixoracle.settings import Settings


@dataclass(frozen=True)
class Blobs:
    """Two latents of 3 and 2 states; X1 and X2 show the first, X3 both."""

    rows: Rows
    truth: np.ndarray
    whole: list[np.ndarray]
    single: Labelling
    settled: Labelling

    @property
    def n_rows(self):
        return len(self.truth)

    def copies(self, labelling):
        """Copies of all arrays that a labelling and its rows consist of."""
        held = [labelling.labels, *labelling.features, *(m.groups for m in labelling.mergings)]
        if labelling.joint is not None:
            held += [labelling.joint.labels, labelling.joint.responsibilities]
        for variable in self.rows:
            held += [variable.block, variable.features]
        return [array.copy() for array in held]


def make_blobs(seed=0, n_rows=600, missing=0.0, noise=None):
    """Components 8 standard deviations apart; ``noise`` draws them in another shape."""
    rng = np.random.default_rng(seed)
    states = np.stack([rng.integers(3, size=n_rows), rng.integers(2, size=n_rows)], axis=1)
    labels = np.stack([states[:, 0], states[:, 0], 2 * states[:, 0] + states[:, 1]], axis=1)
    draw = noise or rng.normal
    blocks = {}
    for i, column in enumerate(labels.T):
        centres = 8.0 * np.stack([rng.permutation(column.max() + 1) for _ in range(2)], axis=1)
        blocks[f"X{i + 1}"] = centres[column] + draw(size=(n_rows, 2))
    values = np.hstack(list(blocks.values()))
    # One value of each variable stays in every row.
    gone = rng.random((n_rows, 3)) < missing
    at = 2 * np.arange(3) + rng.integers(2, size=(n_rows, 3))
    with_missing = values.copy()
    for i in range(3):
        with_missing[np.flatnonzero(gone[:, i]), at[gone[:, i], i]] = np.nan
    names = tuple(blocks)
    prepared = prepare(Observations(with_missing, names, (2, 2, 2), ((None,) * 2,) * 3))
    whole = [
        prepared.encoders[place].encode(values[:, 2 * i : 2 * i + 2][prepared.rows])
        for place, i in enumerate(prepared.variables)
    ]
    rows = prepared.searched_rows(slice(None))
    return rows, labels[prepared.rows][:, prepared.variables], whole


def labelled(rows, seed=0, n_jobs=1, max_components=20, settings=Settings()):
    seeds = np.random.default_rng(seed).integers(2**31, size=len(rows))
    with threadpool_limits(limits=1):
        return label_each(rows, max_components, n_jobs, seeds, settings)


def blobs_of(**choices):
    rows, truth, whole = make_blobs(**choices)
    single = labelled(rows)
    return Blobs(rows, truth, whole, single, settle(rows, single, 20, Settings()))


@pytest.fixture(scope="session")
def blobs():
    return blobs_of()


@pytest.fixture(scope="session")
def blobs_with_missing():
    return blobs_of(seed=1, missing=0.2, n_rows=900)


class Making:
    """The functions above; a fixture, since test folders are not packages."""

    blobs = staticmethod(make_blobs)
    labelled = staticmethod(labelled)


@pytest.fixture(scope="session")
def making():
    return Making


def is_same_partition(first, second):
    pairs = len(set(zip(first.tolist(), second.tolist(), strict=True)))
    return pairs == len(np.unique(first)) == len(np.unique(second))


@pytest.fixture(scope="session")
def same_partition():
    return is_same_partition
