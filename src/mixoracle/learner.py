"""From observations to the whole model: the only module that puts the stages together.

The five steps of ``app:pipeline`` run in order: (a) an oracle looks at the data, (b) its counts
give Γ and the domain sizes, (c) its map L and (d) Algorithm 1 give P(H), (e) a search over P(H)
gives Λ. Between (d) and (e) the structured likelihood polishes components, weights and states.
An oracle that sees several consistent answers has each of them go through the steps; the one that
breaks least of what is known beforehand, and has the best BIC among those, is the model, the others
are ``alternatives_``.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mixoracle import assumptions, bipartite, latent, residuals, structure
from mixoracle._checks import check_whole, make_generator
from mixoracle.assumptions import Verdict
from mixoracle.background import LABEL as BACKGROUND_LABEL
from mixoracle.background import Application, Background, ResolvedBackground
from mixoracle.errors import (
    AssumptionFailedError,
    AssumptionWarning,
    InvalidInputError,
    ModelContradictionError,
)
from mixoracle.model import CPDAG, Bipartite, JointTable, LatentModel
from mixoracle.model.posterior import (
    draw,
    mean_log_likelihood,
    most_likely_states,
    state_probabilities,
    states_of_cells,
)
from mixoracle.observations import Observations
from mixoracle.oracle.counts import ComponentCounts
from mixoracle.oracle.preparation import Prepared, prepare
from mixoracle.oracle.protocol import MixtureOracle
from mixoracle.oracle.signature import SignatureOracle
from mixoracle.refine import MAX_ITERATIONS, Refinement, refine

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

logger = logging.getLogger(__name__)

Floats = NDArray[np.float64]
BipartiteStep = Callable[[MixtureOracle], Bipartite]
LatentSearchStep = Callable[[JointTable, int], CPDAG]
# Runner-up answers that are refined beside the best one; further ones never won on any problem.
_MAX_READINGS = 3
# Runners-up whose evidence is worse by this many nats a row are beyond what refinement can mend.
_HOPELESS = 0.5
# Without these the graph or P(H) is not identifiable; the others only decide which method works.
# A model that contradicts what the user knows is not the model that was asked for.
_ESSENTIAL = (
    "obs:counting",
    "assm:twins",
    "assum:ssc",
    "assump:strong:NZ",
    "assump:strong:SDC",
    BACKGROUND_LABEL,
)


@dataclass(frozen=True)
class Alternative:
    """A runner-up: its model, and how much worse its BIC is (log-likelihood units).

    The gap is negative where it fits better but breaks what is known beforehand.
    """

    model: LatentModel
    bic: float
    bic_gap: float


class LatentGraphLearner(BaseEstimator):  # type: ignore[misc]
    """Finds the hidden discrete causes behind data, and the causal graph among them.

    Parameters
    ----------
    oracle : {"signature", "kmeans"} or object
        Step (a). An object has ``fit(observations)`` and is a :class:`~mixoracle.MixtureOracle`
        with ``assignments`` afterwards.
    bipartite : {"auto", "jennrich", "als", "blocks"} or callable
        Step (b). A callable takes the fitted oracle and returns a
        :class:`~mixoracle.model.Bipartite`.
    latent_search : {"auto", "exact", "ges", "pc"} or callable
        Step (e). A callable takes ``(joint, n_samples)`` and returns a CPDAG.
    max_components : int, optional
        The most components that one observed variable may have.
    refine : bool
        Polish components, P(H) and states by EM over the structured model.
    strict : bool
        Raise a named error where the default returns the best model with a warning.
    n_jobs : int
        Observed variables that are worked on at the same time.
    random_state : int, numpy.random.Generator or None
    progress : bool or callable
        Show what is being done; a callable is told each stage by name.
    knowledge : Background, optional
        What is known about the latents beforehand: children, domain sizes, arrows among them.
        Γ is corrected accordingly; what cannot be honoured is a failed verdict.

    Attributes
    ----------
    model_ : LatentModel
    counts_ : ComponentCounts
        ``counts_[{0, 2}]`` is k(S) with its confidence, before any correction by knowledge.
    bipartite_ : Bipartite
        Γ as step (b) recovered it and knowledge corrected it, with its residual and method.
    assumptions_ : tuple of Verdict
    states_ : (N, m) int array
        The most likely state of each latent in each row.
    oracle_ : the fitted oracle
    alternatives_ : tuple of Alternative
        Other consistent answers, best first.
    bic_, log_likelihood_, converged_, n_iter_ : the refinement of the answer
    repairs_ : tuple of str
        What was changed to make the counts consistent.
    corrections_ : tuple of str
        What was changed in Γ because it is known to be otherwise.

    Examples
    --------
    >>> from mixoracle.datasets import paper_problem
    >>> problem = paper_problem(2, 5, 3, n_samples=1000, random_state=1, covariance="code")
    >>> learner = LatentGraphLearner(random_state=0).fit(problem.observations)
    >>> learner.model_.domain_sizes == problem.model.domain_sizes
    True
    """

    def __init__(
        self,
        oracle: str | Any = "signature",
        bipartite: str | BipartiteStep = "auto",
        latent_search: str | LatentSearchStep = "auto",
        max_components: int | None = None,
        refine: bool = True,
        strict: bool = False,
        n_jobs: int = 1,
        random_state: int | np.random.Generator | None = None,
        progress: bool | Callable[[str], None] = False,
        knowledge: Background | None = None,
    ) -> None:
        self.oracle = oracle
        self.bipartite = bipartite
        self.latent_search = latent_search
        self.max_components = max_components
        self.refine = refine
        self.strict = strict
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress
        self.knowledge = knowledge

    def fit(
        self,
        X: Observations | NDArray[Any] | pd.DataFrame,
        y: object = None,
        *,
        groups: Any = None,
    ) -> Self:
        """Learn the model behind the rows of ``X``; ``y`` is ignored."""
        source = _Source.of(X, groups)
        observations = source.observe(X)
        known = self._known(observations.names)
        with _told(self.progress) as tell:
            oracle = self._fitted_oracle(observations, tell)
            tell("recovering the graph and refining it")
            prepared = _prepared(oracle, observations)
            solutions = [
                self._solve(reading, observations, prepared, known)
                for reading in self._readings(oracle, known)
            ]
            solutions.sort(key=lambda solution: (solution.known.n_broken, -solution.refinement.bic))
            tell("searching the latent graph")
            models = [self._build(solution, observations, prepared) for solution in solutions]
        best = solutions[0]
        self._source = source
        self.oracle_ = oracle
        self.counts_ = ComponentCounts(observations.names, partial(_count, oracle, best.reading))
        self.bipartite_ = best.graph
        self.model_, self.states_ = models[0]
        self.bic_ = best.refinement.bic
        self.log_likelihood_ = best.refinement.log_likelihood
        self.converged_ = best.refinement.converged
        self.n_iter_ = len(best.refinement.history) - 1
        self.repairs_ = best.repairs
        self.corrections_ = best.known.corrections
        self.alternatives_ = tuple(
            Alternative(model, s.refinement.bic, self.bic_ - s.refinement.bic)
            for s, (model, _) in zip(solutions[1:], models[1:], strict=True)
        )
        self.n_features_in_ = sum(observations.widths)
        self.assumptions_ = (
            *assumptions.check(self.model_),
            best.verdict,
            *residuals.check(prepared, best.graph, best.refinement, observations.names),
            *([best.known.verdict] if known.names else []),
        )
        self._report_failures()
        return self

    def predict(self, X: Observations | NDArray[Any] | pd.DataFrame) -> NDArray[np.int64]:
        """The most likely state of each latent in each row, (N, m)."""
        return most_likely_states(self._model(), self._blocks(X))

    def predict_proba(self, X: Observations | NDArray[Any] | pd.DataFrame) -> list[Floats]:
        """For each latent the probability of each of its states, an (N, dim_j) array each."""
        return state_probabilities(self._model(), self._blocks(X))

    def score(self, X: Observations | NDArray[Any] | pd.DataFrame, y: object = None) -> float:
        """The mean log-likelihood of the rows; larger is better. ``y`` is ignored."""
        return mean_log_likelihood(self._model(), self._blocks(X))

    def sample(
        self, n_samples: int = 1, random_state: int | np.random.Generator | None = None
    ) -> tuple[Observations, NDArray[np.int64]]:
        """Draw new rows from the learned model, and the (n_samples, m) states behind them."""
        check_whole("n_samples", n_samples, at_least=1)
        model = self._model()
        blocks, states = draw(model, n_samples, make_generator(random_state))
        named = dict(zip(model.observed_names, blocks, strict=True))
        return Observations.from_arrays(named), states

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the learned graph with matplotlib."""
        return self._model().plot(ax)

    def _model(self) -> LatentModel:
        check_is_fitted(self, "model_")
        return self.model_

    def _blocks(self, X: Observations | NDArray[Any] | pd.DataFrame) -> list[Floats]:
        """The blocks of new rows in the order of the model, grouped as in fit."""
        model = self._model()
        observations = self._source.observe(X)
        unknown = [name for name in model.observed_names if name not in observations]
        if unknown:
            raise InvalidInputError(
                f"new rows should have the variables that were learned from; {unknown[0]!r} is "
                f"missing, there are {', '.join(observations.names)}"
            )
        blocks = [observations[name] for name in model.observed_names]
        for name, block in zip(model.observed_names, blocks, strict=True):
            if np.isnan(block).any():
                raise InvalidInputError(
                    f"{name} has missing values in the new rows; this version needs complete "
                    "rows: drop or fill them first"
                )
        return blocks

    def _fitted_oracle(self, observations: Observations, tell: Callable[[str], None]) -> Any:
        """Resolve a short name to an object, fit it, and refuse what cannot be an oracle."""
        if self.oracle == "signature":
            signature = SignatureOracle(
                self.max_components, n_jobs=self.n_jobs, random_state=self.random_state
            )
            return signature.fit(observations, progress=tell)
        oracle = self.oracle
        if oracle == "kmeans":
            from mixoracle.oracle.kmeans import KMeansOracle

            oracle = KMeansOracle(
                max_components=self.max_components,
                n_jobs=self.n_jobs,
                random_state=self.random_state,
            )
        if not hasattr(oracle, "fit"):
            raise InvalidInputError(
                "oracle should be 'signature', 'kmeans' or an object with fit(observations); "
                f"got {self.oracle!r}"
            )
        tell("asking the oracle")
        fitted = oracle.fit(observations)
        if not isinstance(fitted, MixtureOracle):
            raise InvalidInputError(
                f"{type(oracle).__name__}.fit should return a fitted oracle with n_observed, "
                f"count and projection; got {type(fitted).__name__}"
            )
        return fitted

    def _known(self, observed_names: tuple[str, ...]) -> ResolvedBackground:
        """What is known about these variables, checked before any work is done."""
        knowledge = Background() if self.knowledge is None else self.knowledge
        if not isinstance(knowledge, Background):
            raise InvalidInputError(
                "knowledge should be a mixoracle.background.Background; got "
                f"{type(knowledge).__name__}: wrap it, as in Background(latents=..., edges=...)"
            )
        if callable(self.latent_search) and knowledge.edges != structure.Knowledge():
            raise InvalidInputError(
                "knowledge holds arrows, but latent_search is a callable that is not told of "
                "them; name one of the searches, or let the callable hold the arrows itself"
            )
        return knowledge.resolved(observed_names)

    @staticmethod
    def _readings(oracle: Any, known: ResolvedBackground) -> list[Any]:
        """The consistent answers of an oracle that has several, or the oracle itself.

        Those that can honour more of what is known come first.
        """
        readings = list(getattr(oracle, "readings_", ()))
        if not readings:
            return [oracle]
        readings.sort(key=lambda reading: _n_broken(known, reading))
        readings = readings[:_MAX_READINGS]
        hopeless = readings[0].log_evidence - _HOPELESS * len(readings[0].assignments)
        return [reading for reading in readings if reading.log_evidence >= hopeless]

    def _solve(
        self,
        reading: Any,
        observations: Observations,
        prepared: Prepared,
        known: ResolvedBackground,
    ) -> _Solution:
        """Steps (b) to (d) for one answer of the oracle, what is known, then refinement."""
        asked = reading
        try:
            graph = self._recover(reading)
            if hasattr(reading, "informed_by"):
                reading = reading.informed_by(graph)
            cells = _cells_of_rows(reading, graph)
            trouble = ""
        except ModelContradictionError as error:
            if self.strict:
                raise
            trouble = str(error)
            graph, cells = _own_answer(reading, observations)
        applied = _apply(known, graph)
        refinement = refine(
            prepared,
            applied.graph.adjacency[prepared.variables],
            graph.domain_sizes,
            cells[prepared.rows],
            MAX_ITERATIONS if self.refine else 0,
        )
        repairs = tuple(getattr(reading, "repairs", ()))
        return _Solution(asked, applied, refinement, repairs, _consistency(repairs, trouble))

    def _recover(self, oracle: MixtureOracle) -> Bipartite:
        if callable(self.bipartite):
            return self.bipartite(oracle)
        # Counts that were decoded together are exact; an oracle that estimates each on its own
        # says how far apart log k(S) and its prediction may be.
        tolerance = float(getattr(oracle, "count_tolerance", bipartite.EXACT))
        return bipartite.recover(oracle, cast("Any", self.bipartite), tolerance=tolerance)

    def _build(
        self, solution: _Solution, observations: Observations, prepared: Prepared
    ) -> tuple[LatentModel, NDArray[np.int64]]:
        """The model and the states of the rows, states numbered by how frequent they are."""
        graph, refined = solution.graph, solution.refinement
        table = refined.weights.reshape(graph.domain_sizes)
        orders = _frequent_first(table)
        joint = JointTable(table[np.ix_(*orders)] if orders else table)
        back = np.argsort(prepared.variables)
        components = tuple(
            prepared.encoders[place]
            .decode(refined.components[place])
            .take(_reordered_codes(graph, orders, i))
            for i, place in enumerate(back)
        )
        cells = np.empty(len(prepared.rows), dtype=np.int64)
        cells[prepared.rows] = refined.cells
        states = states_of_cells(cells, graph.domain_sizes)
        for j, order in enumerate(orders):
            states[:, j] = np.argsort(order)[states[:, j]]
        model = LatentModel(
            observed_names=observations.names,
            latent_names=solution.known.latent_names,
            bipartite=graph.adjacency,
            domain_sizes=graph.domain_sizes,
            joint=joint,
            latent_graph=self._search(joint, observations.n_samples, solution.known),
            components=components,
        )
        return model, states

    def _search(self, joint: JointTable, n_samples: int, known: Application) -> CPDAG:
        if callable(self.latent_search):
            return self.latent_search(joint, n_samples)
        method = cast("Any", self.latent_search)
        return structure.learn(joint, n_samples, method, known.edges, names=known.latent_names)

    def _report_failures(self) -> None:
        failed = [v for v in self.assumptions_ if v.holds is False and v.label in _ESSENTIAL]
        if not failed:
            return
        message = "; ".join(f"{verdict.name}: {verdict.message}" for verdict in failed)
        if self.strict:
            raise AssumptionFailedError(message)
        warnings.warn(message, AssumptionWarning, stacklevel=3)


