import warnings
from dataclasses import replace

import numpy as np
import pytest

import mixoracle.bipartite
import mixoracle.datasets
import mixoracle.learner
import mixoracle.metrics
import mixoracle.solving
from mixoracle import LatentGraphLearner
from mixoracle.datasets import paper_problem
from mixoracle.errors import InconsistentCountsError, NotRecoverableError
from mixoracle.experiments.studies import define
from mixoracle.experiments.trial import (
    LEARNER_STAGES,
    edge_count,
    perform,
    reshaped,
    score,
    with_true_dag,
)
from mixoracle.model import CPDAG
from mixoracle.trust.latent_search import LatentSearch


@pytest.fixture
def task():
    """A run with two latents that is solved in a fraction of a second."""
    return define("small", samples=[500], runs=1).task(0)


def raising(error):
    def fail(*_args, **_kwargs):
        raise error

    return fail


def test_a_run_depends_on_its_task_alone(quick_study):
    for number in (0, 5):
        task = quick_study.task(number)
        np.random.seed(number)  # noqa: NPY002 (a global state must make no difference)
        one, two = (replace(perform(task), seconds=None) for _ in range(2))
        assert one == two


def test_easy_problems_are_solved_up_to_the_limit():
    study = define("small", samples=[2000], runs=3, seed=1)
    for number in range(3):
        result = perform(study.task(number))
        assert result.status == "answered"
        assert result.gamma
        assert result.sizes
        assert result.score == result.limit
        assert result.accuracy == 1.0
        assert result.seconds > 0
        assert result.found == result.m == len(result.domains)


def test_a_seed_gives_one_model_for_all_sample_sizes():
    study = define("samples", samples=[300, 400], runs=1)
    for place in range(1):
        few, many = (perform(study.task(2 * place + i)) for i in range(2))
        assert (few.domains, few.edges) == (many.domains, many.edges)
        assert (few.samples, many.samples) == (300, 400)


def test_the_learner_names_the_stages_that_we_listen_for(task):
    m, n = task.setting
    told = []
    problem = paper_problem(m, n, 3, 300, 0, "code")
    LatentGraphLearner(random_state=0, progress=told.append).fit(problem.observations)
    positions = [told.index(stage) for stage in LEARNER_STAGES]
    assert positions == sorted(positions)
    assert positions[0] > 0  # the oracle's own work comes first


@pytest.mark.parametrize(
    ("where", "name", "stage"),
    [
        (mixoracle.datasets, "paper_problem", "draw"),
        (mixoracle.SignatureOracle, "candidates", "oracle"),
        (mixoracle.solving, "refine", "graph"),
        (LatentSearch, "__call__", "search"),
        (mixoracle.metrics, "compare_states", "compare"),
    ],
)
@pytest.mark.parametrize("error", [NotRecoverableError("no graph"), ZeroDivisionError("bug")])
def test_whatever_goes_wrong_is_recorded_with_its_stage(
    monkeypatch, task, where, name, stage, error
):
    monkeypatch.setattr(where, name, raising(error))
    result = perform(task)
    assert (result.status, result.stage) == ("failed", stage)
    assert result.reason == f"{type(error).__name__}: {error}"
    assert result.score is None
    assert (result.edges is None) == (stage == "draw")
    assert (result.seconds is None) == (stage == "draw")


def test_only_the_unexpected_goes_to_the_log(monkeypatch, task, caplog):
    monkeypatch.setattr(LatentGraphLearner, "fit", raising(NotRecoverableError("known")))
    perform(task)
    assert not caplog.records
    monkeypatch.setattr(LatentGraphLearner, "fit", raising(ZeroDivisionError("unknown")))
    perform(task)
    assert "Traceback" in caplog.text


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interruption_is_no_result(monkeypatch, task, error):
    monkeypatch.setattr(LatentGraphLearner, "fit", raising(error()))
    with pytest.raises(error):
        perform(task)


def test_a_contradiction_that_the_learner_survives_is_recorded(monkeypatch, task):
    reason = "k({X1}) = 7 fits no graph"
    monkeypatch.setattr(
        mixoracle.solving.Solver, "_by_decoding", raising(InconsistentCountsError(reason))
    )
    result = perform(task)
    assert (result.status, result.stage, result.reason) == ("fallback", "graph", reason)
    assert "obs:counting" in result.broken
    assert result.score is not None


def test_warnings_are_recorded_and_not_shown(monkeypatch, task):
    fit = LatentGraphLearner.fit

    def noisy(self, *args, **kwargs):
        warnings.warn("did not converge", RuntimeWarning, stacklevel=2)
        return fit(self, *args, **kwargs)

    monkeypatch.setattr(LatentGraphLearner, "fit", noisy)
    assert perform(task).warned == ("RuntimeWarning",)


def test_edges_and_distance_are_those_of_the_dag():
    problem = paper_problem(4, 8, 2, 50, 0, "code")
    truth = with_true_dag(problem)
    assert truth.latent_graph.directed == problem.dag
    assert edge_count(truth) == edge_count(problem.model)
    assert edge_count(truth) == int(truth.bipartite.sum()) + len(problem.dag)
    right, _ = score(truth, problem.model, problem.model)
    assert (right.shd, right.exact, right.tv) == (0, True, 0.0)
    assert right.uce == len(problem.model.latent_graph.undirected)


def test_a_right_skeleton_with_another_class_is_not_exact():
    problem = paper_problem(3, 7, 2, 50, 1, "code")
    truth = with_true_dag(problem)
    pairs = [(0, 1), (0, 2), (1, 2)]
    assert {frozenset(edge) for edge in problem.dag} <= {frozenset(pair) for pair in pairs}
    everything = CPDAG(3, frozenset(), frozenset(frozenset(edge) for edge in problem.dag))
    estimate = replace(problem.model, latent_graph=everything)
    found, _ = score(truth, estimate, problem.model)
    assert found.shd == 0
    assert found.exact == (everything == problem.model.latent_graph)


@pytest.mark.parametrize("noise", ["ball", "heavy", "laplace", "skewed"])
def test_other_noise_keeps_the_model_and_its_moments(noise):
    problem = paper_problem(2, 5, 2, 20_000, 0, "code")
    other = reshaped(problem, noise, np.random.default_rng(1))
    assert other.model.joint == problem.model.joint
    assert np.array_equal(other.model.bipartite, problem.model.bipartite)
    for name in problem.observations.names:
        one, two = problem.observations[name], other.observations[name]
        # 20 000 rows: means are known to 0.01, variances to a few per cent of theirs.
        np.testing.assert_allclose(one.mean(axis=0), two.mean(axis=0), atol=0.03)
        np.testing.assert_allclose(np.cov(one.T), np.cov(two.T), atol=0.03)
