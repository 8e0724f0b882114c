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

from mixoracle import assumptions, bipartite, structure
from mixoracle._checks import check_whole, make_generator
from mixoracle.background import LABEL as BACKGROUND_LABEL
from mixoracle.background import Application, Background, ResolvedBackground
from mixoracle.errors import (
    AssumptionFailedError,
    AssumptionWarning,
    InvalidInputError,
)
from mixoracle.families.choice import Families, checked_families
from mixoracle.inference import residuals
from mixoracle.inference.refine import MAX_ITERATIONS
from mixoracle.mixtures.preparation import Prepared, prepare
from mixoracle.model import CPDAG, Bipartite, JointTable, LatentModel
from mixoracle.model.posterior import (
    draw,
    mean_log_likelihood,
    most_likely_states,
    state_probabilities,
)
from mixoracle.observations import Observations
from mixoracle.observations.answers import conform, recognise_answers
from mixoracle.observations.source import Source
from mixoracle.oracles.counts import ComponentCounts
from mixoracle.oracles.projection import ProjectionOracle
from mixoracle.oracles.protocol import MixtureOracle
from mixoracle.oracles.readings import ReadingOracle
from mixoracle.oracles.signature import SignatureOracle
from mixoracle.solving import Solution, Solver, n_broken

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

    The gap is negative where it fits better but breaks what is known beforehand, or leaves joint
    states empty that the model says can occur.
    """

    model: LatentModel
    bic: float
    bic_gap: float


class LatentGraphLearner(BaseEstimator):  # type: ignore[misc]
    """Finds the hidden discrete causes behind data, and the causal graph among them.

    Parameters
    ----------
    oracle : {"signature", "projection", "kmeans"} or object
        Step (a). Where some variables show no components on their own (single binary items, for
        one), "signature" has "projection" look as well, and the better answer counts. An object
        has ``fit(observations)`` and is a :class:`~mixoracle.MixtureOracle`
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
    families : str or mapping from name to str, optional
        The family of the components, of all or of some observed variables, where the kind of a
        column does not tell it: ``gaussian``, ``diagonal`` (independent columns), ``student``
        (heavy tails), ``gamma`` (positive amounts) or ``counts``.

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
        families: Families = None,
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
        self.families = families

    def fit(
        self,
        X: Observations | NDArray[Any] | pd.DataFrame,
        y: object = None,
        *,
        groups: Any = None,
    ) -> Self:
        """Learn the model behind the rows of ``X``; ``y`` is ignored."""
        source = Source.of(X, groups)
        observations = source.observe(X)
        declared = checked_families(self.families, observations.names)
        observations = recognise_answers(observations, keep=declared)
        known = self._known(observations.names)
        with _told(self.progress) as tell:
            oracles = self._fitted_oracles(observations, tell)
            tell("recovering the graph and refining it")
            prepared = _prepared(oracles[0], observations, self.families)
            solver = Solver(
                observations,
                prepared,
                known,
                self._recover,
                self.strict,
                MAX_ITERATIONS if self.refine else 0,
            )
            solutions = _solutions(solver, oracles)
            tell("searching the latent graph")
            models = [self._build(solution, observations, prepared) for solution in solutions]
        best = solutions[0]
        self._source = source
        self._learned_from = observations.take(slice(0, 1))
        self.oracle_ = best.oracle
        self.counts_ = ComponentCounts(
            observations.names, partial(_count, best.oracle, best.reading)
        )
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
        like = self._learned_from
        return Observations(np.hstack(blocks), like.names, like.widths, like.levels), states

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
        return conform(observations, model.observed_names, self._learned_from)

    def _fitted_oracles(
        self, observations: Observations, tell: Callable[[str], None]
    ) -> list[ReadingOracle] | list[Any]:
        """The oracle that was asked for, fitted, and another one where it cannot see."""
        if self.oracle == "projection":
            return [self._projection(observations, tell)]
        if self.oracle != "signature":
            return [self._fitted_other(observations, tell)]
        signature = SignatureOracle(
            self.max_components,
            families=self.families,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        ).fit(observations, progress=tell)
        if not signature.blind_:
            return [signature]
        logger.info("alone these show no components: %s", ", ".join(signature.blind_))
        return [signature, self._projection(observations, tell)]

    def _projection(
        self, observations: Observations, tell: Callable[[str], None]
    ) -> ProjectionOracle:
        oracle = ProjectionOracle(
            self.max_components, families=self.families, random_state=self.random_state
        )
        return oracle.fit(observations, progress=tell)

    def _fitted_other(self, observations: Observations, tell: Callable[[str], None]) -> Any:
        """Resolve a short name to an object, fit it, and refuse what cannot be an oracle."""
        oracle = self.oracle
        if oracle == "kmeans":
            from mixoracle.oracles.kmeans import KMeansOracle

            oracle = KMeansOracle(
                max_components=self.max_components,
                n_jobs=self.n_jobs,
                random_state=self.random_state,
            )
        if not hasattr(oracle, "fit"):
            raise InvalidInputError(
                "oracle should be 'signature', 'projection', 'kmeans' or an object with "
                "fit(observations); "
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

    def _recover(self, oracle: MixtureOracle) -> Bipartite:
        if callable(self.bipartite):
            return self.bipartite(oracle)
        # Counts that were decoded together are exact; an oracle that estimates each on its own
        # says how far apart log k(S) and its prediction may be.
        tolerance = float(getattr(oracle, "count_tolerance", bipartite.EXACT))
        return bipartite.recover(oracle, cast("Any", self.bipartite), tolerance=tolerance)

    def _build(
        self, solution: Solution, observations: Observations, prepared: Prepared
    ) -> tuple[LatentModel, NDArray[np.int64]]:
        """The model, and the states of the rows."""
        numbered = solution.numbered(prepared)
        model = LatentModel(
            observed_names=observations.names,
            latent_names=solution.known.latent_names,
            bipartite=solution.graph.adjacency,
            domain_sizes=solution.graph.domain_sizes,
            joint=numbered.joint,
            latent_graph=self._search(numbered.joint, observations.n_samples, solution.known),
            components=numbered.components,
        )
        return model, numbered.states

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


def _solutions(solver: Solver, oracles: list[Any]) -> list[Solution]:
    """The answers of all oracles and those known beforehand, refined, best first.

    Where the best one leaves joint states empty, the reading with a single latent is tried beside
    it. It may win on its score, but not against what is known of several latents.
    """
    solutions = [
        solver.solve(oracle, reading)
        for oracle in oracles
        for reading in _readings(oracle, solver.known)
    ]
    if (given := solver.solve_known(oracles[0])) is not None:
        solutions.append(given)
    solutions = _one_of_each(sorted(solutions, key=_rank))
    alone = solver.single_latent(solutions[0])
    if alone is None:
        return solutions
    kept = 1 if solver.known.names else 0
    return _one_of_each([*solutions[:kept], *sorted([*solutions[kept:], alone], key=_rank)])


def _one_of_each(solutions: list[Solution]) -> list[Solution]:
    """The first solution of each Γ with its domain sizes: two oracles may come to the same."""
    kept: dict[object, Solution] = {}
    for solution in solutions:
        columns = zip(solution.graph.adjacency.T, solution.graph.domain_sizes, strict=True)
        kept.setdefault(tuple(sorted((c.tobytes(), size) for c, size in columns)), solution)
    return list(kept.values())


def _rank(solution: Solution) -> tuple[int, float]:
    """What breaks least of what is known comes first, then what scores best."""
    return solution.known.n_broken, -solution.score


def _readings(oracle: Any, known: ResolvedBackground) -> list[Any]:
    """The consistent answers of an oracle that has several, or the oracle itself.

    Those that can honour more of what is known come first.
    """
    readings = list(getattr(oracle, "readings_", ()))
    if not readings:
        return [oracle]
    readings.sort(key=lambda reading: n_broken(known, reading))
    readings = readings[:_MAX_READINGS]
    hopeless = readings[0].log_evidence - _HOPELESS * len(readings[0].assignments)
    return [reading for reading in readings if reading.log_evidence >= hopeless]


def _prepared(oracle: Any, observations: Observations, families: Families) -> Prepared:
    """The observations as the oracle prepared them, or prepared now."""
    handed_over = getattr(oracle, "hand_over_prepared", lambda: None)()
    return handed_over if isinstance(handed_over, Prepared) else prepare(observations, families)


def _count(oracle: Any, reading: Any, subset: Iterable[int]) -> int:
    """k(S) of the answer that won, with the oracle's confidence in it where it has one."""
    if reading is not oracle and hasattr(oracle, "count_in"):
        return cast("int", oracle.count_in(reading, subset))
    return cast("int", reading.count(subset))


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
