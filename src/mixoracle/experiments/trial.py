"""One run: draw a problem, learn from its observations, compare with its truth.

A run is a function of its task alone: everything random is seeded by the task, and numerical
libraries are held to one thread, so that it gives the same wherever and whenever it is made. The
learner sees the observations and a seed, nothing else. Beside it the limit is computed: the same
search, on the table of the true hidden states of the same rows.

Whatever goes wrong in a run is its result, with the stage that was reached.
"""

from __future__ import annotations

import logging
import warnings
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mixoracle.errors import AssumptionWarning, MixoracleError
from mixoracle.experiments.results import Result, Score
from mixoracle.experiments.studies import Task
from mixoracle.oracles.run import Stage

if TYPE_CHECKING:
    from mixoracle.datasets import Problem
    from mixoracle.learner import LatentGraphLearner
    from mixoracle.metrics import Comparison
    from mixoracle.model import LatentModel

logger = logging.getLogger(__name__)

# The stages that the learner reports after the oracle, and the stage of a trial that then begins.
LEARNER_STAGES: dict[str, str] = {
    Stage.REFINING: "graph",
    Stage.SEARCHING: "search",
}
# The verdict that says whether steps (b) to (d) met a contradiction.
_CONSISTENCY = "obs:counting"


def perform(task: Task) -> Result:
    """Make one run."""
    from threadpoolctl import threadpool_limits

    trial = _Trial(task)
    with threadpool_limits(limits=1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = trial.run()
        except MixoracleError as error:
            result = trial.failed(error)
        # A study of hundreds of runs must not end with one of them: what nobody expected is kept
        # as a failed run with its type and message, where it is counted and can be found, and its
        # traceback goes to the log. KeyboardInterrupt and SystemExit pass: they are no Exception.
        except Exception as error:
            logger.exception("run %d ended with an error that is not mixoracle's", task.number)
            result = trial.failed(error)
    others = {w.category.__name__ for w in caught if w.category is not AssumptionWarning}
    return replace(result, warned=tuple(sorted(others)))


class _Trial:
    """A run under way: the stage it is in, and what is known of it for certain."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.stage = "draw"
        m, n = task.setting
        self.known: dict[str, Any] = {
            "run": task.number,
            "arm": task.arm,
            "m": m,
            "n": n,
            "samples": task.conditions.n_samples,
        }

    def run(self) -> Result:
        """Draw, learn and compare."""
        for_problem, for_learner = np.random.SeedSequence(self.task.entropy).spawn(2)
        problem = self._draw(for_problem)
        self.known["domains"] = problem.model.domain_sizes
        self.known["edges"] = edge_count(problem.model)
        truth = with_true_dag(problem)
        self.known["limit"] = score(truth, self._limit(problem), problem.model)[0]
        learner = self._learn(problem, int(for_learner.generate_state(1)[0]))
        self.stage = "compare"
        return self._judge(problem, truth, learner)

    def failed(self, error: Exception) -> Result:
        """The result of a run that ended with an error."""
        reason = f"{type(error).__name__}: {error}"
        return Result(**self.known, status="failed", stage=self.stage, reason=reason)

    def _draw(self, seed: np.random.SeedSequence) -> Problem:
        from mixoracle.datasets import paper_problem

        asked = self.task.conditions
        # A model is drawn before its samples, so a seed gives one model for all sample sizes.
        rng = np.random.default_rng(seed)
        problem = paper_problem(
            *self.task.setting,
            asked.max_domain,
            asked.n_samples,
            rng,
            cast("Any", asked.covariance),
            max_joint_states=asked.max_joint_states,
            width=asked.width,
            scale=asked.scale,
        )
        return problem if asked.noise == "gaussian" else reshaped(problem, asked.noise, rng)

    def _limit(self, problem: Problem) -> LatentModel:
        """The truth with Λ searched, and P(H) counted, from the true states of the rows."""
        from mixoracle.model import JointTable
        from mixoracle.structure import learn

        sizes = problem.model.domain_sizes
        counts = np.zeros(sizes)
        np.add.at(counts, tuple(problem.states.T), 1.0)
        joint = JointTable(counts / len(problem.states))
        graph = learn(joint, len(problem.states), method=self.task.conditions.search)
        return replace(problem.model, joint=joint, latent_graph=graph)

    def _learn(self, problem: Problem, seed: int) -> LatentGraphLearner:
        from mixoracle.learner import LatentGraphLearner

        learner = LatentGraphLearner(
            oracle=self.task.conditions.oracle,
            latent_search=self.task.conditions.search,
            random_state=seed,
            progress=self._heard,
        )
        self.stage = "oracle"
        started = perf_counter()
        try:
            return learner.fit(problem.observations)
        finally:
            self.known["seconds"] = round(perf_counter() - started, 3)

    def _heard(self, told: str) -> None:
        self.stage = LEARNER_STAGES.get(told, self.stage)

    def _judge(self, problem: Problem, truth: LatentModel, learner: LatentGraphLearner) -> Result:
        from mixoracle.metrics import compare_states

        estimate = learner.model_
        scored, comparison = score(truth, estimate, problem.model)
        broken = [verdict for verdict in learner.assumptions_ if verdict.holds is False]
        trouble = [verdict.message for verdict in broken if verdict.label == _CONSISTENCY]
        agreement = compare_states(problem.states, learner.states_).joint_accuracy
        return Result(
            **self.known,
            status="fallback" if trouble else "answered",
            stage="graph" if trouble else "",
            reason=trouble[0] if trouble else "",
            found=estimate.n_latent,
            gamma=comparison.bipartite_exact,
            sizes=comparison.domains_exact,
            score=scored,
            accuracy=None if np.isnan(agreement) else round(agreement, 6),
            broken=tuple(sorted({verdict.label for verdict in broken})),
        )


def reshaped(problem: Problem, noise: str, rng: np.random.Generator) -> Problem:
    """The problem with components of another shape, and new rows drawn from them."""
    from mixoracle.datasets import sample
    from mixoracle.datasets.shapes import reshape_components

    model = reshape_components(problem.model, cast("Any", noise))
    observations, states = sample(model, problem.observations.n_samples, rng)
    return replace(problem, model=model, observations=observations, states=states)


def with_true_dag(problem: Problem) -> LatentModel:
    """The truth with its DAG for Λ: the paper measures the SHD to the DAG, not to its class."""
    from mixoracle.model import CPDAG

    if problem.dag is None:
        return problem.model
    return replace(problem.model, latent_graph=CPDAG(problem.model.n_latent, problem.dag))


def score(
    truth: LatentModel, estimate: LatentModel, true_class: LatentModel
) -> tuple[Score, Comparison]:
    """Compare an estimate with the true DAG, and its Λ with the true equivalence class."""
    from mixoracle.metrics import compare, relabel

    found = compare(truth, estimate)
    exact = found.bipartite_exact and found.domains_exact and found.shd == 0
    if exact:
        order = cast("tuple[int, ...]", found.matching.latents)
        exact = relabel(estimate, order).latent_graph == true_class.latent_graph
    return Score(found.shd, found.unoriented_correct, exact, found.joint_tv), found


def edge_count(model: LatentModel) -> int:
    """|E(G)|: the edges of Γ and of Λ."""
    graph = model.latent_graph
    return int(model.bipartite.sum()) + len(graph.directed) + len(graph.undirected)
