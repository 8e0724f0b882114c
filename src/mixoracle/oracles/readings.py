"""Consistent answers, and what oracles that decode their labels share.

Such an oracle labels the rows of each variable (:mod:`~mixoracle.labels.labelling`) and decodes
all labels together (:mod:`~mixoracle.decoding.decoding`). Each consistent answer is brought back
into the order of the observations and assigns every row; k(S) and L are read off the best one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixoracle._checks import check_whole
from mixoracle.decoding import Explanation, decode
from mixoracle.errors import InvalidInputError
from mixoracle.families.base import Floats
from mixoracle.labels.labelling import Labelling
from mixoracle.mixtures.merging import pool
from mixoracle.mixtures.preparation import Prepared
from mixoracle.mixtures.segmentation import ROWS_PER_PIECE
from mixoracle.mixtures.table import ComponentTable
from mixoracle.model import Bipartite, Projection
from mixoracle.model.joint_states import configurations
from mixoracle.observations import Observations
from mixoracle.oracles.counts import ComponentCount
from mixoracle.oracles.subsets import checked_members, count_by_parents

DEFAULT_MAX_COMPONENTS = 128
_CHUNK_ROWS = 20_000

Progress = Callable[[str], None]


@dataclass(frozen=True, eq=False, repr=False)
class ConsistentReading:
    """One consistent answer; a :class:`~mixoracle.MixtureOracle` in its own right.

    Attributes
    ----------
    bipartite : Bipartite
        Γ and the domain sizes that explain the labels.
    weights : (∏ domain_sizes,) array
        The share of the rows in each joint state, in C order.
    assignments : (N,) int array
        The row of :meth:`projection` that each sample belongs to.
    log_evidence : float
        Of the whole model; comparable between readings of the same data.
    repairs : tuple of str
        What had to be changed to make the labels consistent, in words.
    n_agreed, n_proposals : int
        How many of the proposals that were completed came to this Γ at once; none if moves did.
    """

    bipartite: Bipartite
    weights: Floats
    assignments: NDArray[np.int64]
    log_evidence: float
    repairs: tuple[str, ...]
    n_agreed: int = 1
    n_proposals: int = 1

    @property
    def n_observed(self) -> int:
        """The number of observed variables."""
        return self.bipartite.n_observed

    def count(self, subset: Iterable[int]) -> int:
        """k(S) by ``obs:counting``."""
        return count_by_parents(self.bipartite, checked_members(subset, self.n_observed))

    def projection(self) -> Projection:
        """The map L: one row for each joint state, also for those never seen."""
        codes = configurations(self.bipartite.adjacency, self.bipartite.domain_sizes)
        return Projection(codes, self.weights)

    def __repr__(self) -> str:
        return (
            f"ConsistentReading({self.bipartite!r}, log evidence {self.log_evidence:.1f}, "
            f"{len(self.repairs)} repairs)"
        )


class ReadingOracle:
    """A fitted oracle with several consistent answers, best first; the base of our own two.

    Attributes
    ----------
    readings_ : tuple of ConsistentReading
        Consistent answers, best first.
    components_seen_ : (T, n_observed) int array
        The label tuples that were found to be components over X, before any repair.
    confidence_ : (n_observed,) array
        How sure the number of components of each variable is.
    """

    _prepared: Prepared | None = None

    def hand_over_prepared(self) -> Prepared | None:
        """The prepared observations of the last fit, once: they are as large as the data."""
        prepared, self._prepared = self._prepared, None
        return prepared

    def _decode(self, observations: Observations, prepared: Prepared, seen: Labelling) -> None:
        """Decode the labels, and keep the answers in the order of the observations."""
        back = np.argsort(prepared.variables)
        table = seen.table()
        self.n_observed_ = observations.n_observed
        self.components_seen_ = table.labels[:, back]
        self.confidence_ = np.array([merging.confidence for merging in seen.mergings])[back]
        self.readings_ = tuple(
            _public_reading(reading, prepared, table, observations.names)
            for reading in decode(table)
        )

    @property
    def n_observed(self) -> int:
        """The number of observed variables."""
        self._check_fitted()
        return self.n_observed_

    def count(self, subset: Iterable[int]) -> ComponentCount:
        """k(S) of the best reading, with its confidence and the count before any repair."""
        self._check_fitted()
        return self.count_in(self.readings_[0], subset)

    def count_in(self, reading: ConsistentReading, subset: Iterable[int]) -> ComponentCount:
        """k(S) of one of the readings, likewise."""
        members = checked_members(subset, self.n_observed)
        answer = reading.count(members)
        seen = len(np.unique(self.components_seen_[:, members], axis=0)) if members else 1
        return ComponentCount(answer, self._confidence(members, answer), seen)

    def projection(self) -> Projection:
        """The map L of the best reading."""
        self._check_fitted()
        return self.readings_[0].projection()

    def _confidence(self, members: list[int], answer: int) -> float:
        """Agreement of the readings, by their evidence, and of each variable's own merging."""
        evidence = np.array([reading.log_evidence for reading in self.readings_])
        agree = np.array([reading.count(members) == answer for reading in self.readings_])
        share = np.exp(evidence - evidence.max())
        return float(share[agree].sum() / share.sum() * self.confidence_[members].prod())

    def _check_fitted(self) -> None:
        if not hasattr(self, "readings_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError("this oracle has not seen data; call fit first")


def checked_max_components(max_components: int | None, n_samples: int) -> int:
    """The limit to use, or why the one asked for cannot be had."""
    affordable = max(1, n_samples // (2 * ROWS_PER_PIECE))
    if max_components is None:
        return min(DEFAULT_MAX_COMPONENTS, affordable)
    check_whole("max_components", max_components, at_least=1)
    if max_components > affordable:
        raise InvalidInputError(
            f"max_components = {max_components} needs at least "
            f"{2 * ROWS_PER_PIECE * max_components} rows to be told apart; got {n_samples}: "
            f"use at most {affordable}, or more rows"
        )
    return max_components


def check_n_jobs(n_jobs: object) -> None:
    """Refuse what joblib would refuse later."""
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
        raise InvalidInputError(
            f"n_jobs should be a number of jobs, or -1 for all cores; got {n_jobs!r}"
        )


def _public_reading(
    reading: Explanation, prepared: Prepared, table: ComponentTable, names: tuple[str, ...]
) -> ConsistentReading:
    """A reading in the order of the observations, with every row assigned."""
    back = np.argsort(prepared.variables)
    codes = configurations(reading.adjacency, reading.domain_sizes)
    weights = np.bincount(reading.assignment, table.counts, len(codes)) / table.counts.sum()
    cells = _assign(reading, prepared, table, codes, weights)
    assignments = np.empty(prepared.n_samples, dtype=np.int64)
    assignments[prepared.rows] = cells
    return ConsistentReading(
        bipartite=Bipartite(reading.adjacency[back], reading.domain_sizes, 0.0, "decoded"),
        weights=weights,
        assignments=assignments,
        log_evidence=reading.log_evidence,
        repairs=_describe_repairs(reading, table, codes, [names[i] for i in prepared.variables]),
        n_agreed=reading.n_agreed,
        n_proposals=reading.n_proposals,
    )


def _assign(
    reading: Explanation,
    prepared: Prepared,
    table: ComponentTable,
    codes: NDArray[np.int64],
    weights: Floats,
) -> NDArray[np.int64]:
    """The most likely joint state of every row, in canonical order."""
    occupied = np.flatnonzero(weights > 0)
    components = [
        family.components(
            pool(statistics, codes[reading.assignment, i], int(codes[:, i].max()) + 1), prior
        )
        for i, (statistics, family, prior) in enumerate(
            zip(table.statistics, table.families, table.priors, strict=True)
        )
    ]
    cells = np.empty(prepared.n_samples, dtype=np.int64)
    for start in range(0, prepared.n_samples, _CHUNK_ROWS):
        rows = slice(start, min(start + _CHUNK_ROWS, prepared.n_samples))
        score = np.tile(np.log(weights[occupied]), (rows.stop - rows.start, 1))
        for i, held in enumerate(components):
            features, gaps = prepared.features(i, rows), prepared.patterns(i, rows)
            density = table.families[i].log_density(features, held, gaps)
            score += density[:, codes[occupied, i]]
        cells[rows] = occupied[score.argmax(axis=1)]
    return cells


def _describe_repairs(
    reading: Explanation, table: ComponentTable, codes: NDArray[np.int64], names: list[str]
) -> tuple[str, ...]:
    repairs = []
    for i, name in enumerate(names):
        seen = len(np.unique(table.labels[:, i]))
        used = len(np.unique(codes[reading.assignment, i]))
        if seen != used:
            repairs.append(f"{name}: {seen} components were seen, {used} fit with the others")
    n_cells = len(np.unique(reading.assignment))
    if n_cells < len(reading.assignment):
        repairs.append(
            f"{len(reading.assignment)} components over all variables were seen, "
            f"{n_cells} of them are distinct joint states"
        )
    return (*sorted(repairs), *(move.describe(names) for move in reading.moves))