@dataclass(frozen=True)
class _Solution:
    reading: Any
    known: Application
    refinement: Refinement
    repairs: tuple[str, ...]
    verdict: Verdict

    @property
    def graph(self) -> Bipartite:
        return self.known.graph


@dataclass(frozen=True)
class _Source:
    """How the rows came to fit, so that new rows are read in the same way.

    ``columns`` are the names in a frame; ``widths`` those of Observations, for arrays after them.
    """

    groups: Any
    columns: tuple[str, ...] | None = None
    widths: tuple[int, ...] | None = None
    names: tuple[str, ...] | None = None

    @classmethod
    def of(cls, X: Any, groups: Any) -> _Source:
        if isinstance(X, Observations):
            if groups is not None:
                raise InvalidInputError("Observations are grouped already; leave groups out")
            return cls(None, widths=X.widths, names=X.names)
        if _is_frame(X):
            return cls(groups, columns=tuple(X.columns))
        return cls(groups)

    def observe(self, X: Any) -> Observations:
        """Rows of any kind as Observations, with the variables that fit saw."""
        if isinstance(X, Observations):
            return X
        if _is_frame(X):
            return self._observe_frame(X)
        if self.columns is not None:
            import pandas as pd

            array = np.asarray(X)
            if array.ndim != 2 or array.shape[1] != len(self.columns):
                raise InvalidInputError(
                    f"new rows should have the {len(self.columns)} columns of the frame that was "
                    f"learned from; got shape {array.shape}"
                )
            return Observations.from_frame(pd.DataFrame(array, columns=self.columns), self.groups)
        if self.widths is None:
            return Observations.from_array(X, self.groups)
        ends = np.cumsum(self.widths)
        places = [
            list(range(end - width, end)) for end, width in zip(ends, self.widths, strict=True)
        ]
        return Observations.from_array(X, dict(zip(self.names or (), places, strict=True)))

    def _observe_frame(self, frame: pd.DataFrame) -> Observations:
        if self.columns is None:
            return Observations.from_frame(frame)
        unknown = [column for column in self.columns if column not in frame.columns]
        if unknown:
            raise InvalidInputError(
                f"new rows should have the columns that were learned from; {unknown[0]!r} is "
                "missing"
            )
        return Observations.from_frame(frame[list(self.columns)], self.groups)


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and hasattr(X, "iloc")


