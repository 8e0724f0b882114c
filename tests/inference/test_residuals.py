"""The learner says when its model does not fit, and does not cry wolf."""

import warnings

import numpy as np
import pytest

from mixoracle import LatentGraphLearner
from mixoracle.datasets import (
    item_problem,
    kind_problem,
    paper_problem,
    random_model,
    with_gaps,
)
from mixoracle.datasets.shapes import reshape_components
from mixoracle.errors import AssumptionWarning
from mixoracle.inference.refine import refine
from mixoracle.inference.residuals import check
from mixoracle.mixtures.preparation import prepare
from mixoracle.model import Bipartite
from mixoracle.model.joint_states import states_of_cells
from mixoracle.observations import Observations


def verdicts(observations):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        learner = LatentGraphLearner(random_state=0).fit(observations)
    return {verdict.name: verdict for verdict in learner.assumptions_}


@pytest.mark.parametrize("seed", range(4))
def test_a_right_model_passes(seed):
    problem = paper_problem(2, 5, 3, 1500, seed, covariance="code")
    found = verdicts(problem.observations)
    assert found["independent given the latents"].holds is True
    assert found["components of the assumed family"].holds is True


@pytest.mark.parametrize("seed", range(3))
def test_two_variables_that_act_on_each_other_are_named(seed):
    problem = paper_problem(2, 5, 3, 1500, seed, covariance="code")
    blocks = {name: problem.observations[name].copy() for name in problem.observations}
    noise = np.random.default_rng(seed).normal(scale=0.06, size=(1500, 5))
    blocks["X1"] += noise
    blocks["X2"] += noise
    verdict = verdicts(Observations.from_arrays(blocks))["independent given the latents"]
    assert verdict.holds is False
    assert verdict.offenders[0] == ("X1", "X2")
    assert "X1 and X2 are still dependent" in verdict.message


@pytest.mark.parametrize("seed", range(3))
def test_heavy_tails_are_seen_and_the_structure_is_found_all_the_same(seed):
    model = reshape_components(random_model(2, 5, 3, seed, covariance="code"), "heavy")
    problem = paper_problem(model=model, n_samples=3000, random_state=seed)
    verdict = verdicts(problem.observations)["components of the assumed family"]
    assert verdict.holds is False
    assert "times the tails of normal ones" in verdict.message


def independence(observations, graph, cells, families=None):
    """The verdict on independence for a given graph, refined from given joint states."""
    prepared = prepare(observations, families)
    sizes = graph.domain_sizes
    states = states_of_cells(cells[prepared.rows], sizes)
    refined = refine(prepared, graph.adjacency[prepared.variables], sizes, states)
    return check(prepared, graph, refined)[0]


def drawn(kind, seed, n_samples=1200):
    if kind == "items":
        return item_problem(2, 12, n_samples, random_state=seed)
    if kind == "numbers":
        return paper_problem(2, 5, 2, n_samples, random_state=seed, covariance="code")
    return kind_problem(2, 5, 2, n_samples, random_state=seed, kind=kind)


@pytest.mark.parametrize("share", [0.0, 0.1])
@pytest.mark.parametrize("kind", ["categorical", "counts", "gamma", "mixed", "numbers"])
class TestKinds:
    def test_the_right_model_passes(self, kind, share):
        for seed in range(2):
            problem = drawn(kind, seed)
            model = problem.model
            held = with_gaps(problem.observations, share, seed) if share else problem.observations
            graph = Bipartite(model.bipartite, model.domain_sizes)
            cells = np.ravel_multi_index(problem.states.T, model.domain_sizes)
            families = "gamma" if kind == "gamma" else None
            assert independence(held, graph, cells, families).holds is True

    def test_a_model_without_latents_is_seen_through(self, kind, share):
        for seed in range(2):
            problem = drawn(kind, seed)
            held = with_gaps(problem.observations, share, seed) if share else problem.observations
            nothing = Bipartite(np.zeros((held.n_observed, 0), dtype=bool), ())
            cells = np.zeros(held.n_samples, dtype=np.int64)
            verdict = independence(held, nothing, cells, "gamma" if kind == "gamma" else None)
            assert verdict.holds is False
            assert "a latent or a state may be missing" in verdict.message
            # A pair that shares a latent is dependent.
            shares = problem.model.bipartite.astype(int) @ problem.model.bipartite.T.astype(int)
            named = {frozenset(pair) for pair in verdict.offenders}
            first, second = np.argwhere(np.triu(shares > 0, 1))[0]
            assert frozenset((held.names[first], held.names[second])) in named


class TestItems:
    @pytest.mark.parametrize("seed", range(5))
    def test_dependent_items_without_a_latent_fail(self, seed):
        held = drawn("items", seed).observations
        nothing = Bipartite(np.zeros((12, 0), dtype=bool), ())
        verdict = independence(held, nothing, np.zeros(held.n_samples, dtype=np.int64))
        assert verdict.holds is False

    @pytest.mark.parametrize("seed", range(10))
    def test_independent_items_without_a_latent_pass(self, seed):
        rng = np.random.default_rng(seed)
        values = (rng.random((1200, 8)) < rng.uniform(0.2, 0.8, 8)).astype(float)
        held = Observations.from_array(values)
        nothing = Bipartite(np.zeros((8, 0), dtype=bool), ())
        assert independence(held, nothing, np.zeros(1200, dtype=np.int64)).holds is True

    @pytest.mark.parametrize("seed", range(3))
    def test_the_right_model_passes(self, seed):
        problem = drawn("items", seed)
        graph = Bipartite(problem.model.bipartite, problem.model.domain_sizes)
        cells = np.ravel_multi_index(problem.states.T, problem.model.domain_sizes)
        assert independence(problem.observations, graph, cells).holds is True

    def test_shapes_of_answers_are_not_judged(self):
        problem = drawn("categorical", 0)
        found = verdicts(problem.observations)["components of the assumed family"]
        assert found.holds is None


def test_both_checks_together_fail_a_right_model_once_in_a_hundred():
    failed = 0
    for seed in range(60):
        problem = paper_problem(3, 8, 2, n_samples=400, random_state=seed)
        model, prepared = problem.model, prepare(problem.observations)
        graph, states = Bipartite(model.bipartite, model.domain_sizes), problem.states
        refined = refine(
            prepared, graph.adjacency[prepared.variables], graph.domain_sizes, states[prepared.rows]
        )
        failed += any(verdict.holds is False for verdict in check(prepared, graph, refined))
    # 0.6 are expected; four or more would be in 3 of 1 000 such tests.
    assert failed <= 3
