import warnings

import numpy as np
import pytest

from mixoracle import Background, KnownLatent, LatentGraphLearner
from mixoracle.datasets import load_machine, load_skills, paper_problem, random_model
from mixoracle.decoding.explanation import structure_of
from mixoracle.trust import alternatives
from mixoracle.trust.alternatives import one_thing_else
from mixoracle.trust.drives import Drives
from mixoracle.trust.edges import SURE
from mixoracle.trust.latent_search import LatentSearch
from mixoracle.trust.starts import solve_from_starts


def fit(rows, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LatentGraphLearner(random_state=0, **more).fit(rows)


def weakly_driven(seed, effect=0.45, n=120):
    """Five columns; the last one hardly differs between the states of the only cause."""
    rng = np.random.default_rng(seed)
    state = rng.integers(2, size=n)
    rows = rng.normal(size=(n, 5))
    rows[:, :4] += 8.0 * state[:, None]
    rows[:, 4] += effect * state
    return rows


PAIRS = np.array([[0, 1], [0, 1]])


@pytest.fixture(scope="module")
def solved():
    """A solver, its solution for two causes of 2 and 3 states, and how models are built."""
    drawn = (random_model(2, 6, 3, random_state=seed, covariance="code") for seed in range(50))
    model = next(held for held in drawn if sorted(held.domain_sizes) == [2, 3])
    rows = paper_problem(model=model, n_samples=300, random_state=0).observations
    learner = fit(rows)
    solver = learner._resampler.solver
    found = solve_from_starts(solver, learner._resampler.oracle, 1)
    return solver, found.solutions[0], learner._build


def changes(learner):
    return [other.change for other in learner.alternatives_ if other.change]


def test_an_edge_that_is_open_is_an_alternative_as_a_model():
    seen = 0
    for seed in range(8):
        learner = fit(weakly_driven(seed))
        assert learner.model_.n_latent == 1
        drives = bool(learner.model_.bipartite[4, 0])
        said = "H1 does not drive X5" if drives else "H1 also drives X5"
        found = [other for other in learner.alternatives_ if other.change == said]
        for other in found:
            seen += 1
            expected = learner.model_.bipartite.copy()
            expected[4, 0] = not drives
            np.testing.assert_array_equal(other.model.bipartite, expected)
            assert other.model.components is not None
            assert other.bic == pytest.approx(learner.bic_ - other.bic_gap)
            assert (other.bic_gap < 0) == bool(other.rejected)
    assert 2 <= seen <= 8


def test_what_is_certain_has_no_alternative():
    for seed in range(6):
        assert changes(fit(weakly_driven(seed, effect=8.0, n=300))) == []


def test_states_that_may_be_one_are_an_alternative(solved):
    solver, solution, build = solved
    graph, m = solution.graph, solution.graph.n_latent
    certain = graph.adjacency.astype(float)
    for j in range(m):
        states = np.ones(m)
        states[j] = 0.7
        drives = Drives(certain, states, np.tile([0, 1], (m, 1)), np.zeros(len(certain), bool))
        model, _ = build(solution)
        (other,) = one_thing_else(solver, [solution], drives, model, build, LatentSearch("pc"))
        size = graph.domain_sizes[j]
        if size == 2:
            left = f"which leaves {m - 1} hidden cause{'' if m == 2 else 's'}"
            assert other.change == f"H{j + 1} is no cause of its own, {left}"
            assert other.model.n_latent == m - 1
        else:
            assert other.change == f"H{j + 1} has {size - 1} states instead of {size}"
            assert other.model.domain_sizes[j] == size - 1
        assert other.bic_gap > 100
        assert not other.rejected


def test_most_alternatives_are_bounded_by_the_work(solved, monkeypatch):
    solver, solution, build = solved
    graph = solution.graph
    drives = Drives(
        np.full(graph.adjacency.shape, 0.4),
        np.ones(graph.n_latent),
        PAIRS,
        np.zeros(graph.n_observed, bool),
    )
    model, _ = build(solution)
    monkeypatch.setattr(alternatives, "_MOST_WORK", 1)
    found = one_thing_else(solver, [solution], drives, model, build, LatentSearch("pc"))
    assert len(found) == 1
    assert "does not drive" in found[0].change


@pytest.mark.parametrize("seed", range(6))
def test_other_classes_share_everything_but_the_graph(seed):
    model = random_model(3, 7, 2, random_state=seed, covariance="code")
    learner = fit(paper_problem(model=model, n_samples=300, random_state=seed).observations)
    classes = [other for other in learner.alternatives_ if other.change]
    graphs = [other.model.latent_graph for other in classes]
    assert learner.model_.latent_graph not in graphs
    assert len(set(graphs)) == len(graphs)
    for other in classes:
        assert other.bic_gap < np.log(SURE / (1.0 - SURE))
        assert (other.bic_gap < 0) == bool(other.rejected)
        np.testing.assert_array_equal(other.model.bipartite, learner.model_.bipartite)
        assert other.model.joint is learner.model_.joint or np.array_equal(
            other.model.joint.table, learner.model_.joint.table
        )
        for name in ("H1", "H2", "H3"):
            if name in other.change:
                assert name in learner.model_.latent_names


def test_an_edge_that_is_neither_seen_nor_ruled_out_is_among_the_alternatives():
    open_pairs = named = 0
    for seed in range(10):
        model = random_model(2, 6, 2, random_state=seed, covariance="code")
        learner = fit(paper_problem(model=model, n_samples=200, random_state=seed).observations)
        if learner.model_.n_latent != 2 or learner.verdict_.grade != "believe":
            continue
        share = learner.edge_posterior_.adjacency[0, 1]
        if 0.2 < share < 0.9:
            open_pairs += 1
            named += bool(changes(learner))
    assert open_pairs >= 2
    assert named == open_pairs


def test_what_is_known_is_no_alternative():
    names = [f"X{i}" for i in range(1, 6)]
    known = Background([KnownLatent("cause", names, exactly=True, domain_size=2)], complete=True)
    for seed in range(6):
        assert changes(fit(weakly_driven(seed), knowledge=known)) == []


def test_a_search_by_another_rule_has_no_other_classes():
    model = random_model(2, 6, 2, random_state=3, covariance="code")
    rows = paper_problem(model=model, n_samples=200, random_state=3).observations
    assert changes(fit(rows, latent_search="pc")) == []


def test_what_is_a_candidate_is_not_repeated():
    learner = fit(load_skills().frame)
    own = structure_of(learner.model_.bipartite, learner.model_.domain_sizes)
    models = [other.model for other in learner.alternatives_]
    found = [structure_of(held.bipartite, held.domain_sizes) for held in models]
    others = [structure for structure in found if structure != own]
    assert len(others) > 2
    assert len(set(others)) == len(others)


def test_the_machine_is_believed():
    learner = fit(load_machine().frame)
    assert learner.verdict_.level == "believe", learner.verdict_.reasons
