"""One mixture over all of X: components in which the observed variables are independent.

A binary item has no component count of its own, but thirty of them together do. The mixture starts
with more components than there can be, EM moves them, and components are merged, or split, while
the evidence of the whole rises. The evidence is that of the expected statistics, of the weights,
and of the uncertainty about which row is in which component, so that components which share rows
are not counted twice.

Assumes that observed variables are independent given the component. EM finds a local optimum, so
it is run from several starts, and the result says how many ended at the same answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from mixoracle._arrays import Floats, Integers
from mixoracle.mixtures.merging import log_dirichlet_multinomial, log_merge_bonus
from mixoracle.mixtures.rows import VariableRows
from mixoracle.mixtures.segmentation import cut
from mixoracle.model.responsibilities import log_joint, share_out
from mixoracle.settings import Settings

# Change of the mean log-likelihood that ends EM.
_TOLERANCE = 1e-5


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
    variables: Sequence[VariableRows],
    coordinates: Floats,
    max_starts: int,
    rng: np.random.Generator,
    settings: Settings,
    bounds: tuple[float, float] = (1, inf),
) -> Mixture:
    """The best of several starts: as many as it takes for two to end at the best answer.

    ``coordinates`` (N, d) of all variables together decide where EM starts. The number of
    components stays within the ``bounds``, whatever the evidence says.
    """
    found: list[Mixture] = []
    while True:
        found.append(_fit_once(variables, coordinates, rng, settings, bounds))
        best = max(found, key=lambda mixture: mixture.log_evidence)
        n_agreed = sum(_is_same(mixture, best, settings) for mixture in found)
        if n_agreed > 1 or len(found) == max_starts:
            return Mixture(best.responsibilities, best.log_evidence, len(found), n_agreed)


def _is_same(mixture: Mixture, best: Mixture, settings: Settings) -> bool:
    close = mixture.log_evidence > best.log_evidence - settings.priors.same_evidence
    return close and mixture.n_components == best.n_components


def _fit_once(
    variables: Sequence[VariableRows],
    coordinates: Floats,
    rng: np.random.Generator,
    settings: Settings,
    bounds: tuple[float, float],
) -> Mixture:
    limit = settings.components_over_all(len(coordinates))
    limit = min(limit, len(np.unique(coordinates, axis=0)))
    n_first = min(max(settings.budget.first_pieces, int(2 * bounds[0])), limit)
    while True:
        seed = int(rng.integers(np.iinfo(np.int32).max))
        labels = cut(coordinates, n_first, seed, settings)
        search = _Search(variables, coordinates, limit, seed, settings, bounds)
        found = search.run(_indicators(labels))
        if 2 * found.n_components <= n_first or n_first >= limit:
            return Mixture(found.responsibilities, found.score)
        n_first = min(2 * n_first, limit)


def _indicators(labels: Integers) -> Floats:
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

    def __init__(
        self,
        variables: Sequence[VariableRows],
        coordinates: Floats,
        max_components: int,
        seed: int,
        settings: Settings,
        bounds: tuple[float, float] = (1, inf),
    ) -> None:
        self._variables = variables
        self._coordinates = coordinates
        self._least, self._most = bounds
        self._max_components = max_components
        self._seed = seed
        self._settings, self._budget = settings, settings.budget
        # Sets of rows, as bytes, that were looked at and are not two components.
        self._whole: set[bytes] = set()

    def run(self, responsibilities: Floats) -> _State:
        """Merge and split until neither raises the evidence."""
        state = self._em(responsibilities, self._budget.em)
        while (better := self._merged(state) or self._split(state)) is not None:
            state = better
        while state.n_components > self._most:
            _, one, other = self._promises(state, inf)[0]
            merged = _with_merged(state.responsibilities, [(one, other)])
            state = self._em(merged, self._budget.em_short)
        final = self._em(state.responsibilities, self._budget.em)
        return final if final.score > state.score else state

    def _em(self, responsibilities: Floats, n_iterations: int) -> _State:
        """EM from responsibilities; components that lose their rows are given up."""
        before = -np.inf
        completed = self._completed(responsibilities)
        statistics = [responsibilities.T @ features for features in completed]
        for _ in range(n_iterations):
            rows = responsibilities.sum(axis=0)
            # Less than two rows have no scatter.
            kept = rows >= min(2.0, rows.max())
            statistics = [held[kept] for held in statistics]
            components = [
                variable.family.components(held, variable.family.prior(held))
                for variable, held in zip(self._variables, statistics, strict=True)
            ]
            densities = [
                variable.log_density(held)
                for variable, held in zip(self._variables, components, strict=True)
            ]
            shares = share_out(log_joint(np.log(rows[kept] / rows[kept].sum()), densities))
            responsibilities = shares.responsibilities
            log_likelihood = float(np.mean(shares.log_likelihood))
            statistics = [
                variable.family.statistics(
                    variable.features, responsibilities, held, variable.patterns
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
        return [variable.completed(labels) for variable in self._variables]

    def _state(self, responsibilities: Floats) -> _State:
        statistics = tuple(
            responsibilities.T @ features for features in self._completed(responsibilities)
        )
        evidence = np.zeros(responsibilities.shape[1])
        for variable, held in zip(self._variables, statistics, strict=True):
            evidence += variable.family.log_evidence(held, variable.family.prior(held))
        score = float(evidence.sum()) + _entropy(responsibilities)
        score += log_dirichlet_multinomial(responsibilities.sum(axis=0))
        return _State(responsibilities, statistics, evidence, score)

    def _merged(self, state: _State) -> _State | None:
        """Merge all pairs that promise to raise the evidence, or else the one that does."""
        spare = max(0, state.n_components - int(self._least))
        promises = self._promises(state, self._budget.promised_loss) if spare else []
        clear: list[tuple[int, int]] = []
        for gain, one, other in promises:
            if gain > 0 and not any({one, other} & set(pair) for pair in clear[:spare]):
                clear.append((one, other))
        single = [[(one, other)] for _, one, other in promises[: self._budget.merges_tried]]
        trials = [clear[:spare], *single] if clear else single
        return self._first_better(state, (_with_merged(state.responsibilities, t) for t in trials))

    def _first_better(self, state: _State, trials: Iterable[Floats]) -> _State | None:
        """Where EM ends from the first of these responsibilities that raises the score."""
        for trial in trials:
            tried = self._em(trial, self._budget.em_short)
            if tried.score > state.score + self._settings.priors.same_evidence:
                return tried
        return None

    def _promises(self, state: _State, most_loss: float) -> list[tuple[float, int, int]]:
        """Pairs of components with what their merge would add to the score, best first.

        Pairs that promise too large a loss are left out. Rows that two components share only
        lower the gain, so most pairs are out before these are looked at.
        """
        first, second = np.triu_indices(state.n_components, 1)
        if len(first) == 0:
            return []
        gain = -(state.evidence[first] + state.evidence[second])
        for variable, held in zip(self._variables, state.statistics, strict=True):
            prior = variable.family.prior(held)
            gain = gain + variable.family.log_evidence(held[first] + held[second], prior)
        rows = state.responsibilities.sum(axis=0)
        gain = gain + log_merge_bonus(rows[first], rows[second])
        promises = []
        for pair in np.flatnonzero(gain >= -most_loss):
            one, other = int(first[pair]), int(second[pair])
            mine, theirs = state.responsibilities[:, one], state.responsibilities[:, other]
            shared = _x_log_x(mine) + _x_log_x(theirs) - _x_log_x(mine + theirs)
            promises.append((float(gain[pair] + shared.sum()), one, other))
        return sorted((p for p in promises if p[0] >= -most_loss), reverse=True)

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
        choices = [found, *([one] for one in found)] if len(found) > 1 else [found]
        return self._first_better(state, (_with_split(state.responsibilities, c) for c in choices))

    def _halves(self, rows: Integers) -> Floats | None:
        """Two components in some rows, if the evidence is for two rather than one."""
        if len(rows) < 2 * self._settings.priors.rows_per_component:
            return None
        coordinates = self._coordinates[rows]
        if np.ptp(coordinates, axis=0).max() == 0:
            return None
        labels = cut(coordinates, 2, self._seed, self._settings)
        if labels.max() == 0:
            return None
        inside = [variable.take(rows) for variable in self._variables]
        alone = _Search(inside, coordinates, 2, self._seed, self._settings)
        halves = alone._em(_indicators(labels), self._budget.em)
        whole = alone._state(np.ones((len(rows), 1)))
        return halves.responsibilities if halves.score > whole.score else None


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