def _prepared(oracle: Any, observations: Observations) -> Prepared:
    """The observations as the oracle prepared them, or prepared now."""
    handed_over = getattr(oracle, "hand_over_prepared", lambda: None)()
    return handed_over if isinstance(handed_over, Prepared) else prepare(observations)


def _cells_of_rows(reading: Any, graph: Bipartite) -> NDArray[np.int64]:
    """Steps (c) and (d): the joint state of each row, through L and Algorithm 1."""
    if not hasattr(reading, "assignments"):
        raise InvalidInputError(
            f"{type(reading).__name__} should say which component over X each sample belongs to, "
            "in an attribute 'assignments' of N rows of its projection; it has none"
        )
    projection = reading.projection()
    component_at = latent.layout(projection.labels, graph.adjacency, graph.domain_sizes)
    cell_of = np.empty(projection.n_components, dtype=np.int64)
    cell_of[component_at.ravel()] = np.arange(component_at.size)
    return np.asarray(cell_of[reading.assignments])


def _own_answer(reading: Any, observations: Observations) -> tuple[Bipartite, NDArray[np.int64]]:
    """What to fall back on where the paper's steps find a contradiction.

    The oracle's own consistent reading if it has one, else no latent at all.
    """
    own = getattr(reading, "bipartite", None)
    if isinstance(own, Bipartite):
        return own, np.asarray(reading.assignments)
    logger.info("the oracle's counts fit no graph; falling back to no latent structure")
    nothing = Bipartite(np.zeros((observations.n_observed, 0), dtype=bool), (), 0.0, "none")
    return nothing, np.zeros(observations.n_samples, dtype=np.int64)


