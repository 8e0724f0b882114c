"""One mixture over all of X: components in which the observed variables are independent.

A binary item has no component count of its own, but thirty of them together do. The mixture starts
with more components than there can be, EM moves them, and components are merged, or split, while
the evidence of the whole rises. The evidence is that of the expected statistics, of the weights,
and of the uncertainty about which row is in which component, so that components which share rows
are not counted twice.

Assumes that observed variables are independent given the component. EM finds a local optimum, so
it is run from several starts, and how many ended at the same answer is told.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixoracle.families import Family
from mixoracle.families.base import Floats, Patterns
from mixoracle.mixtures.merging import CutPieces, log_dirichlet_multinomial
from mixoracle.mixtures.segmentation import cut

FIRST_COMPONENTS = 32
# An answer above this share of the first components may have been held down by their number.
_FULL_SHARE = 0.6
# Fewer rows for each component, on average, cannot tell them apart.
_ROWS_PER_COMPONENT = 12
# EM between two decisions need not converge, only show where it leads.
_SHORT_EM = 8
_LONG_EM = 60
# Whether a component falls apart shows earlier; the whole decides in any case.
_HALVING_EM = 20
# Change of the mean log-likelihood that ends EM.
_TOLERANCE = 1e-5
# Components of fewer rows than this are given up.
_FEWEST_ROWS = 2.0
# Merges are tried out by EM where they promise at least this many nats, and so many at a time.
_WORTH_TRYING = -60.0
_MERGES_TRIED = 8
# Pairs whose shared rows are looked at, by what the merge promises without them.
_PAIRS_CONSIDERED = 200
_MAX_ROUNDS = 30
# Less than this is not worth another round: components would be cut and merged in turn.
_LEAST_GAIN = 1.0
# Starts whose evidence is this close, in nats, ended at the same answer.
_SAME_ANSWER = 2.0


@dataclass(frozen=True)
class Variable:
    """One observed variable: its rows as its family sees them, and as coordinates.

    The coordinates of all variables together decide where EM starts.
    """

    family: Family
    cells: Floats
    patterns: Patterns | None
    embedding: Floats


@dataclass(frozen=True)
class Mixture:
    """Components over X: ``responsibilities`` (N, K), the evidence, and the starts behind it."""

    responsibilities: Floats
    log_evidence: float
    n_starts: int = 1
    n_agreed: int = 1

    @property
    def n_components(self) -> int:
        """How many components there are."""
        return int(self.responsibilities.shape[1])


def fit_mixture(
    variables: list[Variable], max_components: int, max_starts: int, rng: np.random.Generator
) -> Mixture:
    """The best of several starts: as many as it takes for two to end at the best answer."""
    found: list[Mixture] = []
    while True:
        found.append(_fit_once(variables, max_components, rng))
        best = max(found, key=lambda mixture: mixture.log_evidence)
        n_agreed = sum(_is_same(mixture, best) for mixture in found)
        if n_agreed > 1 or len(found) == max_starts:
            return Mixture(best.responsibilities, best.log_evidence, len(found), n_agreed)


def _is_same(mixture: Mixture, best: Mixture) -> bool:
    close = mixture.log_evidence > best.log_evidence - _SAME_ANSWER
    return close and mixture.n_components == best.n_components


def _fit_once(variables: list[Variable], max_components: int, rng: np.random.Generator) -> Mixture:
    coordinates = np.hstack([variable.embedding for variable in variables])
    limit = max(1, min(max_components, len(coordinates) // _ROWS_PER_COMPONENT))
    limit = min(limit, len(np.unique(coordinates, axis=0)))
    n_first = min(FIRST_COMPONENTS, limit)
    while True:
        labels = cut(coordinates, n_first, int(rng.integers(np.iinfo(np.int32).max)))
        found = _Search(variables, coordinates, limit).run(_indicators(labels))
        if found.n_components <= _FULL_SHARE * n_first or n_first >= limit:
            return Mixture(found.responsibilities, found.score)
        n_first = min(2 * n_first, limit)


def unit_variance(embedding: Floats) -> Floats:
    """Coordinates in which all variables weigh the same, however many columns they have."""
    total = float(embedding.var(axis=0).sum())
    return np.asarray(embedding / np.sqrt(total)) if total > 0 else embedding


def _indicators(labels: NDArray[np.int64]) -> Floats:
    return np.eye(int(labels.max()) + 1)[labels]


@dataclass(frozen=True)
class _State:
    """Where EM stands: ``statistics`` are those that the evidence is read from."""

    responsibilities: Floats
    statistics: tuple[Floats, ...]
    evidence: Floats  # of each component, all variables together
    score: float

    @property
    def n_components(self) -> int:
        return int(self.responsibilities.shape[1])


class _Search:
    """EM with merges and splits."""

    def __init__(self, variables: list[Variable], coordinates: Floats, max_components: int) -> None:
        self._variables = variables
        self._coordinates = coordinates
        self._max_components = max_components
        # Sets of rows, as bytes, that were looked at and are not two components.
        self._whole: set[bytes] = set()

    def run(self, responsibilities: Floats) -> _State:
        """Merge and split until neither raises the evidence."""
        state = self._em(responsibilities, _LONG_EM)
        for _ in range(_MAX_ROUNDS):
            better = self._merged(state) or self._split(state)
            if better is None:
                break
            state = better
        final = self._em(state.responsibilities, _LONG_EM)
        return final if final.score > state.score else state

    def _em(self, responsibilities: Floats, n_iterations: int) -> _State:
        """EM from responsibilities; components that lose their rows are given up."""
        before = -np.inf
        completed = self._completed(responsibilities)
        statistics = [responsibilities.T @ features for features in completed]
        for _ in range(n_iterations):
            rows = responsibilities.sum(axis=0)
            kept = rows >= min(_FEWEST_ROWS, rows.max())
            statistics = [held[kept] for held in statistics]
            components = [
                variable.family.components(held, variable.family.prior(held))
                for variable, held in zip(self._variables, statistics, strict=True)
            ]
            joint = np.tile(np.log(rows[kept] / rows[kept].sum()), (len(responsibilities), 1))
            for variable, held in zip(self._variables, components, strict=True):
                joint += variable.family.log_density(variable.cells, held, variable.patterns)
            peak = joint.max(axis=1, keepdims=True)
            share = np.exp(joint - peak)
            total = share.sum(axis=1, keepdims=True)
            responsibilities = share / total
            log_likelihood = float(np.mean(np.log(total) + peak))
            statistics = [
                variable.family.statistics(
                    variable.cells, responsibilities, held, variable.patterns
                )
                for variable, held in zip(self._variables, components, strict=True)
            ]
            if log_likelihood - before < _TOLERANCE:
                break
            before = log_likelihood
        return self._state(responsibilities)

    def _completed(self, responsibilities: Floats) -> list[Floats]:
        """Features that may be added up, each row completed by its likeliest component."""
        labels = responsibilities.argmax(axis=1)
        return [
            variable.cells
            if variable.patterns is None
            else variable.family.completed(variable.cells, labels, None, variable.patterns)
            for variable in self._variables
        ]

    def _state(self, responsibilities: Floats) -> _State:
        statistics = tuple(
            responsibilities.T @ features for features in self._completed(responsibilities)
        )
        evidence = np.zeros(responsibilities.shape[1])
        for variable, held in zip(self._variables, statistics, strict=True):
            evidence += variable.family.log_evidence(held, variable.family.prior(held))
        score = float(evidence.sum()) + _entropy(responsibilities)
        score += log_dirichlet_multinomial(responsibilities.sum(axis=0), 1.0)
        return _State(responsibilities, statistics, evidence, score)

    def _merged(self, state: _State) -> _State | None:
        """Merge all pairs that promise to raise the evidence, or else the one that does."""
        promises = self._promises(state)
        clear: list[tuple[int, int]] = []
        for gain, one, other in promises:
            if gain > 0 and not any({one, other} & set(pair) for pair in clear):
                clear.append((one, other))
        if clear:
            together = self._em(_with_merged(state.responsibilities, clear), _SHORT_EM)
            if (better := self._better(state, together)) is not None:
                return better
        for gain, one, other in promises[:_MERGES_TRIED]:
            if gain < _WORTH_TRYING:
                break
            trial = self._em(_with_merged(state.responsibilities, [(one, other)]), _SHORT_EM)
            if (better := self._better(state, trial)) is not None:
                return better
        return None

    @staticmethod
    def _better(state: _State, trial: _State) -> _State | None:
        return trial if trial.score > state.score + _LEAST_GAIN else None

    def _promises(self, state: _State) -> list[tuple[float, int, int]]:
        """Pairs of components with what their merge would add to the score, best first."""
        first, second = np.triu_indices(state.n_components, 1)
        if len(first) == 0:
            return []
        gain = -(state.evidence[first] + state.evidence[second])
        for variable, held in zip(self._variables, state.statistics, strict=True):
            prior = variable.family.prior(held)
            gain = gain + variable.family.log_evidence(held[first] + held[second], prior)
        rows = state.responsibilities.sum(axis=0)
        gain = gain + CutPieces().merge_bonus(rows[first], rows[second])
        considered = np.argsort(-gain, kind="stable")[:_PAIRS_CONSIDERED]
        promises = []
        for pair in considered:
            one, other = int(first[pair]), int(second[pair])
            mine, theirs = state.responsibilities[:, one], state.responsibilities[:, other]
            shared = _x_log_x(mine) + _x_log_x(theirs) - _x_log_x(mine + theirs)
            promises.append((float(gain[pair] + shared.sum()), one, other))
        return sorted(promises, reverse=True)

    def _split(self, state: _State) -> _State | None:
        """Cut the components that fall apart when looked at alone, if that raises the score."""
        labels = state.responsibilities.argmax(axis=1)
        found: list[tuple[int, Floats]] = []
        for component in range(state.n_components):
            inside = np.flatnonzero(labels == component)
            halves = None if inside.tobytes() in self._whole else self._halves(inside)
            if halves is None:
                self._whole.add(inside.tobytes())
                continue
            parts = np.zeros((len(labels), 2))
            parts[inside] = halves
            found.append((component, parts))
        found = found[: self._max_components - state.n_components]
        if not found:
            return None
        for chosen in [found, *([one] for one in found)] if len(found) > 1 else [found]:
            trial = self._em(_with_split(state.responsibilities, chosen), _SHORT_EM)
            if (better := self._better(state, trial)) is not None:
                return better
        return None

    def _halves(self, rows: NDArray[np.int64]) -> Floats | None:
        """Two components in some rows, if the evidence is for two rather than one."""
        if len(rows) < 2 * _ROWS_PER_COMPONENT:
            return None
        coordinates = self._coordinates[rows]
        labels = cut(coordinates, 2, seed=0) if np.ptp(coordinates, axis=0).max() > 0 else None
        if labels is None or labels.max() == 0:
            return None
        alone = _Search([_some_rows(v, rows) for v in self._variables], coordinates, 2)
        halves = alone._em(_indicators(labels), _HALVING_EM)
        whole = alone._state(np.ones((len(rows), 1)))
        return halves.responsibilities if halves.score > whole.score else None


def _some_rows(variable: Variable, rows: NDArray[np.int64]) -> Variable:
    patterns = None if variable.patterns is None else variable.patterns.take(rows)
    return Variable(variable.family, variable.cells[rows], patterns, variable.embedding[rows])


def _with_merged(responsibilities: Floats, pairs: list[tuple[int, int]]) -> Floats:
    merged = responsibilities.copy()
    for one, other in pairs:
        merged[:, one] += merged[:, other]
    return np.delete(merged, [other for _, other in pairs], axis=1)


def _with_split(responsibilities: Floats, cuts: list[tuple[int, Floats]]) -> Floats:
    """Replace components by two parts each; what a row gave them beyond stays with the first."""
    columns = [np.delete(responsibilities, [component for component, _ in cuts], axis=1)]
    for component, parts in cuts:
        rest = np.maximum(responsibilities[:, component] - parts.sum(axis=1), 0.0)
        columns.append(parts + rest[:, None] * [1.0, 0.0])
    together = np.hstack(columns)
    return np.asarray(together / together.sum(axis=1, keepdims=True))


def _entropy(responsibilities: Floats) -> float:
    """The uncertainty about the component of each row, summed over rows."""
    return -float(_x_log_x(responsibilities).sum())


def _x_log_x(share: Floats) -> Floats:
    return np.asarray(share * np.log(np.maximum(share, np.finfo(float).tiny)))
