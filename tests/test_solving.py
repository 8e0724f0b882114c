"""Answers that no oracle gave: a Γ that is known, and a single latent beside several."""

import warnings

import numpy as np
import pytest

from mixoracle import Background, KnownLatent, LatentGraphLearner, Observations
from mixoracle.datasets import item_problem
from mixoracle.errors import AssumptionWarning, KnowledgeConflictError
from mixoracle.metrics import compare
from mixoracle.mixtures.preparation import prepare
from mixoracle.model import Bipartite
from mixoracle.model.joint import MANY_EMPTY
from mixoracle.oracles.candidate import Candidate, GraphCounts
from mixoracle.oracles.run import Run
from mixoracle.solving import Solver


def known(model):
    latents = [
        KnownLatent(
            name,
            children=[int(i) for i in np.flatnonzero(model.bipartite[:, j])],
            exactly=True,
            domain_size=model.domain_sizes[j],
        )
        for j, name in enumerate(model.latent_names)
    ]
    return Background(latents, complete=True)


def fitted(observations, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        return LatentGraphLearner(**{"random_state": 0, "n_init": 1} | settings).fit(observations)


def skills_in_a_chain(seed, n_samples=800):
    """Three skills of which each needs the one before: four of eight profiles occur."""
    rng = np.random.default_rng(seed)
    level = rng.integers(4, size=n_samples)
    skills = level[:, None] > np.arange(3)
    chance = np.where(np.repeat(skills, 4, axis=1), 0.9, 0.1)
    answers = (rng.random(chance.shape) < chance).astype(float)
    names = [f"item{i + 1}" for i in range(12)]
    return Observations.from_array(answers, names=names)


@pytest.mark.parametrize("seed", range(3))
def test_a_graph_that_is_known_is_the_answer(seed):
    problem = item_problem(2, 10, n_samples=400, random_state=seed)
    learner = fitted(problem.observations, knowledge=known(problem.model))
    places = [learner.model_.latent_names.index(name) for name in problem.model.latent_names]
    found_graph = learner.model_.bipartite[:, places]
    np.testing.assert_array_equal(found_graph, problem.model.bipartite)
    found = compare(problem.model, learner.model_)
    assert found.domains_exact
    assert found.joint_tv < 0.15


def test_knowledge_that_leaves_something_open_is_not_complete():
    problem = item_problem(2, 10, n_samples=400, random_state=0)
    latents = known(problem.model).latents
    names = problem.observations.names
    assert known(problem.model).resolved(names).whole_graph() is not None
    assert Background(latents).resolved(names).whole_graph() is None
    first = latents[0]
    for half_known in (
        KnownLatent(first.name, first.children, exactly=True),
        KnownLatent(first.name, first.children, domain_size=2),
    ):
        with pytest.raises(KnowledgeConflictError, match=f"{first.name!r} leaves something open"):
            Background([half_known, *latents[1:]], complete=True)
    with pytest.raises(KnowledgeConflictError, match="there is none"):
        Background(complete=True)


@pytest.mark.parametrize("seed", range(2))
def test_profiles_that_do_not_occur_are_named_and_a_single_latent_stands_beside(seed):
    observations = skills_in_a_chain(seed)
    latents = [
        KnownLatent(f"skill{j + 1}", range(4 * j, 4 * j + 4), exactly=True, domain_size=2)
        for j in range(3)
    ]
    learner = fitted(observations, knowledge=Background(latents, complete=True))
    assert learner.model_.domain_sizes == (2, 2, 2)
    assert len(learner.model_.joint.nearly_empty()) == 4
    (positive,) = [v for v in learner.assumptions_ if v.label == "assump:strong:NZ"]
    assert "nearly empty" in positive.message or "never occurs" in positive.message
    single = [other for other in learner.alternatives_ if other.model.n_latent == 1]
    assert any(other.model.domain_sizes[0] in (4, 5, 6) for other in single)


@pytest.mark.parametrize("seed", range(2))
def test_a_chain_of_skills_is_not_explained_by_more_latents(seed):
    observations = skills_in_a_chain(seed)
    learner = fitted(observations)
    assert learner.model_.n_latent <= 3


@pytest.mark.parametrize("seed", range(2))
def test_runners_up_differ_from_the_answer_and_from_each_other(seed):
    problem = item_problem(2, 12, n_samples=800, random_state=seed)
    learner = fitted(problem.observations)
    models = [learner.model_, *(other.model for other in learner.alternatives_)]
    shapes = [
        (sorted((m.children(j), size) for j, size in enumerate(m.domain_sizes)), m.latent_graph)
        for m in models
    ]
    assert all(one != two for i, one in enumerate(shapes) for two in shapes[:i])


def test_all_candidates_within_the_evidence_are_refined():
    rows = np.random.default_rng(0).normal(size=(40, 2))
    prepared = prepare(Observations.from_array(rows))
    run = Run(np.random.default_rng(0))
    solver = Solver(prepared, Background().resolved(("X1", "X2")), "auto", False, 1, run)
    graph = Bipartite(np.zeros((2, 0), dtype=bool), ())

    def candidate(evidence):
        counts = GraphCounts(graph, np.ones(1))
        return Candidate("one", counts, lambda _: None, graph, log_evidence=evidence)

    # The best few come along as long as they are not hopeless, the others if they are close.
    evidence = [0.0, -12.0, -15.0, -1_000.0]
    few = solver._worth_refining([candidate(own) for own in evidence])
    assert [own.strength for own in few] == [0.0, -12.0, -15.0]
    close = [0.0, -1.0, -2.0, -3.0, -4.0, -9.0, -11.0]
    all_of_them = solver._worth_refining([candidate(own) for own in close])
    assert [own.strength for own in all_of_them] == close[:-1]


@pytest.mark.parametrize("seed", range(3))
def test_no_single_latent_stands_beside_several_that_depend_on_each_other(seed):
    """A third of the joint states is nearly empty, as the pairs of latents say."""
    rng = np.random.default_rng(seed)
    states = np.empty((4_000, 6), dtype=np.int64)
    states[:, 0] = rng.integers(2, size=4_000)
    for j in range(1, 6):
        states[:, j] = np.where(rng.random(4_000) < 0.85, states[:, j - 1], 1 - states[:, j - 1])
    means = rng.normal(size=(18, 2, 2))
    means[:, 1] = means[:, 0] + 1.0
    blocks = {
        f"X{i + 1}": means[i][states[:, i // 3]] + 0.05 * rng.normal(size=(4_000, 2))
        for i in range(18)
    }
    learner = LatentGraphLearner(random_state=0).fit(Observations.from_arrays(blocks))
    assert learner.model_.domain_sizes == (2,) * 6
    assert len(learner.model_.joint.nearly_empty()) >= 64 * MANY_EMPTY
    assert all(other.model.n_latent > 1 for other in learner.alternatives_)