def _apply(known: ResolvedBackground, graph: Bipartite) -> Application:
    """Γ corrected by what is known, its latents named."""
    taken = (*known.observed_names, *known.names)
    return known.applied_to(graph, _latent_names(graph.n_latent, taken))


def _n_broken(known: ResolvedBackground, reading: Any) -> int:
    """How much of what is known an answer cannot honour, as far as it shows its Γ."""
    graph = getattr(reading, "bipartite", None)
    return _apply(known, graph).n_broken if isinstance(graph, Bipartite) else 0


def _count(oracle: Any, reading: Any, subset: Iterable[int]) -> int:
    """k(S) of the answer that won, with the oracle's confidence in it where it has one."""
    if reading is not oracle and hasattr(oracle, "count_in"):
        return cast("int", oracle.count_in(reading, subset))
    return cast("int", reading.count(subset))


def _consistency(repairs: tuple[str, ...], trouble: str) -> Verdict:
    name, label = "consistent counts", "obs:counting"
    if trouble:
        return Verdict(name, label, False, trouble, ((trouble,),))
    if repairs:
        return Verdict(name, label, True, "consistent after repairs: " + "; ".join(repairs))
    return Verdict(name, label, True, "all counts are products of the domain sizes as they came")


def _frequent_first(table: Floats) -> list[NDArray[np.int64]]:
    """For each latent its states from the most to the least frequent."""
    orders = []
    for j in range(table.ndim):
        others = tuple(axis for axis in range(table.ndim) if axis != j)
        orders.append(np.argsort(-table.sum(axis=others), kind="stable").astype(np.int64))
    return orders


