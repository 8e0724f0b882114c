"""From observations to the whole model: the only module that puts the stages together.

The five steps of ``app:pipeline`` run in order: (a) an oracle looks at the prepared data and
returns candidates; (b) to (d), in :mod:`~mixoracle.solving`, make a solution of each, along the
route of counts or along that of decoding, and refine it by EM; (e) a search over P(H) gives Λ.
The solution that contradicts least of what is known beforehand, and has the best score among
those, is the model; the others are ``alternatives_``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, Self

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from mixoracle import assumptions, bipartite, structure
from mixoracle._arrays import Bools, Floats, Integers
from mixoracle._checks import check_flag, make_generator
from mixoracle._memory import freed_memory_kept
from mixoracle._threads import one_thread
from mixoracle.all_rows import learned_from_all, sample_of
from mixoracle.background import Background, checked
from mixoracle.errors import AssumptionFailedError, AssumptionWarning
from mixoracle.families.choice import Families
from mixoracle.foresight import Foresight
from mixoracle.inference.outlying import reassigned
from mixoracle.inference.passes import Passes
from mixoracle.mixtures.exposure import exposed
from mixoracle.mixtures.preparation import prepare
from mixoracle.mixtures.ties import without_copies
from mixoracle.model import Bipartite, LatentModel
from mixoracle.model.exposure import Exposure
from mixoracle.observations import ChunkedObservations, Observations
from mixoracle.observations.chunked import as_chunked
from mixoracle.observations.described import Said
from mixoracle.observations.grouping import Groups
from mixoracle.observations.source import Source
from mixoracle.oracles.counts import ComponentCounts
from mixoracle.oracles.path import Resolution, resolutions
from mixoracle.oracles.protocol import CandidateOracle, LearningOracle, MixtureOracle
from mixoracle.oracles.registry import resolve
from mixoracle.oracles.run import Auto, Report, Run, Stage, asked_for, reporting, steps_of
from mixoracle.readable import readable
from mixoracle.results import LabelledResults, RandomState
from mixoracle.settings import Settings
from mixoracle.solving import Alternative, Solution, Solver
from mixoracle.trust import checks
from mixoracle.trust.alternatives import one_thing_else, other_candidates
from mixoracle.trust.bootstrap import Bootstrapping, Resampler
from mixoracle.trust.confidence import Confidence, of_graph
from mixoracle.trust.edges import posterior_of
from mixoracle.trust.essential import essential_failure
from mixoracle.trust.latent_search import LatentSearch, LatentSearchStep
from mixoracle.trust.overall import Overall, judged
from mixoracle.trust.starts import Started, Starts, check_starts, solve_from_starts

if TYPE_CHECKING:
    import pandas as pd

    Rows = Observations | ChunkedObservations | ArrayLike | pd.DataFrame

BipartiteStep = Callable[[MixtureOracle], Bipartite]


class LatentGraphLearner(LabelledResults, Foresight, Bootstrapping, BaseEstimator):  # type: ignore[misc]
    """Finds the hidden discrete causes behind data, and the causal graph among them.

    Parameters
    ----------
    oracle : {"signature", "projection", "kmeans"} or object
        Step (a). Where some variables show no components on their own (single binary items, for
        one), "signature" brings the candidates of "projection" as well. A name stands for the
        object with its defaults: ``SignatureOracle(max_components=5)`` overrules the learner's
        limit, ``SignatureOracle()`` takes it over. An object of your own has
        ``fit(observations)``, which returns a :class:`~mixoracle.MixtureOracle` with
        ``assignments``.
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
    n_jobs : int or None
        Observed variables that are worked on at the same time; None is 1.
    random_state : int, numpy.random.Generator or None
        Of what is drawn; the answer of the default oracle does not depend on it.
    progress : bool or callable
        Show what is being done; a callable is called with each stage, a sentence.
    knowledge : Background, optional
        What is known about the latents beforehand: children, domain sizes, arrows among them.
        Γ is corrected accordingly; what cannot be honoured is a failed verdict.
    families : str or mapping from name to str, optional
        The family of the components, of all or of some observed variables, where the kind of a
        column does not tell it: ``gaussian``, ``diagonal`` (independent columns), ``student``
        (heavy tails), ``gamma`` (positive amounts) or ``counts``.
    set_aside : bool
        Treat numbers that stand alone, far from all others of their variable, as missing, and
        numbers that repeat exactly where others do not (a sensor at its limit). One such value
        in a thousand would otherwise pass for a state of its own.
    resolution : "auto", None or float
        How finely the data are believed: as at most so many rows, however many there are. None
        takes every row for what it is. So does "auto", unless components have another shape than
        their family: then coarser answers stand beside the finest, and the one is taken that
        explains best the dependence among several variables.
    exposure : str, optional
        The column that says out of how much each row's counts are (a depth, a time), or "total"
        for the total of all counts of the row. Counts are then Poisson or negative binomial for
        each unit of it, and the column is no measurement.
    n_init : "auto" or int
        Starts of the search; the best answer is kept. "auto" starts again, up to 6 times, until the
        best answer was reached twice, where one mixture over all variables gave it. These starts
        are the same for every ``random_state``.
    n_latents : int, optional
        How many latents there should be. Otherwise the data say it.
    domain_sizes : sequence of int, optional
        How many states they should have, in any order. A verdict says what that costs.
    time_limit : float, optional
        Seconds of the wall after which whatever the answer can do without is left out: further
        starts, changes, candidates and iterations. What an answer needs is done in any case. None
        is the most that :meth:`cost` says, in CPU seconds of this process; inf is no limit.
    memory_limit : float, optional
        Bytes; a fit that may need more, as :meth:`cost` says, is refused before any work.

    Attributes
    ----------
    model_ : LatentModel
    counts_ : ComponentCounts
        ``counts_[{0, 2}]`` is k(S) with its confidence, before any correction by knowledge.
    bipartite_ : Bipartite
        Γ as step (b) recovered it and knowledge corrected it, with its residual and method.
    assumptions_ : tuple of Verdict
    verdict_ : Overall
        How far to believe the answer: ``level`` is "believe", "part" or "doubt"; ``reasons``.
    states_ : (N, m) int array
        The most likely state of each latent in each row.
    oracle_ : MixtureOracle
        Answers k(S) and L of the model. It holds no data, unless an oracle that counts does.
    source_ : str
        Where the model comes from: the name of an oracle, or "knowledge".
    alternatives_ : tuple of Alternative
        Other candidates that were refined, best first; then the answers that differ in one thing
        which the evidence leaves open (``change``): an edge of Γ, two states, the class of Λ.
    drive_posterior_ : (n, m) array
        How probable each edge of Γ is, found or not.
    edge_posterior_ : EdgePosterior or None
        How probable each edge of Λ is, averaged over all DAGs, and as far as the latents are as
        found; None beyond 12 latents.
    known_arrows_ : ResolvedKnowledge
        The arrows of Λ, by place, that were required or forbidden beforehand.
    bic_, log_likelihood_, converged_, n_iter_ : the refinement of the answer
    resolution_ : float
        The resolution of the model, infinite if every row was taken for what it is.
    resolutions_ : tuple of Resolution
        The answers along the path over resolutions, finest first; only one where the components
        have the shape of their family, because no coarser one is looked for.
    left_out_ : tuple of str
        What was left out for lack of time.
    passes_ : Passes or None
        How many rows P(H) and the components are from, where these are more than fit into memory;
        all else is then about a random sample of them.
    n_starts_, n_starts_agreed_ : int
        How many starts there were, and how many of them ended at the structure of the answer.
    columns_ : tuple of Column
        What each column was taken for: levels, counts, numbers of a family.
    set_aside_ : (N, n) bool array
        The values that stand alone and were treated as missing.
    repairs_ : tuple of str
        What was changed to make the counts consistent.
    corrections_ : tuple of str
        What was changed in Γ because it is known to be otherwise.
    feature_names_in_ : array of str
        The columns of a frame that were learned from; absent where columns have no names.

    Examples
    --------
    >>> from mixoracle.datasets import paper_problem
    >>> problem = paper_problem(2, 5, 3, n_samples=1000, random_state=1, covariance="code")
    >>> learner = LatentGraphLearner(random_state=0).fit(problem.observations)
    >>> learner.model_.domain_sizes == problem.model.domain_sizes
    True
    """

    model_: LatentModel
    counts_: ComponentCounts
    bipartite_: Bipartite
    assumptions_: tuple[assumptions.Verdict, ...]
    verdict_: Overall
    states_: Integers
    oracle_: MixtureOracle
    source_: str
    alternatives_: tuple[Alternative, ...]
    bic_: float
    log_likelihood_: float
    converged_: bool
    n_iter_: int
    repairs_: tuple[str, ...]
    corrections_: tuple[str, ...]
    edge_posterior_: structure.EdgePosterior | None
    drive_posterior_: Floats
    n_features_in_: int
    set_aside_: Bools
    resolution_: float
    resolutions_: tuple[Resolution, ...]
    left_out_: tuple[str, ...]
    passes_: Passes | None
    n_starts_: int
    n_starts_agreed_: int
    # Not for users: what the numbers are worth is measured by changing them here.
    _settings: ClassVar[Settings] = Settings()

    def __init__(
        self,
        oracle: str | CandidateOracle | LearningOracle = "signature",
        bipartite: bipartite.Method | BipartiteStep = "auto",
        latent_search: str | LatentSearchStep = "auto",
        max_components: int | None = None,
        refine: bool = True,
        strict: bool = False,
        n_jobs: int | None = 1,
        random_state: RandomState = None,
        progress: bool | Report = False,
        knowledge: Background | None = None,
        families: Families = None,
        set_aside: bool = True,
        resolution: float | Auto | None = "auto",
        exposure: str | None = None,
        n_init: Starts = "auto",
        n_latents: int | None = None,
        domain_sizes: Sequence[int] | None = None,
        time_limit: float | None = None,
        memory_limit: float | None = None,
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
        self.set_aside = set_aside
        self.resolution = resolution
        self.exposure = exposure
        self.n_init = n_init
        self.n_latents = n_latents
        self.domain_sizes = domain_sizes
        self.time_limit = time_limit
        self.memory_limit = memory_limit

    @one_thread()
    @freed_memory_kept()
    def fit(
        self, X: Rows, y: object = None, *, groups: Groups | None = None, columns: Said = None
    ) -> Self:
        """Learn the model behind the rows of ``X``; ``y`` is ignored.

        ``groups`` says which columns of an array or a frame are one observed variable, as in
        :meth:`Observations.from_array <mixoracle.Observations.from_array>`; ``columns`` says what
        each column of a frame is, as :meth:`understood` returns it. Rows that do not fit into
        memory are :class:`~mixoracle.ChunkedObservations` or a Dask collection.
        """
        chunked, n_jobs = as_chunked(X, groups, columns), 1 if self.n_jobs is None else self.n_jobs
        if chunked is not None:
            self._cost(chunked).check_memory(self.memory_limit)
            X = sample_of(chunked, self._settings, make_generator(self.random_state), n_jobs)
            groups = columns = None
        source, read = Source.read(X, groups, self.exposure, columns)
        observations, exposure = exposed(read, self.exposure, self.families)
        oracle = resolve(self.oracle)
        known = checked(self.knowledge, self.latent_search).resolved(observations.names)
        self._check_steps()
        wanted = asked_for(self.n_latents, self.domain_sizes)
        settings = self._within_limits(observations if chunked is None else chunked)
        with reporting(self.progress) as report:
            rng, limit = make_generator(self.random_state), self.max_components
            run = Run(rng, limit, n_jobs, report, settings, self.resolution, wanted)
            report(Stage.PREPARING)
            distinct, copies = without_copies(observations)
            prepared = prepare(
                distinct,
                self.families,
                settings,
                set_aside=self.set_aside,
                exposed=() if exposure is None else exposure.variables,
                n_jobs=n_jobs,
                tell=steps_of(Stage.PREPARING, report),
            )
            iterations = settings.budget.em if self.refine else 0
            arrows = LatentSearch(self.latent_search).arrows
            solver = Solver(prepared, known, self.bipartite, self.strict, iterations, run, arrows)
            found = solve_from_starts(solver, oracle, self.n_init)
            if chunked is not None:
                found = learned_from_all(chunked, found, self._build, solver, source, exposure)
            report(Stage.SEARCHING)
            models = [self._build(solution) for solution in found.solutions]
            report(Stage.CHECKING)
            resampler = Resampler.of(solver, oracle, self.latent_search, *models[0])
            self._take_over(source, solver, found, models, copies, resampler, exposure)
        self._remember(observations, source.columns, X)
        return self

    def _take_over(
        self,
        source: Source,
        solver: Solver,
        found: Started,
        models: list[tuple[LatentModel, Integers]],
        copies: Integers,
        resampler: Resampler,
        exposure: Exposure | None,
    ) -> None:
        """Keep what was learned, all of it at once, so that nothing of two fits is mixed."""
        best, (model, states), settings = found.solutions[0], models[0], solver.run.settings
        prepared, observations = best.prepared, best.prepared.observations
        refinement = best.refinement
        confidence = Confidence.of(best.counts, best.graph, prepared, refinement, settings)
        drives = confidence.drives
        verdicts = checks.of_answer(model, found.solutions, solver, found.candidates, drives.alike)
        failure = essential_failure(verdicts)
        if failure and self.strict:
            raise AssumptionFailedError(failure)
        model = readable(model, best, source, exposure, settings)
        self.__dict__.update(
            _source=source,
            _resampler=resampler,
            _learned_from=observations.take(slice(0, 1)),
            columns_=prepared.columns,
            set_aside_=prepared.set_aside[copies],
            _n_copies=len(copies) - int(copies.max()) - 1,
            resolution_=best.resolution,
            resolutions_=resolutions(found.candidates),
            n_starts_=found.n_starts,
            n_starts_agreed_=found.n_agreed,
            oracle_=best.counts,
            source_=best.source,
            counts_=confidence.counts(observations.names),
            bipartite_=best.graph,
            model_=model,
            _learned_as=model,
            states_=reassigned(model, prepared, states)[copies],
            bic_=refinement.bic,
            log_likelihood_=refinement.log_likelihood,
            converged_=refinement.converged,
            n_iter_=len(refinement.history) - 1,
            repairs_=best.repairs,
            corrections_=best.known.corrections,
            alternatives_=other_candidates(found.solutions, models),
            edge_posterior_=posterior_of(model, best.n_rows, best.known.edges),
            known_arrows_=best.known.edges.resolved(model.latent_names),
            passes_=best.passes,
            n_features_in_=sum(observations.widths),
            assumptions_=verdicts,
        )
        self.verdict_ = judged(self, verdicts, resampler, confidence.unsure())
        self.counts_ = confidence.counts(observations.names, self.verdict_.grade)
        self.drive_posterior_ = confidence.edges(self.verdict_.grade)
        self.edge_posterior_ = of_graph(self.edge_posterior_, self.verdict_.grade)
        # Not before the verdict: whatever is open about single things has its own support.
        self.alternatives_ += one_thing_else(
            solver, found.solutions, drives, models[0][0], self._build, resampler.search
        )
        self.left_out_ = tuple(settings.clock.left_out)
        if failure:
            warnings.warn(failure, AssumptionWarning, stacklevel=3)

    def _check_steps(self) -> None:
        """Refuse a step or a flag that nobody knows before any work is done."""
        check_starts(self.n_init)
        for name in ("refine", "strict", "set_aside"):
            check_flag(name, getattr(self, name))
        if not callable(self.bipartite):
            bipartite.check_method(self.bipartite, "bipartite")
        if not callable(self.latent_search):
            structure.check_method(self.latent_search, "latent_search")

    def _build(self, solution: Solution) -> tuple[LatentModel, Integers]:
        """The model, and the states of the rows."""
        joint, components, states = solution.in_own_units()
        model = LatentModel(
            observed_names=solution.prepared.observations.names,
            latent_names=solution.known.latent_names,
            bipartite=solution.graph.adjacency,
            domain_sizes=solution.graph.domain_sizes,
            joint=joint,
            latent_graph=LatentSearch(self.latent_search)(joint, solution.n_rows, solution),
            components=components,
            state_names=solution.known.state_names,
        )
        return model, states