def _reordered_codes(
    graph: Bipartite, orders: list[NDArray[np.int64]], observed: int
) -> NDArray[np.int64]:
    """Which old configuration of pa(X_i) stands at each new one after states are reordered."""
    parents = [int(j) for j in np.flatnonzero(graph.adjacency[observed])]
    sizes = tuple(graph.domain_sizes[j] for j in parents)
    codes = np.arange(int(np.prod(sizes, dtype=int))).reshape(sizes)
    return np.asarray(codes[np.ix_(*(orders[j] for j in parents))] if parents else codes).ravel()


def _latent_names(n_latent: int, taken: Iterable[str]) -> tuple[str, ...]:
    """H1, H2, …; with a longer prefix if one of these names is taken."""
    prefix, used = "H", set(taken)
    while any(f"{prefix}{j + 1}" in used for j in range(n_latent)):
        prefix += "_"
    return tuple(f"{prefix}{j + 1}" for j in range(n_latent))


@contextmanager
def _told(progress: bool | Callable[[str], None]) -> Iterator[Callable[[str], None]]:
    """What to call with the name of each stage: the user's callable, a spinner, or the log."""
    if callable(progress):
        yield progress
    elif progress:
        from rich.console import Console

        with Console(stderr=True).status("starting") as status:
            yield status.update
    else:
        yield lambda stage: logger.info("%s", stage)
